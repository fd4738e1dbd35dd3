"""The official JSON schema and the official Python SDK as oracles, and which of our types answers to which definition."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import acp.schema as sdk
from pydantic import TypeAdapter

from tests.tooling.oracles import Oracle
from trunkline.dialects.acp import (
    client,
    content,
    elicitation,
    initialize,
    options,
    permission,
    sessions,
    tools,
    updates,
)
from trunkline.dialects.acp.content import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
)
from trunkline.dialects.acp.elicitation import (
    AcceptedElicitation,
    BooleanProperty,
    CancelledElicitation,
    DeclinedElicitation,
    FormElicitation,
    IntegerProperty,
    MultiSelectItems,
    MultiSelectProperty,
    NumberProperty,
    StringProperty,
    UrlElicitation,
)
from trunkline.dialects.acp.initialize import AuthMethodAgent, AuthMethodTerminal, Offered
from trunkline.dialects.acp.options import (
    AvailableCommandInput,
    SessionConfigBoolean,
    SessionConfigSelect,
    SessionConfigSelectEntry,
)
from trunkline.dialects.acp.permission import CancelledOutcome, SelectedOutcome
from trunkline.dialects.acp.sessions import McpServerHttp, McpServerSse, McpServerStdio, SetSessionConfigOptionRequest
from trunkline.dialects.acp.shape import Shape
from trunkline.dialects.acp.tools import Content, Diff, Terminal
from trunkline.dialects.acp.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    CompactionSummaryChunk,
    CompactionUpdate,
    Notice,
    Plan,
    SessionUpdate,
    ToolCall,
    ToolCallUpdate,
    UserMessageChunk,
)

MODULES = (client, content, elicitation, initialize, options, permission, sessions, tools, updates)
DATA = Path(__file__).parents[2] / "data"
SCHEMA: dict[str, Any] = json.loads((DATA / "acp_schema_v1.json").read_text())
DEFINITIONS: dict[str, Any] = SCHEMA["$defs"]

DEFINITION_OF: dict[Any, str] = {
    Offered: "SessionListCapabilities",
    UserMessageChunk: "ContentChunk",
    AgentMessageChunk: "ContentChunk",
    AgentThoughtChunk: "ContentChunk",
    AvailableCommandInput: "UnstructuredCommandInput",
    SelectedOutcome: "SelectedPermissionOutcome",
    StringProperty: "StringPropertySchema",
    NumberProperty: "NumberPropertySchema",
    IntegerProperty: "IntegerPropertySchema",
    BooleanProperty: "BooleanPropertySchema",
    MultiSelectProperty: "MultiSelectPropertySchema",
    AcceptedElicitation: "ElicitationAcceptAction",
}
"""Types that are named otherwise in the schema; all others have the schema's name."""

WIRE_DEFINITION_OF: dict[Any, str] = {
    TextContent: "ContentBlock",
    ImageContent: "ContentBlock",
    AudioContent: "ContentBlock",
    ResourceLink: "ContentBlock",
    EmbeddedResource: "ContentBlock",
    ResourceContents: "EmbeddedResourceResource",
    Content: "ToolCallContent",
    Diff: "ToolCallContent",
    Terminal: "ToolCallContent",
    SessionConfigSelect: "SessionConfigOption",
    SessionConfigBoolean: "SessionConfigOption",
    AuthMethodTerminal: "AuthMethod",
    AuthMethodAgent: "AuthMethod",
    McpServerStdio: "McpServer",
    McpServerHttp: "McpServer",
    McpServerSse: "McpServer",
    SelectedOutcome: "RequestPermissionOutcome",
    CancelledOutcome: "RequestPermissionOutcome",
    StringProperty: "ElicitationPropertySchema",
    NumberProperty: "ElicitationPropertySchema",
    IntegerProperty: "ElicitationPropertySchema",
    BooleanProperty: "ElicitationPropertySchema",
    MultiSelectProperty: "ElicitationPropertySchema",
    FormElicitation: "CreateElicitationRequest",
    UrlElicitation: "CreateElicitationRequest",
    AcceptedElicitation: "CreateElicitationResponse",
    DeclinedElicitation: "CreateElicitationResponse",
    CancelledElicitation: "CreateElicitationResponse",
    **dict.fromkeys(SessionUpdate.__args__, "SessionUpdate"),
}
"""What a tagged type is on the wire, where that is more than its own definition."""

NOT_IN_SDK = frozenset({Notice, CompactionUpdate, CompactionSummaryChunk})
"""Newer than the SDK's schema."""

_SDK_TYPES: dict[Any, Any] = {
    AgentMessageChunk: sdk.AgentMessageChunk,
    AgentThoughtChunk: sdk.AgentThoughtChunk,
    UserMessageChunk: sdk.UserMessageChunk,
    ToolCall: sdk.ToolCallStart,
    ToolCallUpdate: sdk.ToolCallProgress,
    Plan: sdk.AgentPlanUpdate,
    TextContent: sdk.TextContentBlock,
    ImageContent: sdk.ImageContentBlock,
    AudioContent: sdk.AudioContentBlock,
    ResourceLink: sdk.ResourceContentBlock,
    EmbeddedResource: sdk.EmbeddedResourceContentBlock,
    ResourceContents: sdk.TextResourceContents | sdk.BlobResourceContents,
    Content: sdk.ContentToolCallContent,
    Diff: sdk.FileEditToolCallContent,
    Terminal: sdk.TerminalToolCallContent,
    SessionConfigSelect: sdk.SessionConfigOptionSelect,
    SessionConfigBoolean: sdk.SessionConfigOptionBoolean,
    SessionConfigSelectEntry: sdk.SessionConfigSelectOption | sdk.SessionConfigSelectGroup,
    AuthMethodTerminal: sdk.TerminalAuthMethod,
    McpServerHttp: sdk.HttpMcpServer,
    McpServerSse: sdk.SseMcpServer,
    SelectedOutcome: sdk.AllowedOutcome,
    CancelledOutcome: sdk.DeniedOutcome,
    SetSessionConfigOptionRequest: sdk.SetSessionConfigOptionSelectRequest | sdk.SetSessionConfigOptionBooleanRequest,
    FormElicitation: sdk.CreateElicitationRequest,
    UrlElicitation: sdk.CreateElicitationRequest,
    AcceptedElicitation: sdk.CreateElicitationResponse,
    DeclinedElicitation: sdk.CreateElicitationResponse,
    CancelledElicitation: sdk.CreateElicitationResponse,
    StringProperty: sdk.ElicitationStringPropertySchema,
    NumberProperty: sdk.ElicitationNumberPropertySchema,
    IntegerProperty: sdk.ElicitationIntegerPropertySchema,
    BooleanProperty: sdk.ElicitationBooleanPropertySchema,
    MultiSelectProperty: sdk.ElicitationMultiSelectPropertySchema,
    MultiSelectItems: sdk.StringMultiSelectItems | sdk.TitledMultiSelectItems,
    Offered: sdk.SessionListCapabilities,
    AvailableCommandInput: sdk.UnstructuredCommandInput,
}


def definition_of(kind: Any) -> str:
    """The definition that lists this type's members."""
    return DEFINITION_OF.get(kind) or str(kind.__name__)


def wire_definition_of(kind: Any) -> str:
    """The definition that what we write of this type must satisfy."""
    return WIRE_DEFINITION_OF.get(kind, definition_of(kind))


@functools.cache
def oracle(definition: str) -> Oracle:
    return Oracle({"$ref": f"#/$defs/{definition}", "$defs": DEFINITIONS})


def faults(definition: str, raw: bytes) -> list[str]:
    """Why the schema refuses these bytes; empty when it accepts them."""
    return oracle(definition).faults(json.loads(raw))


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(_SDK_TYPES.get(kind) or getattr(sdk, kind.__name__))


def parse_with_sdk(kind: Any, raw: bytes) -> Any:
    """What the official SDK makes of what we write; raises when it refuses it."""
    return _adapter(kind).validate_json(raw)


def shapes() -> list[type[Any]]:
    """Every type of ours that stands for a definition of the schema, from the modules that own them."""
    found = [kind for module in MODULES for name, kind in sorted(vars(module).items())
             if isinstance(kind, type) and issubclass(kind, Shape | permission.PermissionOption) and not name.startswith("_")]
    return [kind for kind in dict.fromkeys(found) if kind is not Shape]
