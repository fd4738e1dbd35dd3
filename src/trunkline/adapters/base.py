"""The two contracts of the Agent Context Protocol's host side: an adapter for each agent, a session for each conversation.

The names are the protocol's, spelled as Python spells them. Programs that take an ``ACPAdapter`` do not have to know whether
the agent is driven over stdio, or a file that it writes is followed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from trunkline.dialects import context

Stop = Callable[[], None]
"""Ends what it was returned for; calling it again does nothing."""

Heard = context.Event | context.UnknownEvent
"""An event; one that a newer hub wrote into the journal may be unknown to this one."""

LIBRARY = "library"
"""Who acted, in the journal, where a program uses the adapters without a server."""


class ACPSession(Protocol):
    """One conversation with one agent."""

    @property
    def session_id(self) -> str:
        """The hub's id of the session; the same in every event."""

    @property
    def capabilities(self) -> context.Capabilities:
        """What works in this session."""

    def on_event(self, callback: Callable[[Heard], None]) -> Stop:
        """Call back for every event from now on, in order, each once."""

    async def execute(self, command: context.Command, *, command_id: str | None = None, by: str = LIBRARY) -> None:
        """Carry out a command, or raise an error of our tree; ``Unsupported`` only where the capabilities said so."""

    async def get_history(self) -> list[Heard]:
        """Every event since the session's start, in order."""

    async def refresh(self) -> None:
        """A hint to look again for what the agent wrote."""

    async def detach(self) -> None:
        """Let go of the session: no callback is called any more. The agent goes on."""


class ACPAdapter(Protocol):
    """One agent of the catalog."""

    @property
    def name(self) -> str:
        """The agent's name in the catalog."""

    def get_capabilities(self) -> context.Capabilities:
        """What runs of this agent have shown it to do. ``agent.version`` is known once ``get_version`` was asked."""

    async def is_installed(self) -> bool:
        """Whether the agent is on this machine."""

    async def get_version(self) -> str | None:
        """The version that the installed agent prints; None where there is none, or it prints none."""

    def get_data_paths(self) -> context.AgentDataPaths:
        """Where the agent keeps its files on this machine; what is not known is absent."""

    async def discover_sessions(self) -> list[context.DiscoveredSession]:
        """Sessions to attach to, newest activity first: the hub's, those the agent lists, those found in its files."""

    def watch_sessions(self, callback: Callable[[context.SessionDiscoveryEvent], None]) -> Stop:
        """Call back when a session appears, changes or goes away."""

    async def attach_to_session(self, session_id: str, *, watch: bool | None = None, by: str = LIBRARY) -> ACPSession:
        """Join a session that ``discover_sessions`` names. ``watch``: only follow what its agent writes elsewhere."""

    async def start_session(self, options: context.StartSessionOptions, *, by: str = LIBRARY) -> ACPSession:
        """Start a session with its first prompt."""
