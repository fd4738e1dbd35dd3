"""Asks of a running turn: one at a time, withdrawn when others answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.cli.terminal.test_screen import Out
from tests.client.scripted import Exchange, served
from trunkline.cli.terminal.ask import Keyboard, Policy, TerminalAsks
from trunkline.cli.terminal.card import PREVIEW_LINES, REST_S
from trunkline.cli.terminal.outlet import Outlet
from trunkline.cli.terminal.screen import Screen
from trunkline.client import Client
from trunkline.dialects.context.types import ASKED_ANEW


class Typist(Keyboard):
    """A keyboard that a test types on."""

    def __init__(self) -> None:
        super().__init__(-1)
        self.lines: asyncio.Queue[str | None] = asyncio.Queue()
        self.pace = REST_S
        """Seconds until somebody answers."""
        self.now = 0.0
        self.waiting = asyncio.Event()

    def forget(self) -> None:
        """Nothing is typed ahead here."""

    async def line(self) -> str:
        """The next line; None stands for Ctrl-D."""
        self.waiting.set()
        typed = await self.lines.get()
        self.waiting.clear()
        self.now += self.pace
        if typed is None:
            raise EOFError
        return typed


def _approval(number: int) -> dict[str, Any]:
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"}]
    return {"type": "approval_requested", "requestId": f"r{number}", "title": "Write", "options": options}


class Noticed(Out):
    """A stream that says when something was written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = asyncio.Event()

    def flush(self) -> None:
        """What was written is there."""
        self.written.set()


class Stage:
    """Asks on a screen, a hub that takes the answers, and a typist."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.answers: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self.typist = Typist()
        self.out = Noticed()
        self.outlet: Outlet | None = None
        self.in_line = False
        self.status: Callable[[str], tuple[int, object]] = lambda path: (200, {})

    async def handle(self, exchange: Exchange) -> None:
        """Take an answer."""
        await self.answers.put((exchange.path, msgspec.json.decode(exchange.body)))
        await exchange.json(*self.status(exchange.path))

    def play(self, scene: Callable[[TerminalAsks], Any]) -> None:
        """Run a scene."""

        async def whole() -> None:
            async with served(self.handle) as hub, Client(hub.url) as client:
                screen = Screen(self.out, terminal=True, colour=False)
                asks = TerminalAsks(client, "s", screen, self.policy, self.typist, lambda: self.typist.now, outlet=self.outlet,
                                    in_line=lambda: self.in_line)
                await scene(asks)
                await asks.close()

        run(whole())


class Slow(Outlet):
    """A pipe whose reader takes its time."""

    def __init__(self) -> None:
        super().__init__(Out())
        self.waits, self.is_read = asyncio.Event(), asyncio.Event()

    async def drained(self, tell: Callable[[], None]) -> None:
        """Until the test says so."""
        self.waits.set()
        await self.is_read.wait()


@pytest.mark.parametrize("is_answered", [False, True])
def test_nothing_is_asked_before_what_was_written_is_read_and_what_others_answer_by_then_is_not_asked(is_answered: bool) -> None:
    stage = Stage("ask")

    async def scene(asks: TerminalAsks) -> None:
        assert isinstance(stage.outlet, Slow)
        asks.see(_approval(1))
        await stage.outlet.waits.wait()
        assert asks.holds_screen and stage.out.getvalue() == ""
        if is_answered:
            asks.see({"type": "approval_resolved", "requestId": "r1", "approved": True})
            assert not asks.holds_screen
        asks.see(_approval(2))
        stage.outlet.is_read.set()
        await stage.typist.lines.put("n")
        assert (await stage.answers.get())[0] == f"/sessions/s/permissions/{'r2' if is_answered else 'r1'}"

    stage.outlet = Slow()
    stage.play(scene)


def test_two_asks_are_answered_one_after_the_other() -> None:
    stage = Stage("ask")

    async def scene(asks: TerminalAsks) -> None:
        asks.see(_approval(1))
        asks.see(_approval(2))
        await stage.typist.lines.put("y")
        assert await stage.answers.get() == ("/sessions/s/permissions/r1", {"decision": "allow", "scope": "once"})
        await stage.typist.lines.put("2")
        assert await stage.answers.get() == ("/sessions/s/permissions/r2", {"optionId": "no"})

    stage.play(scene)


def test_always_is_a_scope() -> None:
    stage = Stage("ask")

    async def scene(asks: TerminalAsks) -> None:
        asks.see(_approval(1))
        await stage.typist.lines.put("Always")
        assert (await stage.answers.get())[1] == {"decision": "allow", "scope": "always"}

    stage.play(scene)


@pytest.mark.parametrize(("typed", "sent"), [
    ("a", {"decision": "allow", "scope": "once"}), ("y", {"decision": "allow", "scope": "once"}),
    ("l", {"decision": "allow", "scope": "always"}), ("d", {"decision": "deny", "scope": "once"})])
def test_the_letters_mean_what_they_mean_on_the_page_and_in_a_chat(typed: str, sent: object) -> None:
    stage = Stage("ask")

    async def scene(asks: TerminalAsks) -> None:
        asks.see(_approval(1))
        await stage.typist.lines.put(typed)
        assert (await stage.answers.get())[1] == sent

    stage.play(scene)


def test_an_ask_that_has_no_always_is_asked_again() -> None:
    stage = Stage("ask")
    why = "there is nothing that a rule could be about"
    stage.status = lambda path: (400, {"code": "invalid", "message": why, "recoverable": True})

    async def scene(asks: TerminalAsks) -> None:
        asks.see(_approval(1))
        await stage.typist.lines.put("l")
        assert (await stage.answers.get())[1] == {"decision": "allow", "scope": "always"}
        stage.status = lambda path: (200, {})
        await stage.typist.lines.put("y")
        assert (await stage.answers.get())[1] == {"decision": "allow", "scope": "once"}
        assert why in stage.out.getvalue()

    stage.play(scene)


def test_what_somebody_else_answered_is_not_asked_any_more() -> None:
    stage = Stage("ask")

    async def scene(asks: TerminalAsks) -> None:
        for number in (1, 2, 3):
            asks.see(_approval(number))
        await stage.typist.waiting.wait()
        assert asks.prompt_is_open
        stage.typist.waiting.clear()
        asks.see({"type": "approval_resolved", "requestId": "r2", "approved": True})
        asks.see({"type": "approval_resolved", "requestId": "r1", "approved": True})
        await stage.typist.waiting.wait()
        await stage.typist.lines.put("n")
        assert (await stage.answers.get())[0] == "/sessions/s/permissions/r3"
        assert stage.answers.empty()

    stage.play(scene)


def test_what_is_typed_as_one_ask_takes_the_place_of_another_approves_nothing() -> None:
    stage = Stage("ask")

    async def scene(asks: TerminalAsks) -> None:
        asks.see(_approval(1))
        await stage.typist.waiting.wait()
        stage.typist.waiting.clear()
        asks.see({"type": "approval_resolved", "requestId": "r1", "approved": False, "reason": ASKED_ANEW})
        asks.see(_approval(2))
        stage.typist.pace = 0.3
        for early in ("a", "l", "1"):
            await stage.typist.waiting.wait()
            stage.typist.waiting.clear()
            await stage.typist.lines.put(early)
        await stage.typist.waiting.wait()
        stage.typist.pace = REST_S
        await stage.typist.lines.put("y")
        assert await stage.answers.get() == ("/sessions/s/permissions/r2", {"decision": "allow", "scope": "once"})

    stage.play(scene)
    assert stage.answers.empty()
    assert stage.out.getvalue().count("only just appeared") == 3


@pytest.mark.parametrize(("typed", "sent"), [("d", {"decision": "deny", "scope": "once"}), ("2", {"optionId": "no"})])
def test_who_denies_need_not_wait(typed: str, sent: object) -> None:
    stage = Stage("ask")
    stage.typist.pace = 0

    async def scene(asks: TerminalAsks) -> None:
        asks.see(_approval(1))
        await stage.typist.lines.put(typed)
        assert (await stage.answers.get())[1] == sent

    stage.play(scene)


def test_what_is_cut_is_approved_after_all_of_it_was_shown() -> None:
    stage = Stage("ask")
    lines = "\n".join(f"+{number}" for number in range(PREVIEW_LINES + 10))

    async def scene(asks: TerminalAsks) -> None:
        asks.see({**_approval(1), "preview": {"type": "diff", "diff": lines}})
        for typed in ("y", "v", "", "y"):
            await stage.typist.lines.put(typed)
        assert (await stage.answers.get())[1] == {"decision": "allow", "scope": "once"}

    stage.play(scene)
    shown = stage.out.getvalue()
    assert stage.answers.empty() and "[v]iew all" in shown
    assert shown.index("v shows the rest") < shown.index(f"+{PREVIEW_LINES + 9}")


def test_an_answer_that_comes_too_late_is_told_and_the_next_is_asked() -> None:
    stage = Stage("ask")
    late = {"code": "already_resolved", "message": "ann was first"}
    stage.status = lambda path: (409, late) if path.endswith("r1") else (200, {})

    async def scene(asks: TerminalAsks) -> None:
        asks.see(_approval(1))
        asks.see(_approval(2))
        await stage.typist.lines.put("y")
        await stage.answers.get()
        await stage.typist.lines.put("y")
        assert (await stage.answers.get())[0] == "/sessions/s/permissions/r2"

    stage.play(scene)
    assert "ann was first" in stage.out.getvalue()


def test_closing_the_input_leaves_it_to_others() -> None:
    stage = Stage("ask")

    async def scene(asks: TerminalAsks) -> None:
        asks.see(_approval(1))
        await stage.typist.lines.put(None)
        asks.see(_approval(2))
        await stage.typist.lines.put("y")
        assert (await stage.answers.get())[0] == "/sessions/s/permissions/r2"

    stage.play(scene)
    assert "left for somebody else" in stage.out.getvalue()


def test_a_hub_that_fails_is_told_and_the_next_is_asked() -> None:
    stage = Stage("allow")
    stage.status = lambda path: (500, {"code": "internal", "message": "broken"}) if path.endswith("r1") else (200, {})

    async def scene(asks: TerminalAsks) -> None:
        asks.see(_approval(1))
        asks.see(_approval(2))
        assert [(await stage.answers.get())[0][-2:] for _ in range(2)] == ["r1", "r2"]

    stage.play(scene)
    assert "broken" in stage.out.getvalue()


def test_allow_is_about_permissions_and_questions_are_declined() -> None:
    stage = Stage("allow")

    async def scene(asks: TerminalAsks) -> None:
        asks.see({"type": "question_requested", "questionId": "q", "question": "why?"})
        assert await stage.answers.get() == ("/sessions/s/questions/q", {"action": "decline"})

    stage.play(scene)


def test_a_form_that_the_hub_refuses_is_filled_in_again() -> None:
    stage = Stage("ask")
    refused = {"code": "invalid", "message": "n must be at least 2", "recoverable": True}
    answers = iter([(400, refused), (200, {})])
    stage.status = lambda path: next(answers)

    async def scene(asks: TerminalAsks) -> None:
        schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 2}}, "required": ["n"]}
        asks.see({"type": "question_requested", "questionId": "q", "question": "how many?", "schema": schema})
        for typed in (1, 2):
            await stage.typist.lines.put(str(typed))
            assert await stage.answers.get() == ("/sessions/s/questions/q", {"action": "accept", "content": {"n": typed}})

    stage.play(scene)
    assert "at least 2" in stage.out.getvalue()


def test_a_form_without_fields_is_agreed_to_or_declined() -> None:
    stage = Stage("ask")

    async def scene(asks: TerminalAsks) -> None:
        for typed, said in (("", {"action": "accept", "content": {}}), ("n", {"action": "decline"})):
            asks.see({"type": "question_requested", "questionId": "q", "question": "agreed?", "schema": {"type": "object"}})
            await stage.typist.lines.put(typed)
            assert await stage.answers.get() == ("/sessions/s/questions/q", said)

    stage.play(scene)


def test_without_a_terminal_nothing_is_answered() -> None:
    stage = Stage("wait")

    async def scene(asks: TerminalAsks) -> None:
        asks.see(_approval(1))
        await stage.out.written.wait()
        assert stage.answers.empty()

    stage.play(scene)
    assert "waiting for somebody to answer at http://127.0.0.1:" in stage.out.getvalue()


@pytest.mark.parametrize("question", [
    {"schema": {"type": "object"}}, {"url": "https://example.com"},
    {"schema": {"properties": {"ok": {"type": "boolean", "default": True}}}},
])
def test_what_is_typed_as_a_question_appears_is_no_answer_to_it(question: dict[str, Any]) -> None:
    stage = Stage("ask")
    stage.typist.pace = 0.3

    async def scene(asks: TerminalAsks) -> None:
        asks.see({"type": "question_requested", "questionId": "q", "question": "delete all?", **question})
        for _ in range(3):
            await stage.typist.lines.put("")
        await stage.typist.lines.put("")
        assert (await stage.answers.get())[1]["action"] == "accept"

    stage.play(scene)
    assert stage.out.getvalue().count("only just appeared") == 3


@pytest.mark.parametrize("question", [
    {"schema": {"type": "object"}}, {"url": "https://example.com"}, {},
    {"schema": {"properties": {"x": {"type": "string"}}, "required": ["x"]}},
])
def test_every_question_can_be_declined_at_once(question: dict[str, Any]) -> None:
    stage = Stage("ask")
    stage.typist.pace = 0

    async def scene(asks: TerminalAsks) -> None:
        asks.see({"type": "question_requested", "questionId": "q", "question": "your name?", **question})
        await stage.typist.lines.put(":decline")
        assert await stage.answers.get() == ("/sessions/s/questions/q", {"action": "decline"})

    stage.play(scene)
    assert stage.answers.empty()


def test_what_the_hub_refuses_with_is_a_line() -> None:
    stage = Stage("ask")
    why = "no option x\n\n  ? permission wanted (low risk): Run: ls\n    1  Allow\x1b[2J" + "y" * 5_000
    stage.status = lambda path: (400, {"code": "invalid", "message": why, "recoverable": True})

    async def scene(asks: TerminalAsks) -> None:
        asks.see(_approval(1))
        await stage.typist.lines.put("y")
        await stage.answers.get()
        stage.status = lambda path: (409, {"code": "already_resolved", "message": why})
        await stage.typist.lines.put("y")
        await stage.answers.get()
        asks.see(_approval(2))  # which is asked when all of that was told
        await stage.typist.lines.put("n")
        await stage.answers.get()

    stage.play(scene)
    (first, second) = [line for line in stage.out.getvalue().split("\n") if "no option x" in line]
    assert all("x ⏎ ⏎ ? permission wanted (low risk): Run: ls" in line and len(line) < 1_100 for line in (first, second))


def test_two_options_of_one_id_are_both_taken_for_the_worse_of_them() -> None:
    stage = Stage("ask")
    stage.typist.pace = 0.3
    options = [{"optionId": "x", "name": "Allow", "kind": "allow_once"},
               {"optionId": "x", "name": "Reject", "kind": "reject_once"}]

    async def scene(asks: TerminalAsks) -> None:
        asks.see({**_approval(1), "options": options})
        await stage.typist.lines.put("2")
        await stage.typist.lines.put("n")
        assert (await stage.answers.get())[1] == {"decision": "deny", "scope": "once"}

    stage.play(scene)
    assert stage.answers.empty() and "only just appeared" in stage.out.getvalue()


def test_all_pages_at_once_count_only_after_each_was_shown() -> None:
    stage = Stage("ask")
    lines = "\n".join(f"+{number}" for number in range(200))

    async def scene(asks: TerminalAsks) -> None:
        asks.see({**_approval(1), "preview": {"type": "diff", "diff": lines}})
        for typed in ("v", "a", "q", "y", "n"):
            await stage.typist.lines.put(typed)
        assert (await stage.answers.get())[1] == {"decision": "deny", "scope": "once"}

    stage.play(scene)
    assert stage.answers.empty() and "v shows the rest" in stage.out.getvalue()


@pytest.mark.parametrize("in_line", [False, True])
def test_a_card_begins_on_a_row_of_its_own_where_an_answer_has_not_ended_its_line(in_line: bool) -> None:
    stage = Stage("ask")
    stage.in_line = in_line

    async def scene(asks: TerminalAsks) -> None:
        asks.see(_approval(1))
        await stage.typist.waiting.wait()

    stage.play(scene)
    assert stage.out.getvalue().startswith("\n" if in_line else "  ? permission wanted")
