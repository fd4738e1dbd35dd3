"""``trunkline completion SHELL``: the script that makes a shell complete commands, flags, sessions and agents."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from trunkline.errors import Unsupported

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print what makes your shell complete.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print what makes your shell complete.

    It belongs into a file, in a folder that you may have to make first:

    \b
    bash   trunkline completion bash > ~/.local/share/bash-completion/completions/trunkline
    zsh    trunkline completion zsh > ~/.zfunc/_trunkline    (with fpath+=~/.zfunc before compinit)
    fish   trunkline completion fish > ~/.config/fish/completions/trunkline.fish
    """
    made = get_completion_class(shell)
    if made is None:
        raise Unsupported(f"there is no completion for {shell}")
    click.echo(made(ctx.find_root().command, {}, "trunkline", "_TRUNKLINE_COMPLETE").source())
