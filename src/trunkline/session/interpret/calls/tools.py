"""Tool calls: from the first sign of one to its result, whatever order the agent tells it in.

    evidence.py    what updates say beside their fields      facts.py       one call, looked at once
    endings.py     how a call ends, and what it did          subjects.py    which calls an ask is about
    structured.py  outputs that a program can use            changes.py     files
    git.py, web.py what was done there                       subagents.py   agents that the agent started
    untold.py      what no other event tells                 bodies.py      how much of all this is kept

Rule 1: calls are keyed by toolCallId within a turn; agents use ids again in the next.
Rule 2: an update carries what changed, a packet carries everything: packets come from the merged state.
Rule 3: every call that starts also ends, at the latest with its turn.
Rule 4: at most OPEN_CALLS are followed. More are written down as they come, which is told once; until the turn has ended nothing
that it asks for counts as known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from trunkline.dialects.acp.calls import CallState, merge_call, names_too_much
from trunkline.dialects.acp.tools import Diff
from trunkline.dialects.acp.updates import ToolCall, ToolCallUpdate
from trunkline.dialects.calls import CallReading, ToolNames, reading_meta
from trunkline.dialects.context.events import (
    NotificationEvent,
    ToolCallArgsDeltaEvent,
    ToolCallExecutingEvent,
    ToolCallStartEvent,
)
from trunkline.dialects.context.types import RiskLevel
from trunkline.dialects.packets.derive import plan_of_todos, progress_packet, start_packet
from trunkline.dialects.packets.raw_inputs import Beside
from trunkline.session.fold import OpenCall, SeenFile, remember
from trunkline.session.interpret.asks.denied import denial_of
from trunkline.session.interpret.asks.subjects import NOT_KNOWN, has_input, says_nothing, waiting_calls
from trunkline.session.interpret.calls.bodies import Bodies
from trunkline.session.interpret.calls.endings import Ending, Endings, waits
from trunkline.session.interpret.calls.event_meta import cut_input, risk_meta, shown_input
from trunkline.session.interpret.calls.evidence import evidence_of, keep_claims, observe, printed
from trunkline.session.interpret.calls.facts import Facts, Told, name_of, read_told, shown_text, told_of
from trunkline.session.interpret.calls.leftover import leftover_of
from trunkline.session.interpret.calls.output import news_of, title_news
from trunkline.session.interpret.calls.spliced import long_text
from trunkline.session.interpret.calls.structured import run_of
from trunkline.session.interpret.effects import subagents
from trunkline.session.interpret.effects.changes import CHANGING
from trunkline.session.interpret.effects.disk import Wanted, open_paths, paths_before
from trunkline.session.interpret.plans import write_plan
from trunkline.session.interpret.text import TextInterpreter
from trunkline.session.interpret.writer import NOTHING_CARRIED, Carried, Writer

__all__ = ["ToolInterpreter", "ToolNames", "name_of"]

_READ: Final = frozenset({"raw_input", "kind", "name", "title", "locations"})
"""What a call's reading is made from, beside changes of files that it shows and the words of an ask."""

_SHOWS: Final = frozenset({"raw_input", "content", "locations"})
"""What shows a text that will be written, and where."""

OPEN_CALLS: Final = 2000
"""Calls that are open at once in one session. The busiest real turns have some dozens."""

KEPT_CALLS: Final = 2000
"""Calls that have ended and are still known by their ids, so that what comes late finds them."""

ID_CHARS: Final = 1024
"""Characters of a call's id; a longer one is not followed. The longest seen in agents has 90."""

UNTRACKED: Final = "more tool calls are open than are followed, so that what this belongs to is not known"

INPUT_CUT: Final = "its input is too large to be looked at"

KEPT_TERMINALS: Final = 16
"""Outputs of the hub's terminals that wait for the call which points at them."""

PROGRESS_GAP_US: Final = 250_000


class _TerminalEnd(msgspec.Struct, frozen=True):
    output: str
    exit_code: int | None


class ToolInterpreter:
    """The calls of the current turn. ``names`` are the agent's own names for its tools; ``home`` and ``roots`` judge paths."""

    def __init__(self, writer: Writer, text: TextInterpreter, names: ToolNames | None = None, *, home: str | None = None,
                 roots: Sequence[str] = (), raw_as_sent: bool = False) -> None:
        self._raw_as_sent = raw_as_sent
        self._writer = writer
        self._text = text
        self._names = names or ToolNames()
        self._home = home
        self._roots = tuple(roots)
        self._terminals: dict[str, _TerminalEnd] = {}
        self._ran: dict[str, Beside] = {}
        """How the last commands ended, for what is still said of them."""
        self._ended: deque[str] = deque()
        """The ids of those calls of the fold that have ended, oldest first."""
        self._bodies = Bodies()
        self._readings: dict[str, CallReading] = {}
        self._untold: tuple[Told, CallReading] | None = None
        """The last reading of a call that is not told of, and what it was made from."""
        self._endings = Endings(writer, self.facts)
        self.looks = False
        self.wanted: Wanted | None = None
        """Whether somebody looks at the disk for a result that leaves open what it changed; the result that waits for that."""
        self.is_news = True
        """Whether what is told happens now, so that the disk before it can be looked at."""
        self._foreseen: dict[str, list[str]] = {}
        self.changed: set[str] = set()
        """Calls of which an update said something else than was read before, for whoever shows them to a person."""
        self._looked_for: set[str] = set()
        """Calls whose files are to be looked at before they are overwritten, and those for which somebody does that."""

    def on_update(self, update: ToolCall | ToolCallUpdate, wire: bytes, raw: bytes | None, *, input_cut: bool = False) -> None:
        """The agent said something about a call. ``input_cut``: not all of its input is in the update."""
        call = self._writer.fold.calls.get(update.tool_call_id)
        if call is None and not self._may_follow(update.tool_call_id):
            self._leave_untracked(update.tool_call_id, Carried(wire, None, raw))
            return
        if call is None:
            self._on_first_update(update, wire, raw, input_cut=input_cut)
            return
        changed = self._merge(call, update)
        call.input_cut = call.input_cut or input_cut
        self._count(call)
        self._text.close()
        self._go_on(call, changed, wire, raw)

    def announced(self, update: ToolCallUpdate, *, is_act: bool = False) -> OpenCall:
        """The call that a permission is asked for, made known first where the agent did not. ``is_act``: it is what the hub is to
        do, so that what was said before counts no more."""
        call = self._writer.fold.calls.get(update.tool_call_id)
        if call is None and not self._may_follow(update.tool_call_id):
            call = OpenCall(CallState(tool_call_id=update.tool_call_id), self._writer.at)
            self._merge(call, update, asks=True)
            self._bodies.forget(update.tool_call_id)
            self._leave_untracked(update.tool_call_id, NOTHING_CARRIED)
            return call
        if call is None:
            self._text.close()
            return self._open(update, None, None, asks=True)
        if call.finished or not call.counted:
            self._clear(call)
        self._merge(call, update, asks=True)
        if is_act:
            self.forget_claims(call)
        return call

    def forget_claims(self, call: OpenCall) -> None:
        """What was said of a call before counts no more: it is decided, or known what will be done."""
        if call.claims is not None:
            call.claims, call.risk_level = None, None
            self._readings.pop(call.state.tool_call_id, None)

    def known_call(self, tool_call_id: str) -> OpenCall | None:
        """The agent's own open call of this id; None where only asks have it, or it is over."""
        call = self._writer.fold.calls.get(tool_call_id)
        return call if call is not None and call.counted and not call.finished else None

    def waiting(self, *, in_background: bool) -> list[OpenCall]:
        """The calls that an ask which says nothing is about."""
        if self._writer.fold.sub_agents:
            self._in_background()
        return waiting_calls(self._writer.fold.calls.values(), self.reading, in_background=in_background)

    def _clear(self, call: OpenCall) -> None:
        """Agents use one id for all their asks: what an earlier one said, or a call that is over, is no part of the next."""
        old = call.state
        call.state = CallState(tool_call_id=old.tool_call_id, status=old.status)
        call.evidence, call.claims, call.input_cut, call.risk_level = None, None, False, None
        self._readings.pop(old.tool_call_id, None)

    def args_delta(self, tool_call_id: str, delta: str) -> None:
        """The next piece of a call's arguments, while the model writes them."""
        call = self._writer.fold.calls.get(tool_call_id)
        if call is None or call.finished:
            self._writer.custom("args_delta", {"toolCallId": tool_call_id, "delta": delta}, namespace="agent")
            return
        self._writer.add(ToolCallArgsDeltaEvent(tool_call_id=tool_call_id, delta=delta))

    def terminal(self, terminal_id: str, output: str, exit_code: int | None) -> None:
        """A terminal that the hub runs for the agent has something to show, or has ended."""
        remember(self._terminals, terminal_id, _TerminalEnd(output, exit_code), KEPT_TERMINALS)

    def executing(self, call: OpenCall, *, requires_approval: bool, wire: bytes | None = None, raw: bytes | None = None,
                  packet: bytes | None = None) -> None:
        """The input is known and the tool runs, or waits to be let run."""
        call.executing = True
        if requires_approval:
            call.asked, call.denied, call.denial = True, False, None
        state = call.state
        if requires_approval and says_nothing(state, self.reading(call)):
            self.judge_unknown(call)
        level, reason = self.risk(call)
        event = ToolCallExecutingEvent(
            tool_call_id=state.tool_call_id, name=name_of(state), input=shown_input(state), risk_level=level,
            requires_approval=requires_approval,
            meta={"risk": risk_meta(reason, self.doubts(call)), "reading": reading_meta(self.reading(call)),
                  **cut_input(state), **title_news(call)},
        )
        self._writer.add(event, update=wire, packet=packet, raw=raw)

    def risk(self, call: OpenCall) -> tuple[RiskLevel, str]:
        """How much harm a call can do, and why; judged once for each input."""
        if self._writer.fold.calls_untracked:
            return "high", UNTRACKED
        if call.input_cut:
            return "high", INPUT_CUT
        if call.risk_level is None:
            from trunkline.dialects.risk import Places, judge  # a hub without tool calls needs none of it

            cwd = self._writer.fold.cwd
            judged = judge(self.reading(call), Places.of(cwd, self._roots or (cwd,), self._home), at_once=True)
            call.risk_level, call.risk_reason = judged.level, judged.reason
        return call.risk_level, call.risk_reason

    def judge_unknown(self, call: OpenCall) -> None:
        """It is not known what this call does: that is high, or worse where its title claims worse."""
        if self.risk(call)[0] != "critical":
            call.risk_level, call.risk_reason = "high", NOT_KNOWN

    def doubts(self, call: OpenCall) -> tuple[str, ...]:
        """What is not sure about a call, for people."""
        if self._writer.fold.calls_untracked:
            return (UNTRACKED,)
        known = self.reading(call).doubts
        unknown = [NOT_KNOWN] if call.risk_level is not None and call.risk_reason == NOT_KNOWN else []
        return tuple(dict.fromkeys((*unknown, *([INPUT_CUT] if call.input_cut else []), *known)))

    def close_all(self, *, cancelled: bool) -> None:
        """End every call that is still open: nobody else will."""
        for call in list(self._writer.fold.calls.values()):
            self.end(call, cancelled=cancelled)

    def agent_gone(self) -> None:
        """The agent has ended: nothing goes on in the background any more."""
        for call in self._in_background().values():
            self.end(call, cancelled=False)
        subagents.lost(self._writer)

    def close_turn(self, *, cancelled: bool) -> None:
        """The turn is over: end its calls."""
        for call in self.of_turn(cancelled=cancelled):
            self.end(call, cancelled=cancelled)

    def of_turn(self, *, cancelled: bool) -> list[OpenCall]:
        """The open calls that end with their turn: all but those that go on in the background."""
        going_on = {} if cancelled else self._in_background()
        return [call for key, call in self._writer.fold.calls.items() if not call.finished and key not in going_on]

    def end(self, call: OpenCall, *, cancelled: bool) -> None:
        """End a call that nobody else will."""
        if not call.finished:
            self._end_open(call, "denied" if call.denied else "cancelled" if cancelled else "abandoned")

    def forget_turn(self) -> None:
        """A turn begins: of the calls before it, only those that go on in the background are remembered."""
        self.close_turn(cancelled=False)
        going_on = self._in_background()
        for key in [key for key in self._writer.fold.calls if key not in going_on]:
            self._forget(key)
        self._ended.clear()
        self._untold = None
        self._writer.fold.calls_untracked = False

    def forget_all(self) -> None:
        """Nothing more will be said of any call."""
        for key in list(self._writer.fold.calls):
            self._forget(key)
        self._ended.clear()

    def _in_background(self) -> dict[str, OpenCall]:
        """Open calls of sub-agents that were sent off to work by themselves."""
        fold = self._writer.fold
        for key, call in fold.calls.items():
            if not call.in_background and call.parent in fold.sub_agents:
                call.in_background = True
                fold.calls[key] = call
        return {key: call for key, call in fold.calls.items() if call.in_background and not call.finished}

    def facts(self, call: OpenCall) -> Facts:
        """What is known of a call, whatever form the agent told it in."""
        return Facts(call, self.reading(call), self._writer.fold.cwd)

    def reading(self, call: OpenCall) -> CallReading:
        """The one reading of a call, made once for each change of what it is made from. A call that is not told of is mostly an
        ask: it is told of next, and the reading that said what it is about is that call's reading, too."""
        key = call.state.tool_call_id
        is_told = self._writer.fold.calls.get(key) is call
        if is_told and (known := self._readings.get(key)) is not None:
            return known
        told = told_of(call)
        if self._untold is None or self._untold[0] != told:
            self._untold = told, read_told(told, self._names)
        reading = self._untold[1]
        if is_told:
            self._readings[key], self._untold = reading, None
        return reading

    def _merge(self, call: OpenCall, update: ToolCall | ToolCallUpdate, *, asks: bool = False) -> frozenset[str]:
        kind, claimed, before = call.state.kind, call.claims, self._readings.get(update.tool_call_id)
        changed = merge_call(call.state, update)
        keep_claims(call, changed, kind, before)
        call.input_cut = call.input_cut or names_too_much(update)
        if "content" in changed:
            call.shows_ask = asks
        known = call.evidence.arguments if call.evidence else ""
        observe(call, update, self._names)
        self._bodies.weigh(call)
        told = call.evidence is not None and call.evidence.arguments != known
        shows = update.content and (asks or any(isinstance(item, Diff) for item in update.content))
        if changed & _READ or told or call.claims != claimed or shows:
            self._readings.pop(update.tool_call_id, None)
            call.risk_level = None
            if not asks and not call.finished and self._writer.fold.approvals:
                self.changed.add(update.tool_call_id)
        return changed

    def _count(self, call: OpenCall) -> None:
        if not call.counted:
            call.counted = True
            self._writer.fold.tool_calls += 1

    def _may_follow(self, tool_call_id: str) -> bool:
        """Whether one more call can be followed, by this id."""
        return len(self._writer.fold.calls) - len(self._ended) < OPEN_CALLS and len(tool_call_id) <= ID_CHARS

    def _leave_untracked(self, tool_call_id: str, carried: Carried) -> None:
        """Write down what is said of a call that is not followed; the first time, that it is not."""
        fold, writer = self._writer.fold, self._writer
        self._text.close()
        if not fold.calls_untracked:
            fold.calls_untracked = True
            writer.add(NotificationEvent(
                level="warning", title="Not all tool calls are followed",
                message=f"More than {OPEN_CALLS} tool calls are open, or one has an id of over {ID_CHARS} characters. These are "
                "only written down, and whatever this turn asks for is taken for dangerous and left to a person."))
        if carried.update is not None:
            writer.custom("tool_call_untracked", {"toolCallId": tool_call_id[:ID_CHARS]}, update=carried.update, raw=carried.raw)

    def _has_ended(self, call: OpenCall) -> None:
        """The call is over; of those that are, the oldest are forgotten."""
        call.finished = True
        self._ended.append(call.state.tool_call_id)
        if len(self._ended) > KEPT_CALLS:
            self._forget(self._ended.popleft())

    def _forget(self, tool_call_id: str) -> None:
        self._writer.fold.calls.pop(tool_call_id, None)
        self._readings.pop(tool_call_id, None)
        self._bodies.forget(tool_call_id)
        self._ran.pop(tool_call_id, None)  # agents use ids again

    def _on_first_update(self, update: ToolCall | ToolCallUpdate, wire: bytes, raw: bytes | None, *, input_cut: bool) -> None:
        self._text.close()
        self._writer.thinking(False)
        call = self._open(update, wire, raw)
        call.input_cut = call.input_cut or input_cut
        self._count(call)
        if call.state.status != "pending" or has_input(call.state):
            self._go_on(call, frozenset({"raw_input"}), None, None)

    def _open(self, update: ToolCall | ToolCallUpdate, wire: bytes | None, raw: bytes | None, *,
              asks: bool = False) -> OpenCall:
        writer = self._writer
        state = CallState(tool_call_id=update.tool_call_id)
        call = writer.fold.calls[state.tool_call_id] = OpenCall(state, writer.at)
        self._merge(call, update, asks=asks)
        if writer.fold.turn is not None:
            writer.fold.turn.said_something = True
        name, call.told_title, reading = name_of(state), state.title, self.reading(call)
        meta = {"parentToolCallId": call.parent} if call.parent else {}
        if state.title and state.title != reading.description:
            meta["title"] = state.title
        event = ToolCallStartEvent(
            tool_call_id=state.tool_call_id, name=name, category=reading.category,
            description=reading.description or msgspec.UNSET, meta=meta or msgspec.UNSET,
        )
        writer.add(event, update=wire, packet=start_packet(state, writer.at), raw=raw)
        if call.parent is not None:
            parent = writer.fold.calls.get(call.parent)
            call.in_background = parent is not None and parent.finished  # who begins something now goes on without its call
            subagents.progress(writer, call.parent, state.title or name)
        return call

    def _go_on(self, call: OpenCall, changed: frozenset[str], wire: bytes | None, raw: bytes | None) -> None:
        """Tell what is new about a known call, on one entry that carries its update and packet."""
        state = call.state
        finished = state.status in ("completed", "failed") and not call.finished
        if finished and self.looks and self._waits_for_disk(call, changed, wire, raw):
            return
        if self.looks and self.is_news and not call.finished and not finished and changed & _SHOWS:
            self._foresee(call)
        runs = not call.executing and (finished or state.status == "in_progress" or has_input(state))
        token = long_text(state, wire) if "content" in changed else None
        packet = self._packet(call, token, finished=finished) if changed or finished or runs else None
        if finished:
            if runs:
                self.executing(call, requires_approval=False)
            self._finish(call, Carried(wire, packet, raw), token)
        elif runs or ("raw_input" in changed and wire is not None and not call.finished and not call.asked):
            # The input of a running call grows while the model writes it: what was said of its risk no longer holds.
            self.executing(call, requires_approval=False, wire=wire, raw=raw, packet=packet)
        else:
            self._emit_update(call, changed, Carried(wire, packet, raw))
            if call.spawned and "content" in changed:
                self._emit_sub_agent_progress(call)
        if not call.finished and not waits(self._writer.fold, call):
            subagents.spawn(self._writer, self.facts(call))
        if "raw_input" in changed:
            self._todos(state)

    def _waits_for_disk(self, call: OpenCall, changed: frozenset[str], wire: bytes | None, raw: bytes | None) -> bool:
        """Whether a result is told later: what it changed is looked for, or the look at what was there before goes on."""
        key = call.state.tool_call_id
        self._foreseen.pop(key, None)  # it is too late for that
        paths = open_paths(self.facts(call), CHANGING)
        if paths or key in self._looked_for:
            self.wanted = Wanted(paths, call, changed, wire, raw)
        return self.wanted is not None

    def _foresee(self, call: OpenCall) -> None:
        """Remember what a call will overwrite, for whoever looks at the disk."""
        key, reading = call.state.tool_call_id, self.reading(call)
        changes_files = reading.role in CHANGING or (call.evidence is not None and call.evidence.diffs)
        if changes_files and key not in self._looked_for and (paths := paths_before(self.facts(call), CHANGING)):
            self._foreseen[key] = paths

    def take_foreseen(self) -> dict[str, list[str]]:
        """The files to look at before they are overwritten, by call; who takes them says what was ``found``."""
        foreseen, self._foreseen = self._foreseen, {}
        self._looked_for.update(foreseen)
        return foreseen

    def found(self, tool_call_id: str, files: Mapping[str, SeenFile]) -> None:
        """What was on the disk when a call was announced; it is written down with what the call changed."""
        self._looked_for.discard(tool_call_id)
        call = self._writer.fold.calls.get(tool_call_id)
        if call is not None and not call.finished and files:
            evidence_of(call).found.update(files)
            self._bodies.weigh(call)

    def seen(self, files: Mapping[str, SeenFile]) -> None:
        """Go on with the result that waited for a look at the disk; no files: nothing is known."""
        wanted, self.wanted, self.looks = self.wanted, None, False
        if wanted is not None:
            evidence_of(wanted.call).seen = dict(files)
            self._go_on(wanted.call, wanted.changed, wanted.wire, wanted.raw)

    def _packet(self, call: OpenCall, token: memoryview | None, *, finished: bool) -> bytes:
        """All that is known of a call, as packets have it."""
        beside = Beside() if self._raw_as_sent else self._beside(call, finished=finished)
        return progress_packet(call.state, self._writer.at, token, beside=beside, as_sent=self._raw_as_sent)

    def _beside(self, call: OpenCall, *, finished: bool) -> Beside:
        """What packets cannot know from the call alone; looked for where it counts, a command without an input or at its end."""
        given = has_input(call.state)
        if not finished and call.finished and call.state.tool_call_id in self._ran:
            return self._ran[call.state.tool_call_id]
        if not finished and given:
            return Beside(shows_ask=call.shows_ask)
        if finished:
            self._take_terminals(call)
        facts = self.facts(call)
        if facts.role != "terminal":
            return Beside(shows_ask=call.shows_ask)
        code, printed = run_of(facts) if call.state.status == "completed" else (None, None)
        beside = Beside(command="" if given else facts.command, exit_code=code, printed=printed,
                        shows_ask=call.shows_ask)
        if finished:
            remember(self._ran, call.state.tool_call_id, beside, KEPT_TERMINALS)
        return beside

    def _emit_update(self, call: OpenCall, changed: frozenset[str], carried: Carried) -> None:
        """An update that no other event tells: what is new in it."""
        said = carried.raw or carried.update or b""
        update, whole = leftover_of(call, changed, said)
        data = {"toolCallId": call.state.tool_call_id, "changed": sorted(changed), **self._printed(call),
                **({"update": update} if update else {})}
        cut = {} if whole else self._writer.truncated(len(said), has_packet=carried.packet is not None)
        self._writer.custom("tool_call_update", data, namespace="acp", update=carried.update, packet=carried.packet,
                            raw=carried.raw, meta={**title_news(call), **cut})

    def unannounced_call(self, update: ToolCallUpdate) -> OpenCall:
        """A call that an ask is about, and that is not (yet) told of."""
        call = OpenCall(CallState(tool_call_id=update.tool_call_id), self._writer.at, input_cut=names_too_much(update))
        call.shows_ask = "content" in merge_call(call.state, update)
        observe(call, update, self._names)
        return call

    def call_with_ask(self, update: ToolCallUpdate) -> OpenCall:
        """The call that an ask is about as it would be with what the ask says, which is not told of."""
        known = self.known_call(update.tool_call_id)
        if known is None:
            return self.unannounced_call(update)
        call = msgspec.structs.replace(known, state=msgspec.structs.replace(known.state), evidence=known.evidence and
                                       msgspec.structs.replace(known.evidence, terminals=[*known.evidence.terminals]))
        call.shows_ask = call.shows_ask or bool(update.content)
        merge_call(call.state, update)
        observe(call, update, self._names)
        return call

    def about_to_run(self, name: str, given: bytes) -> OpenCall:
        """A call by its tool and input alone, which is not told of."""
        call = OpenCall(CallState(tool_call_id="", name=name, raw_input=given), self._writer.at)
        observe(call, ToolCallUpdate(tool_call_id=""), self._names)
        return call

    def ruled_out(self, tool_call_id: str, reason: str) -> None:
        """A rule did not let a call run that its agent would not have asked about."""
        call = self._writer.fold.calls.get(tool_call_id)
        if call is not None:
            call.denied, call.denial = True, denial_of("hub", "policy", reason)

    def printing(self, terminal_id: str, offset: int, output: str) -> bool:
        """A command that the hub runs for the agent prints; False where no running call shows its terminal yet."""
        calls = self._writer.fold.calls.values()
        shown = (call for call in calls if not call.finished and call.evidence and terminal_id in call.evidence.terminals)
        call = next(shown, None)
        if call is not None:
            data = {"toolCallId": call.state.tool_call_id, "terminalId": terminal_id, "offset": offset, "output": output}
            self._writer.custom("terminal_output", data)
        return call is not None

    def _printed(self, call: OpenCall) -> dict[str, Any]:
        """What a running call has printed since it was last told."""
        if call.finished or call.shows_ask or call.spawned:
            return {}
        return news_of(call, shown_text(call.state) or (call.evidence.printed if call.evidence else ""))

    def _emit_sub_agent_progress(self, call: OpenCall) -> None:
        if self._writer.at - call.progress_at >= PROGRESS_GAP_US:
            call.progress_at = self._writer.at
            lines = self.facts(call).text.rstrip()[-2 * subagents.PROGRESS_CHARS:].split("\n")
            subagents.progress(self._writer, call.state.tool_call_id, lines[-1].strip())

    def _finish(self, call: OpenCall, carried: Carried, token: memoryview | None) -> None:
        self._has_ended(call)
        self._take_terminals(call)
        self._endings.finish(call, carried, token)

    def _end_open(self, call: OpenCall, ending: Ending) -> None:
        self._writer.fold.calls[call.state.tool_call_id] = call
        self._has_ended(call)
        self._endings.end_open(call, ending, lambda: self._packet(call, None, finished=True))

    def _take_terminals(self, call: OpenCall) -> None:
        """What the hub's own terminals printed for the call."""
        for terminal_id in call.evidence.terminals if call.evidence else ():
            end = self._terminals.pop(terminal_id, None)
            if end is not None:
                printed(evidence_of(call), end.output)
                evidence_of(call).exit_code = end.exit_code

    def _todos(self, state: CallState) -> None:
        """A todo write is a plan too."""
        plan = plan_of_todos(state.raw_input)
        if plan is not None:
            write_plan(self._writer, plan, None, None)
