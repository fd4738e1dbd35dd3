"""What Codex's daemon asks its clients, as asks; and what it takes for an answer.

Rule 1: an answer is one that the ask offers. "Always" is a rule of ours: the daemon is told of this one call.
Rule 2: an ask for more than its one call (a folder for all of the session) is the terminal's. Rules of ours are about calls:
where a command asks for a network or for further rights, or an ask does not say all that it is about, none allows it.
Rule 3: what a person should not type into another screen (a secret) is not asked here.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec.structs import replace

from trunkline.dialects.codex.patch import diffs_of_patch
from trunkline.dialects.elsewhere.transcripts import object_of, objects_of, text_of
from trunkline.dialects.outside import BROKEN, Json
from trunkline.dialects.signals import OTHER_WORDS, PermissionAsk, PermissionOption, QuestionAsk

ALLOW: Final = PermissionOption("allow", "Allow", "allow_once")
ALWAYS: Final = PermissionOption("always", "Always allow", "allow_always")
DENY: Final = PermissionOption("deny", "Deny", "reject_once")
REASON: Final = "That was not allowed: "
"""Begins the prompt that says why."""

EDIT_DECISIONS: Final = frozenset({"accept", "decline", "cancel"})
"""What an ask about an edit takes; it does not list them."""
FURTHER: Final = ("networkApprovalContext", "additionalPermissions")
"""What a command may ask for beside being run."""
FOR_PEOPLE: Final = ("/requestApproval", "/requestUserInput", "/elicitation/request")
"""How requests end that ask a person."""
EDITS_MOST: Final = 50
"""Files of one edit whose changes are shown; all are named."""

_encode = msgspec.json.Encoder().encode


class AnyAsk(msgspec.Struct, kw_only=True):
    """An open request of the daemon."""

    id: str | int
    item_id: str
    signal: PermissionAsk | QuestionAsk
    offers: frozenset[str] = frozenset()

    @property
    def is_permission(self) -> bool:
        """Whether it is to be allowed or not."""
        return isinstance(self.signal, PermissionAsk)

    def decision(self, option_id: str | None, reason: str | None) -> tuple[str | None, str]:
        """The daemon's word for a decision, and the prompt that says why it was not allowed; None: no answer."""
        if option_id in (ALLOW.option_id, ALWAYS.option_id):
            return ("accept" if "accept" in self.offers else None), ""
        if option_id != DENY.option_id:
            return None, ""
        if reason and "cancel" in self.offers:
            return "cancel", REASON + reason
        return next((word for word in ("decline", "cancel") if word in self.offers), None), ""

    def answers(self, action: str, content: bytes | None) -> Json | None:
        """The answers to its questions; None where there is no answer from here."""
        given = _object(content) if action == "accept" else None
        if given is None or self.is_permission:
            return None
        found: Json = {}
        for name, value in given.items():
            if isinstance(value, str) and value:
                found.setdefault(name.removesuffix(OTHER_WORDS), {"answers": []})["answers"].append(value)
        return found


class FileAsk(AnyAsk, kw_only=True):
    """One about an edit, whose diff is in another message."""


def read_ask(method: str, request_id: str | int, params: Json) -> AnyAsk | None:
    """A request that asks a person; None for any other."""
    match method:
        case "item/commandExecution/requestApproval":
            return _command_ask(request_id, params)
        case "item/fileChange/requestApproval":
            ask = PermissionAsk("", b"{}", (ALLOW, ALWAYS, DENY), beyond_turn=True)
            item_id = text_of(params, "itemId")
            is_one_call = bool(item_id) and params.get("grantRoot") is None
            return FileAsk(id=request_id, item_id=item_id, signal=ask, offers=EDIT_DECISIONS) if is_one_call else None
        case "item/tool/requestUserInput":
            return _question(request_id, params)
    return None


def left_there(method: str, params: Json) -> str | None:
    """What a person is asked by a request that only the terminal answers, as far as it says so; None for any other request."""
    if not method.endswith(FOR_PEOPLE):
        return None
    asked = [text_of(each, "question") for each in objects_of(params, "questions")]
    return "\n".join(filter(None, [text_of(params, "reason", "message"), *asked]))


def edit_ask(ask: FileAsk, item: Json) -> AnyAsk:
    """The same with the edit that it is about."""
    changes = objects_of(item, "changes")
    places = [path for change in changes for path in _places(change)]
    call = {"toolCallId": ask.item_id, "name": "apply_patch", "kind": "edit", "status": "pending",
            "title": f"Edit {', '.join(places)}"[:200] if places else "Apply a patch",
            **({"locations": [{"path": path} for path in places]} if places else {}),
            **({"content": [diff for change in changes[:EDITS_MOST] for diff in _diffs(change)]} if places else {})}
    assert isinstance(ask.signal, PermissionAsk)
    is_known = bool(changes) and all(map(_places, changes))
    signal = replace(ask.signal, tool_call=_encode(call), rules_allow=is_known)
    return AnyAsk(id=ask.id, item_id=ask.item_id, offers=ask.offers, signal=signal)


def _command_ask(request_id: str | int, params: Json) -> AnyAsk | None:
    item_id, command, offered = text_of(params, "itemId"), text_of(params, "command"), params.get("availableDecisions")
    if not item_id or not isinstance(offered, list):
        return None
    offers = frozenset(each for each in offered if isinstance(each, str))
    given = {name: params[name] for name in ("command", "cwd", *FURTHER) if params.get(name) is not None}
    reason = text_of(params, "reason")
    call = {"toolCallId": item_id, "name": "exec_command", "kind": "execute", "status": "pending",
            "title": command[:200] or "Run a command",  # no reason: a model's words are no command
            "rawInput": {**given, **({"description": reason} if reason else {})}}
    options = ((ALLOW, ALWAYS) if "accept" in offers else ()) + ((DENY,) if offers & {"decline", "cancel"} else ())
    return AnyAsk(id=request_id, item_id=item_id, offers=offers,
                  signal=PermissionAsk("", _encode(call), options, beyond_turn=True,
                                       rules_allow=bool(command) and given.keys().isdisjoint(FURTHER))) if options else None


def _question(request_id: str | int, params: Json) -> AnyAsk | None:
    questions = objects_of(params, "questions")
    if not questions or any(each.get("isSecret") or not text_of(each, "id") for each in questions):
        return None
    fields: Json = {}
    for each in questions:
        fields |= _field(each)
    text = "\n".join(filter(None, (text_of(each, "question") for each in questions)))
    form = {"type": "object", "properties": fields}
    item_id = text_of(params, "itemId")
    ask = QuestionAsk("", text, _encode(form), tool_call_id=item_id or None, beyond_turn=True)
    return AnyAsk(id=request_id, item_id=item_id, signal=ask)


def _field(question: Json) -> Json:
    name, choices = text_of(question, "id"), objects_of(question, "options")
    about = {"type": "string", "title": text_of(question, "header") or name, "description": text_of(question, "question")}
    if not choices:
        return {name: about}
    known = [{"const": label, "title": label, "description": text_of(each, "description")}
             for each in choices if (label := text_of(each, "label"))]
    other = {f"{name}{OTHER_WORDS}": {"type": "string", "title": "Other"}} if question.get("isOther") is True else {}
    return {name: {**about, "oneOf": known}, **other}


def _places(change: Json) -> list[str]:
    """The file, and where it is moved to."""
    moved = text_of(object_of(change, "kind"), "move_path", "movePath")
    return [path for path in (text_of(change, "path"), moved) if path]


def _diffs(change: Json) -> list[Json]:
    """One file's part of an edit: the text of a new or deleted one, pieces of a changed one."""
    path, diff = text_of(change, "path"), text_of(change, "diff")
    match object_of(change, "kind").get("type"):
        case "add":
            return [{"type": "diff", "path": path, "newText": diff}]
        case "delete":
            return [{"type": "diff", "path": path, "oldText": diff, "newText": ""}]
    return diffs_of_patch(f"*** Update File: {path}\n{diff}", "/") if path else []


def _object(content: bytes | None) -> dict[str, Any] | None:
    try:
        read = msgspec.json.decode(content or b"null")
    except BROKEN:
        return None
    return read if isinstance(read, dict) else None
