"""Control requests, both ways: what the CLI asks of us (may a tool run, a question), and its answers to what we asked of it.

Rule 1: what we do not serve is refused at once, so that the CLI does not wait.
Rule 2: what is too long to be looked at is refused: nobody can judge it.
Rule 3: an ask of a task in the background, or of a turn that nobody asked for, does not end with a turn of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

import msgspec

from trunkline.dialects.claude.calls.calls import ToolCalls
from trunkline.dialects.claude.calls.tools import text_in
from trunkline.dialects.claude.control import outgoing
from trunkline.dialects.claude.control.asks import ClaudeAsks
from trunkline.dialects.claude.conversation.turns import CliTurns
from trunkline.dialects.claude.frames.large import LARGE_LINE
from trunkline.dialects.claude.frames.types import ControlResponseFrame, TaskFrame
from trunkline.dialects.notes import AgentNote, CustomNote, RuledOut
from trunkline.dialects.outside import Json
from trunkline.dialects.signals import PermissionAsk, QuestionAsk, Signal

TOO_LARGE: Final = f"it says more than {LARGE_LINE >> 20} MiB, which neither a rule nor a person can look at"

_encode = msgspec.json.Encoder().encode


class Ruling(msgspec.Struct, frozen=True):
    """What rules have against a tool that is about to run, and why."""

    action: Literal["ask", "deny"]
    why: str


class AboutToRun(msgspec.Struct, frozen=True):
    """A tool that the CLI holds back until the rules have decided; ``given`` is its input as JSON."""

    cli_id: str
    call_id: str
    tool: str
    given: bytes


class ControlAnswer(msgspec.Struct, frozen=True):
    """What the CLI answered to a control request of ours; ``body`` is the answer's own JSON, ``null`` where it has none."""

    request_id: str
    ok: bool
    body: bytes = b"null"
    error: str | None = None


class ControlRequests:
    """The control requests of one CLI process, and the asks among them that are open."""

    def __init__(self, new_id: Callable[[str], str], calls: ToolCalls, turns: CliTurns) -> None:
        self._asks = ClaudeAsks(new_id)
        self._calls = calls
        self._turns = turns
        self._about_to_run: list[AboutToRun] = []
        self._answers: list[ControlAnswer] = []
        self._output: list[bytes] = []
        self._agents: dict[str, str] = {}
        """Sub-agents that run, by the CLI's ids, and the calls that started them."""
        self._background: set[str] = set()
        """Those of them that go on when the turn ends."""

    def withdraw(self, cli_id: str) -> list[Signal]:
        """The CLI takes an ask back."""
        return self._asks.withdraw(cli_id)

    def follow_task(self, kind: str, frame: TaskFrame) -> None:
        """A sub-agent begins, goes to the background or ends: its asks are known by it."""
        if kind == "task_started" and frame.tool_use_id:
            self._agents[frame.task_id] = frame.tool_use_id
        if kind == "task_notification":
            self._agents.pop(frame.task_id, None)
            self._background.discard(frame.task_id)
        if frame.is_backgrounded:
            self._background.add(frame.task_id)

    def on_answer(self, frame: ControlResponseFrame) -> ControlAnswer:
        """The CLI answered a request of ours, or refused it."""
        response = frame.response
        ok = response.subtype == "success"
        answer = ControlAnswer(response.request_id, ok, bytes(response.response),
                               None if ok else response.error or response.error_code or "refused")
        self._answers.append(answer)
        return answer

    def on_pending(self, pending: Any) -> list[Signal]:
        """Asks that were open when the CLI answered; those that are known are not asked again."""
        signals: list[Signal] = []
        for ask in pending if isinstance(pending, list) else []:
            cli_id = text_in(ask, "request_id") if isinstance(ask, dict) else ""
            if cli_id and not self._asks.is_open(cli_id):
                signals += self.on_request(cli_id, ask.get("request"), _encode(ask))
        return signals

    def on_request(self, cli_id: str, request: Any, line: bytes) -> list[Signal]:
        """The CLI asks something of us."""
        fields = request if isinstance(request, dict) else {}
        match fields.get("subtype"):
            case "can_use_tool":
                known = self._calls.input_of(text_in(fields, "tool_use_id"))
                agent = text_in(fields, "agent_id")
                ask = self._asks.can_use_tool(cli_id, fields, known, self._agents.get(agent))
                return [self._in_its_turn(ask, agent in self._background)]
            case "elicitation":
                return [self._in_its_turn(self._asks.elicitation(cli_id, fields), False)]
            case "hook_callback":
                return self._gated(cli_id, fields)
        self._output.append(outgoing.failed(cli_id, f"{fields.get('subtype')} is not served here"))
        return [CustomNote("control_request", line)]

    def _gated(self, cli_id: str, fields: Json) -> list[Signal]:
        """A tool is about to run: whoever knows the rules has to decide (``ruled``)."""
        given = fields.get("input")
        given = given if isinstance(given, dict) else {}
        if given.get("hook_event_name") == "PreToolUse":
            call_id = text_in(fields, "tool_use_id") or text_in(given, "tool_use_id")
            tool = text_in(given, "tool_name")
            self._about_to_run.append(AboutToRun(cli_id, call_id, tool, _encode(given.get("tool_input"))))
        else:
            self._output.append(outgoing.succeeded(cli_id, {}))
        return []

    def _in_its_turn(self, ask: PermissionAsk | QuestionAsk, in_background: bool) -> Signal:
        """An ask of a task in the background, or of a turn that nobody asked for, does not end with a turn of ours."""
        return ask if self._turns.is_ours and not in_background else msgspec.structs.replace(ask, beyond_turn=True)

    def refuse(self, cli_id: str, request: Any) -> list[Signal]:
        """Nobody can judge what is too long to be looked at."""
        fields: Json = request if isinstance(request, dict) else {}
        given = fields.get("input")
        given = given if isinstance(given, dict) else {}
        call_id = text_in(fields, "tool_use_id") or text_in(given, "tool_use_id")
        match fields.get("subtype"):
            case "can_use_tool":
                self._output.append(outgoing.succeeded(cli_id, {"behavior": "deny", "message": TOO_LARGE}))
                return [AgentNote(RuledOut(call_id, text_in(fields, "tool_name"), TOO_LARGE))]
            case "hook_callback":
                return self.ruled(AboutToRun(cli_id, call_id, text_in(given, "tool_name"), b""), Ruling("deny", TOO_LARGE))
        self._output.append(outgoing.failed(cli_id, TOO_LARGE))
        return []

    def ruled(self, about: AboutToRun, ruling: Ruling | None) -> list[Signal]:
        """The rules have decided on a tool. With nothing against it, the CLI asks or does not ask as it always does."""
        if ruling is None:
            self._output.append(outgoing.succeeded(about.cli_id, {}))
            return []
        self._output.append(outgoing.gated(about.cli_id, ruling.action, ruling.why))
        if ruling.action == "ask":
            return []
        return [AgentNote(RuledOut(about.call_id, about.tool, ruling.why))]

    def take_about_to_run(self) -> list[AboutToRun]:
        """The tools that wait for the rules, to be answered by ``ruled``."""
        waiting, self._about_to_run = self._about_to_run, []
        return waiting

    def take_answers(self) -> list[ControlAnswer]:
        """Answers to our control requests since the last call."""
        answers, self._answers = self._answers, []
        return answers

    def take_output(self) -> list[bytes]:
        """Lines to write that nobody has to decide on (a control request that we do not serve)."""
        output, self._output = self._output, []
        return output

    def answer_permission(self, request_id: str, option_id: str | None, *, reason: str | None = None,
                          updated_input: bytes | None = None) -> bytes | None:
        """The line that answers an ask; None where it is no longer open. ``option_id`` None denies."""
        decided = self._asks.decide(request_id, option_id, reason, updated_input)
        if decided is None:
            return None
        ask, line = decided
        self._calls.edited(ask.call_id, ask.given)
        return line

    def answer_question(self, request_id: str, action: str, content: bytes | None) -> bytes | None:
        """The line that answers a question (accept, decline, cancel); None where it is no longer open."""
        return self._asks.answer(request_id, action, content)
