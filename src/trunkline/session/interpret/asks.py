"""What the agent asks of people: permissions and questions, from the ask to the answer.

Rule 1: an approval is keyed by the hub's request id; agents give one toolCallId to several asks.
Rule 2: an ask is resolved once. Who resolved it is remembered, so that a late answer can be told.
Rule 3: asks and their resolutions form a keyed hash chain, so that a rewritten journal shows.
Rule 4: what waits is bounded (``room_for``). What is beyond is refused by whoever hears it, and written down (``refused``).
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from trunkline.dialects import acp, context, packets
from trunkline.dialects.acp.calls import LOCATIONS, CallState, merge, names_too_much
from trunkline.dialects.parts import CommandPart
from trunkline.dialects.signals import PermissionAsk, PermissionOption, QuestionAsk
from trunkline.errors import Invalid
from trunkline.session.chain import sealed
from trunkline.session.fold import KEPT_DECISIONS, ApprovalView, Decided, OpenCall, QuestionView, remember
from trunkline.session.forms import choices_of, fields_of, main_field
from trunkline.session.interpret.denied import denial_of
from trunkline.session.interpret.lifecycle import standing
from trunkline.session.interpret.preview import TEXT_MOST, ReadText, changed_file, is_shown_whole, preview_of
from trunkline.session.interpret.tools import ID_CHARS, INPUT_CUT, UNTRACKED, ToolStory, cut_input, name_of, shown_input
from trunkline.session.interpret.writer import TEXT_LIMIT, Writer
from trunkline.session.policy import PolicyAsk, Rule, always_rule, policy_ask
from trunkline.session.policy_inputs import BEYOND_RULES, PATHS
from trunkline.session.policy_text import check_rule

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
"""Characters of such an answer's id, which the agent is told again."""

OPTION_CHARS: Final = 200
"""Characters of its name that are shown: it is a button."""

HELD_BYTES: Final = 32 << 20
"""What all permissions that wait may say of their calls: changes are kept until they are decided, to be held against writes."""

ALWAYS_PATHS: Final = 40
"""Paths of an ask that "always" is offered for: each is held against each pattern of the rule, on the loop."""

_encode = msgspec.json.Encoder().encode

_TOO_MUCH: Final = f"what waits for a person in this session would say more than {PENDING_BYTES >> 20} MiB"


class Announced(NamedTuple):
    """An ask whose call is told of, and what the disk has to be asked before it is put to a person."""

    ask: PermissionAsk
    call: OpenCall
    about: PolicyAsk
    paths: tuple[str, ...]
    """Where these lead has to be known."""
    file: str | None
    """The file that it changes, whose text is shown."""


class AskStory:
    """Open permissions and questions."""

    def __init__(self, writer: Writer, tools: ToolStory, approval_timeout_us: int, *, chain_key: bytes = b"",
                 roots: Sequence[str] = (), home: str | None = None, guarded: Sequence[str] = ()) -> None:
        self._writer = writer
        self._tools = tools
        self._timeout_us = approval_timeout_us
        self._chain_key = chain_key
        self._roots = roots
        self._home = home
        self._guarded = guarded
        self._sizes: dict[str, int] = {}
        """What each that waits says, once it was counted."""
        self._held: dict[str, int] = {}
        """What the permissions among them said of their calls."""

    def announce(self, ask: PermissionAsk) -> Announced:
        """The agent wants a decision before it goes on: its call is told of, and what has to be known to put it to a person."""
        call = self._tools.announced(_asked_for(ask))
        self._tools.executing(call, requires_approval=True)
        about = self._about(call)
        folder = (about.cwd,) if about.cwd is not None else ()
        return Announced(ask, call, about, tuple(dict.fromkeys((*about.paths, *paths_of(call.state)[:PATHS], *folder))),
                         changed_file(self._tools.facts(call)))

    def request(self, announced: Announced, read: ReadText = lambda path: None) -> None:
        """Put it to a person; ``read`` gives the text of the file that it changes."""
        ask, call, about = announced.ask, announced.call, announced.about
        state, writer = call.state, self._writer
        _, reason = self._tools.risk(call)
        preview = self._preview(call, about, read)
        view = ApprovalView(
            request_id=ask.request_id, tool_call_id=state.tool_call_id, tool_name=name_of(state),
            title=state.title or name_of(state), description=_describe(state, about.command), risk_level=about.risk,
            risk_reason=reason, options=_shown_options(ask.options), tool_input=shown_input(state),
            preview=preview, parts=self._parts(preview, about), about=about, always=_always(about), editable=ask.editable,
            beyond_turn=ask.beyond_turn,
            requested_at=context.iso_ms(writer.at), expires_at=self._expiry(),
        )
        writer.fold.approvals[ask.request_id] = view
        self._held[ask.request_id] = len(ask.tool_call)
        writer.add(_requested_event(view, cut_input(state)), seal=self._seal, packet=packets.approval_requested_packet(
            at_us=writer.at, request_id=view.request_id, tool_call_id=view.tool_call_id, tool_name=view.tool_name,
            title=view.title, description=view.description, risk_level=view.risk_level, options=view.options,
            preview=view.preview, expires_at=view.expires_at,
        ))
        if writer.fold.paused is None:
            writer.status("waiting_for_approval")

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
            self._held = {key: held for key, held in self._held.items() if key in fold.approvals}
            if sum(self._held.values()) + len(ask.tool_call) > HELD_BYTES:
                return _TOO_MUCH
        return None if size + self._waiting_bytes() <= PENDING_BYTES else _TOO_MUCH

    def _waiting_bytes(self) -> int:
        """What all that waits says; each is counted once, and in all that is kept of it."""
        fold = self._writer.fold
        waiting: dict[str, ApprovalView | QuestionView] = {**fold.approvals, **fold.questions}
        self._sizes = {key: self._sizes.get(key) or len(_encode(view)) for key, view in waiting.items()}
        return sum(self._sizes.values())

    def refused(self, ask: PermissionAsk | QuestionAsk, why: str) -> None:
        """An ask that could not wait for a person was answered with that."""
        name = "question_refused" if isinstance(ask, QuestionAsk) else "permission_refused"
        about = {} if isinstance(ask, QuestionAsk) else {"toolCallId": _asked_for(ask).tool_call_id[:ID_CHARS]}
        self._writer.custom(name, {"requestId": ask.request_id, "reason": why, **about})

    def resolve(self, request_id: str, *, approved: bool, resolved_by: context.Resolver, who: str, reason: str | None = None,
                option_id: str | None = None, updated_input: msgspec.Raw | None = None) -> None:
        """A decision was made. The caller has checked that the approval is open."""
        writer = self._writer
        view = writer.fold.approvals.pop(request_id)
        decided = Decided(approved, who, context.iso_ms(writer.at), resolved_by)
        remember(writer.fold.decided, request_id, decided, KEPT_DECISIONS)
        call = writer.fold.calls.get(view.tool_call_id)
        if call is not None:
            call.denied, call.approved = not approved and not acp.is_other(view.options, option_id), approved
            call.denial = denial_of(who, resolved_by, reason) if call.denied else None
        meta: dict[str, Any] = {"by": who}
        if option_id is not None:
            meta["optionId"] = option_id
        if updated_input is not None:
            meta["updatedInput"] = updated_input
        event = context.ApprovalResolvedEvent(
            request_id=request_id, tool_call_id=view.tool_call_id, approved=approved, resolved_by=resolved_by,
            reason=reason or msgspec.UNSET, meta=meta,
        )
        writer.add(event, seal=self._seal, packet=packets.approval_resolved_packet(
            at_us=writer.at, request_id=request_id, tool_call_id=view.tool_call_id, approved=approved,
            resolved_by=resolved_by, reason=reason,
        ))
        self.back_to_work()

    def called_to_mind(self, view: ApprovalView, message: str) -> None:
        """An approval has waited for long."""
        self._writer.add(context.NotificationEvent(
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
        """What the rules look at in an ask that is not (yet) told of."""
        state, asked = CallState(tool_call_id=ask.request_id), _asked_for(ask)
        merge(state, asked)
        return self._about(OpenCall(state, self._writer.at, input_cut=names_too_much(asked)))

    def about_tool(self, name: str, given: bytes) -> PolicyAsk:
        """What the rules look at in a tool that is about to run."""
        return self._about(self._tools.about_to_run(name, given))

    def about_edited(self, view: ApprovalView, given: bytes) -> PolicyAsk:
        """What the rules look at in an open ask, with another input than it was asked with."""
        call = self._writer.fold.calls.get(view.tool_call_id)
        asked = call.state if call is not None else CallState(tool_call_id=view.tool_call_id, name=view.tool_name)
        state = CallState(tool_call_id=asked.tool_call_id, name=asked.name, kind=asked.kind, tool=asked.tool, raw_input=given)
        return self._about(OpenCall(state, self._writer.at))

    def _about(self, call: OpenCall) -> PolicyAsk:
        """What the rules look at: the input in whatever form it was told, and the paths that the agent named beside it."""
        fold, facts = self._writer.fold, self._tools.facts(call)
        located = paths_of(call.state)
        brings_changes = any(isinstance(item, acp.Diff) for item in call.state.content or [])
        about = policy_ask(name_of(call.state), call.state.kind, facts.subject, agent=fold.agent, cwd=fold.cwd,
                          roots=self._roots or (fold.cwd,), home=self._home, session_id=fold.session_id,
                          turn_id=fold.turn.turn_id if fold.turn else None, locations=located[:PATHS + 1],
                          guarded=self._guarded, guessed=not (call.state.tool or call.state.name), writes=brings_changes,
                          at_once=True)
        if call.input_cut or len(located) > PATHS:  # of more than that the rules look at none, and nobody judges them one by one
            about = msgspec.structs.replace(about, risk="high", risk_reason=INPUT_CUT, paths=(*about.paths, BEYOND_RULES))
        return about if not fold.calls_untracked else msgspec.structs.replace(about, risk="high", risk_reason=UNTRACKED)

    def _preview(self, call: OpenCall, about: PolicyAsk, read: ReadText) -> context.ApprovalPreview:
        folder = posixpath.join(self._writer.fold.cwd, about.cwd or "").rstrip("/")
        return preview_of(self._tools.facts(call), about.command, folder, read)

    def _parts(self, preview: context.ApprovalPreview, about: PolicyAsk) -> list[CommandPart]:
        if not isinstance(preview, context.CommandPreview) or not is_shown_whole(about.command or ""):
            return []
        from trunkline.dialects.risk import command_parts  # only a command that is asked about needs the shell's parser

        return command_parts(preview.command, cwd=preview.working_dir, roots=self._roots or (self._writer.fold.cwd,),
                             home=self._home)

    def _expiry(self) -> str:
        own = self._writer.fold.waits.approval_s
        return context.iso_ms(self._writer.at + (int(own * 1e6) if own is not None else self._timeout_us))

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
            asked_at=context.iso_ms(writer.at), expires_at="" if cap is not None else self._expiry(), cap=cap,
            beyond_turn=ask.beyond_turn,
        )
        writer.fold.questions[ask.request_id] = view
        meta: dict[str, Any] = {"schema": view.schema} if ask.schema is not None else {}
        if ask.url is not None:
            meta["url"] = ask.url
        if cap is not None:
            meta["cap"] = cap
        event = context.UserQuestionEvent(
            question_id=view.question_id, question=view.question, options=options or msgspec.UNSET,
            default_value=_default(field), expires_at=view.expires_at or msgspec.UNSET, meta=meta or msgspec.UNSET,
        )
        writer.add(event, packet=packets.question_requested_packet(
            at_us=writer.at, question_id=view.question_id, question=view.question, options=options, schema=ask.schema,
            url=ask.url, tool_call_id=ask.tool_call_id, expires_at=view.expires_at or None,
        ))
        if writer.fold.paused is None:
            writer.status("waiting_for_input")

    def answered(self, question_id: str, *, action: packets.AnswerAction, content: msgspec.Raw | None, who: str) -> None:
        """A question was answered, declined or withdrawn."""
        writer = self._writer
        del writer.fold.questions[question_id]
        remember(writer.fold.decided, question_id, _answered_by(action, who, writer.at), KEPT_DECISIONS)
        data: dict[str, Any] = {"questionId": question_id, "action": action}
        if content is not None:
            data["content"] = content
        writer.custom("question_resolved", data, meta={"by": who}, packet=packets.question_resolved_packet(
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
    return Decided(action == "accept", who, context.iso_ms(at), "timeout" if who == "timeout" else "user")


def _requested_event(view: ApprovalView, cut: dict[str, Any]) -> context.ApprovalRequestedEvent:
    return context.ApprovalRequestedEvent(
        request_id=view.request_id, tool_call_id=view.tool_call_id, tool_name=view.tool_name, tool_input=view.tool_input,
        description=view.description, risk_level=view.risk_level,
        expires_at=view.expires_at, preview=view.preview or msgspec.UNSET, meta={**_requested_meta(view), **cut},
    )


def _requested_meta(view: ApprovalView) -> dict[str, Any]:
    meta: dict[str, Any] = {"options": view.options, "title": view.title, "risk": {"reason": view.risk_reason}}
    if view.parts:
        meta["parts"] = view.parts
    if view.always is not None:
        meta["always"] = view.always
    if view.editable:
        meta["editable"] = True
    return meta


def _describe(state: CallState, command: str | None) -> str:
    if command:
        return f"Run: {command[:200]}"
    return state.title or name_of(state)


def _asked_for(ask: PermissionAsk) -> acp.ToolCallUpdate:
    """The call that is asked for; an ask that names none, or by an id that nobody could keep, stands for itself."""
    try:
        asked = acp.decode_tool_call_update(ask.tool_call)
    except Invalid:
        return acp.ToolCallUpdate(tool_call_id=ask.request_id)
    return asked if len(asked.tool_call_id) <= ID_CHARS else msgspec.structs.replace(asked, tool_call_id=ask.request_id)


def paths_of(state: CallState) -> tuple[str, ...]:
    """The files that a call says it touches, beside its input; the first of very many."""
    changed = [item.path for item in state.content or [] if isinstance(item, acp.Diff)]
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
