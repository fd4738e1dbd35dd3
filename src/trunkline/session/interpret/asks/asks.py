"""Permissions that the agent asks for: from the ask to the answer. (Questions are in ``questions.py``.)

Rule 1: an approval is keyed by the hub's request id; agents give one toolCallId to several asks.
Rule 2: an ask is resolved once. Who resolved it is remembered, so that a late answer learns of it.
Rule 3: asks and their resolutions form a keyed hash chain, so that a rewritten journal shows.
Rule 4: an ask that says nothing of its own is about every call that waits to run (``subjects.py``): each is judged, the worst
gives the level, and the answer is for all of them. It is no call itself.
Rule 5: what waits is bounded (``waiting.py``). What is beyond is refused, and written down (``refused``).
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from trunkline.dialects.acp.permission import is_other
from trunkline.dialects.acp.tools import Diff
from trunkline.dialects.calls import DOUBTS, Act, reading_meta
from trunkline.dialects.calls.describe import told_of
from trunkline.dialects.calls.variables import bare_line, is_same
from trunkline.dialects.command_part import CommandPart
from trunkline.dialects.context.envelope import iso_ms
from trunkline.dialects.context.events import ApprovalResolvedEvent, NotificationEvent
from trunkline.dialects.context.types import ASKED_ANEW, Resolver, as_object
from trunkline.dialects.context.unions import ApprovalPreview, CommandPreview
from trunkline.dialects.packets.notices import approval_requested_packet, approval_resolved_packet
from trunkline.dialects.signals import PermissionAsk, QuestionAsk
from trunkline.session.audit.chain import sealed
from trunkline.session.fold import KEPT_DECISIONS, ApprovalView, AskedCall, Decided, Disk, OpenCall, remember
from trunkline.session.interpret.asks.denied import denial_of
from trunkline.session.interpret.asks.policy_asks import PolicyAsks, places_of
from trunkline.session.interpret.asks.preview import TEXT_MOST, CallPreview, changed_files, is_shown_whole, shown_of
from trunkline.session.interpret.asks.requested import (
    beside_of,
    describe_all,
    doubts_of,
    list_shown,
    offered_rule,
    requested_event,
    told_apart,
)
from trunkline.session.interpret.asks.subjects import asked_call, says_nothing, worst_of
from trunkline.session.interpret.asks.waiting import WaitingAsks, asked_for
from trunkline.session.interpret.calls.event_meta import cut_input, shown_input
from trunkline.session.interpret.calls.followed import ID_CHARS
from trunkline.session.interpret.calls.tools import ToolInterpreter, name_of
from trunkline.session.interpret.writer import Writer
from trunkline.session.policy.decide import PolicyAsk, Rule

CHANGES_MOST: Final = 10
"""Times that a call may change while it is asked about: one that changes more often is denied."""

_HARMS: Final[frozenset[Act]] = frozenset({"run", "delete", "move", "write"})
_ENDS: Final[frozenset[Act]] = frozenset({"delete", "move"})
"""What takes files away."""

NO_TEXTS: Final[Mapping[str, str]] = {}
"""Of no file it was found out what is in it."""


class CoveredCall(NamedTuple):
    """A call that is asked about, and what the rules look at in it."""

    call: OpenCall
    about: PolicyAsk


class Announced(NamedTuple):
    """An ask whose calls are announced, and what the disk has to be asked before it is put to a person."""

    ask: PermissionAsk
    own: CoveredCall
    """What is shown: the call that the ask describes, the only one that it is about, or the ask itself."""
    covers: tuple[CoveredCall, ...]
    """The calls that it is about, where it says nothing itself."""
    paths: tuple[str, ...]
    """Where these lead has to be known."""
    files: tuple[str, ...]
    """The files that it changes, whose texts are shown."""

    @property
    def abouts(self) -> tuple[PolicyAsk, ...]:
        """What the rules look at."""
        return tuple(subject.about for subject in self.covers) or (self.own.about,)


class Put(NamedTuple):
    """An ask as it was put before people."""

    ask: PermissionAsk
    prints: tuple[Any, ...]
    """What of its calls they were shown: another value is another act."""
    origin: str
    """The agent's own request that it stands for: where a call changes, that is asked anew under another id."""
    times: int = 1


class AskInterpreter:
    """Open permissions."""

    def __init__(self, writer: Writer, tools: ToolInterpreter, waiting: WaitingAsks, policy_asks: PolicyAsks, *,
                 chain_key: bytes = b"", roots: Sequence[str] = (), home: str | None = None) -> None:
        self._writer = writer
        self._tools = tools
        self._calls = tools.calls
        self._waiting = waiting
        self._policy_asks = policy_asks
        self._chain_key = chain_key
        self._roots = roots
        self._home = home
        self._put: dict[str, Put] = {}
        """The agent's asks that wait, and what was shown of their calls. Those of an earlier run of the hub are over."""

    def announce(self, ask: PermissionAsk) -> Announced:
        """The agent wants a decision before it goes on: its calls are announced. Returns what has to be known to ask a person."""
        own, covered = self._subjects(ask)
        known = [call for call in covered if self._calls.known_call(call.state.tool_call_id) is call]
        for call in known if covered else [own] if not self._says_nothing(own) else []:
            self._tools.executing(call, requires_approval=True)
        covers = tuple(CoveredCall(call, self._policy_asks.of_call(call)) for call in covered)
        shown = covers[0] if len(covers) == 1 else CoveredCall(own, self._policy_asks.of_call(own))
        paths = [path for subject in covers or (shown,) for path in places_of(*subject)]
        return Announced(ask, shown, covers, tuple(dict.fromkeys(paths)),
                         changed_files(self._calls.facts(shown.call)) if len(covers) <= 1 else ())

    def _subjects(self, ask: PermissionAsk) -> tuple[OpenCall, list[OpenCall]]:
        """The ask as a call, and the calls that it is about where it says nothing itself; then it is not made one of them."""
        asked = asked_for(ask)
        known = self._calls.known_call(asked.tool_call_id)
        own = self._tools.announced(asked, is_act=ask.is_act) if known is not None else self._calls.unannounced_call(asked)
        if not self._says_nothing(own):
            return own if known is not None else self._tools.announced(asked, is_act=ask.is_act), []
        waiting = self._calls.waiting(in_background=ask.beyond_turn) or ([known] if known is not None else [])
        if known is None:
            self._calls.judge_unknown(own)
            if waiting and self._claims_more(own, waiting):
                return own, [*waiting, own]
        return own, waiting

    def _says_nothing(self, call: OpenCall) -> bool:
        return says_nothing(call.state, self._calls.reading(call))

    def _claims_more(self, own: OpenCall, waiting: Sequence[OpenCall]) -> bool:
        """Whether an ask claims more than the calls it is about: by its title a command that none of them runs, by its kind
        something that none of them does. Then it is about that, too."""
        reading = self._calls.reading(own)
        done = {act for call in waiting for act in self._calls.reading(call).acts}
        if not done.issuperset(reading.acts & _ENDS):  # that a command waits does not say that it does this
            return True
        if reading.acts & _HARMS and done.isdisjoint({"run", *(reading.acts & _HARMS)}):  # a command may write what it writes
            return True
        claimed = reading.claimed
        commands = [self._calls.reading(call).command or self._calls.reading(call).claimed for call in waiting]
        return bool(claimed) and not any(is_same(bare_line([claimed]), bare_line([command])) for command in commands if command)

    def request(self, announced: Announced, texts: Mapping[str, str] = NO_TEXTS, disk: Disk | None = None) -> None:
        """Put it to a person; ``texts`` has the files that it changes as they are, by path, ``disk`` where its paths lead."""
        ask, (call, about) = announced.ask, announced.own
        state, writer = call.state, self._writer
        calls = self._asked_calls(announced)
        several = len(calls) > 1
        worst = worst_of(announced.abouts)
        shown = self._list_shown(announced, calls) if several else self._shown(call, about, texts, disk)
        description = describe_all(calls) if several else told_of(self._calls.reading(call), state.title)
        beside, unshown = ({}, ()) if several else beside_of(self._input(call), shown, description)
        options, unclear = told_apart(ask.options)
        found = dict.fromkeys((*unclear, *shown.doubts, *unshown, *doubts_of(announced.abouts)))
        preview, doubts = shown.acts[0], list(found)[:DOUBTS]
        always, no_rule = (None, "") if several else offered_rule(about)
        view = ApprovalView(
            request_id=ask.request_id, tool_call_id=state.tool_call_id, tool_name=name_of(state),
            title=state.title or name_of(state), description=description, risk_level=worst.risk, risk_reason=worst.risk_reason,
            sure=not doubts, doubts=doubts, calls=calls, options=options, tool_input=shown_input(state), preview=preview,
            acts=list(shown.acts[1:]), in_words=shown.is_words,
            parts=self._parts(preview, about), about=None if several else about, disk=disk,
            always=always, no_rule=no_rule, editable=ask.editable and not several, beyond_turn=ask.beyond_turn,
            rules_allow=ask.rules_allow, answer_there=ask.answer_there,
            requested_at=iso_ms(writer.at), expires_at=self._waiting.expiry(),
        )
        writer.fold.approvals[ask.request_id] = view
        if not ask.is_act:
            earlier = self._put.get(ask.request_id)
            self._put[ask.request_id] = Put(ask, self._prints(view), earlier.origin if earlier else ask.request_id,
                                            earlier.times if earlier else 1)
        self._waiting.add(ask.request_id, len(ask.tool_call))
        reading = self._calls.reading(call)
        more = {**({} if several else {"reading": reading_meta(reading)}), **cut_input(state)}
        writer.add(requested_event(view, more), seal=self.seal, packet=approval_requested_packet(
            at_us=writer.at, request_id=view.request_id, tool_call_id=view.tool_call_id, tool_name=view.tool_name,
            title=view.title, description=view.description, risk_level=view.risk_level, risk_reason=view.risk_reason,
            tool_category=reading.category, options=view.options,
            preview=view.preview, acts=view.acts, beside=beside, doubts=view.doubts, expires_at=view.expires_at,
        ))
        if writer.fold.paused is None:
            writer.status("waiting_for_approval")

    def changed(self) -> list[str]:
        """The asks whose calls are no longer what was shown of them; each change is reported once."""
        touched, self._calls.changed = self._calls.changed, set()
        if not touched:
            return []
        return [key for key, view in self._writer.fold.approvals.items()
                if key in self._put and not touched.isdisjoint(view.call_ids) and self._is_other(view)]

    def _is_other(self, view: ApprovalView) -> bool:
        calls = [call for key in view.call_ids if (call := self._writer.fold.calls.get(key)) is not None]
        return not all(call.finished for call in calls) and self._prints(view) != self._put[view.request_id].prints

    def asked_anew(self, request_id: str) -> PermissionAsk | None:
        """Take an ask back whose call has changed; returns what is to be asked instead, None where that was done too often.
        Whoever answers the old one answers what is no more: an id stands for what was shown under it."""
        put, view = self._put[request_id], self._writer.fold.approvals[request_id]
        if put.times >= CHANGES_MOST:
            return None
        tool_call = put.ask.tool_call if view.calls else msgspec.json.encode({"toolCallId": view.tool_call_id})
        ask = msgspec.structs.replace(put.ask, request_id=f"{put.origin}-{put.times + 1}", tool_call=tool_call)
        self.resolve(request_id, approved=False, resolved_by="policy", who="hub", reason=ASKED_ANEW, decides=False)
        self.forget(request_id)
        self._put[ask.request_id] = put._replace(ask=ask, times=put.times + 1)
        return ask

    def origin(self, request_id: str) -> str:
        """The agent's request that an ask stands for."""
        put = self._put.get(request_id)
        return put.origin if put is not None else request_id

    def standing_for(self, origin: str) -> str:
        """The ask that stands for a request of the agent's by now."""
        return next((key for key, put in self._put.items() if put.origin == origin), origin)

    def forget(self, request_id: str) -> None:
        """Nobody answers this any more."""
        self._put.pop(request_id, None)

    def _prints(self, view: ApprovalView) -> tuple[Any, ...]:
        """What its calls would do, by their readings, their inputs and the changes that they show."""
        found: list[Any] = []
        for key in view.call_ids:
            call = self._writer.fold.calls.get(key)
            if call is not None:
                diffs = [(item.path, item.old_text, item.new_text) for item in call.state.content or () if isinstance(item, Diff)]
                found.append(self._print_of_run(call) if self._calls.reading(call).only_runs and not diffs else (
                    self._calls.reading(call), hash(call.state.raw_input), hash(tuple(diffs)), call.input_cut))
        return tuple(found)

    def _print_of_run(self, call: OpenCall) -> tuple[Any, ...]:
        """Of a plain command, what is run and where: some agents repeat the session's folder once they are ready to run it."""
        about = self._policy_asks.of_call(call)
        return about.command, about.cwd, {path for path in about.paths if path not in (about.root, about.cwd)}

    def _asked_calls(self, announced: Announced) -> list[AskedCall]:
        """The calls that it is about where it says nothing itself, as they are shown and kept."""
        covers = announced.covers
        return [asked_call(call, about, told_of(self._calls.reading(call), call.state.title), TEXT_MOST // len(covers))
                for call, about in covers]

    def refused(self, ask: PermissionAsk | QuestionAsk, why: str) -> None:
        """An ask that could not wait for a person was answered with that."""
        name = "question_refused" if isinstance(ask, QuestionAsk) else "permission_refused"
        about = {} if isinstance(ask, QuestionAsk) else {"toolCallId": asked_for(ask).tool_call_id[:ID_CHARS]}
        self._writer.custom(name, {"requestId": ask.request_id, "reason": why, **about})

    def resolve(self, request_id: str, *, approved: bool, resolved_by: Resolver, who: str, reason: str | None = None,
                option_id: str | None = None, updated_input: msgspec.Raw | None = None,
                rules: Sequence[dict[str, str]] = (), decides: bool = True) -> None:
        """A decision was made; by ``rules``, where it was not a person. The caller has checked that the approval is open.
        Where it ``decides`` nothing, the same is asked anew, or is asked elsewhere still."""
        writer = self._writer
        view = writer.fold.approvals.pop(request_id)
        self._waiting.remove(request_id)
        decided = Decided(approved, who, iso_ms(writer.at), resolved_by)
        remember(writer.fold.decided, request_id, decided, KEPT_DECISIONS)
        if resolved_by == "timeout":
            writer.fold.missed = decided.at
        is_act = request_id not in self._put
        for call in self._decides(view) if decides else ():
            if is_act and call.approved and not approved:
                continue  # the hub was to do once more what it was allowed to do: that it may not does not undo the first
            call.denied, call.approved = not approved and not is_other(view.options, option_id), approved
            call.denial = denial_of(who, resolved_by, reason) if call.denied else None
            self._calls.forget_claims(call)
        meta: dict[str, Any] = {"by": who, "askedAnew": True} if reason == ASKED_ANEW and not decides else {"by": who}
        if rules:
            meta |= {"rule": rules[0], **({"rules": list(rules)} if len(rules) > 1 else {})}
        if option_id is not None:
            meta["optionId"] = option_id
        if updated_input is not None:
            meta["updatedInput"] = updated_input
        event = ApprovalResolvedEvent(
            request_id=request_id, tool_call_id=view.tool_call_id, approved=approved, resolved_by=resolved_by,
            reason=reason or msgspec.UNSET, meta=meta,
        )
        writer.add(event, seal=self.seal, packet=approval_resolved_packet(
            at_us=writer.at, request_id=request_id, tool_call_id=view.tool_call_id, approved=approved,
            resolved_by=resolved_by, reason=reason, by=who if resolved_by == "user" else None,
        ))
        if updated_input is not None:
            self._tools.executing(self._policy_asks.edited(view, bytes(updated_input)), requires_approval=False)
        self._waiting.back_to_work()

    def _decides(self, view: ApprovalView) -> list[OpenCall]:
        """The calls that an answer is for; of several, what another ask decided meanwhile stays as it is."""
        calls = [call for key in view.call_ids if (call := self._writer.fold.calls.get(key)) is not None]
        return [call for call in calls if not view.calls or not (call.approved or call.denied or call.finished)]

    def remind(self, view: ApprovalView, message: str) -> None:
        """An approval has waited for long."""
        self._writer.add(NotificationEvent(
            level="warning", title="Approval is waiting", message=message,
            meta={"requestId": view.request_id, "expiresAt": view.expires_at}))

    def rule(self, rule: Rule, *, kept: bool, who: str) -> None:
        """Somebody decided for longer than once; ``kept``: in this session, else in the policy file."""
        rules = self._writer.fold.rules
        if kept and rule not in rules:
            rules[:] = [*self.rules_in_force(), rule]
        self._writer.custom("rule_added", {"rule": rule, "where": "session" if kept else "policy file"}, meta={"by": who})

    def rules_in_force(self) -> list[Rule]:
        """The session's own rules; those for a turn that is over say nothing any more."""
        turn = self._writer.fold.turn
        return [rule for rule in self._writer.fold.rules if rule.turn is None or (turn is not None and rule.turn == turn.turn_id)]

    def _list_shown(self, announced: Announced, calls: Sequence[AskedCall]) -> CallPreview:
        return list_shown(calls, [self._input(subject.call) for subject in announced.covers])

    def _input(self, call: OpenCall) -> Any:
        """The input as it came; of a call without one, what its words say of it."""
        raw = call.state.raw_input
        return msgspec.json.decode(as_object(raw)) if raw is not None else self._calls.facts(call).input

    def _shown(self, call: OpenCall, about: PolicyAsk, texts: Mapping[str, str], disk: Disk | None) -> CallPreview:
        folder = posixpath.join(self._writer.fold.cwd, about.cwd or "").rstrip("/")
        return shown_of(self._calls.facts(call), about.command, folder, texts, disk.real if disk is not None else None)

    def _parts(self, preview: ApprovalPreview, about: PolicyAsk) -> list[CommandPart]:
        if not isinstance(preview, CommandPreview) or not is_shown_whole(about.command or ""):
            return []
        from trunkline.dialects.risk import command_parts  # only a command that is asked about needs the shell's parser

        return command_parts(preview.command, cwd=preview.working_dir, roots=self._roots or (self._writer.fold.cwd,),
                             home=self._home)

    def seal(self, event: bytes) -> bytes:
        """The encoded event with its place in the session's hash chain."""
        fold = self._writer.fold
        fold.chain, whole = sealed(self._chain_key, fold.chain, fold.session_id, event)
        return whole
