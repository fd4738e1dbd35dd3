"""What the hub answers about itself as a whole: what waits, its rules, limits, search, folders, adapters.

Rule: the same as in ``views``: fields we do not know are skipped, fields that are missing have a default.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from trunkline.client.views import PendingAsk


class HubView(msgspec.Struct, rename="camel", kw_only=True):
    """Base of these answers: camelCase on the wire."""


class PendingList(HubView):
    """Everything that waits for somebody."""

    pending: list[PendingAsk] = []


class JournalDamage(HubView):
    """Something stored that cannot be read any more: entries of a session, or more where ``last`` is 0."""

    number: int = 0
    at: str = ""
    session_id: str = ""
    first: int = msgspec.field(default=0, name="from")
    last: int = msgspec.field(default=0, name="to")
    what: str = ""


class AwayView(HubView):
    """Whether the person is away from the terminals; ``since`` in UTC, microseconds."""

    away: bool = False
    since: int | None = None
    by: str | None = None


class JournalView(HubView):
    """How what is stored is: ``whole``, ``hurt``, or ``unwritable``."""

    state: str = "whole"
    damages: list[JournalDamage] = []
    asides: list[str] = []
    unwritable: str | None = None


class NodeView(HubView):
    """A node of a cluster; ``away`` says why it cannot be written to."""

    node: str
    role: str = ""
    pool: str = ""
    labels: dict[str, str] = {}
    version: str = ""
    sessions: int = 0
    running: int = 0
    lag: int = 0
    late: dict[str, float] = {}
    """Sessions whose readers elsewhere are behind, and for how many seconds."""
    draining: bool = False
    taken: int = 0
    aside: int = 0
    away: str | None = None
    heard_at: str | None = None


class ClusterView(HubView):
    """The cluster as the node that answers sees it."""

    node: str
    role: str = ""
    commit: str = ""
    generation: int = 0
    connected: bool = False
    nodes: list[NodeView] = []


class PolicyRule(HubView, omit_defaults=True):
    """A rule of the policy: what fits every list that is not empty is allowed, asked about or denied."""

    action: Literal["allow", "ask", "deny"]
    category: list[str] = []
    tool: list[str] = []
    path: list[str] = []
    command: list[str] = []
    agent: list[str] = []
    risk: list[str] = []
    input: str | None = None
    root: str | None = None
    node: list[str] = []
    expires_at: str | None = None
    session: str | None = None
    turn: str | None = None
    saved_by: str | None = None
    reason: str | None = None
    id: str | None = None


class RuleAnswer(HubView):
    """An ask that waits and that a rule would answer."""

    request_id: str
    session_id: str = ""
    description: str = ""
    decision: Literal["allow", "deny"] = "deny"


class RulePreview(HubView):
    """The rule that a decision for longer than once would save, and what it would answer: its own ask, and others."""

    rule: PolicyRule
    answers: list[RuleAnswer] = []


class PolicyPreview(HubView):
    """What another policy would answer of all that waits."""

    answers: list[RuleAnswer] = []


class AutoApprove(HubView):
    """What needs no person: yes, no, or patterns."""

    reads: bool = False
    writes: bool | list[str] = False
    commands: bool | list[str] = False
    searches: bool = False


class PermissionPolicy(HubView):
    """The Agent Context Protocol's own policy."""

    auto_approve: AutoApprove


class PolicyView(HubView):
    """The rules in force and the file as it is. ``problem`` says why these are not the same, None when they are; ``last_good`` is
    the text to go back to then, where the hub has read a good one."""

    text: str = ""
    rules: list[PolicyRule] = []
    auto_approve: PermissionPolicy | None = None
    problem: str | None = None
    path: str | None = None
    version: str = ""
    last_good: str | None = None
    of: str = "node"
    """Whose policy it is: this node's own file, or the cluster's."""
    node: str | None = None
    """This node's name in its cluster."""


class RuleLookedAt(HubView):
    """A rule in the order in which it counts; ``why`` says what stands against it."""

    rule: PolicyRule
    source: str = ""
    fits: bool = False
    why: str = ""


class PolicyPiece(HubView):
    """One command of a line, as rules see it: other names of it, what it may run in turn, options that a pattern has to name."""

    text: str
    also: list[str] = []
    runs: list[str] = []
    runs_unknown: bool = False
    changing: list[str] = []
    doubt: str = ""


class Explanation(HubView):
    """What the policy would say, which rule says so, and why; and how the call was read, its name and category as in events."""

    action: Literal["allow", "ask", "deny"]
    source: str = ""
    why: str = ""
    rule: PolicyRule | None = None
    risk: str = ""
    risk_reason: str = ""
    considered: list[RuleLookedAt] = []
    tool: str = ""
    category: str = ""
    command: str | None = None
    paths: list[str] = []
    doubts: list[str] = []
    pieces: list[PolicyPiece] = []
    node: str = ""
    """The node of a cluster that decides."""


class Caps(HubView, omit_defaults=True):
    """What a session may spend; None is no limit. ``cost`` is in the currency that the agent reports."""

    tokens: int | None = None
    cost: float | None = None
    minutes: float | None = None
    turns: int | None = None


class Waits(HubView, omit_defaults=True):
    """How long approvals wait (None: as the hub is set), and what the agent is answered when nobody was."""

    approval_s: float | None = None
    on_timeout: Literal["reject", "cancel"] = "reject"


class SnippetPart(HubView):
    """A piece of a snippet, and whether it is what was looked for."""

    text: str
    match: bool = False


class SearchHit(HubView):
    """A passage that matches. ``kind`` is title, user, assistant or tool; ``seq`` is its entry, 0 for a title."""

    session_id: str
    title: str = ""
    agent: str = ""
    cwd: str = ""
    kind: str = ""
    seq: int = 0
    at: str = ""
    snippet: list[SnippetPart] = []
    url: str = ""
    node: str | None = None


class SearchPage(HubView):
    """The best matches, best first. Without ``complete`` the same search finds more later."""

    query: str = ""
    hits: list[SearchHit] = []
    complete: bool = True
    missing: list[str] = []
    """Nodes of the cluster that did not answer."""


class Folder(HubView):
    """A folder of the hub's machine; ``is_project`` says that it is under version control."""

    name: str
    path: str
    hidden: bool = False
    is_symlink: bool = False
    is_project: bool = False


class RecentFolder(HubView):
    """A folder that sessions worked in."""

    name: str
    path: str
    sessions: int = 0
    last_used_at: str = ""


class FolderPage(HubView):
    """A folder's folders, hidden ones last, and the recent ones; ``parent`` is None at the top, ``branch`` where there is no
    git."""

    path: str
    parent: str | None = None
    home: str = ""
    folders: list[Folder] = []
    truncated: bool = False
    recent: list[RecentFolder] = []
    branch: str | None = None


class Pairing(HubView):
    """A one-time code that pairs a device. ``reach`` is machine, network or public: from where ``url`` can be opened."""

    code: str
    url: str
    expires_at: int = 0
    scope: str = ""
    reach: str = ""
    secure: bool = False


class DeviceView(HubView):
    """A paired device; times are seconds since the epoch."""

    id: str
    name: str = ""
    scope: str = ""
    created_at: int = 0
    last_seen_at: int | None = None
    expires_at: int | None = None
    connected: bool = False
    push: bool = False
    current: bool = False


class DeviceList(HubView):
    """Every paired device."""

    devices: list[DeviceView] = []


class DataPaths(HubView):
    """Where an agent keeps its files, as far as it is known."""

    sessions: str | None = None
    config: str | None = None
    logs: str | None = None


class AdapterView(HubView):
    """An agent with the Agent Context Protocol's capabilities and its files."""

    name: str
    installed: bool = False
    version: str | None = None
    capabilities: dict[str, Any] = {}
    data_paths: DataPaths = msgspec.field(default_factory=DataPaths)


class DiscoveredSession(HubView):
    """A session to attach to, of the hub or of the agent's own."""

    id: str
    agent: str = ""
    project_path: str = ""
    project_name: str = ""
    created_at: str = ""
    last_activity: str = ""
    last_message: str | None = None
    session_name: str | None = None


class DiscoveredSessions(HubView):
    """Sessions to attach to, newest activity first."""

    sessions: list[DiscoveredSession] = []
