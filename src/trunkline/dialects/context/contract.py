"""The two interfaces that seed 002 asks of whoever speaks to an agent, as Python protocols.

Rule 1: only shapes; what implements them is ``trunkline.adapters``.
Rule 2: an event that this version cannot read reaches the listener all the same, whole, as an ``UnknownEvent``.
Rule 3: a callback is called in order, one event at a time; what it returns for stopping may be called twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from trunkline.dialects.context.capabilities import Capabilities
from trunkline.dialects.context.commands import Command
from trunkline.dialects.context.envelope import UnknownEvent
from trunkline.dialects.context.events import Event
from trunkline.dialects.context.types import AgentDataPaths, DiscoveredSession, SessionDiscoveryEvent, StartSessionOptions


@runtime_checkable
class ACPSession(Protocol):
    """One session of an agent: its events out, commands in."""

    @property
    def session_id(self) -> str:
        """The session's id."""

    @property
    def capabilities(self) -> Capabilities:
        """What the agent of this session can do."""

    def on_event(self, callback: Callable[[Event | UnknownEvent], None]) -> Callable[[], None]:
        """Call back with every event from now on, until the returned function is called."""

    async def execute(self, command: Command) -> None:
        """Carry a command out; ``Unsupported`` if the agent cannot."""

    async def get_history(self) -> list[Event | UnknownEvent]:
        """All events since the session's start, in order."""

    async def detach(self) -> None:
        """Let go of the session; the agent goes on."""

    async def refresh(self) -> None:
        """Look again at the source, where events come from a file."""


@runtime_checkable
class ACPAdapter(Protocol):
    """One kind of agent: whether it is there, and its sessions."""

    def get_capabilities(self) -> Capabilities:
        """What the agent can do, as far as it is known without a session."""

    async def is_installed(self) -> bool:
        """Whether the agent is on this machine."""

    async def get_version(self) -> str | None:
        """The agent's version, where it has one."""

    def get_data_paths(self) -> AgentDataPaths:
        """Where the agent keeps its files."""

    async def discover_sessions(self) -> list[DiscoveredSession]:
        """The sessions there are, whoever started them."""

    def watch_sessions(self, callback: Callable[[SessionDiscoveryEvent], None]) -> Callable[[], None]:
        """Call back when a session appears, changes or goes away, until the returned function is called."""

    async def attach_to_session(self, session_id: str) -> ACPSession:
        """Connect to a session that exists."""

    async def start_session(self, options: StartSessionOptions) -> ACPSession:
        """Start a new one."""
