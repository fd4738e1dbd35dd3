"""Commands that were refused before the session looked at them: malformed, unknown, or not within their sender's scope.

Rule 1: they are in the journal like those that were carried out, with who sent them and why not.
Rule 2: anybody who may look can send one, so they have a measure: some at once, then one a minute. How many were left out since
the last one is written with the next.
Rule 3: of what was sent only the beginning is kept, and nothing is remembered under its id: the id stays free for its owner.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Invalid, StorageError, TrunklineError

AT_ONCE = 20
EVERY_US = 60_000_000
LINE_BYTES = 1024
MESSAGE_LENGTH = 500
ID_LENGTH = 255
"""Characters of a command's id: it is kept with the session."""

class WriteNote(Protocol):
    """Writes an entry."""

    async def __call__(self, name: str, data: dict[str, Any], *, by: str) -> None:
        """Of this name, with these data, by whom it was."""


class RefusedCommands:
    """Writes down what was refused in one session, within its measure."""

    def __init__(self, note: WriteNote, clock: Callable[[], int]) -> None:
        self._note = note
        self._clock = clock
        self._full_at = 0
        """When the measure is whole again; each entry moves it on."""
        self._left_out = 0

    async def write(self, line: bytes, error: TrunklineError, *, command_id: str | None, by: str) -> None:
        """Note one refused command, unless there were too many."""
        now = self._clock()
        if self._full_at - now > (AT_ONCE - 1) * EVERY_US:
            self._left_out += 1
            return
        self._full_at = max(self._full_at, now) + EVERY_US
        data = _refusal(line, error, command_id)
        if self._left_out:
            data["leftOut"], self._left_out = self._left_out, 0
        try:
            await self._note("command", data, by=by)
        except StorageError:
            return  # its sender gets the error that it was refused with; the entry waits for the journal


def _refusal(line: bytes, error: TrunklineError, command_id: str | None) -> dict[str, Any]:
    named = {} if command_id is None else {"id": command_id[:ID_LENGTH]}
    shown: dict[str, Any] = {"said": line[:LINE_BYTES].decode("utf-8", "replace")}
    if len(line) > LINE_BYTES:
        shown["bytes"] = len(line)
    fields = {"code": error.code, "message": error.message[:MESSAGE_LENGTH], "recoverable": error.recoverable}
    return {**named, **shown, "ok": False, "error": fields}


def check_id(given: object) -> str:
    """A command's id, or Invalid."""
    if not isinstance(given, str) or not 0 < len(given) <= ID_LENGTH:
        raise Invalid(f"id must have 1 to {ID_LENGTH} characters", details={"field": "id"})
    if not _is_writable(given):
        raise Invalid("id has half a character (a lone surrogate) in it", details={"field": "id"})
    return given


def _is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Numbered(msgspec.Struct):
    id: str | None = None


_numbered = decoders.of(_Numbered)


def id_in(line: bytes) -> str | None:
    """The id of an envelope that may be broken otherwise."""
    try:
        return _numbered.decode(line).id
    except BROKEN:
        return None
