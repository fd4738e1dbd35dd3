"""What a hub takes and tells: its options, a new session, its agents, what waits, its figures."""

from __future__ import annotations

from pathlib import Path

import msgspec

from trunkline.agents.catalog import AgentSpec
from trunkline.dialects import acp
from trunkline.session.fold import ApprovalView, Fold, QuestionView, shown


class HubOptions(msgspec.Struct, kw_only=True):
    """How a hub is set up."""

    data_dir: Path
    durability: str = "normal"
    agents: dict[str, AgentSpec] = msgspec.field(default_factory=dict)
    approval_timeout_s: float = 600.0
    idle_timeout_s: float = 900.0
    tool_timeout_s: float = 7200.0
    agent_idle_stop_s: float = 1800.0
    policy_file: Path | None = None
    """The rules for all sessions; None: in the data folder."""
    memory: bool = False
    """Keep the journal in memory only: for programs that want no trace."""


class NewSession(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """What a client gives to start a session."""

    agent: str
    cwd: str
    title: str | None = None
    mcp_servers: list[msgspec.Raw] = msgspec.field(default_factory=list)
    mode: str | None = None
    prompt: str | list[acp.ContentBlock] | None = None
    env: dict[str, str] = msgspec.field(default_factory=dict)


class AgentInfo(msgspec.Struct, rename="camel", kw_only=True):
    """An agent of the catalog as clients see it."""

    name: str
    display_name: str
    icon: str
    command: list[str]
    docs_url: str
    install_hint: str
    env_allow: list[str]
    installed: bool
    path: str | None
    version: str | None
    capabilities: msgspec.Raw
    """What the agent said of itself when it was last started by this hub."""
    asks_permission: bool
    """Whether a run of it has shown that it asks before it acts (``approval.toolCalls``). Where not, count on nothing."""


class PendingAsk(msgspec.Struct, rename="camel", kw_only=True):
    """An approval or a question that waits for somebody, and the session it waits in."""

    session_id: str
    agent: str
    title: str
    cwd: str
    approval: ApprovalView | msgspec.UnsetType = msgspec.UNSET
    question: QuestionView | msgspec.UnsetType = msgspec.UNSET


class HubMetrics(msgspec.Struct):
    """Counters and gauges, read by ``/metrics``."""

    entries: int = 0
    commits: int = 0
    sessions_open: int = 0
    agents_running: int = 0
    readers_waiting: int = 0
    turns: dict[str, int] = msgspec.field(default_factory=dict)


def pending_ask(fold: Fold, approval: ApprovalView | msgspec.UnsetType = msgspec.UNSET,
             question: QuestionView | msgspec.UnsetType = msgspec.UNSET) -> PendingAsk:
    """One thing that waits in a session."""
    return PendingAsk(session_id=fold.session_id, agent=fold.agent, title=fold.title, cwd=fold.cwd, question=question,
                      approval=shown(approval) if isinstance(approval, ApprovalView) else approval)


def content_blocks(prompt: str | list[acp.ContentBlock]) -> list[acp.ContentBlock]:
    """A prompt as content blocks; plain text is one block."""
    return [acp.TextContent(text=prompt)] if isinstance(prompt, str) else prompt
