"""What waits for somebody in a session, one card at a time, and whether a press may decide it. No I/O.

Rule 1: a press decides only a card that has been on the screen for REST_S; the page's cards rest as long.
Rule 2: letters that follow a text, or a press that was refused, are the rest of a sentence until nobody has typed for PAUSE_S. So
a key that is held down decides one card at most.
Rule 3: nothing is approved of which not everything was shown, or that has left the screen since: what an agent wants done is
printed when its card is selected, and once more where other things were written below it. What is taller than the window counts
as shown when somebody had it shown.
Rule 4: what is decided about is shown as it is: nothing unseen in it is left out, and a line is what a shell or a file takes for
one. What of its input no act shows stands below.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from trunkline.cli.commands.chat.paint import colour_of
from trunkline.cli.terminal.card import REST_S, act_lines, agent_words, input_lines, question_lines, runs_in
from trunkline.cli.terminal.screen import Screen
from trunkline.client import ApprovalView, QuestionView, SessionView
from trunkline.dialects.calls.beside import members_beside
from trunkline.dialects.visible import one_revealed_line, revealed

PAUSE_S = 1.0
CARD_LINES = 100
"""Lines of one act that a card shows before somebody asks for all of them."""
RISKS = {"low": "green", "medium": "yellow", "high": "red", "critical": "red"}


class Ask(msgspec.Struct, frozen=True):
    """An approval or a question."""

    id: str
    approval: ApprovalView | None = None
    question: QuestionView | None = None

    @property
    def expires_at(self) -> str:
        """When it is denied or over, if nobody answers."""
        return self.approval.expires_at if self.approval else self.question.expires_at if self.question else ""


def asks_of(view: SessionView) -> list[Ask]:
    """What waits in a session, the oldest first."""
    approvals = [Ask(each.request_id, approval=each) for each in view.pending_approvals]
    return approvals + [Ask(each.question_id, question=each) for each in view.pending_questions]


class Cards:
    """The asks, which of them is selected, and since when it is seen."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.asks: list[Ask] = []
        self._place = 0
        self._seen_at: float | None = None
        self._typed_at = float("-inf")
        self.presses = 0
        """How many keys were pressed."""
        self.whole: set[str] = set()
        """The asks of which everything was shown."""

    @property
    def selected(self) -> Ask | None:
        """The card that a press is about."""
        return self.asks[self._place] if self.asks else None

    @property
    def place(self) -> str:
        """``2 of 3``, where there are several."""
        return f"{self._place + 1} of {len(self.asks)}" if len(self.asks) > 1 else ""

    def renew(self, asks: Iterable[Ask]) -> list[Ask]:
        """This waits now; returns what is new. The selection stays where it is, or goes to what took its place."""
        before, known = self.selected, {ask.id for ask in self.asks}
        self.asks = list(asks)
        ids = [ask.id for ask in self.asks]
        self._place = ids.index(before.id) if before and before.id in ids else max(min(self._place, len(ids) - 1), 0)
        if before is None or self.selected is None or self.selected.id != before.id:
            self._seen_at = None
        return [ask for ask in self.asks if ask.id not in known]

    def step(self, by: int) -> None:
        """Select the next card or the one before."""
        place = max(min(self._place + by, len(self.asks) - 1), 0)
        if place != self._place:
            self._place, self._seen_at = place, self._clock()

    def see(self) -> None:
        """The selected card is on the screen."""
        if self._seen_at is None:
            self._seen_at = self._clock()

    def hide(self) -> None:
        """It is not: somebody writes."""
        self._seen_at = None

    def typed(self) -> None:
        """A key was pressed that was text, or was refused."""
        self._typed_at = self._clock()

    def rests(self) -> str:
        """Why a press decides nothing now; empty where it does."""
        now = self._clock()
        if self._seen_at is None or now - self._seen_at < REST_S:
            return "this has only just appeared"
        return "" if self.is_quiet() else "you were typing"

    def is_quiet(self) -> bool:
        """Whether nobody has typed for a while what was text, or was refused."""
        return self._clock() - self._typed_at >= PAUSE_S

    def rests_for_text(self) -> str:
        """The same for a line that is typed for the card: that somebody types is as it should be."""
        return "this has only just appeared" if self._seen_at is None or self._clock() - self._seen_at < REST_S else ""


def left_words(expires_at: str, now: float) -> str:
    """``9:12``: the time until then; empty where it is not known."""
    try:
        seconds = max(int(datetime.fromisoformat(expires_at).timestamp() - now), 0)
    except ValueError:
        return ""
    return f"{seconds // 60}:{seconds % 60:02}"


def print_card(screen: Screen, ask: Ask, *, whole: bool = False, root: str = "") -> bool:
    """All that somebody must know to answer; False where some of it was left out. Paths in the folder ``root`` begin there."""
    if ask.approval is not None:
        return _print_approval(screen, ask.approval, whole, root)
    if ask.question is not None:
        for line in question_lines(ask.question.question, ask.question.url, screen.columns):
            line.print(screen)
    return True


def heading(ask: Ask) -> str:
    """What it is about, in a line."""
    if ask.approval is not None:
        return one_revealed_line(ask.approval.description or ask.approval.title or ask.approval.tool_name or "a tool")
    return one_revealed_line(ask.question.question) if ask.question else ""


def _print_approval(screen: Screen, approval: ApprovalView, whole: bool, root: str) -> bool:
    why = f": {one_revealed_line(approval.risk_reason)}" if approval.risk_reason else ""
    about = heading(Ask(approval.request_id, approval=approval))
    screen.line(about, mark="?", colour="yellow")
    if said := agent_words(approval.title, about, approval.tool_name, approval.preview, approval.acts):
        screen.line(said, indent="    ")
    screen.line(f"{approval.risk_level or 'unknown'} risk{why}", colour=RISKS.get(approval.risk_level), indent="    ")
    if approval.answer_there:
        screen.line("answer it in the terminal that asks it", mark="!", colour="yellow", indent="    ")
    for doubt in approval.doubts:
        screen.line(f"not sure: {one_revealed_line(doubt)}", mark="!", colour="yellow", indent="    ")
    for call in approval.calls:
        screen.line(f"this is about: {one_revealed_line(call.command or call.description or call.tool_name)}", indent="    ")
    acts = [act for act in (approval.preview, *approval.acts) if isinstance(act, Mapping)]
    beside = input_lines(members_beside(approval.tool_input, acts, approval.description))
    return all([*[_print_act(screen, act, whole, root) for act in acts], _print_lines(screen, beside, whole)])


def _print_act(screen: Screen, act: Mapping[str, Any], whole: bool, root: str) -> bool:
    is_whole = _print_lines(screen, act_lines(act, root), whole, is_diff=bool(act.get("diff")))
    if folder := runs_in(act):
        screen.line(folder, dim=True, indent="    ")
    return is_whole


def _print_lines(screen: Screen, lines: Sequence[str], whole: bool, *, is_diff: bool = False) -> bool:
    """Lines that belong together, cut unless all are wanted; False where they were."""
    for line in lines if whole else lines[:CARD_LINES]:
        screen.line(revealed(line), colour=colour_of(line) if is_diff else None, indent="    ")
    is_whole = whole or len(lines) <= CARD_LINES
    if not is_whole:
        screen.line(f"… {len(lines) - CARD_LINES} more lines: v shows all of them", mark="!", colour="yellow", indent="    ")
    return is_whole
