"""The client's terminals: commands that an agent asks us to run (``terminal/*``).

Rule 1: ids are random, since agents create two before the first is answered.
Rule 2: a terminal's working directory is inside the session's roots; its environment is the agent's clean one.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from trunkline.agents.process import ChildCommand
from trunkline.dialects import acp
from trunkline.errors import NotFound, TooManyRequests
from trunkline.session.workspace import Workspace

OUTPUT_LIMIT = 1 << 20
"""Bytes of output kept where the agent names no limit of its own."""

OUTPUT_MOST = 16 << 20
"""The most that is kept, whatever the agent asks for: it must fit into one answer, and 64 of them into memory."""

OPEN_LIMIT = 64
"""Terminals one session may hold; an agent that never releases must not eat the machine."""


class Terminals:
    """The open terminals of one session."""

    def __init__(self, workspace: Workspace, env: Mapping[str, str]) -> None:
        self._workspace = workspace
        self._env = env
        self._open: dict[str, ChildCommand] = {}

    async def create(self, ask: acp.CreateTerminalRequest) -> str:
        """Start a command; returns its terminal id."""
        if len(self._open) >= OPEN_LIMIT:
            raise TooManyRequests(f"{OPEN_LIMIT} terminals are open; release some")
        cwd = self._workspace.resolve(ask.cwd) if ask.cwd else self._workspace.resolve(self._workspace.roots[0])
        env = {**self._env, **{pair.name: pair.value for pair in ask.env or []}}
        limit = OUTPUT_LIMIT if ask.output_byte_limit is None else min(ask.output_byte_limit, OUTPUT_MOST)
        child = await ChildCommand.spawn(ask.command, ask.args or [], cwd=str(cwd), env=env, output_byte_limit=limit)
        terminal_id = f"term_{secrets.token_hex(8)}"
        self._open[terminal_id] = child
        return terminal_id

    def get(self, terminal_id: str) -> ChildCommand:
        """The command behind an id."""
        try:
            return self._open[terminal_id]
        except KeyError:
            raise NotFound(f"no terminal {terminal_id}", details={"terminalId": terminal_id}) from None

    async def release(self, terminal_id: str) -> None:
        """End the command and forget the terminal."""
        child = self.get(terminal_id)
        del self._open[terminal_id]
        await child.release()

    async def release_all(self) -> None:
        """End every command; used when the agent goes."""
        while self._open:
            _, child = self._open.popitem()
            await child.release()
