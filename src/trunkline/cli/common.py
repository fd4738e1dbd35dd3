"""What commands have in common: flags from the table of settings, one loop, tables and JSON on stdout."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TextIO, TypeVar

import click
import msgspec

from trunkline.cli.exits import EXIT_BROKEN_PIPE, EXIT_INTERRUPTED, raise_on_interrupt
from trunkline.dialects.visible import escaped, one_line
from trunkline.errors import Unavailable
from trunkline.settings import FLAG, SETTINGS, Setting

F = TypeVar("F", bound=Callable[..., Any])


def setting_flags(*commands: str) -> Callable[[F], F]:
    """Add the flags of every setting that ``commands`` (``serve``, ``clients`` or ``cluster``) take; values arrive unread, by
    key."""
    taken = (*commands, "all", "cluster") if "serve" in commands else (*commands, "all")

    def decorate(function: F) -> F:
        for setting in reversed(SETTINGS):
            if setting.flag and setting.commands in taken:
                function = _option(setting)(function)
        return function

    return decorate


def finish(work: Coroutine[Any, Any, int | None]) -> None:
    """Run a command's coroutine; what it returns is the exit code."""
    try:
        raise_on_interrupt()
        code = asyncio.run(work)
    except KeyboardInterrupt:
        work.close()  # for the moment before the loop has taken it over
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has left; Python would complain once more when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_BROKEN_PIPE
    sys.exit(code or 0)


def output() -> TextIO:
    """Standard output, for a command that is of no use without; Unavailable where it was closed."""
    if sys.stdout is None:
        raise Unavailable("standard output is closed")
    return sys.stdout


def print_json(value: Any) -> None:
    """One JSON value, indented, for programs and people alike."""
    click.echo(escaped(msgspec.json.format(msgspec.json.encode(value), indent=2)))


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns as wide as they need to be; the head is dim on a terminal."""
    table = [list(head), *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(head))]
    for number, row in enumerate(table):
        text = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        click.echo(click.style(text, dim=True) if number == 0 else text)


def counted(number: int, word: str) -> str:
    """So many of something."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def shown_bytes(count: int) -> str:
    """Bytes, in the unit that people would take."""
    units = ("B", "KiB", "MiB", "GiB", "TiB")
    step = min((max(count, 1).bit_length() - 1) // 10, len(units) - 1)
    return f"{count >> 10 * step} {units[step]}"


def _option(setting: Setting) -> Callable[[F], F]:
    assert setting.flag is not None
    if setting.kind is FLAG:
        return click.option(setting.flag, setting.key, is_flag=True, default=None, help=setting.help)
    shown = f"{setting.help}  [{setting.default}]" if setting.has_default else setting.help
    return click.option(setting.flag, setting.key, metavar=setting.kind.name, multiple=setting.kind.repeats, help=shown)
