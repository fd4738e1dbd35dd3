"""What the agent asks of people: permissions and questions, from the ask to the answer.

Rule 1: an approval is keyed by the hub's request id; agents give one toolCallId to several asks.
Rule 2: an ask is resolved once. Who resolved it is remembered, so that a late answer learns of it.
Rule 3: asks and their resolutions form a keyed hash chain, so that a rewritten journal shows.
Rule 4: an ask that says nothing of its own is about every call that waits to run (``subjects.py``): each is judged, the worst
gives the level, and the answer is for all of them. It is no call itself.
Rule 5: what waits is bounded (``room_for``). What is beyond is refused by whoever hears it, and written down (``refused``).
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from trunkline.dialects.acp.calls import LOCATIONS, CallState
from trunkline.dialects.acp.decode import decode_tool_call_update
from trunkline.dialects.acp.permission import is_other
from trunkline.dialects.acp.tools import Diff
from trunkline.dialects.acp.updates import ToolCallUpdate
from trunkline.dialects.calls import DOUBTS, CallReading, reading_meta
from trunkline.dialects.calls.variables import bare_line, is_same
from trunkline.dialects.context.envelope import iso_ms
from trunkline.dialects.context.events import ApprovalRequestedEvent, ApprovalResolvedEvent, NotificationEvent, UserQuestionEvent
from trunkline.dialects.context.types import Resolver
from trunkline.dialects.context.unions import ApprovalPreview, CommandPreview, DescriptionPreview
from trunkline.dialects.packets.notices import (
    approval_requested_packet,
    approval_resolved_packet,
    question_requested_packet,
    question_resolved_packet,
)
from trunkline.dialects.packets.shapes import AnswerAction
from trunkline.dialects.parts import CommandPart
from trunkline.dialects.signals import PermissionAsk, PermissionOption, QuestionAsk
from trunkline.errors import Invalid
from trunkline.session.approvals.forms import choices_of, fields_of, main_field
from trunkline.session.audit.chain import sealed
from trunkline.session.fold import KEPT_DECISIONS, ApprovalView, AskedCall, Decided, Disk, OpenCall, QuestionView, remember
from trunkline.session.interpret.asks.denied import denial_of
from trunkline.session.interpret.asks.preview import NOT_ALL, TEXT_MOST, CallPreview, changed_files, is_shown_whole, shown_of
from trunkline.session.interpret.asks.subjects import ASKED_CALLS, asked_call, calls_in_words, says_nothing, worst_of
from trunkline.session.interpret.asks.waiting_bytes import WaitingBytes
from trunkline.session.interpret.calls.event_meta import cut_input, risk_meta, shown_input
from trunkline.session.interpret.calls.facts import decoded, shown_text
from trunkline.session.interpret.calls.followed import ID_CHARS
from trunkline.session.interpret.calls.tools import ToolInterpreter, name_of
from trunkline.session.interpret.lifecycle import standing
from trunkline.session.interpret.writer import TEXT_LIMIT, Writer
from trunkline.session.policy.asks import BEYOND_RULES, INPUT_BYTES, PATHS, Where, policy_ask_of
from trunkline.session.policy.decide import PolicyAsk, Rule, always_rule
from trunkline.session.policy.text import check_rule

PENDING_PERMISSIONS: Final = 200
"""Permissions of one session that wait at once: more than a person could look through before their time is up."""

PENDING_QUESTIONS: Final = 50
"""Questions of one session that wait at once."""

PENDING_BYTES: Final = 4 << 20
"""What all that waits in a session may say together: it is in the session's row, and in every list of what is pending."""

ASK_BYTES: Final = 8 << 20
"""What one permission may say of its call: rules and people look at all of it."""

ASK_OPTIONS: Final = 100
"""Answers that one permission may offer."""

OPTION_ID_CHARS: Final = 256
"""Characters of such an answer's id, which the agent gets back."""

OPTION_CHARS: Final = 200
"""Characters of its name that are shown: it is a button."""

HELD_BYTES: Final = 32 << 20
"""What all permissions that wait may say of their calls: changes are kept until they are decided, to be held against writes."""

ASKED_BYTES: Final = 1 << 20
"""What the inputs of all calls say together that one ask may be about (``subjects.ASKED_CALLS``): it is kept with the ask."""

ALWAYS_PATHS: Final = 40
"""Paths of an ask that "always" is offered for: each is held against each pattern of the rule, on the loop."""

DESCRIPTION_CHARS: Final = 500
"""Characters of the line that describes several calls: it is a note on a phone, too."""

CHANGES_MOST: Final = 10
"""Times that a call may change while it is asked about: one that changes more often is denied."""

CHANGED: Final = "what it would do changed while it waited, so it is asked anew"

NO_TEXTS: Final[Mapping[str, str]] = {}
"""Of no file it was found out what is in it."""

_TOO_MUCH: Final = f"what waits for a person in this session would say more than {PENDING_BYTES >> 20} MiB"


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
    """Open permissions and questions."""

    def __init__(self, writer: Writer, tools: ToolInterpreter, approval_timeout_us: int, *, chain_key: bytes = b"",
                 roots: Sequence[str] = (), home: str | None = None, guarded: Sequence[str] = ()) -> None:
        self._writer = writer
        self._tools = tools
        self._calls = tools.calls
        self._timeout_us = approval_timeout_us
        self._chain_key = chain_key
        self._roots = roots
        self._home = home
        self._guarded = guarded
        self._waiting = WaitingBytes(writer.fold)
        self._put: dict[str, Put] = {}
        """The agent's asks that wait, and what was shown of their calls. Those of an earlier run of the hub are over."""

    def announce(self, ask: PermissionAsk) -> Announced:
        """The agent wants a decision before it goes on: its calls are announced. Returns what has to be known to ask a person."""
        own, covered = self._subjects(ask)
        known = [call for call in covered if self._calls.known_call(call.state.tool_call_id) is call]
        for call in known if covered else [own] if not self._says_nothing(own) else []:
            self._tools.executing(call, requires_approval=True)
        covers = tuple(CoveredCall(call, self._about(call)) for call in covered)
        shown = covers[0] if len(covers) == 1 else CoveredCall(own, self._about(own))
        paths = [path for subject in covers or (shown,) for path in _places_of(subject)]
        return Announced(ask, shown, covers, tuple(dict.fromkeys(paths)),
                         changed_files(self._calls.facts(shown.call)) if len(covers) <= 1 else ())

    def _subjects(self, ask: PermissionAsk) -> tuple[OpenCall, list[OpenCall]]:
        """The ask as a call, and the calls that it is about where it says nothing itself; then it is not made one of them."""
        asked = _asked_for(ask)
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
        """Whether the title of an ask claims a command that none of the calls it is about runs: then it is about that, too."""
        claimed = self._calls.reading(own).claimed
        commands = [self._calls.reading(call).command or self._calls.reading(call).claimed for call in waiting]
        return bool(claimed) and not any(is_same(bare_line([claimed]), bare_line([command])) for command in commands if command)

    def request(self, announced: Announced, texts: Mapping[str, str] = NO_TEXTS, disk: Disk | None = None) -> None:
        """Put it to a person; ``texts`` has the files that it changes as they are, by path, ``disk`` where its paths lead."""
        ask, (call, about) = announced.ask, announced.own
        state, writer = call.state, self._writer
        calls = self._asked_calls(announced)
        several = len(calls) > 1
        worst = worst_of(announced.abouts)
        shown = _list_shown(calls) if several else self._shown(call, about, texts, disk)
        preview, doubts = shown.acts[0], [*shown.doubts, *_doubts_of(announced.abouts)][:DOUBTS]
        view = ApprovalView(
            request_id=ask.request_id, tool_call_id=state.tool_call_id, tool_name=name_of(state),
            title=state.title or name_of(state),
            description=_describe_all(calls) if several else _describe(self._calls.reading(call), state),
            risk_level=worst.risk, risk_reason=worst.risk_reason, sure=not doubts, doubts=doubts, calls=calls,
            options=_shown_options(ask.options), tool_input=shown_input(state), preview=preview,
            acts=list(shown.acts[1:]), in_words=shown.is_words,
            parts=self._parts(preview, about), about=None if several else about, disk=disk,
            always=None if several else _always(about), editable=ask.editable and not several, beyond_turn=ask.beyond_turn,
            requested_at=iso_ms(writer.at), expires_at=self._expiry(),
        )
        writer.fold.approvals[ask.request_id] = view
        if not ask.is_act:
            earlier = self._put.get(ask.request_id)
            self._put[ask.request_id] = Put(ask, self._prints(view), earlier.origin if earlier else ask.request_id,
                                            earlier.times if earlier else 1)
        self._waiting.add(ask.request_id, len(ask.tool_call))
        reading = self._calls.reading(call)
        beside = {**({} if several else {"reading": reading_meta(reading)}), **cut_input(state)}
        writer.add(_requested_event(view, beside), seal=self._seal, packet=approval_requested_packet(
            at_us=writer.at, request_id=view.request_id, tool_call_id=view.tool_call_id, tool_name=view.tool_name,
            title=view.title, description=view.description, risk_level=view.risk_level, risk_reason=view.risk_reason,
            tool_category=reading.category, options=view.options,
            preview=view.preview, acts=view.acts, doubts=view.doubts, expires_at=view.expires_at,
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
        self.resolve(request_id, approved=False, resolved_by="policy", who="hub", reason=CHANGED, decides=False)
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
        about = self._about(call)
        return about.command, about.cwd, {path for path in about.paths if path not in (about.root, about.cwd)}

    def _asked_calls(self, announced: Announced) -> list[AskedCall]:
        """The calls that it is about where it says nothing itself, as they are shown and kept."""
        covers = announced.covers
        return [asked_call(call, about, _describe(self._calls.reading(call), call.state), TEXT_MOST // len(covers))
                for call, about in covers]

    def room_for(self, ask: PermissionAsk | QuestionAsk) -> str | None:
        """Why one more ask cannot wait for a person; None where it can."""
        fold = self._writer.fold
        if isinstance(ask, QuestionAsk):
            if len(fold.questions) >= PENDING_QUESTIONS:
                return f"{PENDING_QUESTIONS} questions of this session wait for a person already"
            if len(ask.tool_call_id or "") > ID_CHARS:
                return f"the id of a call has at most {ID_CHARS} characters"
            size = len(ask.message) + len(ask.schema or b"") + len(ask.url or "")
        else:
            if len(fold.approvals) >= PENDING_PERMISSIONS:
                return f"{PENDING_PERMISSIONS} permissions of this session wait for a person already"
            if len(ask.tool_call) > ASK_BYTES:
                return f"a permission says at most {ASK_BYTES >> 20} MiB of its call, and this one {len(ask.tool_call) >> 20}"
            if len(ask.options) > ASK_OPTIONS:
                return f"a permission offers at most {ASK_OPTIONS} options, and this one has {len(ask.options)}"
            if any(len(option.option_id) > OPTION_ID_CHARS for option in ask.options):
                return f"the id of an option has at most {OPTION_ID_CHARS} characters"
            size = min(len(ask.tool_call), TEXT_LIMIT)
            if self._waiting.held + len(ask.tool_call) > HELD_BYTES:
                return _TOO_MUCH
            if (why := self._room_for_calls(ask)) is not None:
                return why
        return None if size + self._waiting.total() <= PENDING_BYTES else _TOO_MUCH

    def _room_for_calls(self, ask: PermissionAsk) -> str | None:
        """Why an ask that says nothing itself cannot be about all that waits to run; None where it can, or says something."""
        waiting = self._calls.waiting(in_background=ask.beyond_turn)
        size = sum(len(call.state.raw_input or b"") for call in waiting)
        if len(waiting) <= ASKED_CALLS and size <= ASKED_BYTES:
            return None
        own = self._calls.call_with_ask(_asked_for(ask))
        if not says_nothing(own.state, self._calls.reading(own)):
            return None
        return f"a permission that names no call would be about {len(waiting)} calls of {size} bytes, more than can be shown"

    def refused(self, ask: PermissionAsk | QuestionAsk, why: str) -> None:
        """An ask that could not wait for a person was answered with that."""
        name = "question_refused" if isinstance(ask, QuestionAsk) else "permission_refused"
        about = {} if isinstance(ask, QuestionAsk) else {"toolCallId": _asked_for(ask).tool_call_id[:ID_CHARS]}
        self._writer.custom(name, {"requestId": ask.request_id, "reason": why, **about})

    def resolve(self, request_id: str, *, approved: bool, resolved_by: Resolver, who: str, reason: str | None = None,
                option_id: str | None = None, updated_input: msgspec.Raw | None = None,
                rules: Sequence[dict[str, str]] = (), decides: bool = True) -> None:
        """A decision was made; by ``rules``, where it was not a person. The caller has checked that the approval is open.
        Where it ``decides`` nothing, the same is asked anew."""
        writer = self._writer
        view = writer.fold.approvals.pop(request_id)
        self._waiting.remove(request_id)
        decided = Decided(approved, who, iso_ms(writer.at), resolved_by)
        remember(writer.fold.decided, request_id, decided, KEPT_DECISIONS)
        is_act = request_id not in self._put
        for call in self._decides(view) if decides else ():
            if is_act and call.approved and not approved:
                continue  # the hub was to do once more what it was allowed to do: that it may not does not undo the first
            call.denied, call.approved = not approved and not is_other(view.options, option_id), approved
            call.denial = denial_of(who, resolved_by, reason) if call.denied else None
            self._calls.forget_claims(call)
        meta: dict[str, Any] = {"by": who}
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
        writer.add(event, seal=self._seal, packet=approval_resolved_packet(
            at_us=writer.at, request_id=request_id, tool_call_id=view.tool_call_id, approved=approved,
            resolved_by=resolved_by, reason=reason,
        ))
        if updated_input is not None:
            self._tools.executing(self._edited(view, bytes(updated_input)), requires_approval=False)
        self.back_to_work()

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

    def about(self, ask: PermissionAsk) -> PolicyAsk:
        """What the rules look at in an ask that is not (yet) announced."""
        asked = msgspec.structs.replace(_asked_for(ask), tool_call_id=ask.request_id)
        return self._about(self._calls.unannounced_call(asked))

    def about_tool(self, name: str, given: bytes) -> PolicyAsk:
        """What the rules look at in a tool that is about to run."""
        return self._about(self._calls.about_to_run(name, given))

    def about_edited(self, view: ApprovalView, given: bytes) -> PolicyAsk:
        """What the rules look at in an open ask, with another input than it was asked with."""
        return self._about(self._edited(view, given))

    def _edited(self, view: ApprovalView, given: bytes) -> OpenCall:
        """The call of an ask with another input: that is what will run."""
        call = self._writer.fold.calls.get(view.tool_call_id)
        asked = call.state if call is not None else CallState(tool_call_id=view.tool_call_id, name=view.tool_name)
        state = CallState(tool_call_id=asked.tool_call_id, name=asked.name, kind=asked.kind, tool=asked.tool,
                          named_by=asked.named_by, raw_input=given)
        return OpenCall(state, self._writer.at)

    def _about(self, call: OpenCall) -> PolicyAsk:
        """What the rules look at: the input in whatever form it came, and the paths that the agent named beside it."""
        fold = self._writer.fold
        where = Where(agent=fold.agent, cwd=fold.cwd, roots=tuple(self._roots) or (fold.cwd,), home=self._home,
                      session_id=fold.session_id, turn_id=fold.turn.turn_id if fold.turn else None, guarded=tuple(self._guarded))
        reading = self._calls.reading(call)
        level, reason = self._calls.risk(call)
        about = policy_ask_of(reading, level, reason, where, given=_given(call))
        paths = (*about.paths, BEYOND_RULES) if call.input_cut else about.paths
        return msgspec.structs.replace(about, paths=paths, doubts=self._calls.doubts(call))

    def _shown(self, call: OpenCall, about: PolicyAsk, texts: Mapping[str, str], disk: Disk | None) -> CallPreview:
        folder = posixpath.join(self._writer.fold.cwd, about.cwd or "").rstrip("/")
        return shown_of(self._calls.facts(call), about.command, folder, texts, disk.real if disk is not None else None)

    def _parts(self, preview: ApprovalPreview, about: PolicyAsk) -> list[CommandPart]:
        if not isinstance(preview, CommandPreview) or not is_shown_whole(about.command or ""):
            return []
        from trunkline.dialects.risk import command_parts  # only a command that is asked about needs the shell's parser

        return command_parts(preview.command, cwd=preview.working_dir, roots=self._roots or (self._writer.fold.cwd,),
                             home=self._home)

    def _expiry(self) -> str:
        own = self._writer.fold.waits.approval_s
        return iso_ms(self._writer.at + (int(own * 1e6) if own is not None else self._timeout_us))

    def _seal(self, event: bytes) -> bytes:
        """The encoded event with its place in the session's hash chain."""
        fold = self._writer.fold
        fold.chain, whole = sealed(self._chain_key, fold.chain, fold.session_id, event)
        return whole

    def question(self, ask: QuestionAsk, *, cap: str | None = None) -> None:
        """The agent, or the hub itself, wants to know something."""
        writer = self._writer
        field = _only_field(ask.schema)
        options = _options(field)
        view = QuestionView(
            question_id=ask.request_id, question=ask.message, options=options, url=ask.url,
            schema=msgspec.Raw(ask.schema) if ask.schema else msgspec.UNSET, tool_call_id=ask.tool_call_id,
            asked_at=iso_ms(writer.at), expires_at="" if cap is not None else self._expiry(), cap=cap,
            beyond_turn=ask.beyond_turn,
        )
        writer.fold.questions[ask.request_id] = view
        self._waiting.add(ask.request_id)
        meta: dict[str, Any] = {"schema": view.schema} if ask.schema is not None else {}
        if ask.url is not None:
            meta["url"] = ask.url
        if cap is not None:
            meta["cap"] = cap
        event = UserQuestionEvent(
            question_id=view.question_id, question=view.question, options=options or msgspec.UNSET,
            default_value=_default(field), expires_at=view.expires_at or msgspec.UNSET, meta=meta or msgspec.UNSET,
        )
        writer.add(event, packet=question_requested_packet(
            at_us=writer.at, question_id=view.question_id, question=view.question, options=options, schema=ask.schema,
            url=ask.url, tool_call_id=ask.tool_call_id, expires_at=view.expires_at or None,
        ))
        if writer.fold.paused is None:
            writer.status("waiting_for_input")

    def answered(self, question_id: str, *, action: AnswerAction, content: msgspec.Raw | None, who: str) -> None:
        """A question was answered, declined or withdrawn."""
        writer = self._writer
        del writer.fold.questions[question_id]
        self._waiting.remove(question_id)
        remember(writer.fold.decided, question_id, _answered_by(action, who, writer.at), KEPT_DECISIONS)
        data: dict[str, Any] = {"questionId": question_id, "action": action}
        if content is not None:
            data["content"] = content
        writer.custom("question_resolved", data, meta={"by": who}, packet=question_resolved_packet(
            at_us=writer.at, question_id=question_id, action=action, answer=content, resolved_by=who,
        ))
        self.back_to_work()

    def back_to_work(self) -> None:
        """The status that what is open now calls for."""
        fold = self._writer.fold
        self._writer.status("paused" if fold.paused is not None else standing(fold))


def _shown_options(options: Sequence[PermissionOption]) -> list[PermissionOption]:
    """The answers that are offered, their names no longer than can be shown."""
    return [option if len(option.name) <= OPTION_CHARS else PermissionOption(
        option.option_id, option.name[:OPTION_CHARS], option.kind) for option in options]


def _always(about: PolicyAsk) -> Rule | None:
    """The rule that "always" would write; None where no rule could be about it or be written, or it is more than can be shown."""
    if len(about.paths) > ALWAYS_PATHS or BEYOND_RULES in about.paths:
        return None
    if len(about.command or "") + sum(map(len, about.paths)) > TEXT_MOST:
        return None  # before a rule is made of it and tried on it: that takes seconds for some megabytes
    try:
        rule = check_rule(always_rule(about, allow=True, scope="always", session_id=about.session_id, turn_id=about.turn_id,
                                      reason=None))
    except Invalid:
        return None
    return rule if sum(map(len, (*rule.command, *rule.path))) <= TEXT_MOST else None


def _answered_by(action: str, who: str, at: int) -> Decided:
    return Decided(action == "accept", who, iso_ms(at), "timeout" if who == "timeout" else "user")


def _requested_event(view: ApprovalView, beside: dict[str, Any]) -> ApprovalRequestedEvent:
    return ApprovalRequestedEvent(
        request_id=view.request_id, tool_call_id=view.tool_call_id, tool_name=view.tool_name, tool_input=view.tool_input,
        description=view.description, risk_level=view.risk_level,
        expires_at=view.expires_at, preview=view.preview or msgspec.UNSET, meta={**_requested_meta(view), **beside},
    )


def _requested_meta(view: ApprovalView) -> dict[str, Any]:
    meta: dict[str, Any] = {"options": view.options, "title": view.title, "risk": risk_meta(view.risk_reason, view.doubts)}
    if view.calls:
        meta["calls"] = [msgspec.structs.replace(call, about=None) for call in view.calls]
    if view.acts:
        meta["acts"] = view.acts
    if view.in_words:
        meta["inWords"] = True
    if view.disk is not None:
        meta["disk"] = view.disk
    if view.parts:
        meta["parts"] = view.parts
    if view.always is not None:
        meta["always"] = view.always
    if view.editable:
        meta["editable"] = True
    return meta


def _describe(reading: CallReading, state: CallState) -> str:
    """The call's line; its title where that has more to say than a tool's name."""
    return reading.description if reading.description != reading.tool else state.title or reading.tool


def _list_shown(calls: Sequence[AskedCall]) -> CallPreview:
    """Several calls as a list."""
    text = calls_in_words(calls)
    is_cut = len(text) > TEXT_MOST or any(call.about is not None and call.command != call.about.command for call in calls)
    return CallPreview((DescriptionPreview(text=text[:TEXT_MOST]),), doubts=(NOT_ALL,) if is_cut else ())


def _describe_all(calls: Sequence[AskedCall]) -> str:
    """Several calls in a line."""
    return f"{len(calls)} calls: {'; '.join(call.description for call in calls)}"[:DESCRIPTION_CHARS]


def _doubts_of(abouts: Sequence[PolicyAsk]) -> list[str]:
    return list(dict.fromkeys(doubt for about in abouts for doubt in about.doubts))[:DOUBTS]


def _places_of(subject: CoveredCall) -> tuple[str, ...]:
    """The paths of a call, and the folder its command runs in."""
    call, about = subject
    return (*about.paths, *paths_of(call.state)[:PATHS], *((about.cwd,) if about.cwd is not None else ()))


def _given(call: OpenCall) -> object:
    """What a call is made with; what has no input of its own is what it says in words. Of a huge one no rule is made."""
    raw = call.state.raw_input
    if raw is None:
        return [call.evidence.arguments if call.evidence is not None else "", shown_text(call.state)]
    return decoded(raw) if len(raw) <= 2 * INPUT_BYTES else "x" * (INPUT_BYTES + 1)


def _asked_for(ask: PermissionAsk) -> ToolCallUpdate:
    """The call that is asked for; an ask that names none, or by an id that nobody could keep, stands for itself."""
    try:
        asked = decode_tool_call_update(ask.tool_call)
    except Invalid:
        return ToolCallUpdate(tool_call_id=ask.request_id)
    return asked if len(asked.tool_call_id) <= ID_CHARS else msgspec.structs.replace(asked, tool_call_id=ask.request_id)


def paths_of(state: CallState) -> tuple[str, ...]:
    """The files that a call says it touches, beside its input; the first of very many."""
    changed = [item.path for item in state.content or [] if isinstance(item, Diff)]
    located = [location.path for location in state.locations or []]
    return tuple(dict.fromkeys([*changed[:LOCATIONS], *located]))


def _only_field(schema: bytes | None) -> dict[str, Any]:
    """The field of a form that takes a single answer; richer forms are in the schema."""
    fields = fields_of(schema)
    main = main_field(fields)
    return fields[main] if main is not None else {}


def _options(field: dict[str, Any]) -> list[str] | None:
    """What a form with a single field offers to choose from."""
    items = field.get("items")
    choices = choices_of(field) or (choices_of(items) if isinstance(items, dict) else [])
    choices = choices or (["true", "false"] if field.get("type") == "boolean" else [])
    return [_as_text(choice) for choice in choices] or None


def _default(field: dict[str, Any]) -> str | msgspec.UnsetType:
    return _as_text(field["default"]) if field.get("default") is not None else msgspec.UNSET


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
