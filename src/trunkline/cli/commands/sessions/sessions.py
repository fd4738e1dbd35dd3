"""``trunkline sessions``: what the hub remembers, and how to look into it or end it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import click

from trunkline.cli.commands import GuessingGroup
from trunkline.cli.common import finish, output, print_json, print_table, setting_flags
from trunkline.cli.completing import session_ids as known_sessions
from trunkline.cli.hosting.locate import connected, find_or_start
from trunkline.cli.naming import PAGE, named
from trunkline.cli.read_settings import load
from trunkline.cli.terminal.screen import Screen
from trunkline.cli.terminal.show import Show
from trunkline.client import Client, FoundView, Packet, RemovedView, SessionView
from trunkline.dialects.visible import one_line, one_revealed_line

HEAD = ("STATUS", "AGENT", "UPDATED", "TITLE", "FOLDER")
UNREACHABLE = "unreachable"
LOOK_BACK = 50
"""Entries that ``tail`` starts before the end."""


@click.group(cls=GuessingGroup, invoke_without_command=True, short_help="List sessions, or look into one.")
@click.option("--json", "as_json", is_flag=True, help="print the list as JSON")
@setting_flags("clients")
@click.pass_context
def command(ctx: click.Context, /, as_json: bool, **flags: Any) -> None:
    """List sessions, or look into one.

    A session may be named by the beginning of its id. A hub is started, and that is said, if none is running.
    """
    ctx.obj = flags
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_sessions, as_json=as_json)
    elif as_json:
        raise click.UsageError(f"--json belongs behind {ctx.invoked_subcommand}")


@command.command("list")
@click.option("--status", metavar="STATUS", help="only these, separated by commas")
@click.option("--agent", metavar="NAME", help="only this agent's")
@click.option("--node", metavar="NODE", help="only those of this node of the hub's cluster")
@click.option("--text", metavar="TEXT", help="only with this in title, agent or folder")
@click.option("--limit", type=click.IntRange(1, PAGE), default=50, show_default=True, help="how many at most")
@click.option("--here", is_flag=True, help="only the hub's own, not those that other programs wrote")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@setting_flags("clients")
def list_sessions(status: str | None = None, agent: str | None = None, node: str | None = None, text: str | None = None,
                  limit: int = 50, here: bool = False, as_json: bool = False, **flags: Any) -> None:
    """List sessions, those with the newest activity first: the hub's, and those that other programs wrote."""

    async def work(hub: Client) -> None:
        page = await hub.sessions(status=status, agent=agent, node=node, text=text, limit=limit, found=not here)
        both: list[SessionView | FoundView] = [*page.sessions, *page.found]
        listed = sorted(both, key=lambda view: view.updated_at, reverse=True)[:limit]
        if as_json:
            print_json(listed)
        else:
            _print_list(listed)

    finish(_with_hub(flags, work))


@command.command()
@click.argument("session_id", metavar="ID", shell_complete=known_sessions)
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@setting_flags("clients")
def show(session_id: str, as_json: bool, **flags: Any) -> None:
    """Show the state of a session."""

    async def work(hub: Client) -> None:
        view = await named(hub, session_id)
        if as_json:
            print_json(view)
        else:
            _show(view)

    finish(_with_hub(flags, work))


@command.command()
@click.argument("session_id", metavar="ID", shell_complete=known_sessions)
@click.option("--after", type=click.IntRange(0), metavar="SEQ",
              help="start after this entry  [the running turn's start, else near the end]")
@click.option("--follow/--no-follow", default=True, help="go on with what comes, or stop at the newest entry")
@click.option("--json", "as_json", is_flag=True, help="print packets, one JSON object a line")
@setting_flags("clients")
def tail(session_id: str, after: int | None, follow: bool, as_json: bool, **flags: Any) -> None:
    """Show a session's packets as they come, until Ctrl-C."""

    async def work(hub: Client) -> None:
        view = await named(hub, session_id)
        start = _start(view) if after is None else after
        await (_follow if follow else _replay)(hub, view.id, start, _printer(view, as_json))

    finish(_with_hub(flags, work))


@command.command()
@click.argument("session_id", metavar="ID", shell_complete=known_sessions)
@setting_flags("clients")
def cancel(session_id: str, **flags: Any) -> None:
    """Cancel a session's running turn."""

    async def work(hub: Client) -> None:
        view = await named(hub, session_id)
        click.echo("cancelled" if await hub.cancel(view.id) else "no turn was running")

    finish(_with_hub(flags, work))


@command.command()
@click.argument("session_ids", metavar="ID...", nargs=-1, required=True, shell_complete=known_sessions)
@setting_flags("clients")
def delete(session_ids: tuple[str, ...], **flags: Any) -> None:
    """Stop sessions and forget them for good."""

    async def work(hub: Client) -> None:
        for session_id in session_ids:
            view = await named(hub, session_id)
            removed = await hub.delete(view.id)
            there = "" if removed is None else f"; in the cluster {_became(removed)}"
            click.echo(f"deleted {view.id}{there}")

    finish(_with_hub(flags, work))


def _became(removed: RemovedView) -> str:
    """What became of a session's copy in its cluster."""
    done = [*([f"{removed.erased} messages were erased"] if removed.erased else []),
            *(["the rest was purged: its bytes stay in the servers' files for a while"] if removed.purged else []),
            *(["no node shows it any more, and what it had stays until the next sweep"] if removed.unswept else [])]
    return (", ".join(done) or "nothing was done") + (f" ({removed.why})" if removed.why else "")


async def _with_hub(flags: Mapping[str, Any], work: Callable[[Client], Awaitable[None]]) -> None:
    """Flags count behind the subcommand and before it."""
    before = click.get_current_context().find_object(dict) or {}
    settings = load({**before, **{key: value for key, value in flags.items() if value is not None}})
    endpoint = await find_or_start(settings, tell=True)
    async with connected(endpoint, settings) as hub:
        await work(hub)


async def _follow(hub: Client, session_id: str, after: int, show_packet: Callable[[Packet], None]) -> None:
    async with aclosing(hub.packets(session_id, after=after)) as packets:
        async for _, packet in packets:
            show_packet(packet)


async def _replay(hub: Client, session_id: str, after: int, show_packet: Callable[[Packet], None]) -> None:
    position: int | None = after
    while position is not None:
        page = await hub.messages(session_id, after=position)
        for _, packet in page.messages:
            show_packet(packet)
        position = page.next_after


def _printer(view: SessionView, as_json: bool) -> Callable[[Packet], None]:
    if not as_json:
        return Show(Screen(output()), prompts=True, root=view.cwd).packet
    out = output().buffer

    def as_line(packet: Packet) -> None:
        out.write(packet.raw + b"\n")
        out.flush()

    return as_line


def _start(view: SessionView) -> int:
    return view.turn.seq if view.turn is not None else max(view.last_seq - LOOK_BACK, 0)


def _print_list(listed: Sequence[SessionView | FoundView]) -> None:
    """With the node of each where there is a cluster."""
    if any(view.node for view in listed):
        print_table(("ID", "NODE", *HEAD), [(view.id, view.node or "", *_row(view)) for view in listed])
    else:
        print_table(("ID", *HEAD), [(view.id, *_row(view)) for view in listed])


def _row(view: SessionView | FoundView) -> tuple[str, ...]:
    return _state(view), view.agent, _short_time(view.updated_at), one_line(view.title)[:40], one_line(view.cwd)


def _state(view: SessionView | FoundView) -> str:
    """What a session does, or that its node is away; or, where it is another program's, whether and by which process it is
    run."""
    if isinstance(view, SessionView):
        return UNREACHABLE if view.node_away else view.status
    return "elsewhere" if not view.running else "runs elsewhere" if view.pid is None else f"runs elsewhere ({view.pid})"


def _show(view: SessionView) -> None:
    facts = {"id": view.id, "status": view.status, "node": view.node or "", UNREACHABLE: view.node_away or "",
             "behind": f"{view.lag:.0f} s" if view.lag else "",
             "agent": view.agent, "folder": view.cwd, "title": view.title,
             "created": view.created_at, "updated": view.updated_at, "entries": str(view.last_seq), "mode": view.mode or "",
             "sandbox": str(view.sandbox or ""), "elsewhere": view.resume_command or "",
             "artifacts": str(view.artifacts), "queued": str(len(view.queue))}
    for key, value in facts.items():
        if value:
            click.echo(f"{key:13}{one_line(value)}")
    for todo in view.todos:
        click.echo(f"{'todo':13}{todo.status}: {one_line(todo.content)}")
    for approval in view.pending_approvals:
        click.echo(f"{'permission':13}{approval.request_id}: {one_line(approval.title or approval.tool_name)}")
    for question in view.pending_questions:
        click.echo(f"{'question':13}{question.question_id}: {one_revealed_line(question.question)}")
    if view.last_text:
        click.echo(f"{'last text':13}{one_line(view.last_text)[:200]}")


def _short_time(stamp: str) -> str:
    """``2026-01-22 19:13`` of an ISO time."""
    return stamp[:16].replace("T", " ")
