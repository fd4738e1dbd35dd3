"""``trunkline``: the list of its commands (COMMANDS), each imported only when it is called. A command is one file or
folder; its ``command`` is what is called.

    serve.py    a hub in this terminal            run.py       one turn, watched
    acp/        an agent to an editor             check/       whether an agent keeps to the protocol
    agents.py · sessions.py · policy.py · pair.py · devices.py · audit.py · journal.py · status.py · stop.py

Rule: this module (not those beside it) imports click and nothing of ours; ``--help`` and ``--version`` need no more.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

import click

from trunkline import __version__


class Lazy(NamedTuple):
    """A command that is not imported yet; ``help`` is the first line of its own."""

    module: str
    help: str


COMMANDS: dict[str, Lazy] = {
    "serve": Lazy("trunkline.cli.commands.serve", "Run the hub in this terminal."),
    "run": Lazy("trunkline.cli.commands.run", "Give an agent a prompt and watch it work."),
    "acp": Lazy("trunkline.cli.commands.acp", "Be an agent to an editor, on stdin and stdout."),
    "agents": Lazy("trunkline.cli.commands.agents", "List the agents that can be run."),
    "sessions": Lazy("trunkline.cli.commands.sessions", "List sessions, or look into one."),
    "policy": Lazy("trunkline.cli.commands.policy", "See, explain and edit the rules that answer for you."),
    "pair": Lazy("trunkline.cli.commands.pair", "Pair a phone or another device by a code."),
    "devices": Lazy("trunkline.cli.commands.devices", "List paired devices, or revoke one."),
    "audit": Lazy("trunkline.cli.commands.audit", "Check or export the record of approvals."),
    "journal": Lazy("trunkline.cli.commands.journal", "Verify, repair or salvage what is stored."),
    "check": Lazy("trunkline.cli.commands.check", "Check that an agent keeps to the protocol."),
    "status": Lazy("trunkline.cli.commands.status", "Say whether a hub is running, and where."),
    "stop": Lazy("trunkline.cli.commands.stop", "Stop the hub and every agent it runs."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and first help line, and imports one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the table, not of the alphabet."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module; its ``command`` is the command."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(COMMANDS[cmd_name].module).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in ``--help``, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.help) for name, lazy in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="trunkline", message="%(prog)s %(version)s")
def trunkline() -> None:
    """One line to every coding agent: run it once, watch and steer it from anywhere."""
