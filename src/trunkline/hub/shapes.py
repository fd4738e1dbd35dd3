"""What a hub takes and gives: its options, a new session, its agents, what waits, its figures."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

import msgspec

from trunkline.agents.catalog import AgentSpec, Detection
from trunkline.agents.catalog.entry import SandboxKind
from trunkline.agents.resources import Resources
from trunkline.dialects.acp.content import ContentBlock, TextContent
from trunkline.journal.stores import SQLITE, store_named
from trunkline.session.fold import ApprovalView, Fold, QuestionView, Sandboxed, SessionView, for_clients
from trunkline.settings import Settings


class HubOptions(Settings, frozen=True, kw_only=True):
    """How a hub is set up: the settings, and what only programs give."""

    policy_file: Path | None = None
    """The rules for all sessions; None: in the data folder."""
    store: str = SQLITE
    """Where the journal is, by a name of ``journal/stores/``. One that does not last (``memory:``) is for programs that want no
    trace: the hub then keeps no file beside it either."""

    @property
    def keeps_files(self) -> bool:
        """Whether anything of this hub is on the disk."""
        return store_named(self.store).kind.lasts

    @property
    def rules_file(self) -> Path | None:
        """Where the rules for all sessions are; None for a hub that keeps no files."""
        return self.policy_file if self.policy_file and self.keeps_files else self.file("policy.toml")

    def file(self, name: str) -> Path | None:
        """A file or folder of the data folder; None for a hub that keeps none."""
        return self.data / name if self.keeps_files else None


class NewSession(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """What a client gives to start a session."""

    agent: str
    cwd: str
    title: str | None = None
    mcp_servers: list[msgspec.Raw] = msgspec.field(default_factory=list)
    mode: str | None = None
    prompt: str | list[ContentBlock] | None = None
    env: dict[str, str] = msgspec.field(default_factory=dict)
    sandbox: SandboxKind | None = None
    """What its agent runs in; absent: as the agent's entry says, which it cannot loosen."""
    sandbox_network: bool | None = None
    resources: Resources = Resources()
    """What the agent may take of the machine, over what the catalog says."""
    node: str | None = None
    """The node of the cluster to run on; absent: whichever fits and has the least to do."""
    pool: str | None = None
    """The pool that the node has to be of."""
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    """What the node has to say of itself, each of these."""

    @property
    def is_placed(self) -> bool:
        """Whether it says anything about where to run."""
        return bool(self.node or self.pool or self.labels)


class Removed(msgspec.Struct, rename="camel", kw_only=True, frozen=True):
    """What became of a deleted session in its cluster. (Here it is erased.)"""

    erased: int = 0
    """Messages that were overwritten in the server's files."""
    purged: bool = False
    """Whether some were only taken out: no reader finds them, and their bytes stay in the servers' files until those are written
    anew."""
    unswept: bool = False
    """Whether they are in the servers' streams still, shown by no node, until ``trunkline cluster sweep``."""
    why: str = ""
    """Why not all of them were erased."""


class NodeView(msgspec.Struct, rename="camel", kw_only=True):
    """A node of the cluster as clients see it."""

    node: str
    role: str = ""
    """hub, gateway or runner; empty where it has not been heard of."""
    pool: str = ""
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    version: str = ""
    sessions: int = 0
    """That it owns, in memory or not."""
    running: int = 0
    """Agents that run there."""
    lag: int = 0
    """Entries there that the cluster does not have yet."""
    late: dict[str, float] = msgspec.field(default_factory=dict)
    """Sessions there whose readers at other nodes are behind, and for how many seconds."""
    draining: bool = False
    """Whether it takes no new sessions."""
    taken: int = 0
    """Sessions that other nodes took over from it since it was started."""
    aside: int = 0
    """Entries of such sessions that only it had: they are in its folder ``quarantine``."""
    away: str | msgspec.UnsetType = msgspec.UNSET
    """Why it cannot be written to; absent while it is there."""
    gone: bool = False
    """Whether somebody said that it is gone for good."""
    heard_at: str | msgspec.UnsetType = msgspec.UNSET
    """When it last said that it is there, as far as the node that answers knows."""


class ClusterView(msgspec.Struct, rename="camel", kw_only=True):
    """The cluster as one of its nodes sees it."""

    node: str
    """The node that answers."""
    role: str
    commit: str
    """``local`` or ``all``: when that node's own sessions count as stored."""
    generation: int
    """How often the stream was found to have gone back."""
    connected: bool
    nodes: list[NodeView]


class FoundView(msgspec.Struct, rename="camel", kw_only=True, frozen=True):
    """A session that another program wrote, as clients see it: it is not the hub's until somebody joins it."""

    id: str
    """What its agent calls it."""
    agent: str
    """Which agent of the catalog joins it."""
    cwd: str
    project: str
    title: str
    created_at: str
    updated_at: str
    last_text: str
    running: bool
    """Whether a program has it open."""
    pid: int | None = None
    model: str | None = None
    tokens: int | None = None
    """What it has taken, where its files say so without being read through."""
    resume_command: str | None = None
    """What goes on with it in the agent's own program, in a terminal."""
    where: Literal["elsewhere"] = "elsewhere"
    node: str | msgspec.UnsetType = msgspec.UNSET
    """The node of the cluster that it is on; absent without a cluster."""


class Way(msgspec.Struct, frozen=True):
    """One way to go on here with a session that another program wrote, and what it does or why it is not possible now."""

    how: Literal["resume", "fork", "summary"]
    possible: bool
    words: str


class HandoverView(msgspec.Struct, rename="camel", kw_only=True, frozen=True):
    """Who has a session, and how it changes hands."""

    session_id: str
    here: bool
    """Whether the hub runs its agent; else it is followed by its file."""
    running: bool
    """Whether another program has it open."""
    pid: int | None = None
    ways: list[Way] = msgspec.field(default_factory=list)
    """How it can be continued here; none for one that is here."""
    resume_command: str | None = None
    """What goes on with it in the agent's own program, in a terminal."""
    can_give_back: bool = False


class AgentInfo(msgspec.Struct, rename="camel", kw_only=True):
    """An agent of the catalog as clients see it."""

    name: str
    display_name: str
    icon: str
    command: list[str]
    docs_url: str
    install_hint: str
    login_hint: str
    """What to do when it wants a login."""
    pick: str
    """When to pick it, where others do the same or something has to be known."""
    env_allow: list[str]
    installed: bool
    path: str | None
    version: str | None
    capabilities: msgspec.Raw
    """What the agent declared when it was last started by this hub."""
    asks_permission: bool
    """Whether a run of it has shown that it asks before it acts (``approval.toolCalls``). Where not, count on nothing."""
    sandbox: Sandboxed | None
    """What every session with it runs in, whatever its client asks for; None where that is the client's choice."""
    resources: Resources = Resources()
    """What it may take of the machine, unless a session says otherwise."""
    daemons: list[str] = msgspec.field(default_factory=list)
    """Programs that it starts for all its users, which are left running when it ends."""

    @classmethod
    def of(cls, spec: AgentSpec, found: Detection, capabilities: msgspec.Raw) -> Self:
        """An agent with what was found of it here."""
        return cls(
            name=spec.name, display_name=spec.display_name, icon=spec.icon, command=[*spec.command], docs_url=spec.docs_url,
            install_hint=spec.install_hint, login_hint=spec.login_hint, pick=spec.pick, env_allow=[*spec.env_allow],
            installed=found.installed, path=found.path, version=found.version, capabilities=capabilities,
            asks_permission=spec.asks_permission,
            sandbox=None if spec.sandbox == "none" else Sandboxed(network=spec.sandbox_network),
            resources=spec.resources, daemons=[daemon.name for daemon in spec.daemons])


class PendingAsk(msgspec.Struct, rename="camel", kw_only=True):
    """An approval or a question that waits for somebody, and the session it waits in."""

    session_id: str
    agent: str
    title: str
    cwd: str
    approval: ApprovalView | msgspec.UnsetType = msgspec.UNSET
    question: QuestionView | msgspec.UnsetType = msgspec.UNSET

    @property
    def ask_id(self) -> str:
        """By which it is answered."""
        if self.approval is not msgspec.UNSET:
            return self.approval.request_id
        return self.question.question_id if self.question is not msgspec.UNSET else ""


class HubMetrics(msgspec.Struct):
    """Counters and gauges, read by ``/metrics``."""

    entries: int = 0
    commits: int = 0
    sessions_open: int = 0
    agents_running: int = 0
    readers_waiting: int = 0
    turns: dict[str, int] = msgspec.field(default_factory=dict)


def pending_in(fold: Fold) -> list[PendingAsk]:
    """Everything that waits in a session."""
    where = PendingAsk(session_id=fold.session_id, agent=fold.agent, title=fold.title, cwd=fold.cwd)
    return [*(msgspec.structs.replace(where, approval=for_clients(view)) for view in fold.approvals.values()),
            *(msgspec.structs.replace(where, question=view) for view in fold.questions.values())]


def asks_in(view: SessionView) -> list[PendingAsk]:
    """The same from a session's view."""
    where = PendingAsk(session_id=view.id, agent=view.agent, title=view.title, cwd=view.cwd)
    return [*(msgspec.structs.replace(where, approval=ask) for ask in view.pending_approvals),
            *(msgspec.structs.replace(where, question=ask) for ask in view.pending_questions)]


def content_blocks(prompt: str | list[ContentBlock]) -> list[ContentBlock]:
    """A prompt as content blocks; plain text is one block."""
    return [TextContent(text=prompt)] if isinstance(prompt, str) else prompt
