"""What a session needs from whatever drives its agent.

Rule 1: a driver speaks the agent's language and yields signals; it decides nothing and keeps no history.
Rule 2: signals arrive in the order in which the agent spoke, by a plain call on the loop: one read, one call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Literal, Protocol

import msgspec

from trunkline.agents.process import Exit
from trunkline.dialects.signals import Signal

How = Literal["new", "resumed", "loaded", "forked"]


class Started(msgspec.Struct, kw_only=True):
    """What the agent reported about itself and the session that it opened."""

    how: How
    agent_session_id: str
    agent_info: msgspec.Raw | None
    capabilities: msgspec.Raw | None
    modes: msgspec.Raw | None
    config_options: msgspec.Raw | None
    models: msgspec.Raw | None = None


class AgentSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session of the agent's own store, as the agent lists it; times are ISO 8601, where it gives them."""

    session_id: str
    cwd: str
    title: str | None = None
    updated_at: str | None = None
    created_at: str | None = None


Serving = Callable[[], Awaitable[bytes]]
"""Serves a request that was accepted; gives its encoded result."""


class ClientCalls(Protocol):
    """Serves what the agent asks of its client (files, terminals)."""

    def accept(self, method: str, params: bytes, check_caller: Callable[[str], None]) -> Serving:
        """Take a request when it comes: it belongs to the turn that runs then, however late it is served. ``check_caller`` takes
        the session that it names and raises where that is not the caller's own."""

    def turn_began(self) -> None:
        """What is accepted from now on belongs to a new turn."""

    def turn_cancelled(self, *, ended: bool = False) -> list[Coroutine[Any, Any, Any]]:
        """What ends the commands that the agent had started in this turn, or in the one that is over; it can still read what
        they printed."""

    def turn_ended(self) -> None:
        """What is accepted from now on belongs to no turn."""

    async def close(self) -> None:
        """The agent is going: end what was served to it."""


TakesText = Callable[[bytes, bytes], bool]
"""Takes a text, as a JSON string of valid UTF-8, and the update that has it; False, and nothing done, where it cannot."""


class DriverSink(Protocol):
    """Where a driver delivers: the session."""

    async def spawned(self, pid: int, start_time: int | None, marker: str) -> None:
        """The agent's process runs; whoever comes after a crash must be able to find it."""

    def on_signals(self, signals: list[Signal]) -> None:
        """What the agent wrote means these, in this order."""

    def text_run(self, update: bytes) -> tuple[bytes, TakesText] | None:
        """The text of the update that was delivered last, alone, and what takes the next ones of that text without a signal, as
        long as nothing else is delivered. None where it is no text, or something waits."""

    def exited(self, exit: Exit, stderr: str) -> None:
        """The agent's process ended; nothing more will come."""


class Driver(Protocol):
    """One running agent with one open session."""

    async def start(self, previous: str | None, *, adopt: bool = False) -> Started:
        """Start the agent and open a session: the previous one where the agent can, else a new one.

        With ``adopt`` the previous one was begun by somebody else: it is opened or that fails, and its replay is emitted, unless
        the journal has it already."""

    async def list_sessions(self, folders: Sequence[str] = ()) -> list[AgentSession]:
        """The sessions of the agent's own store, and those of these folders; none where it does not list them."""

    def prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Send a prompt; its end comes as a TurnEnd."""

    def check_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Raise Unsupported when the agent cannot take one of the blocks."""

    def cancel(self) -> None:
        """Ask the agent to end the turn."""

    def cancel_late(self) -> None:
        """The turn was cancelled and has ended before the agent could be asked: end what it left running."""

    def answer_permission(self, request_id: str, option_id: str | None, *, reason: str | None = None,
                          updated_input: msgspec.Raw | None = None) -> None:
        """Answer an ask by option, or as cancelled (None). Unknown or withdrawn asks are ignored."""

    def answer_question(self, request_id: str, action: str, content: msgspec.Raw | None) -> None:
        """Answer a question: accept with content, decline or cancel."""

    def refuse(self, request_id: str, reason: str) -> None:
        """Answer an ask or a question that cannot be put to anybody: with an error where the agent's language has one."""

    async def set_mode(self, mode_id: str) -> None:
        """Switch the agent's mode."""

    async def set_config(self, config_id: str, value: str | bool) -> msgspec.Raw | None:
        """Set an option; the agent's complete list of options comes back."""

    def pause_reading(self) -> None:
        """Stop taking the agent's output for a while (the journal is behind)."""

    def resume_reading(self) -> None:
        """Take it again."""

    def look_again(self) -> None:
        """A hint: what the agent wrote may be more than was read."""

    async def stop(self, *, at_once: bool = False) -> None:
        """End the agent and everything it started; ``at_once``: without the time to end by itself."""
