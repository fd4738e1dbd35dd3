"""Wrong names and values, and the right ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from trunkline.dialects.acp import methods
from trunkline.dialects.acp.content import (
    AudioContent,
    ImageContent,
    ResourceContents,
    ResourceLink,
)
from trunkline.dialects.acp.initialize import ClientCapabilities, InitializeRequest, InitializeResponse
from trunkline.dialects.acp.permission import PermissionOption
from trunkline.dialects.acp.sessions import (
    PromptRequest,
    PromptResponse,
)
from trunkline.dialects.acp.tools import Diff
from trunkline.dialects.acp.updates import CurrentModeUpdate, PlanEntry, ToolCall, ToolCallUpdate

UPDATES = {
    "tool_call_start": "tool_call",
    "tool_call_progress": "tool_call_update",
    "agent_plan_update": "plan",
}
"""Packet names for updates."""

UPDATE_TAGS = ("sessionUpdate", "session_update", "type", "kind")
"""Where an update may say what it is, in the order we look."""

ENVELOPE_FIELDS = ("type", "timestamp")
"""Packet members that no update may carry."""

MEDIA = {"mediaType": "mimeType"}
_CALL = {
    "id": "toolCallId",
    "input": "rawInput",
    "args": "rawInput",
    "raw_input": "rawInput",
    "output": "rawOutput",
    "raw_output": "rawOutput",
}

FIELDS: dict[Any, dict[str, str]] = {
    ImageContent: MEDIA,
    AudioContent: MEDIA,
    ResourceLink: MEDIA,
    ResourceContents: MEDIA,
    ToolCall: _CALL,
    ToolCallUpdate: _CALL,
    Diff: {"old_content": "oldText", "oldContent": "oldText", "new_content": "newText", "newContent": "newText"},
    CurrentModeUpdate: {"modeId": "currentModeId"},
    InitializeRequest: {"capabilities": "clientCapabilities"},
    InitializeResponse: {"capabilities": "agentCapabilities"},
    ClientCapabilities: {"fileSystem": "fs"},
    PromptRequest: {"content": "prompt", "messages": "prompt", "text": "prompt"},
}
"""Wrong member name to right one, by type. Snake case of a right name is understood everywhere."""

_TOOL_KINDS = {"write": "edit", "create": "edit", "command": "execute", "bash": "execute", "task": "think"}
_STATUSES = {
    "running": "in_progress",
    "inProgress": "in_progress",
    "done": "completed",
    "success": "completed",
    "error": "failed",
    "cancelled": "failed",
    "canceled": "failed",
}

VALUES: dict[Any, dict[str, dict[str, str]]] = {
    ToolCall: {"kind": _TOOL_KINDS, "status": _STATUSES},
    ToolCallUpdate: {"kind": _TOOL_KINDS, "status": _STATUSES},
    PlanEntry: {
        "status": {**_STATUSES, "cancelled": "completed", "canceled": "completed", "error": "completed"},
        "priority": {"normal": "medium"},
    },
    PermissionOption: {
        "kind": {
            "allow": "allow_once",
            "allowOnce": "allow_once",
            "allowAlways": "allow_always",
            "deny": "reject_once",
            "reject": "reject_once",
            "rejectOnce": "reject_once",
            "rejectAlways": "reject_always",
        }
    },
    PromptResponse: {
        "stopReason": {
            "stop_sequence": "end_turn",
            "tool_use": "end_turn",
            "endTurn": "end_turn",
            "maxTokens": "max_tokens",
            "maxTurnRequests": "max_turn_requests",
            "canceled": "cancelled",
        }
    },
}
"""Wrong value to right one, by type and (right) member. A value in neither list is judged by the schema's policy."""

BLOCK_TYPES = {"embedded_resource": "resource", "link": "resource_link", "file": "resource_link"}
"""Wrong ``type`` of a content block to right one."""

_TO_CLIENT = {
    "session/notification": methods.SESSION_UPDATE,
    "session/message": methods.SESSION_UPDATE,
    "session/requestPermission": methods.SESSION_REQUEST_PERMISSION,
    "fs/readTextFile": methods.FS_READ_TEXT_FILE,
    "fs/writeTextFile": methods.FS_WRITE_TEXT_FILE,
    "terminal/waitForExit": methods.TERMINAL_WAIT_FOR_EXIT,
}
_TO_AGENT = {
    "prompt": methods.SESSION_PROMPT,
    "session/message": methods.SESSION_PROMPT,
    "newSession": methods.SESSION_NEW,
    "session/setMode": methods.SESSION_SET_MODE,
    "session/setConfigOption": methods.SESSION_SET_CONFIG_OPTION,
}

METHODS: dict[Literal["agent", "client"], dict[str, str]] = {"client": _TO_CLIENT, "agent": _TO_AGENT}
"""Wrong method name to right one, by the side that serves it."""


def canonical_method(name: str, *, side: Literal["agent", "client"]) -> str:
    """The schema's name of a method that ``side`` was sent."""
    return METHODS[side].get(name, name)


def with_aliases(names: Iterable[str], *, side: Literal["agent", "client"]) -> frozenset[str]:
    """These methods and every other name they go by: what a ``Peer`` should let through."""
    served = frozenset(names)
    return served | {wrong for wrong, right in METHODS[side].items() if right in served}


CLIENT_METHODS = with_aliases(methods.CLIENT_REQUESTS, side="client")
"""Every name by which an agent may ask its client for something."""
