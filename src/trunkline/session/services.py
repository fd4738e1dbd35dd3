"""What a hub lends to each of its sessions: the journal's way in, clocks, ids, limits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import msgspec

from trunkline.agents.pid_files import PidFiles
from trunkline.agents.sandbox import Confine, as_is, nothing_hidden
from trunkline.dialects.calls import ToolNames
from trunkline.feeds.session import TailBudget
from trunkline.journal.base import Journal
from trunkline.journal.committer import Committer
from trunkline.session.fold import Artifact, Fold
from trunkline.session.policy.file import PolicyBook
from trunkline.session.workspace.makers import Makers
from trunkline.settings import Seconds, Settings

_DEFAULTS = Settings(data=Path())


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How long a session waits for what: the settings of these names."""

    approval_timeout: Seconds = _DEFAULTS.approval_timeout
    idle_timeout: Seconds = _DEFAULTS.idle_timeout
    tool_timeout: Seconds = _DEFAULTS.tool_timeout
    agent_idle_stop: Seconds = _DEFAULTS.agent_idle_stop
    cancel_grace: Seconds = _DEFAULTS.cancel_grace
    silence_grace: Seconds = _DEFAULTS.silence_grace


async def _free(fold: Fold) -> None:
    """Nobody else has it."""


class Services(msgspec.Struct, frozen=True, kw_only=True):
    """Shared by all sessions of a hub."""

    journal: Journal
    committer: Committer
    budget: TailBudget
    pids: PidFiles
    clock: Callable[[], int]
    """UTC, microseconds."""
    new_id: Callable[[str], str]
    """A fresh id with a prefix."""
    limits: Limits
    policies: PolicyBook
    chain_key: bytes
    """What the chain over approvals is keyed with."""
    raw_as_sent: bool = False
    """Whether packets carry a tool's input and output as its agent sent them, instead of in the documents' shapes."""
    guarded: tuple[str, ...] = ()
    """The hub's own folders and files, which no rule opens."""
    preview_url: Callable[[str, Artifact], str | None]
    """The address under which an artifact of a session can be shown; None where it cannot."""
    turn_ended: Callable[[str, Fold], None]
    """Told of each turn's outcome (a stop reason or an error code)."""
    makers: Makers = msgspec.field(default_factory=Makers)
    """Whose a new file is, where several sessions work in one folder."""
    tool_names: Callable[[str], ToolNames] = lambda agent: ToolNames()
    """An agent's own names for its tools."""
    confine: Callable[[Fold, Mapping[str, str]], Confine] = lambda fold, env: as_is
    """How what runs for a session is kept in its sandbox, by its state and the variables that came with its start."""
    hider: Callable[[Fold, Mapping[str, str]], Callable[[str], bool]] = lambda fold, env: nothing_hidden
    """Finds what that sandbox hides in the session's own folders; it looks at the disk."""
    hold_readers: Callable[[], None] = lambda: None
    let_readers_go: Callable[[], None] = lambda: None
    """Within this, readers of the whole hub are not written to."""
    check_free: Callable[[Fold], Awaitable[None]] = _free
    """Raises where another program has the session open that an agent is to come back to."""
    node: str | msgspec.UnsetType = msgspec.UNSET
    """What this hub is called in its cluster; absent without one."""
    stored_within_s: float | None = None
    """How long who looks at a session waits for its last entries, which a cluster has to have first; None: until it has."""
    home: str | None = None
    """The person's home folder, by which paths are judged."""
