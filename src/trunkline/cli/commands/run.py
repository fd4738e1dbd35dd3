"""``trunkline run AGENT PROMPT``: one turn, watched from a terminal or a script.

Rule 1: the exit code is the turn's outcome (EXIT_CODES); a script needs nothing else.
Rule 2: the turn belongs to the hub. A lost connection is taken up again; leaving leaves the turn running, cancelling ends it.
Rule 3: the caller's variables go to a hub on this machine and nowhere else.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import aclosing
from fnmatch import fnmatchcase
from typing import Any

import click
import msgspec
from msgspec import structs

from trunkline.agents.environment import BASE_ALLOW, RESERVED_PREFIX
from trunkline.cli.common import finish, output, setting_flags
from trunkline.cli.completing import agent_names
from trunkline.cli.exits import EXIT_ERROR, EXIT_INTERRUPTED, EXIT_MAX_REQUESTS, EXIT_MAX_TOKENS, EXIT_REFUSAL
from trunkline.cli.hosting.locate import connected, find_or_start
from trunkline.cli.naming import agent_not_found, known_agents
from trunkline.cli.placing import NODE_HELP, folder, placed
from trunkline.cli.read_settings import load
from trunkline.cli.terminal.ask import Policy, TerminalAsks
from trunkline.cli.terminal.outlet import Outlet
from trunkline.cli.terminal.screen import Screen
from trunkline.cli.terminal.show import ANSWER, ASKED, ASKS, Show
from trunkline.client import Client, Packet
from trunkline.dialects.visible import one_line
from trunkline.errors import Invalid, NotFound, TrunklineError
from trunkline.settings import Settings

EXIT_CODES = {"end_turn": 0, "refusal": EXIT_REFUSAL, "max_tokens": EXIT_MAX_TOKENS, "max_turn_requests": EXIT_MAX_REQUESTS,
              "cancelled": EXIT_INTERRUPTED}
TICK_S = 0.2
HELD_MOST = 8 << 20
"""Bytes of packets that are kept while a person is asked; beyond that they are shown, and the ask once more behind them."""
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Order(msgspec.Struct, kw_only=True, frozen=True):
    """What the command line asked for."""

    agent: str
    prompt: str
    cwd: str
    mode: str | None
    title: str | None
    sandbox: bool
    network: bool | None
    as_json: bool
    quiet: bool
    policy: Policy
    node: str | None = None
    """The node of the hub's cluster to run on."""


@click.command(short_help="Give an agent a prompt and watch it work.")
@click.argument("agent", shell_complete=agent_names)
@click.argument("prompt")
@click.option("--cwd", metavar="PATH", help="the agent's working folder  [the current one]")
@click.option("--node", metavar="NODE", help=NODE_HELP)
@click.option("--mode", metavar="MODE", help="the agent's mode, as it calls it")
@click.option("--title", metavar="TEXT", help="the session's title")
@click.option("--sandbox", is_flag=True, help="keep the agent in a sandbox: it sees this folder and little else of yours")
@click.option("--network/--no-network", default=None, help="whether the sandbox has a network  [as the agent's settings say]")
@click.option("--json", "as_json", is_flag=True, help="print packets, one JSON object a line")
@click.option("-q", "--quiet", is_flag=True, help="print the agent's answer and nothing else")
@click.option("--allow", is_flag=True, help="allow every permission the agent asks for in this turn")
@click.option("--deny", is_flag=True, help="deny every permission the agent asks for in this turn")
@setting_flags("clients")
def command(agent: str, prompt: str, cwd: str | None, node: str | None, mode: str | None, title: str | None, sandbox: bool,
            network: bool | None, as_json: bool, quiet: bool, allow: bool, deny: bool, **flags: Any) -> None:
    """Give an agent a prompt and watch it work.

    PROMPT is the prompt's text, or - to read it from standard input. A hub is started if none is running.

    Permissions are asked for in the terminal, and can be approved once they have stood there for a second, with all of their
    lines (v shows what was cut). Questions are asked there too; :decline refuses to answer. Meanwhile nothing else is written,
    also not to a pipe, only to a file. Without a terminal, somebody else decides (on the page, for one), unless --allow or
    --deny is given.

    Ctrl-C cancels the turn; a second one leaves. Exit code: 0 the agent finished, 1 error, 2 wrong usage, 3 refusal,
    4 out of tokens, 5 too many requests in the turn, 130 cancelled.
    """
    output()  # before a hub is started for nothing
    order = Order(agent=agent, prompt=prompt_text(prompt), cwd=folder(cwd, node), node=node, mode=mode,
                  title=title, sandbox=sandbox, network=network, as_json=as_json, quiet=quiet, policy=_policy(allow, deny))
    finish(run(load(flags), order))


async def run(settings: Settings, order: Order) -> int:
    """Find the hub, start the session, watch the turn; returns the exit code."""
    endpoint = await find_or_start(settings)
    async with connected(endpoint, settings, restart=True) as hub:
        place = await placed(hub, order.node, order.cwd)
        env = await caller_env(hub, order.agent, settings) if place.is_here else {}
        try:
            session = await hub.create_session(order.agent, place.cwd, title=order.title, mode=order.mode, env=env,
                                               sandbox="bwrap" if order.sandbox else None, sandbox_network=order.network,
                                               node=place.node)
        except NotFound as error:
            raise await agent_not_found(hub, order.agent, error, place.node) from None
        await print_what_to_expect(hub, session.id, order.agent)
        return await TurnOnScreen(hub, session.id, structs.replace(order, cwd=session.cwd, node=session.node)).turn()


def begun(agent: str, cwd: str, node: str | None, session_id: str) -> str:
    """Who works where."""
    return f"{agent} in {cwd}{f' on {node}' if node else ''} (session {session_id})"


async def print_what_to_expect(hub: Client, session_id: str, agent: str) -> None:
    """Tell a person before the first prompt that this agent may act without asking."""
    if sys.stderr.isatty():  # a script has decided already
        state = (await hub.snapshot(session_id)).state
        if not state.asks_permission:
            click.echo(f"note: {agent} was never seen to ask for permission; it may act without asking", err=True)


async def caller_env(hub: Client, agent: str, settings: Settings, source: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables of this shell that the agent may see; none for a hub on another machine."""
    if not hub.endpoint.is_loopback():
        return {}
    known = known_agents(settings)
    if agent in known:
        return allowed_env(known[agent].env_allow, source)
    # An agent that only the hub knows. Asking it for all of them is slow: it looks for each on the machine.
    listed = {each.name: each.env_allow for each in await hub.agents()}
    return allowed_env(listed.get(agent, ()), source)


def allowed_env(patterns: Iterable[str], source: Mapping[str, str]) -> dict[str, str]:
    """What the agent's own list and the base list let through; never anything of ours."""
    wanted = (*BASE_ALLOW, *patterns)
    return {name: value for name, value in source.items()
            if not name.startswith(RESERVED_PREFIX) and any(fnmatchcase(name, pattern) for pattern in wanted)}


class TurnOnScreen:
    """One turn on the screen, with its asks and its Ctrl-C."""

    def __init__(self, hub: Client, session_id: str, order: Order) -> None:
        self._hub = hub
        self._session_id = session_id
        self._order = order
        self._screen = Screen(output())
        # Asks are shown on stdout with all the rest, unless only packets or the answer belong there, or nobody sits behind it.
        shown_there = not (order.as_json or order.quiet) and (self._screen.terminal or order.policy != "ask")
        talk = self._screen if shown_there else Screen(sys.stderr)
        policy = order.policy if order.policy != "ask" or talk.terminal else "wait"  # nobody would see what is asked
        but = ASKED if policy == "ask" else frozenset[str]()  # whoever asks shows it, when its turn comes
        self._show = Show(self._screen, only=ANSWER if order.quiet else None, but=but, root=order.cwd)
        self._asks_show = None if shown_there else Show(talk, only=ASKS, but=but, root=order.cwd)
        outlet = Outlet(output())
        self._is_stored = outlet.is_stored
        self._asks = TerminalAsks(hub, session_id, talk, policy, when_free=self._show_held, root=order.cwd, outlet=outlet,
                                  in_line=lambda: not (shown_there or self._is_stored or self._screen.at_line_start))
        self._held: deque[Packet] = deque()
        self._held_bytes = 0
        self._interrupts = 0
        self._started = time.monotonic()
        self._tasks: set[asyncio.Task[None]] = set()

    async def turn(self) -> int:
        """Send the prompt and show the turn to its end; returns the exit code."""
        loop = asyncio.get_running_loop()
        main = asyncio.current_task()
        assert main is not None
        loop.add_signal_handler(signal.SIGINT, self._interrupted, main)
        self._spawn(self._tick())
        try:
            return await self._stream()
        except asyncio.CancelledError:
            if self._interrupts < 2:
                raise
            main.uncancel()
            return EXIT_INTERRUPTED
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            await self._wind_up()

    async def _stream(self) -> int:
        self._introduce()
        async with aclosing(self._hub.stream_turn(self._session_id, self._order.prompt)) as packets:
            async for _, packet in packets:
                self._packet(packet)
                if packet.ends_turn():
                    return self._ended(packet)
        raise AssertionError("a turn's stream ends with its last packet or an error")

    def _ended(self, last: Packet) -> int:
        if last.type == "error" and self._order.quiet and not self._order.as_json:
            self._screen.end()
            click.echo(f"trunkline: {one_line(str(last.get('message')))}", err=True)
        return exit_code(last)

    def _introduce(self) -> None:
        if not (self._order.as_json or self._order.quiet):
            self._screen.line(begun(self._order.agent, self._order.cwd, self._order.node, self._session_id), dim=True)

    def _packet(self, packet: Packet) -> None:
        """Show it, or keep it while a person is asked: nothing is written to the terminal where they read. A pipe may well end
        there (``run … | tee log``)."""
        self._asks.see(packet)
        if self._is_stored:
            self._print(packet)
        self._held.append(packet)
        self._held_bytes += len(packet.raw)
        if not self._asks.holds_screen:
            self._show_held()
        elif self._held_bytes > HELD_MOST:
            self._show_held()
            self._asks.show_again()

    def _show_held(self) -> None:
        self._held_bytes = 0
        while self._held:
            packet = self._held.popleft()
            if not self._is_stored:
                self._print(packet)
            if self._asks_show is not None:
                self._asks_show.packet(packet)

    def _print(self, packet: Packet) -> None:
        """What belongs on stdout."""
        if self._order.as_json:
            sys.stdout.buffer.write(packet.raw + b"\n")
            sys.stdout.buffer.flush()
        else:
            self._show.packet(packet)

    def _interrupted(self, main: asyncio.Task[Any]) -> None:
        self._interrupts += 1
        if self._interrupts == 1:
            self._spawn(self._cancel())
        else:
            main.cancel()

    async def _cancel(self) -> None:
        click.echo("cancelling; press Ctrl-C again to leave", err=True)
        try:
            await self._hub.cancel(self._session_id)
        except TrunklineError as error:
            click.echo(f"trunkline: {one_line(error.message)}", err=True)

    async def _tick(self) -> None:
        """Keep the last line of the terminal showing what goes on."""
        number = 0
        while self._screen.terminal and not (self._order.as_json or self._order.quiet):
            if not self._asks.prompt_is_open:
                doing = self._show.doing() or "working"
                elapsed = int(time.monotonic() - self._started)
                mark = self._screen.mark(SPINNER[number % len(SPINNER)])
                self._screen.last_line(self._screen.styled(self._screen.cut(f"{mark} {doing} · {elapsed} s"), dim=True))
            number += 1
            await asyncio.sleep(TICK_S)

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _wind_up(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            await self._asks.close()
        finally:
            self._show_held()
        if not self._order.as_json:
            self._screen.end()


def exit_code(last: Packet) -> int:
    """The turn's outcome as a number."""
    return EXIT_CODES.get(str(last.get("stopReason")), EXIT_ERROR) if last.type == "prompt_response" else EXIT_ERROR


def prompt_text(prompt: str) -> str:
    """The prompt, from standard input where it is a dash; Invalid where it is empty."""
    text = sys.stdin.read() if prompt == "-" else prompt
    if not text.strip():
        raise Invalid("the prompt is empty")
    return text


def _policy(allow: bool, deny: bool) -> Policy:
    if allow and deny:
        raise Invalid("--allow and --deny exclude each other")
    if allow or deny:
        return "allow" if allow else "deny"
    return "ask" if sys.stdin.isatty() and (sys.stdout.isatty() or sys.stderr.isatty()) else "wait"
