"""What a program tells by a live line while somebody uses it elsewhere, whatever it speaks: what all lines share.

Rule 1: pure, as every dialect: a message in, values out. What cannot be read says nothing.
Rule 2: the line tells what cannot wait for the session's file: text while it is written, what is asked, and that it was answered.
All else the file says, and only the file.
Rule 3: an agent's catalog entry names its line (``[line]``); the module of that name is in the vendor's own dialect.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

import msgspec

from trunkline.dialects.elsewhere.foreign import HasForeign
from trunkline.dialects.signals import PermissionAsk, QuestionAsk


class Says(msgspec.Struct, frozen=True, gc=False):
    """More of a text, from its beginning on; another ``message_id`` begins another one."""

    message_id: str
    text: str
    thinking: bool = False


class Said(msgspec.Struct, frozen=True):
    """The text is whole: this is what the file will say in one go. None: what was told is all."""

    whole: str | None = None


class Asks(msgspec.Struct, frozen=True):
    """Its person is asked. ``key`` is the program's own; the ask's ``request_id`` is given where it is put to people."""

    key: str
    ask: PermissionAsk | QuestionAsk
    call_id: str = ""
    """The call that it is about, where the session's file has it by now, or in a moment; it is waited for."""


class AskOver(msgspec.Struct, frozen=True):
    """Somebody answered there; ``approved`` None: it is not known what."""

    key: str
    approved: bool | None = None


class WaitsThere(msgspec.Struct, frozen=True):
    """Its person is asked something that only the terminal can answer."""

    message: str


class NotTaken(msgspec.Struct, frozen=True):
    """A prompt that was sent is refused."""

    turn_id: str
    why: str


LineEvent = Says | Said | Asks | AskOver | WaitsThere | NotTaken


class Send(msgspec.Struct, frozen=True):
    """The program is to be told this."""

    message: bytes


class Appeared(msgspec.Struct, frozen=True):
    """A session that can be listened to: it is followed from now on, and its events are wanted."""

    session_id: str


class Vanished(msgspec.Struct, frozen=True):
    """A session that the program no longer has."""

    session_id: str


class Told(msgspec.Struct, frozen=True):
    """What happened in a session."""

    session_id: str
    event: LineEvent


ServerEvent = Send | Appeared | Vanished | Told


class ServerLine(HasForeign, Protocol):
    """The pure part of a line to a program that runs many sessions: its state, its messages."""

    def opening(self) -> list[bytes]:
        """What is said first."""

    def missed(self) -> None:
        """What was received until now is old: of a text that has begun already nothing is told."""

    def receive(self, message: bytes) -> list[ServerEvent]:
        """What a message of the program means."""

    def decided(self, session_id: str, key: str, option_id: str | None, reason: str | None) -> tuple[bytes | None, str]:
        """The answer to an ask, None for no answer; and what is to be prompted behind it, since no answer can carry it."""

    def answered(self, session_id: str, key: str, action: str, content: bytes | None) -> bytes | None:
        """The answer to a question; None for no answer."""

    def prompt(self, session_id: str, turn_id: str, text: str) -> bytes:
        """Begin a turn."""

    def cancel(self, session_id: str) -> bytes | None:
        """Interrupt the turn; None where none is known, Unsupported where that cannot be done."""


def server_line(name: str) -> ServerLine | None:
    """A new line of that name; None where that vendor's dialect has none."""
    if not name.isidentifier():
        return None
    try:
        return cast(ServerLine, import_module(f"trunkline.dialects.{name}.line").new_line())
    except ModuleNotFoundError:
        return None
