"""``trunkline agents``: what can be run here, and agents of a person's own: from a command, or from the public registry.

    adding.py   whether a name is free, how an agent is added and taken away
    source.py   the registry's JSON, from a file or an address

Rule: nothing is run, and nothing is fetched but an address that somebody typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click
import msgspec
from click.shell_completion import CompletionItem

from trunkline.cli.commands import GuessingGroup
from trunkline.cli.common import finish, output, print_json, print_table, setting_flags
from trunkline.cli.read_settings import load
from trunkline.dialects.visible import one_line
from trunkline.errors import Invalid, NotFound
from trunkline.settings import Settings

if TYPE_CHECKING:
    from trunkline.agents.catalog.acp_registry import Listed
    from trunkline.client import AgentView

CELL_CHARS = 100
"""Of what a registry says of one agent, in a list: whoever wrote it may have made one of them as long as the file."""


@click.group(cls=GuessingGroup, invoke_without_command=True, short_help="List the agents that can be run, or add one.")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@setting_flags("clients")
@click.pass_context
def command(ctx: click.Context, /, as_json: bool, **flags: Any) -> None:
    """List the agents that can be run, or add one.

    Those that are not installed are listed with what installs them. ASKS FIRST: yes where runs have shown that the agent asks
    before it acts; do not count on being asked by the others. SANDBOX: what all its sessions run in; as asked: what each of
    them asks for.
    """
    ctx.obj = flags
    if ctx.invoked_subcommand is None:
        finish(_list(load(flags), as_json))


def _own_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """For the Tab key: what a person added."""
    from trunkline.cli.commands.agents.adding import own_names

    given = {name: value for each in (ctx, ctx.parent) if each is not None for name, value in each.params.items()
             if name in ("data", "config") and value}
    return [CompletionItem(name) for name in own_names(load(given)) if name.startswith(incomplete)]


_ICON = click.option("--icon", default="", metavar="TEXT", help="one or two characters shown beside it")
_ENV_ALLOW = click.option("--env-allow", multiple=True, metavar="NAME",
                          help="a variable of the hub's that it may see; OPENAI_* works; repeat for more")
_REPLACE = click.option("--replace", is_flag=True, help="also where there is an agent of that name; yours comes first")


@command.command()
@click.argument("name", metavar="NAME")
@click.argument("words", metavar="-- COMMAND [ARG]...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--title", default="", metavar="TEXT", help="the name people read")
@_ICON
@_ENV_ALLOW
@click.option("--env", multiple=True, metavar="NAME=VALUE", help="a variable set for it; for a secret use --env-allow")
@click.option("--install-hint", default="", metavar="TEXT", help="what installs it; shown where it is missing, never run")
@click.option("--login-hint", default="", metavar="TEXT", help="what to do when it wants a login")
@click.option("--docs-url", default="", metavar="URL", help="where it is described")
@_REPLACE
@setting_flags("clients")
def add(name: str, words: tuple[str, ...], title: str, icon: str, env_allow: tuple[str, ...], env: tuple[str, ...],
        install_hint: str, login_hint: str, docs_url: str, replace: bool, **flags: Any) -> None:
    """Add an agent by the command that starts it.

    The command speaks the Agent Client Protocol on its stdin and stdout. Nothing is run now. The entry is a file in the folder
    `catalog` of the data folder; a hub that runs knows it at once.
    """
    from trunkline.cli.commands.agents.adding import add_agent, resolved, variables

    table = {"command": resolved(words), "display_name": title, "icon": icon, "docs_url": docs_url, "install_hint": install_hint,
             "login_hint": login_hint, "env_allow": list(env_allow), "env": variables(env)}
    add_agent(_settings(flags), name, table, replace=replace)


@command.command("import")
@click.argument("source", metavar="FILE|URL")
@click.argument("wanted", metavar="[ID]", default="")
@click.option("--name", default="", metavar="NAME", help="what to call it here; its id where none is given")
@click.option("--by", type=click.Choice(("npx", "uvx", "binary")), help="how it is to be had, where there are several ways")
@_ICON
@_ENV_ALLOW
@_REPLACE
@setting_flags("clients")
def import_agent(source: str, wanted: str, name: str, by: Any, icon: str, env_allow: tuple[str, ...], replace: bool,
                 **flags: Any) -> None:
    """Add an agent of the public registry's.

    FILE or URL is the JSON of the registry (https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json) or of one
    agent. Without ID, where there are several, they are listed. Nothing else is fetched, and nothing is run: npx and uvx fetch
    the package when the agent is first started.
    """
    from shutil import which

    from trunkline.agents.catalog.acp_registry import chosen, entry_of, machine_name, read_registry, way_here
    from trunkline.cli.commands.agents.adding import add_agent
    from trunkline.cli.commands.agents.source import content_of
    from trunkline.cli.naming import meant

    settings = _settings(flags)
    listed = read_registry(content_of(source))
    if not wanted and len(listed) != 1:
        _print_listed(listed)
        raise Invalid(f"{one_line(source)} has {len(listed)} agents: name one behind it")
    try:
        agent = chosen(listed, wanted)
    except NotFound as error:
        raise NotFound(error.message + meant(wanted, [each.id for each in listed])) from error
    table = {**entry_of(agent, by or way_here(agent, which), machine_name()), "icon": icon, "env_allow": list(env_allow)}
    add_agent(settings, name or agent.id, table, replace=replace)
    if not env_allow:
        click.echo("it sees no variables with keys; let it with --replace --env-allow NAME where it needs one", err=True)


@command.command()
@click.argument("name", metavar="NAME", shell_complete=_own_names)
@setting_flags("clients")
def remove(name: str, **flags: Any) -> None:
    """Take away an agent that was added. Its sessions stay, and can be read."""
    from trunkline.cli.commands.agents.adding import remove_agent

    remove_agent(_settings(flags), name)


@command.command()
def schema() -> None:
    """Print the JSON Schema of an agent's entry.

    It is that of a file in `catalog` of the data folder, and of [agents.NAME] in config.toml.
    """
    from trunkline.agents.catalog.entry import schema as entry_schema

    output()
    click.echo(msgspec.json.format(msgspec.json.encode(entry_schema()), indent=1))


async def _list(settings: Settings, as_json: bool) -> None:
    from trunkline.cli.hosting.locate import connected, find_or_start  # who adds one needs no hub

    endpoint = await find_or_start(settings, tell=True)
    async with connected(endpoint, settings) as hub:
        agents = sorted(await hub.agents(), key=lambda agent: (not agent.installed, agent.name))
    if as_json:
        print_json(agents)
    else:
        print_table(("AGENT", "NAME", "INSTALLED", "ASKS FIRST", "SANDBOX", "INSTALL WITH"), [_row(agent) for agent in agents])


def _row(agent: AgentView) -> tuple[str, str, str, str, str, str]:
    state = (agent.version or "yes") if agent.installed else "no"
    hint = "" if agent.installed else one_line(agent.install_hint or agent.docs_url or "")
    asks = "yes" if agent.asks_permission else "not seen"
    return agent.name, one_line(agent.display_name), one_line(state), asks, str(agent.sandbox or "as asked"), hint


def _print_listed(listed: list[Listed]) -> None:
    rows = [(each.id, each.agent.name, each.agent.version, ", ".join(each.agent.ways())) if each.agent is not None
            else (each.id or "–", f"cannot be read: {each.problem}", "", "") for each in listed]
    print_table(("ID", "NAME", "VERSION", "BY"), [tuple(cell[:CELL_CHARS] for cell in row) for row in rows])


def _settings(flags: Mapping[str, Any]) -> Settings:
    """Flags count behind the subcommand and before it. What is added is of this machine."""
    output()
    before = click.get_current_context().find_object(dict) or {}
    settings = load({**before, **{key: value for key, value in flags.items() if value is not None}})
    if settings.url is not None:
        raise Invalid("agents are added on the machine where the hub runs: leave --url out there")
    return settings
