"""OpenCode in a terminal: our plugin, what it tells of the program, and what the program can be told by it.

Rule 1: the plugin is one for the terminal (``tui.jsonc``): one of the other kind (``opencode.json``, ``plugin/``) has the program
install a package before it shows anything, and without a network that takes over a minute.
Rule 2: ``tui.jsonc``, since the program moves older settings into a new ``tui.json`` only as long as there is none.
Rule 3: "always" is a rule of ours: the program is told of this call alone. A denial with words is told the model, and the turn
goes on; without words the program ends the turn. Either takes the session's other open asks with it: that is the program's way.
Rule 4: whether a call that repeats itself goes on (``doom_loop``) is no question about the call: a rule may deny the call, and
none allows the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from trunkline.dialects.acp.content import ContentBlock, ImageContent, ResourceLink, TextContent
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.elsewhere.lines import AskOver, NotTaken, Said, Says
from trunkline.dialects.elsewhere.plugins import Asked, InSession, PluginEvent, Shows, Stored, Works
from trunkline.dialects.elsewhere.transcripts import called, object_of, read_object, text_of
from trunkline.dialects.opencode.rows import KINDS
from trunkline.dialects.outside import Json
from trunkline.dialects.question_forms import chosen_in, form_of, questions_in, text_in
from trunkline.dialects.signals import PermissionAsk, PermissionOption, QuestionAsk
from trunkline.errors import Unsupported

ONCE: Final = PermissionOption("once", "Allow", "allow_once")
ALWAYS: Final = PermissionOption("always", "Always allow", "allow_always")
REJECT: Final = PermissionOption("reject", "Deny", "reject_once")
STOP: Final = PermissionOption("stop", "Deny and stop", "reject_once")

LOOP: Final = "doom_loop"
PATTERNS: Final = "patterns"
"""What an ask is about, where its program says nothing else of it: files, mostly. A rule may deny by them, and none allows."""
FILES: Final = frozenset({"read", "edit", "list", "external_directory"})
"""Asks whose patterns are files."""
AGAIN: Final = "The same again: "
NOT_ALLOWED: Final = "The person did not allow this."
SEVERAL: Final = "multiple"
WHY_MOST: Final = 500

_encode = msgspec.json.Encoder().encode


class OpencodePlugin:
    """Implements ``PluginDialect``."""

    settings = "tui.jsonc"
    plugins = "plugin"
    file = "opencode.js"

    def item(self, path: str, options: Json) -> Any:
        """A plugin with options is a pair."""
        return [path, options]

    def path_in(self, item: Any) -> str:
        """A plugin without options is its path alone."""
        named = item[0] if isinstance(item, list) and item else item
        return named.removeprefix("file://") if isinstance(named, str) else ""

    def read(self, line: bytes) -> list[PluginEvent]:
        """What the plugin told."""
        said = read_object(line) or {}
        told = object_of(said, "properties")
        kind, session_id = text_of(said, "type"), text_of(told, "sessionID")
        if kind == "trunkline.shows":
            return [Shows(session_id)]
        if kind == "trunkline.done":
            turn_id, why = text_of(told, "id"), text_of(told, "why") or "it was not done"
            return [NotTaken(turn_id, why[:WHY_MOST])] if turn_id and told.get("ok") is not True else []
        events = _in_session(kind, told) if session_id else []
        return [InSession(session_id, event) for event in events]

    def ask(self, asked: Asked, call_id: str, stored: Stored | None) -> PermissionAsk | QuestionAsk:
        """A permission, for the call as the program has stored it; a question comes as a form."""
        form = form_of(asked.questions, SEVERAL)
        if form is not None:
            text = "\n".join(text_in(question, "question") for question in asked.questions)
            return QuestionAsk("", text, _encode(form), tool_call_id=call_id, beyond_turn=True)
        name, given = stored or _told(asked)
        call = called(call_id, name, KINDS.get(name, "other"), given)
        repeats = asked.about == LOOP
        if repeats:
            call["title"] = f"{AGAIN}{call['title']}"
        beyond = [{"path": path} for path in _beyond(asked, stored)]
        if beyond:
            call["locations"] = [*call.get("locations", ()), *beyond]
        return PermissionAsk("", _encode(call), (ONCE, ALWAYS, REJECT, STOP), beyond_turn=True,
                             rules_allow=asked.is_alone and not repeats and (stored is not None or PATTERNS not in asked.given))

    def decided(self, key: str, option_id: str | None, reason: str | None) -> bytes:
        """What a decision is for the program."""
        if option_id in (ONCE.option_id, ALWAYS.option_id):
            return _order("reply", requestID=key, reply="once")
        if option_id == REJECT.option_id:
            return _order("reply", requestID=key, reply="reject", message=reason or NOT_ALLOWED)
        return _order("reply", requestID=key, reply="reject") if option_id == STOP.option_id else b""

    def answered(self, asked: Asked, action: str, content: bytes | None) -> bytes:
        """What was chosen, question by question; a question that somebody declined is that."""
        if action == "accept":
            answers = chosen_in(asked.questions, SEVERAL, read_object(content or b"") or {})
            return _order("answer", requestID=asked.key, answers=answers)
        return _order("decline", requestID=asked.key) if action == "decline" else b""

    def check_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Texts, images and files are taken."""
        for raw in blocks:
            _part(raw)

    def prompt(self, session_id: str, turn_id: str, blocks: Sequence[msgspec.Raw]) -> bytes:
        """It is shown in the terminal as if it had been typed there."""
        return _order("prompt", id=turn_id, sessionID=session_id, parts=[_part(raw) for raw in blocks])

    def cancel(self, session_id: str) -> bytes:
        """As the person's Esc."""
        return _order("abort", sessionID=session_id)


def _in_session(kind: str, told: Json) -> list[Asked | AskOver | Says | Said | Works]:
    key = text_of(told, "id" if kind.endswith(".asked") else "requestID")
    match kind:
        case "permission.asked" | "question.asked" if key:
            return [_asked(key, told)]
        case "permission.replied" if key:
            return [AskOver(key, told.get("reply") != "reject")]
        case "question.replied" | "question.rejected" if key:
            return [AskOver(key)]
        case "trunkline.words" if text_of(told, "partID") and text_of(told, "text"):
            return [Says(text_of(told, "partID"), text_of(told, "text"), told.get("thinking") is True)]
        case "trunkline.whole":
            return [Said(text_of(told, "text") or None)]
        case "session.status":
            return [Works(object_of(told, "status").get("type") != "idle")]
        case "session.idle":
            return [Works(False)]
    return []


def _asked(key: str, told: Json) -> Asked:
    patterns = _texts(told.get("patterns"))
    return Asked(key=key, call_id=text_of(object_of(told, "tool"), "callID"), about=text_of(told, "permission") or "question",
                 given=object_of(told, "metadata") or ({PATTERNS: patterns} if patterns else {}),
                 questions=questions_in(told.get("questions")), is_alone=told.get("alone") is True)


def _told(asked: Asked) -> Stored:
    """The call as the plugin told it; one that repeats itself is named beside its input."""
    name = text_of(asked.given, "tool") if asked.about == LOOP else ""
    return (name, object_of(asked.given, "input")) if name else (asked.about, asked.given)


def _beyond(asked: Asked, stored: Stored | None) -> list[str]:
    """Files and folders that an ask names beside the call's own."""
    is_all = stored is None and asked.about in FILES
    return _texts(asked.given.get("directories")) + (_texts(asked.given.get(PATTERNS)) if is_all else [])


def _part(raw: msgspec.Raw) -> Json:
    match read_lenient(bytes(raw), ContentBlock):
        case TextContent(text=text):
            return {"type": "text", "text": text}
        case ImageContent(data=data, mime_type=mime):
            return {"type": "file", "mime": mime, "url": f"data:{mime};base64,{data}"}
        case ResourceLink(uri=uri, name=name, mime_type=mime) if uri.startswith("file://"):
            return {"type": "file", "mime": mime or "text/plain", "url": uri, "filename": name}
    raise Unsupported("OpenCode takes texts, images and files in prompts")


def _order(does: str, **with_these: Any) -> bytes:
    return _encode({"do": does, **with_these}) + b"\n"


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


PLUGIN: Final = OpencodePlugin()
