"""Qwen Code's event file and input file: what it says while somebody uses it in a terminal, line by line, and what it takes.

Rule 1: of a text only what the session's file will say in one go: one answer's words, or its thoughts. What began before we
were there is the file's.
Rule 2: a no ends its turn, and no reason goes with it: the reason is the next prompt.
Rule 3: not every end of an ask is told. Whatever the program does next says that nothing waits any more.
Rule 4: nothing that comes raises; what is kept is bounded. Sub-agents' words are nobody's but theirs.
"""

from __future__ import annotations

import posixpath
from typing import Any, Final

import msgspec

from trunkline import decoders
from trunkline.dialects.elsewhere.foreign import IsOurs, above, others_in, read_settings
from trunkline.dialects.elsewhere.lines import (
    Appeared,
    AskOver,
    Asks,
    LineEvent,
    Said,
    Says,
    ServerEvent,
    Told,
    Vanished,
    WaitsThere,
)
from trunkline.dialects.elsewhere.transcripts import called, object_of, text_of
from trunkline.dialects.gemini.parts import KINDS
from trunkline.dialects.outside import BROKEN, Json
from trunkline.dialects.question_forms import questions_in, text_in
from trunkline.dialects.signals import PermissionAsk, PermissionOption
from trunkline.errors import Unsupported

ALLOW: Final = PermissionOption("allow", "Allow", "allow_once")
ALWAYS: Final = PermissionOption("always", "Always allow", "allow_always")
DENY: Final = PermissionOption("deny", "Deny", "reject_once")
REASON: Final = "That was not allowed: "
"""Begins the prompt that says why; so no reason is taken for a command."""
QUESTION: Final = "ask_user_question"
"""A yes to it would be one without an answer: it is asked in the terminal alone."""
PLAN: Final = "exit_plan_mode"
PLANNED: Final = "Ready to carry out the plan?"
ASK: Final = "PermissionRequest"
SETTINGS: Final = "settings.json"
SYSTEM: Final = ("/etc/qwen-code/settings.json", "/etc/qwen-code/system-defaults.json",
                 "/Library/Application Support/QwenCode/settings.json")
ASKS_MOST: Final = 64
"""Asks that are remembered."""

_encode = msgspec.json.Encoder().encode


class _Line(msgspec.Struct):
    type: str = ""
    subtype: str = ""
    session_id: str = ""
    parent_tool_use_id: str | None = None
    request_id: str = ""
    event: dict[str, Any] = {}
    message: dict[str, Any] = {}
    request: dict[str, Any] = {}
    response: dict[str, Any] = {}
    data: dict[str, Any] = {}


_read = decoders.of(_Line).decode


class QwenLine:
    """Implements ``ServerLine`` for one run of the program: one session at a time."""

    def __init__(self) -> None:
        self._session_id = ""
        self._cwd = ""
        self._message_id = ""
        """Of the answer whose words are told; empty: none, or its beginning was not seen."""
        self._block = ""
        """The kind of the block of that answer that is being written; empty: none is."""
        self._told: set[str] = set()
        """The kinds of blocks of that answer that were told."""
        self._asks: dict[str, str] = {}
        """Asks that are open, each with its call's id."""

    def opening(self) -> list[bytes]:
        """It is not greeted."""
        return []

    def receive(self, message: bytes) -> list[ServerEvent]:
        """What a line of the event file means."""
        try:
            read = _read(message)
        except BROKEN:
            return []
        begun = self._on_session(read.session_id or self._session_id)
        if read.type == "system":
            return begun + self._on_system(read)
        if read.type == "stream_event" and read.parent_tool_use_id is None:
            return begun + self._say(self._on_stream(read.event))
        if read.type == "user" and read.parent_tool_use_id is None:
            return begun + self._say(self._on_user(read.message))
        if read.type == "control_request":
            return begun + self._say(self._on_ask(read.request_id, read.request))
        if read.type == "control_response":
            return begun + self._say(self._on_answer(read.response))
        return begun

    def missed(self) -> None:
        """What was read until now is old: of an answer that has begun already nothing is told."""
        self._message_id = ""

    def open_asks(self) -> dict[str, str]:
        """Asks that still wait, each with the id of its call."""
        return dict(self._asks)

    def decided(self, session_id: str, key: str, option_id: str | None, reason: str | None) -> tuple[bytes | None, str]:
        """Allow it or not."""
        if self._asks.pop(key, None) is None or option_id not in (ALLOW.option_id, ALWAYS.option_id, DENY.option_id):
            return None, ""
        allowed = option_id != DENY.option_id
        line = _line({"type": "confirmation_response", "request_id": key, "allowed": allowed})
        return line, REASON + reason if reason and not allowed else ""

    def answered(self, session_id: str, key: str, action: str, content: bytes | None) -> bytes | None:
        """It asks no questions here."""
        return None

    def prompt(self, session_id: str, turn_id: str, text: str) -> bytes:
        """Type a prompt."""
        return _line({"type": "submit", "text": text})

    def cancel(self, session_id: str) -> bytes | None:
        """It cannot be interrupted from here."""
        raise Unsupported("this program takes no interrupt from elsewhere: press Escape in its terminal")

    def watched_files(self, folder: str, cwd: str) -> list[str]:
        """The person's settings and extensions, which may bring hooks; the project's settings, and the administrator's."""
        own = [posixpath.join(folder, name) for name in (SETTINGS, "extensions")]
        return [*own, *above(cwd, posixpath.join(".qwen", SETTINGS)), *SYSTEM]

    def has_foreign(self, text: bytes, is_ours: IsOurs) -> bool:
        """Hooks of others that decide; settings with comments may have one."""
        return others_in(read_settings(text), ASK, is_ours)

    def _on_session(self, session_id: str) -> list[ServerEvent]:
        """Another session than before: the person began one, or went back to one."""
        if not session_id or session_id == self._session_id:
            return []
        gone: list[ServerEvent] = [Vanished(self._session_id)] if self._session_id else []
        self._session_id, self._message_id = session_id, ""
        self._asks.clear()
        return [*gone, Appeared(session_id)]

    def _on_system(self, read: _Line) -> list[ServerEvent]:
        self._cwd = text_of(read.data, "cwd") or self._cwd
        return [Vanished(self._session_id)] if read.subtype == "session_end" else []

    def _on_user(self, message: Json) -> list[LineEvent]:
        """A prompt: nothing waits any more. What tools gave back says that of their calls alone."""
        content = message.get("content")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        ended = {text_of(block, "tool_use_id") for block in blocks if block.get("type") == "tool_result"}
        return self._over(ended if ended else None)

    def _on_stream(self, event: Json) -> list[LineEvent]:
        match event.get("type"):
            case "message_start":
                self._message_id, self._block, self._told = text_of(object_of(event, "message"), "id") or "answer", "", set()
                return self._over(None)
            case "content_block_start":
                self._block = text_of(object_of(event, "content_block"), "type")
                return self._words(object_of(event, "content_block"), first=True)
            case "content_block_delta" if self._block:
                return self._words(object_of(event, "delta"), first=False)
            case "content_block_stop":
                self._block = ""
            case "content_block_delta" | "message_stop":
                # Words behind a block's end answer a prompt that was typed meanwhile: the file tells them apart.
                return self._end()
        return []

    def _end(self) -> list[LineEvent]:
        """What was told of this answer is all that is told of it."""
        was_told, self._message_id, self._told = bool(self._told), "", set()
        return [Said()] if was_told else []

    def _words(self, block: Json, *, first: bool) -> list[LineEvent]:
        """More words. A second block of the same kind is a further line of what the file will say."""
        kind = self._block
        if not self._message_id or kind not in ("text", "thinking"):
            return []
        text = text_of(block, kind)
        if first and kind in self._told:
            text = "\n" + text
        if not text:
            return []
        self._told.add(kind)
        return [Says(self._message_id, text, thinking=kind == "thinking")]

    def _on_ask(self, key: str, request: Json) -> list[LineEvent]:
        tool, call_id = text_of(request, "tool_name"), text_of(request, "tool_use_id")
        if request.get("subtype") != "can_use_tool" or not key or not tool:
            return []
        if tool == QUESTION:
            questions = questions_in(object_of(request, "input").get("questions"))
            return [WaitsThere("\n".join(text_in(each, "question") for each in questions))]
        if len(self._asks) >= ASKS_MOST:
            return []
        self._asks[key] = call_id
        call = called(call_id or key, tool, KINDS.get(tool, "other"), object_of(request, "input"), cwd=self._cwd)
        options: tuple[PermissionOption, ...] = (ALLOW, ALWAYS, DENY)
        if tool == PLAN:
            plan = text_of(object_of(request, "input"), "plan")
            call |= {"title": PLANNED, "content": [{"type": "content", "content": {"type": "text", "text": plan}}]}
            options = ALLOW, DENY
        return [Asks(key, PermissionAsk(key, _encode(call), options, beyond_turn=True), call_id)]

    def _on_answer(self, response: Json) -> list[LineEvent]:
        key = text_of(response, "request_id")
        if self._asks.pop(key, None) is None:
            return []
        allowed = object_of(response, "response").get("allowed")
        return [AskOver(key, allowed if isinstance(allowed, bool) else None)]

    def _over(self, calls: set[str] | None) -> list[LineEvent]:
        """These calls are over, or all that was asked is (None)."""
        over = [key for key, call_id in self._asks.items() if calls is None or call_id in calls]
        for key in over:
            del self._asks[key]
        return [AskOver(key) for key in over]

    def _say(self, events: list[LineEvent]) -> list[ServerEvent]:
        return [Told(self._session_id, event) for event in events] if self._session_id else []


def _line(value: Json) -> bytes:
    return _encode(value) + b"\n"


def new_line() -> QwenLine:
    """A line to a program that was just started."""
    return QwenLine()
