"""``trunkline``: the list of its commands (COMMANDS), each imported only when it is called. A command is one file or
folder; its ``command`` is what is called.

    serve.py    a hub in this terminal            run.py       one turn, watched
    chat/       a session in this terminal        open.py      the page in a browser
    sessions/   one from a script: seen, prompted, answered
    terminals/  those that people run in terminals of their own
    acp/        an agent to an editor             check/       whether an agent keeps to the protocol
    agents/     what can be run, and more of it   doctor/      what is wrong, and what mends it
    cluster/    hubs that show each other's sessions
    policy.py · pair.py · devices.py · audit.py · journal.py · status.py · stop.py · completion.py

Rule: this module (not those beside it) imports click and nothing of ours; ``--help`` and ``--version`` need no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import ClassVar, NamedTuple

import click

from trunkline import __version__


class Lazy(NamedTuple):
    """A command that is not imported yet; ``help`` is the first line of its own."""

    module: str
    help: str


COMMANDS: dict[str, Lazy] = {
    "serve": Lazy("trunkline.cli.commands.serve", "Run the hub in this terminal."),
    "chat": Lazy("trunkline.cli.commands.chat", "Talk with an agent in this terminal."),
    "run": Lazy("trunkline.cli.commands.run", "Give an agent a prompt and watch it work."),
    "open": Lazy("trunkline.cli.commands.open", "Open the page in a browser, or print a link to it."),
    "acp": Lazy("trunkline.cli.commands.acp", "Be an agent to an editor, on stdin and stdout."),
    "agents": Lazy("trunkline.cli.commands.agents", "List the agents that can be run, or add one."),
    "sessions": Lazy("trunkline.cli.commands.sessions.sessions", "List sessions, or look into one."),
    "continue": Lazy("trunkline.cli.commands.terminals.take_over", "Go on here with a session of another program."),
    "release": Lazy("trunkline.cli.commands.terminals.release", "Give a session back to its own program."),
    "send": Lazy("trunkline.cli.commands.sessions.send", "Send a prompt to a session."),
    "tail": Lazy("trunkline.cli.commands.sessions.tail", "Show a session's packets as they come, until Ctrl-C."),
    "approve": Lazy("trunkline.cli.commands.sessions.approve", "Approve what an agent asks for."),
    "deny": Lazy("trunkline.cli.commands.sessions.deny", "Deny what an agent asks for."),
    "answer": Lazy("trunkline.cli.commands.sessions.answer", "Answer a question of an agent's."),
    "policy": Lazy("trunkline.cli.commands.policy", "See, explain and edit the rules that answer for you."),
    "hooks": Lazy("trunkline.cli.commands.terminals.hooks", "Answer agents that you run in terminals."),
    "shell-init": Lazy("trunkline.cli.commands.terminals.shell_init", "Print functions for your shell."),
    "away": Lazy("trunkline.cli.commands.terminals.away", "Say that you leave your terminals."),
    "here": Lazy("trunkline.cli.commands.terminals.here", "Say that you are back at your terminals."),
    "pair": Lazy("trunkline.cli.commands.pair", "Pair a phone or another device by a code."),
    "devices": Lazy("trunkline.cli.commands.devices", "List paired devices, or revoke one."),
    "audit": Lazy("trunkline.cli.commands.audit", "Check or export the record of approvals."),
    "journal": Lazy("trunkline.cli.commands.journal", "Verify, repair or salvage what is stored."),
    "cluster": Lazy("trunkline.cli.commands.cluster", "Set up and look at a cluster of hubs."),
    "check": Lazy("trunkline.cli.commands.check", "Check that an agent keeps to the protocol."),
    "doctor": Lazy("trunkline.cli.commands.doctor", "Look for what is wrong, and say what mends it."),
    "status": Lazy("trunkline.cli.commands.status", "Say whether a hub is running, and where."),
    "stop": Lazy("trunkline.cli.commands.stop", "Stop the hub and every agent it runs."),
    "completion": Lazy("trunkline.cli.commands.completion", "Print what makes your shell complete."),
}


class GuessingGroup(click.Group):
    """A group that says what somebody may have meant by a command that it does not have."""

    synonyms: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Other names for commands, which are no commands."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command, or an error with a guess."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches  # only who mistypes pays for it

            near = get_close_matches(args[0], self.list_commands(ctx), 2, 0.5)
            found = list(dict.fromkeys((*self.synonyms.get(args[0], ()), *near)))
            if not found:
                raise
            raise click.UsageError(f"No such command {args[0]!r}. Did you mean {' or '.join(found)}?", ctx) from error


class LazyGroup(GuessingGroup):
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
