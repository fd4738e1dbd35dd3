"""The fold as clients see it."""

from __future__ import annotations

from typing import Any

import msgspec

from trunkline.agents.resources import Resources
from trunkline.dialects.context.envelope import iso_ms
from trunkline.dialects.context.types import PermissionPolicy, TokenUsage
from trunkline.session.fold.asks import ApprovalView, QuestionView
from trunkline.session.fold.caps import Caps
from trunkline.session.fold.kept import Changes, Cost, Failure, Pause, QueuedPrompt, Sandboxed, Todo, Usage, Waits
from trunkline.session.fold.state import Fold
from trunkline.session.policy.decide import Rule


class TurnView(msgspec.Struct, rename="camel"):
    """The running turn, as clients see it."""

    turn_id: str
    started_at: str
    by: str
    seq: int


class SessionView(msgspec.Struct, kw_only=True, rename="camel"):
    """The fold as the HTTP API shows it."""

    id: str
    status: str
    agent: str
    cwd: str
    title: str
    created_at: str
    updated_at: str
    last_seq: int
    turn: TurnView | None
    pending_approvals: list[ApprovalView]
    pending_questions: list[QuestionView]
    queue: list[QueuedPrompt]
    todos: list[Todo]
    usage: Usage | None
    cost: Cost | None
    mode: str | None
    modes: msgspec.Raw
    config_options: msgspec.Raw
    artifacts: int
    paused: Pause | None
    caps: Caps | None
    waits: Waits
    rules: list[Rule]
    permission_policy: PermissionPolicy | None
    tokens: TokenUsage | None
    agent_info: msgspec.Raw
    agent_start: str | None
    """How the agent came to this session last: ``new``, ``resumed`` (it remembers) or ``loaded`` (its history was replayed)."""
    last_text: str
    agent_session_id: str | None = None
    """What the agent itself calls this session."""
    sandbox: Sandboxed | None = None
    """What its agent and commands run in; None: as the hub's own user, with all that this one may."""
    watch_only: bool = False
    """Whether somebody else runs the agent, so that this session can only be watched."""
    line: bool = False
    """Whether it takes prompts all the same, and can be interrupted: a live line to its program is open."""
    resume_command: str | None = None
    """What goes on with it in the agent's own program, in a terminal; in lists and in the view of a single session."""
    commands: list[dict[str, Any]] | None = None
    """Only in the view of a single session."""
    changes: Changes = msgspec.field(default_factory=Changes)
    resources: Resources = Resources()
    """What its agent may take of the machine: memory, processes, files; with its catalog's own limits."""
    failed: Failure | None = None
    """How the last turn broke off; None while the next one runs, and where it did not."""
    missed: str | None = None
    """When nobody answered in time what the last turn asked; None where somebody did, and once the next one begins."""
    node: str | msgspec.UnsetType = msgspec.UNSET
    """The node of the cluster that it runs on; absent without a cluster."""
    node_away: str | msgspec.UnsetType = msgspec.UNSET
    """Why that node cannot be written to; absent while it is there."""
    lag: float | msgspec.UnsetType = msgspec.UNSET
    """For how many seconds that node has had entries that the cluster does not have; absent where it has none."""


def for_clients(view: ApprovalView) -> ApprovalView:
    """An approval as clients see it: where the hub keeps its own files is for the rules alone."""
    calls = [msgspec.structs.replace(call, about=None) for call in view.calls]
    about = None if view.about is None else msgspec.structs.replace(view.about, guarded=(), home=None)
    return msgspec.structs.replace(view, about=about, calls=calls)


def view_of(fold: Fold) -> SessionView:
    """The fold as clients see it."""
    turn = fold.turn
    return SessionView(
        id=fold.session_id, status=fold.status, agent=fold.agent, cwd=fold.cwd, title=fold.title,
        created_at=iso_ms(fold.created_at), updated_at=iso_ms(fold.updated_at), last_seq=fold.seq,
        turn=TurnView(turn.turn_id, turn.started_at, turn.by, turn.seq) if turn else None,
        pending_approvals=[for_clients(view) for view in fold.approvals.values()],
        pending_questions=list(fold.questions.values()),
        queue=list(fold.queue), todos=list(fold.todos), usage=fold.usage, cost=fold.cost, mode=fold.mode,
        modes=fold.modes, config_options=fold.config_options, artifacts=len(fold.artifacts),
        paused=fold.paused, caps=fold.caps, waits=fold.waits, rules=list(fold.rules), permission_policy=fold.permission_policy,
        tokens=fold.tokens,
        agent_info=fold.agent_info, agent_start=fold.agent_start, last_text=fold.last_text,
        agent_session_id=fold.agent_session_id, sandbox=fold.sandbox, resources=fold.resources,
        watch_only=fold.watches is not None, line=fold.line, changes=fold.changes, failed=fold.failed, missed=fold.missed,
    )
