"""``trunkline chat [SESSION|AGENT]``: a session in the terminal, new or going on.

    line.py          the terminal: what is typed, what is drawn     conversation.py   the session: followed, steered
    show.py          packets above the line                         cards.py          what waits for somebody
    modes.py         what the line is for                           local_commands.py  lines with a colon
    completing.py    what is suggested                              flow.py, paint.py  Markdown, as it comes

Rule 1: this module imports neither prompt_toolkit nor rich: help, refusals and a chat through pipes do without.
Rule 2: without a terminal every line of the input is a prompt, and its answer is printed as ``run --quiet`` prints it.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from trunkline.cli.commands.run import Order, TurnOnScreen, begun, caller_env, print_what_to_expect
from trunkline.cli.common import finish, output, setting_flags
from trunkline.cli.completing import agents_and_sessions
from trunkline.cli.hosting.locate import connected, find_or_start
from trunkline.cli.naming import agent_or_session
from trunkline.cli.placing import NODE_HELP, folder, placed
from trunkline.cli.read_settings import load
from trunkline.client import Client, SessionView
from trunkline.errors import Invalid, NotFound
from trunkline.settings import Settings

HISTORY = "chat_history"


@click.command(short_help="Talk with an agent in this terminal.")
@click.argument("name", metavar="[SESSION|AGENT]", required=False, shell_complete=agents_and_sessions)
@click.option("-c", "--continue", "go_on", is_flag=True, help="go on with the newest session of this folder")
@click.option("--cwd", metavar="PATH", help="the folder of a new session  [the current one]")
@click.option("--node", metavar="NODE", help=NODE_HELP)
@click.option("--mode", metavar="MODE", help="the agent's mode in a new session, as it calls it")
@click.option("--title", metavar="TEXT", help="the title of a new session")
@click.option("--sandbox", is_flag=True, help="keep a new session's agent in a sandbox")
@setting_flags("clients")
def command(name: str | None, go_on: bool, cwd: str | None, node: str | None, mode: str | None, title: str | None,
            sandbox: bool, **flags: Any) -> None:
    """Talk with an agent in this terminal.

    The name of an agent begins a session with it in this folder; the beginning of a session's id goes on with that session.
    Without either, a session begins with the agent that was used last. A hub is started if none is running.

    Permissions and questions are answered here with the keys of the page's Approvals: a approves, d denies, e edits, j and k go
    from one to the next. Tab completes / the agent's commands, @ files and : words such as :help.

    Ctrl-C cancels the turn. Ctrl-D leaves; the session goes on and can be taken up here, on the page or in an editor.

    Where the input is no terminal, every line of it is a prompt, and the answers are printed one after the other.
    """
    output()
    _check_terminal()
    if name and go_on:
        raise Invalid("--continue takes no name: it is the newest session of this folder")
    order = Order(agent=name or "", prompt="", cwd=folder(cwd, node), node=node, mode=mode, title=title,
                  sandbox=sandbox, network=None, as_json=False, quiet=False, policy="wait")
    finish(_chat(load(flags), order, go_on))


async def _chat(settings: Settings, order: Order, go_on: bool) -> int:
    endpoint = await find_or_start(settings, tell=True)
    async with connected(endpoint, settings) as hub:
        view = await _newest_here(hub, order.cwd) if go_on else await _begin(hub, settings, order)
        if not sys.stdin.isatty():
            return await _line_by_line(hub, view, order)
        return await _at_the_terminal(hub, view, settings)


async def _begin(hub: Client, settings: Settings, order: Order) -> SessionView:
    """The session that was named, or a new one."""
    agent, session = await agent_or_session(hub, order.agent, settings, order.node)
    if session is not None:
        return session
    place = await placed(hub, order.node, order.cwd)
    env = await caller_env(hub, agent, settings) if place.is_here else {}
    view = await hub.create_session(agent, place.cwd, title=order.title, mode=order.mode, env=env,
                                    sandbox="bwrap" if order.sandbox else None, node=place.node)
    await print_what_to_expect(hub, view.id, agent)
    return view


async def _newest_here(hub: Client, cwd: str) -> SessionView:
    page = await hub.sessions(text=cwd, limit=200)
    found = next((view for view in page.sessions if view.cwd == cwd), None)
    if found is None:
        raise Invalid(f"no session was in {cwd} yet: name an agent to begin one, such as trunkline chat demo")
    return await hub.session(found.id)


async def _at_the_terminal(hub: Client, view: SessionView, settings: Settings) -> int:
    from trunkline.cli.commands.chat.conversation import Conversation  # Rule 1
    from trunkline.cli.commands.chat.line import Above, Line, kept_history
    from trunkline.cli.commands.chat.paint import Paint, wants_colour
    from trunkline.cli.commands.chat.show import ChatShow
    from trunkline.cli.terminal.screen import Screen

    colour, above = wants_colour(), Above()
    screen = Screen(above, terminal=True, colour=colour)
    line = Line(above, kept_history(settings.data / HISTORY), colour=colour)
    talk = Conversation(hub, view, screen, ChatShow(screen, Paint(colour=colour), root=view.cwd), line_text=line.text,
                        clear_line=line.clear, leave=line.leave)
    screen.line(begun(view.agent, view.cwd, view.node, view.id), dim=True)
    is_there = True
    try:
        return await line.run(talk)
    except NotFound:  # somebody deleted it
        is_there = False
        raise
    finally:
        line.write_rest()
        if is_there:
            click.echo(f"left {view.id}; trunkline chat {view.id} goes on with it", err=True)


async def _line_by_line(hub: Client, view: SessionView, order: Order) -> int:
    """Each line is a prompt; the exit code is that of the first turn that failed."""
    order = Order(agent=view.agent, prompt="", cwd=view.cwd, mode=None, title=None, sandbox=False, network=None, as_json=False,
                  quiet=True, policy="wait")
    worst = 0
    for text in sys.stdin:
        if text.strip():
            code = await TurnOnScreen(hub, view.id, _with_prompt(order, text.rstrip("\n"))).turn()
            worst = worst or code
    return worst


def _with_prompt(order: Order, prompt: str) -> Order:
    from msgspec.structs import replace

    return replace(order, prompt=prompt)


def _check_terminal() -> None:
    """Invalid where somebody types into a terminal whose answers they could not see."""
    if sys.stdin.isatty() and not sys.stdout.isatty():
        raise Invalid("chat needs a terminal for its output; use trunkline run or trunkline tail to write it to a file or a pipe")
    if sys.stdin.isatty() and os.environ.get("TERM", "dumb") == "dumb":
        raise Invalid("chat needs a terminal that can move its cursor (TERM is dumb); use trunkline run, or pipe lines into it")
