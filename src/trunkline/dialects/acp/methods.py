"""Every stable method as one table: its name, which side serves it, whether it is answered, and its types.

Rule 1: whoever needs a method's name takes it from here; whoever needs to know what a method carries looks at ``METHODS``.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from trunkline.dialects.acp import client, elicitation, initialize, sessions

INITIALIZE = "initialize"
AUTHENTICATE = "authenticate"
LOGOUT = "logout"
SESSION_NEW = "session/new"
SESSION_LOAD = "session/load"
SESSION_RESUME = "session/resume"
SESSION_FORK = "session/fork"
"""Unstable in the schema: asked as session/resume is, answered as session/new is."""
SESSION_LIST = "session/list"
SESSION_CLOSE = "session/close"
SESSION_DELETE = "session/delete"
SESSION_PROMPT = "session/prompt"
SESSION_CANCEL = "session/cancel"
SESSION_SET_MODE = "session/set_mode"
SESSION_SET_CONFIG_OPTION = "session/set_config_option"
SESSION_UPDATE = "session/update"
SESSION_REQUEST_PERMISSION = "session/request_permission"
FS_READ_TEXT_FILE = "fs/read_text_file"
FS_WRITE_TEXT_FILE = "fs/write_text_file"
TERMINAL_CREATE = "terminal/create"
TERMINAL_OUTPUT = "terminal/output"
TERMINAL_WAIT_FOR_EXIT = "terminal/wait_for_exit"
TERMINAL_KILL = "terminal/kill"
TERMINAL_RELEASE = "terminal/release"
ELICITATION_CREATE = "elicitation/create"
ELICITATION_COMPLETE = "elicitation/complete"
CANCEL_REQUEST = "$/cancel_request"

Side = Literal["agent", "client", "both"]


class Method(msgspec.Struct, frozen=True):
    """One method: ``params`` and ``result`` are types to decode to; a notification has no result."""

    name: str
    side: Side
    params: Any
    result: Any | None = None


_TABLE = (
    Method(INITIALIZE, "agent", initialize.InitializeRequest, initialize.InitializeResponse),
    Method(AUTHENTICATE, "agent", initialize.AuthenticateRequest, initialize.AuthenticateResponse),
    Method(LOGOUT, "agent", initialize.LogoutRequest, initialize.LogoutResponse),
    Method(SESSION_NEW, "agent", sessions.NewSessionRequest, sessions.NewSessionResponse),
    Method(SESSION_LOAD, "agent", sessions.LoadSessionRequest, sessions.LoadSessionResponse),
    Method(SESSION_RESUME, "agent", sessions.ResumeSessionRequest, sessions.ResumeSessionResponse),
    Method(SESSION_LIST, "agent", sessions.ListSessionsRequest, sessions.ListSessionsResponse),
    Method(SESSION_CLOSE, "agent", sessions.CloseSessionRequest, sessions.CloseSessionResponse),
    Method(SESSION_DELETE, "agent", sessions.DeleteSessionRequest, sessions.DeleteSessionResponse),
    Method(SESSION_PROMPT, "agent", sessions.PromptRequest, sessions.PromptResponse),
    Method(SESSION_CANCEL, "agent", sessions.CancelNotification),
    Method(SESSION_SET_MODE, "agent", sessions.SetSessionModeRequest, sessions.SetSessionModeResponse),
    Method(
        SESSION_SET_CONFIG_OPTION,
        "agent",
        sessions.SetSessionConfigOptionRequest,
        sessions.SetSessionConfigOptionResponse,
    ),
    Method(SESSION_UPDATE, "client", client.SessionNotification),
    Method(SESSION_REQUEST_PERMISSION, "client", client.RequestPermissionRequest, client.RequestPermissionResponse),
    Method(FS_READ_TEXT_FILE, "client", client.ReadTextFileRequest, client.ReadTextFileResponse),
    Method(FS_WRITE_TEXT_FILE, "client", client.WriteTextFileRequest, client.WriteTextFileResponse),
    Method(TERMINAL_CREATE, "client", client.CreateTerminalRequest, client.CreateTerminalResponse),
    Method(TERMINAL_OUTPUT, "client", client.TerminalOutputRequest, client.TerminalOutputResponse),
    Method(TERMINAL_WAIT_FOR_EXIT, "client", client.WaitForTerminalExitRequest, client.WaitForTerminalExitResponse),
    Method(TERMINAL_KILL, "client", client.KillTerminalRequest, client.KillTerminalResponse),
    Method(TERMINAL_RELEASE, "client", client.ReleaseTerminalRequest, client.ReleaseTerminalResponse),
    Method(ELICITATION_CREATE, "client", elicitation.CreateElicitationRequest, elicitation.CreateElicitationResponse),
    Method(ELICITATION_COMPLETE, "client", elicitation.CompleteElicitationNotification),
    Method(CANCEL_REQUEST, "both", initialize.CancelRequestNotification),
)

METHODS: dict[str, Method] = {method.name: method for method in _TABLE}

CLIENT_REQUESTS = frozenset(method.name for method in _TABLE if method.side == "client" and method.result is not None)
"""The requests that an agent may send to its client."""

AGENT_REQUESTS = frozenset(method.name for method in _TABLE if method.side == "agent" and method.result is not None)
"""The requests that a client may send to its agent."""
