"""What the CLI asks of people (``can_use_tool``, ``elicitation``) as asks and questions of ours, and the lines that answer.

Rule 1: an ask is known by the CLI's request id and by ours, never by "the current tool": several are open at once.
Rule 2: an allowed call always gets its whole input back: builds before 2.1.200 fail without it.
Rule 3: nothing that a person answers is written into the CLI's settings: a rule that it is given lasts for its session.
Rule 4: an ask that is not open any more is answered by nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from trunkline.dialects.claude.calls import tools
from trunkline.dialects.claude.control import outgoing
from trunkline.dialects.claude.control.questions import answers_of, form_of, question_text
from trunkline.dialects.outside import BROKEN, Json
from trunkline.dialects.signals import AskWithdrawn, PermissionAsk, PermissionOption, QuestionAsk, Signal

ALLOW: Final = PermissionOption("allow", "Allow", "allow_once")
ALWAYS: Final = PermissionOption("allow_always", "Always allow", "allow_always")
DENY: Final = PermissionOption("reject", "Deny", "reject_once")
STOP: Final = PermissionOption("cancel", "Deny and stop", "reject_once")

APPROVALS: Final = (
    PermissionOption("default", "Approve, and ask before each change", "allow_once"),
    PermissionOption("acceptEdits", "Approve, and accept changes of files", "allow_once"),
    PermissionOption("plan", "Keep planning", "reject_once"),
    STOP,
)
"""How a plan is answered: by the mode in which the CLI goes on."""

QUESTION: Final = "AskUserQuestion"
PLAN: Final = "ExitPlanMode"
NO_ALWAYS: Final = ("matched_ask_rule", "suppress_always_allow_rule", "requires_user_interaction")
"""Members of an ask that say that it will be asked again whatever rule there is."""

_encode = msgspec.json.Encoder().encode


class Open(msgspec.Struct, kw_only=True):
    """An ask that waits for its answer."""

    cli_id: str
    tool: str
    call_id: str
    given: Json
    suggestions: list[Any]
    elicited: bool = False


class ClaudeAsks:
    """The asks of one CLI process."""

    def __init__(self, new_id: Callable[[str], str]) -> None:
        self._new_id = new_id
        self._open: dict[str, Open] = {}

    def can_use_tool(self, cli_id: str, request: Json, known: Json, parent: str | None) -> PermissionAsk | QuestionAsk:
        """The CLI wants to know whether a tool may run. ``known`` is the input as the model wrote it, ``parent`` the call whose
        sub-agent asks."""
        tool, given = _text(request, "tool_name"), request.get("input")
        given = given if isinstance(given, dict) else {}
        suggestions = request.get("permission_suggestions")
        ask_id = self._new_id("req")
        call_id = _text(request, "tool_use_id") or ask_id
        self._open[ask_id] = Open(cli_id=cli_id, tool=tool, call_id=call_id, given=given,
                                  suggestions=suggestions if isinstance(suggestions, list) else [])
        if tool == QUESTION and (form := form_of(given)) is not None:
            return QuestionAsk(ask_id, question_text(given), _encode(form), tool_call_id=call_id)
        # Newer builds keep the plan for themselves unless it is in a file; the model wrote it all the same.
        shown = {**known, **given} if tool == PLAN else given
        call = _call_of_ask(call_id, tool, shown, request, parent)
        options = APPROVALS if tool == PLAN else _options(request)
        return PermissionAsk(ask_id, _encode(call), options, editable=tool not in (PLAN, QUESTION))

    def elicitation(self, cli_id: str, request: Json) -> QuestionAsk:
        """A server of the CLI's wants to know something."""
        ask_id = self._new_id("req")
        self._open[ask_id] = Open(cli_id=cli_id, tool="", call_id="", given={}, suggestions=[], elicited=True)
        schema = request.get("requested_schema")
        server = _text(request, "mcp_server_name")
        message = _text(request, "message") or (f"{server} asks" if server else "A server asks")
        return QuestionAsk(ask_id, message, _encode(schema) if isinstance(schema, dict) else None, _text(request, "url") or None)

    def is_open(self, cli_id: str) -> bool:
        """Whether an ask of the CLI's waits under this id."""
        return any(ask.cli_id == cli_id for ask in self._open.values())

    def withdraw(self, cli_id: str) -> list[Signal]:
        """The CLI took an ask back."""
        taken = [ask_id for ask_id, ask in self._open.items() if ask.cli_id == cli_id]
        for ask_id in taken:
            del self._open[ask_id]
        return [AskWithdrawn(ask_id) for ask_id in taken]

    def decide(self, ask_id: str, option_id: str | None, reason: str | None, edited: bytes | None) -> tuple[Open, bytes] | None:
        """The ask and the line that answers it; None where it is not open."""
        ask = self._open.pop(ask_id, None)
        if ask is None:
            return None
        if ask.elicited:
            return ask, outgoing.succeeded(ask.cli_id, {"action": "cancel"})
        if option_id in (ALLOW.option_id, ALWAYS.option_id, "default", "acceptEdits"):
            ask.given = _edited(ask.given, edited)
            return ask, outgoing.succeeded(ask.cli_id, _allowed(ask, option_id))
        return ask, outgoing.succeeded(ask.cli_id, denied(reason, stop=option_id == STOP.option_id))

    def answer(self, ask_id: str, action: str, content: bytes | None) -> bytes | None:
        """The line that answers a question; None where it is not open."""
        ask = self._open.pop(ask_id, None)
        if ask is None:
            return None
        answers = object_in(content)
        if ask.elicited:
            return outgoing.succeeded(ask.cli_id, {"action": action, **({"content": answers} if action == "accept" else {})})
        if action != "accept":
            return outgoing.succeeded(ask.cli_id, denied("The person did not answer the question."))
        given = {**ask.given, "answers": answers_of(ask.given, answers)}
        return outgoing.succeeded(ask.cli_id, {"behavior": "allow", "updatedInput": given})


def _call_of_ask(call_id: str, tool: str, given: Json, request: Json, parent: str | None) -> Json:
    """The call that is asked about, as an update of the one that was announced already."""
    call = tools.described(call_id, tool, given)
    title = _text(request, "title")
    if title:
        call["title"] = title
    blocked = _text(request, "blocked_path")
    if blocked and "locations" not in call:
        call["locations"] = [{"path": blocked}]
    remarks: Json = call["_meta"]["claudeCode"]
    if parent is not None:
        remarks["parentToolUseId"] = parent
    for theirs, ours in (("decision_reason", "decisionReason"), ("decision_reason_type", "decisionReasonType")):
        if _text(request, theirs):
            remarks[ours] = _text(request, theirs)
    return call


def _options(request: Json) -> tuple[PermissionOption, ...]:
    always = () if any(request.get(name) for name in NO_ALWAYS) else (ALWAYS,)
    return (ALLOW, *always, DENY, STOP)


def _allowed(ask: Open, option_id: str) -> Json:
    answer: Json = {"behavior": "allow", "updatedInput": ask.given}
    if ask.tool == PLAN:
        mode = option_id if option_id == "acceptEdits" else "default"
        answer["updatedPermissions"] = [{"type": "setMode", "mode": mode, "destination": "session"}]
    elif option_id == ALWAYS.option_id:
        answer["updatedPermissions"] = _session_rules(ask)
    return answer


def _session_rules(ask: Open) -> list[Json]:
    """The rules that the CLI itself proposed, for this session only; where it proposed none, one for the tool."""
    rules = [{**rule, "destination": "session"} for rule in ask.suggestions
             if isinstance(rule, dict) and rule.get("type") == "addRules" and rule.get("behavior") == "allow"]
    whole: Json = {"type": "addRules", "rules": [{"toolName": ask.tool}], "behavior": "allow", "destination": "session"}
    return rules or [whole]


def denied(reason: str | None, *, stop: bool = False) -> Json:
    """What the CLI reads as a no."""
    answer: Json = {"behavior": "deny", "message": reason or "The person did not allow this."}
    return {**answer, "interrupt": True} if stop else answer


def _edited(given: Json, edited: bytes | None) -> Json:
    """The input to run with. An edit that cannot be read never stands for the input as it was."""
    return given if edited is None else object_in(edited)


def object_in(raw: bytes | None) -> Json:
    """A JSON object; an empty one for anything else."""
    try:
        value = msgspec.json.decode(raw or b"{}")
    except BROKEN:
        return {}
    return value if isinstance(value, dict) else {}


def _text(fields: Json, name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
