"""What the client serves: the update stream, permission, files, terminals."""

from __future__ import annotations

from typing import Annotated

import msgspec

from trunkline.dialects.acp.permission import PermissionOption, RequestPermissionOutcome
from trunkline.dialects.acp.sessions import EnvVariable
from trunkline.dialects.acp.shape import STRICT, Shape, Uint


class SessionNotification(Shape, frozen=True, kw_only=True):
    """``session/update``; ``update`` stays the agent's bytes, for ``decode_update``."""

    session_id: str
    update: msgspec.Raw


class RequestPermissionRequest(Shape, frozen=True, kw_only=True):
    """The agent waits for a person. ``tool_call`` is a ToolCallUpdate object without ``sessionUpdate``."""

    session_id: str
    tool_call: msgspec.Raw
    options: list[PermissionOption]


class RequestPermissionResponse(Shape, frozen=True, kw_only=True):
    """What the person chose."""

    outcome: RequestPermissionOutcome


class ReadTextFileRequest(Shape, frozen=True, kw_only=True):
    """Read a text file, or ``limit`` lines of it from ``line`` (1 is the first)."""

    session_id: str
    path: str
    line: Annotated[Uint | None, STRICT] = None
    limit: Annotated[Uint | None, STRICT] = None


class ReadTextFileResponse(Shape, frozen=True, kw_only=True):
    """The text."""

    content: str


class WriteTextFileRequest(Shape, frozen=True, kw_only=True):
    """Write a text file, making it where it is not."""

    session_id: str
    path: str
    content: str


class WriteTextFileResponse(Shape, frozen=True, kw_only=True):
    """Written."""


class CreateTerminalRequest(Shape, frozen=True, kw_only=True):
    """Start a command. Output over ``output_byte_limit`` is cut from its beginning, at a character boundary."""

    session_id: str
    command: str
    args: Annotated[list[str] | None, STRICT] = None
    env: Annotated[list[EnvVariable] | None, STRICT] = None
    cwd: Annotated[str | None, STRICT] = None
    output_byte_limit: Annotated[Uint | None, STRICT] = None


class CreateTerminalResponse(Shape, frozen=True, kw_only=True):
    """The terminal's id."""

    terminal_id: str


class TerminalOutputRequest(Shape, frozen=True, kw_only=True):
    """What has the command written so far?"""

    session_id: str
    terminal_id: str


class TerminalExitStatus(Shape, frozen=True, kw_only=True):
    """How a command ended: by itself with a code, or by a signal."""

    exit_code: Uint | None = None
    signal: str | None = None


class TerminalOutputResponse(Shape, frozen=True, kw_only=True):
    """The output kept, whether some was cut, and how the command ended if it has."""

    output: str
    truncated: bool
    exit_status: TerminalExitStatus | None = None


class WaitForTerminalExitRequest(Shape, frozen=True, kw_only=True):
    """Answer when the command has ended."""

    session_id: str
    terminal_id: str


class WaitForTerminalExitResponse(Shape, frozen=True, kw_only=True):
    """How the command ended."""

    exit_code: Uint | None = None
    signal: str | None = None


class KillTerminalRequest(Shape, frozen=True, kw_only=True):
    """End the command; the terminal stays, with its output."""

    session_id: str
    terminal_id: str


class KillTerminalResponse(Shape, frozen=True, kw_only=True):
    """Ended."""


class ReleaseTerminalRequest(Shape, frozen=True, kw_only=True):
    """End the command and forget the terminal."""

    session_id: str
    terminal_id: str


class ReleaseTerminalResponse(Shape, frozen=True, kw_only=True):
    """Forgotten."""
