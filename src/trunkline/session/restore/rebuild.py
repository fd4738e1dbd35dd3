"""The state of a session whose checkpoint cannot be read, made again from its entries.

Entries carry what they changed in the state (steps, ``fold/steps.py``), so that all of them together are the state. Where the
first ones have none, because an earlier Trunkline wrote them or they are lost, it is read from what the events hold.

Rule 1: what events hold is partial: agent, folder, title, turns, what was spent, the end of the approvals' chain. What they do
not hold (idempotency keys, what is open, the agent's modes and options) is lost then.
Rule 2: an entry that cannot be understood changes nothing; one that is lost (a gap) neither.
Rule 3: nothing that a person decided is widened: caps, policies, rules and a pause are taken from the entries that set them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from trunkline import decoders
from trunkline.dialects.context.envelope import UnknownEvent, decode_event, iso_ms
from trunkline.dialects.context.events import (
    ApprovalRequestedEvent,
    ApprovalResolvedEvent,
    ContextWindowEvent,
    CostUpdateEvent,
    CustomEvent,
    EnvironmentInfoEvent,
    Event,
    MessageCompleteEvent,
    SessionErrorEvent,
    SessionPausedEvent,
    SessionResumedEvent,
    SessionStartedEvent,
    SessionStatusChangedEvent,
    TodoUpdateEvent,
    TokenUsageEvent,
    ToolCallStartEvent,
)
from trunkline.dialects.context.types import PermissionPolicy
from trunkline.dialects.context.unions import TextPart
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Invalid, SessionUnreadable
from trunkline.journal.base import Entry, Journal, SessionRow
from trunkline.session.audit.chain import Chain, opened
from trunkline.session.fold import NULL, Cost, Fold, Pause, Todo, Turn, Usage, Waits, restore
from trunkline.session.fold.caps import Caps
from trunkline.session.interpret.lifecycle import MOVED
from trunkline.session.interpret.text import entitle, last_words
from trunkline.session.policy.decide import Rule

UNKNOWN_AGENT = "unknown"


async def rebuilt(journal: Journal, row: SessionRow) -> Fold:
    """The session's state as its entries have it; SessionUnreadable where there is not even the folder it was started in."""
    story = _Story(row)
    steps: list[bytes] = []
    after = 0
    while entries := await journal.read(row.id, after=after):
        story.take(entries)
        steps += [entry.step for entry in entries if entry.step is not None]
        after = entries[-1].seq
    fold = _stepped(steps) or story.fold
    if not fold.cwd:
        raise SessionUnreadable(f"the state of session {row.id} cannot be read, and its first entries are lost",
                                details={"sessionId": row.id})
    fold.seq = max(row.last_seq, after)
    return fold


def _stepped(steps: list[bytes]) -> Fold | None:
    """The fold that the steps make; None where the first ones are missing, which hold what never changes."""
    try:
        return restore(b"{}", steps)
    except SessionUnreadable:
        return None


class _Story:
    """The entries of one session, applied to a fold."""

    def __init__(self, row: SessionRow) -> None:
        self.fold = Fold(session_id=row.id, agent=row.agent or UNKNOWN_AGENT, cwd=row.cwd, created_at=row.created_at,
                         updated_at=row.updated_at, title=row.title)

    def take(self, entries: Iterable[Entry]) -> None:
        """The next entries, in order."""
        fold = self.fold
        for entry in entries:
            fold.updated_at = entry.at or fold.updated_at
            if b":delta" in entry.event[:400]:
                continue
            try:
                event = decode_event(entry.event)
            except Invalid:
                continue
            self._take(entry, event)

    def _take(self, entry: Entry, event: Event | UnknownEvent) -> None:
        fold = self.fold
        match event:
            case SessionStartedEvent():
                fold.agent, fold.cwd = event.agent, event.working_directory
            case EnvironmentInfoEvent():
                fold.environment, fold.model = event.context, event.context.model
            case SessionStatusChangedEvent():
                fold.status = event.to
                if event.to in ("idle", "completed", "error"):
                    fold.turn = None
            case MessageCompleteEvent(role="user"):
                fold.messages += 1
                entitle(fold, list(event.content))
            case MessageCompleteEvent():
                fold.messages += 1
                texts = [part.text for part in event.content if isinstance(part, TextPart)]
                fold.last_text = last_words("\n".join(texts)) or fold.last_text
            case ToolCallStartEvent():
                fold.tool_calls += 1
            case SessionErrorEvent():
                fold.errors += 1
                fold.turn = None
            case ApprovalRequestedEvent() | ApprovalResolvedEvent():
                self._sealed(entry.event)
            case TodoUpdateEvent():
                fold.todos = [Todo(todo.content, todo.status) for todo in event.todos]
            case ContextWindowEvent():
                fold.usage = Usage(event.used, event.limit)
            case CostUpdateEvent():
                fold.cost = Cost(float(event.cumulative.total), event.cumulative.currency)
            case TokenUsageEvent():
                fold.tokens = event.cumulative
            case SessionPausedEvent():
                meta = event.meta or {}
                fold.paused = Pause(iso_ms(entry.at), str(meta.get("by", "")), event.reason or None, [])
            case SessionResumedEvent():
                self._resumed(event)
            case CustomEvent():
                if event.event_name == MOVED:
                    self._sealed(entry.event)
                self._custom(entry, event)

    def _resumed(self, event: SessionResumedEvent) -> None:
        meta = event.meta or {}
        if meta.get("how") == "unpaused":
            self.fold.paused = None
        elif isinstance(meta.get("agentSessionId"), str):
            self.fold.agent_session_id = meta["agentSessionId"]

    def _sealed(self, event: bytes) -> None:
        try:
            _, number, head = opened(event)
        except Invalid:
            return
        self.fold.chain = Chain(number, head)

    def _custom(self, entry: Entry, event: CustomEvent) -> None:
        apply = _CUSTOM.get(event.event_name)
        if apply is None:
            return
        try:
            apply(self.fold, entry, decoders.decode(event.data, dict[str, Any]))
        except (KeyError, TypeError, ValueError, *BROKEN):
            return  # Rule 2


def _turn_started(fold: Fold, entry: Entry, data: dict[str, Any]) -> None:
    fold.turns = int(data["turn"])
    fold.turn = Turn(turn_id=str(data["turnId"]), started_at=iso_ms(entry.at), by="", seq=entry.seq - 1)


def _turn_ended(fold: Fold, entry: Entry, data: dict[str, Any]) -> None:
    fold.turn = None


def _renamed(fold: Fold, entry: Entry, data: dict[str, Any]) -> None:
    fold.title, fold.titled_by_user = str(data["title"]), True


def _attached(fold: Fold, entry: Entry, data: dict[str, Any]) -> None:
    fold.agent_session_id = data.get("agentSessionId")
    fold.watches = data.get("watches")


def _agent_session(fold: Fold, entry: Entry, data: dict[str, Any]) -> None:
    fold.agent_session_id = str(data["sessionId"])


def _limits(fold: Fold, entry: Entry, data: dict[str, Any]) -> None:
    fold.caps = decoders.convert(data.get("caps"), Caps | None)
    fold.waits = decoders.convert(data.get("waits") or {}, Waits)


def _policy(fold: Fold, entry: Entry, data: dict[str, Any]) -> None:
    fold.permission_policy = decoders.convert(data["policy"], PermissionPolicy)


def _rule(fold: Fold, entry: Entry, data: dict[str, Any]) -> None:
    if data["where"] == "session":
        fold.rules.append(decoders.convert(data["rule"], Rule))


def _commands(fold: Fold, entry: Entry, data: dict[str, Any]) -> None:
    fold.commands_seq = entry.seq


def _mode(fold: Fold, entry: Entry, data: dict[str, Any]) -> None:
    fold.mode, fold.modes = str(data["currentModeId"]), NULL


_CUSTOM: dict[str, Callable[[Fold, Entry, dict[str, Any]], None]] = {
    "turn_started": _turn_started, "turn_ended": _turn_ended, "session_renamed": _renamed, "session_attached": _attached,
    "limits_set": _limits, "permission_policy_set": _policy, "rule_added": _rule, "agent_session_changed": _agent_session,
    "available_commands_update": _commands, "current_mode_update": _mode,
}
