"""The client's terminals: commands that an agent asks us to run (``terminal/*``).

Rule 1: ids are random, since agents create two before the first is answered.
Rule 2: a terminal's working directory is inside the session's roots, as it was resolved when the command was allowed: where it
leads elsewhere by now (a link took its place), nothing is started. Its environment is the agent's clean one; its command runs in
the session's sandbox, where it has one, and gets the variables that the agent names there (``sandbox.carried``).
Rule 3: a turn that is cancelled takes the commands with it that were started or asked for in it, also where it has ended by then.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from trunkline.agents.process import ChildCommand, find_argv
from trunkline.agents.resources import Resources
from trunkline.agents.sandbox import Confine, as_is, carried
from trunkline.dialects.acp.client import CreateTerminalRequest
from trunkline.errors import Forbidden, NotFound, TooManyRequests
from trunkline.session.client.printing import Printing

OUTPUT_LIMIT = 1 << 20
"""Bytes of output kept where the agent names no limit of its own."""

OUTPUT_MOST = 16 << 20
"""The most that is kept, whatever the agent asks for: it must fit into one answer, and 64 of them into memory."""

OPEN_LIMIT = 64
"""Terminals one session may hold; an agent that never releases must not eat the machine."""


class TurnCommands:
    """The commands of one turn. A command belongs to the turn in which it was asked for, however long its start takes."""

    def __init__(self) -> None:
        self.terminals: set[str] = set()
        self.is_cancelled = False

    def check_not_cancelled(self) -> None:
        """Forbidden where nothing is started any more."""
        if self.is_cancelled:
            raise Forbidden("the work was cancelled: no command is started any more", details={"reason": "cancelled"})


class Terminals:
    """The open terminals of one session."""

    def __init__(self, env: Mapping[str, str],
                 prints: Callable[[str, int, str], bool] = lambda terminal_id, offset, output: True,
                 confine: Confine = as_is, resources: Resources | None = None) -> None:
        """``prints`` takes what a running command prints: its terminal, the offset, the piece."""
        self._confine = confine
        self._env = env
        self._prints = prints
        self._resources = resources
        self._open: dict[str, ChildCommand] = {}
        self.turn = TurnCommands()
        """The turn that runs, or the time since the last one."""
        self._ended_turn = TurnCommands()
        self._printing: dict[str, Printing] = {}

    async def create(self, ask: CreateTerminalRequest, where: Path, turn: TurnCommands | None = None) -> str:
        """Start a command in a folder that was resolved; returns its terminal id. ``turn`` is the one in which it was asked for,
        where that is not the one that runs."""
        turn = turn or self.turn
        turn.check_not_cancelled()
        if len(self._open) >= OPEN_LIMIT:
            raise TooManyRequests(f"{OPEN_LIMIT} terminals are open; release some")
        given = {pair.name: pair.value for pair in ask.env or []}
        limit = OUTPUT_LIMIT if ask.output_byte_limit is None else min(ask.output_byte_limit, OUTPUT_MOST)
        terminal_id = f"term_{secrets.token_hex(8)}"
        printing = Printing(partial(self._prints, terminal_id))
        argv = await find_argv(ask.command, ask.args or [], {**self._env, **given})
        command, variables = carried(self._confine, argv, given)
        program, *args = await self._confine(command, cwd=str(where))
        child = await ChildCommand.spawn(program, args, cwd=str(where), env={**self._env, **variables}, output_byte_limit=limit,
                                         on_data=printing.feed, resources=self._resources, cwd_is_real=True)
        if turn.is_cancelled:  # meanwhile
            await child.release()
            turn.check_not_cancelled()
        turn.terminals.add(terminal_id)
        self._printing[terminal_id] = printing
        self._open[terminal_id] = child
        return terminal_id

    def begin_turn(self) -> None:
        """Commands that are started from now on belong to a new turn."""
        self.turn = TurnCommands()

    def end_turn(self) -> None:
        """Commands that are started from now on belong to no turn; those of the turn that is over may go on."""
        self._ended_turn = self.turn
        self.begin_turn()

    def cancel_turn(self, *, ended: bool = False) -> list[ChildCommand]:
        """The turn's commands, to be ended; ``ended``: those of the turn before. What they printed can still be read; new ones
        of it are refused."""
        turn = self._ended_turn if ended else self.turn
        turn.is_cancelled = True
        return [self._open[terminal_id] for terminal_id in turn.terminals if terminal_id in self._open]

    def get(self, terminal_id: str) -> ChildCommand:
        """The command behind an id."""
        try:
            return self._open[terminal_id]
        except KeyError:
            raise NotFound(f"no terminal {terminal_id}", details={"terminalId": terminal_id}) from None

    def ended(self, terminal_id: str) -> None:
        """Nothing more is sent of what it prints."""
        printing = self._printing.pop(terminal_id, None)
        if printing is not None:
            printing.stop()

    async def release(self, terminal_id: str) -> None:
        """End the command and forget the terminal."""
        child = self.get(terminal_id)
        del self._open[terminal_id]
        self.ended(terminal_id)
        await child.release()

    async def release_all(self) -> None:
        """End every command; used when the agent goes."""
        ending = [*self._open.items()]
        self._open.clear()
        for terminal_id, _ in ending:
            self.ended(terminal_id)
        await asyncio.gather(*(child.release() for _, child in ending))
