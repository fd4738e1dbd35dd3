"""The official JSON schema and the official Python SDK as oracles, and which of our types answers to which definition."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import acp.schema as sdk
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from trunkline.dialects import acp

DATA = Path(__file__).parents[2] / "data"
SCHEMA: dict[str, Any] = json.loads((DATA / "acp_schema_v1.json").read_text())
DEFINITIONS: dict[str, Any] = SCHEMA["$defs"]

DEFINITION_OF: dict[Any, str] = {
    acp.Offered: "SessionListCapabilities",
    acp.UserMessageChunk: "ContentChunk",
    acp.AgentMessageChunk: "ContentChunk",
    acp.AgentThoughtChunk: "ContentChunk",
    acp.AvailableCommandInput: "UnstructuredCommandInput",
    acp.SelectedOutcome: "SelectedPermissionOutcome",
    acp.StringProperty: "StringPropertySchema",
    acp.NumberProperty: "NumberPropertySchema",
    acp.IntegerProperty: "IntegerPropertySchema",
    acp.BooleanProperty: "BooleanPropertySchema",
    acp.MultiSelectProperty: "MultiSelectPropertySchema",
    acp.AcceptedElicitation: "ElicitationAcceptAction",
}
"""Types that are named otherwise in the schema; all others have the schema's name."""

WIRE_DEFINITION_OF: dict[Any, str] = {
    acp.TextContent: "ContentBlock",
    acp.ImageContent: "ContentBlock",
    acp.AudioContent: "ContentBlock",
    acp.ResourceLink: "ContentBlock",
    acp.EmbeddedResource: "ContentBlock",
    acp.ResourceContents: "EmbeddedResourceResource",
    acp.Content: "ToolCallContent",
    acp.Diff: "ToolCallContent",
    acp.Terminal: "ToolCallContent",
    acp.SessionConfigSelect: "SessionConfigOption",
    acp.SessionConfigBoolean: "SessionConfigOption",
    acp.AuthMethodTerminal: "AuthMethod",
    acp.AuthMethodAgent: "AuthMethod",
    acp.McpServerStdio: "McpServer",
    acp.McpServerHttp: "McpServer",
    acp.McpServerSse: "McpServer",
    acp.SelectedOutcome: "RequestPermissionOutcome",
    acp.CancelledOutcome: "RequestPermissionOutcome",
    acp.StringProperty: "ElicitationPropertySchema",
    acp.NumberProperty: "ElicitationPropertySchema",
    acp.IntegerProperty: "ElicitationPropertySchema",
    acp.BooleanProperty: "ElicitationPropertySchema",
    acp.MultiSelectProperty: "ElicitationPropertySchema",
    acp.FormElicitation: "CreateElicitationRequest",
    acp.UrlElicitation: "CreateElicitationRequest",
    acp.AcceptedElicitation: "CreateElicitationResponse",
    acp.DeclinedElicitation: "CreateElicitationResponse",
    acp.CancelledElicitation: "CreateElicitationResponse",
    **dict.fromkeys(acp.SessionUpdate.__args__, "SessionUpdate"),
}
"""What a tagged type is on the wire, where that is more than its own definition."""

NOT_IN_SDK = frozenset({acp.Notice, acp.CompactionUpdate, acp.CompactionSummaryChunk})
"""Newer than the SDK's schema."""

_SDK_TYPES: dict[Any, Any] = {
    acp.AgentMessageChunk: sdk.AgentMessageChunk,
    acp.AgentThoughtChunk: sdk.AgentThoughtChunk,
    acp.UserMessageChunk: sdk.UserMessageChunk,
    acp.ToolCall: sdk.ToolCallStart,
    acp.ToolCallUpdate: sdk.ToolCallProgress,
    acp.Plan: sdk.AgentPlanUpdate,
    acp.TextContent: sdk.TextContentBlock,
    acp.ImageContent: sdk.ImageContentBlock,
    acp.AudioContent: sdk.AudioContentBlock,
    acp.ResourceLink: sdk.ResourceContentBlock,
    acp.EmbeddedResource: sdk.EmbeddedResourceContentBlock,
    acp.ResourceContents: sdk.TextResourceContents | sdk.BlobResourceContents,
    acp.Content: sdk.ContentToolCallContent,
    acp.Diff: sdk.FileEditToolCallContent,
    acp.Terminal: sdk.TerminalToolCallContent,
    acp.SessionConfigSelect: sdk.SessionConfigOptionSelect,
    acp.SessionConfigBoolean: sdk.SessionConfigOptionBoolean,
    acp.SessionConfigSelectEntry: sdk.SessionConfigSelectOption | sdk.SessionConfigSelectGroup,
    acp.AuthMethodTerminal: sdk.TerminalAuthMethod,
    acp.McpServerHttp: sdk.HttpMcpServer,
    acp.McpServerSse: sdk.SseMcpServer,
    acp.SelectedOutcome: sdk.AllowedOutcome,
    acp.CancelledOutcome: sdk.DeniedOutcome,
    acp.SetSessionConfigOptionRequest: sdk.SetSessionConfigOptionSelectRequest | sdk.SetSessionConfigOptionBooleanRequest,
    acp.FormElicitation: sdk.CreateElicitationRequest,
    acp.UrlElicitation: sdk.CreateElicitationRequest,
    acp.AcceptedElicitation: sdk.CreateElicitationResponse,
    acp.DeclinedElicitation: sdk.CreateElicitationResponse,
    acp.CancelledElicitation: sdk.CreateElicitationResponse,
    acp.StringProperty: sdk.ElicitationStringPropertySchema,
    acp.NumberProperty: sdk.ElicitationNumberPropertySchema,
    acp.IntegerProperty: sdk.ElicitationIntegerPropertySchema,
    acp.BooleanProperty: sdk.ElicitationBooleanPropertySchema,
    acp.MultiSelectProperty: sdk.ElicitationMultiSelectPropertySchema,
    acp.MultiSelectItems: sdk.StringMultiSelectItems | sdk.TitledMultiSelectItems,
    acp.Offered: sdk.SessionListCapabilities,
    acp.AvailableCommandInput: sdk.UnstructuredCommandInput,
}


def definition_of(kind: Any) -> str:
    """The definition that lists this type's members."""
    return DEFINITION_OF.get(kind) or str(kind.__name__)


def wire_definition_of(kind: Any) -> str:
    """The definition that what we write of this type must satisfy."""
    return WIRE_DEFINITION_OF.get(kind, definition_of(kind))


@functools.cache
def validator(definition: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": DEFINITIONS})


def faults(definition: str, raw: bytes) -> list[str]:
    """Why the schema refuses these bytes; empty when it accepts them."""
    return [error.message for error in validator(definition).iter_errors(json.loads(raw))]


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(_SDK_TYPES.get(kind) or getattr(sdk, kind.__name__))


def parse_with_sdk(kind: Any, raw: bytes) -> Any:
    """What the official SDK makes of what we write; raises when it refuses it."""
    return _adapter(kind).validate_json(raw)
