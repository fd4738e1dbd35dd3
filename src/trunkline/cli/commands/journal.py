"""``trunkline journal``: is what is stored as it was written, and what to do where it is not.

Rule 1: ``verify`` and ``salvage`` change nothing. ``repair`` keeps the damaged file beside the new one.
Rule 2: what writes, or reads past SQLite, needs the folder's lock: no hub runs meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from trunkline.cli.commands import GuessingGroup
from trunkline.cli.common import output, print_json, print_table, setting_flags
from trunkline.cli.exits import EXIT_ERROR
from trunkline.cli.read_settings import load
from trunkline.errors import HubLocked, Invalid, NotFound
from trunkline.journal.lock import FolderLock
from trunkline.journal.search.index_file import remove as remove_index
from trunkline.journal.stores.sqlite.database import storage_errors
from trunkline.journal.stores.sqlite.marks import Marks
from trunkline.journal.stores.sqlite.mending.salvage import Salvaged, salvage
from trunkline.journal.stores.sqlite.mending.swap import finish, mend
from trunkline.journal.stores.sqlite.mending.verify import faults_of

JOURNAL_FILE = "journal.db"
SEARCH_FILE = "search.db"


@click.group(cls=GuessingGroup, short_help="Verify, repair or salvage what is stored.")
@setting_flags("clients")
@click.pass_context
def command(ctx: click.Context, /, **flags: Any) -> None:
    """Verify, repair or salvage what is stored.

    The hub mends by itself what keeps it from working, and goes on. These are for what it has not met yet, and for copies.
    """
    ctx.obj = flags


@command.command()
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@setting_flags("clients")
def verify(as_json: bool, **flags: Any) -> None:
    """Read all of the journal and say what is damaged; a hub may run meanwhile.

    The exit code is 0 when nothing is, 1 when something is.
    """
    output()
    path = _data(flags) / JOURNAL_FILE
    with storage_errors(path, "verified"):
        faults = list(faults_of(path))
    if as_json:
        print_json([fault._asdict() for fault in faults])
    elif faults:
        print_table(("WHERE", "WHAT"), [tuple(fault) for fault in faults])
    else:
        click.echo("the journal is whole")
    if faults:
        raise click.exceptions.Exit(EXIT_ERROR)


@command.command()
@setting_flags("clients")
def repair(**flags: Any) -> None:
    """Put what can be read in the journal's place; the hub must be stopped.

    The file as it is now is kept beside it. Where entries cannot be read, a gap is written. The search index is made anew.
    """
    output()
    with _held(_data(flags)) as path:
        with _marks_of(path) as marks:
            found, aside = mend(path, seqs=marks.seqs, pos=marks.pos)
        remove_index(path.with_name(SEARCH_FILE))
    _print_salvaged(found)
    click.echo(f"the file as it was: {aside}")


@command.command("salvage")
@click.option("--to", "to", type=click.Path(path_type=Path), required=True, metavar="FILE", help="the new file")
@click.option("--from", "source", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
              help="the file to read; the journal of the data folder where none is named")
@setting_flags("clients")
def salvage_command(to: Path, source: Path | None, **flags: Any) -> None:
    """Read what can be read into a new file, which is a journal; the hub must be stopped, or the file be a copy."""
    output()
    if to.exists():
        raise Invalid(f"{to} is there already; salvage writes a new file")
    if source is not None:
        _print_salvaged(_salvaged(source, to))
        return
    with _held(_data(flags)) as path:
        _print_salvaged(_salvaged(path, to))


def _salvaged(path: Path, to: Path) -> Salvaged:
    with storage_errors(to, "written"), _marks_of(path) as marks:
        return salvage(path, to, seqs=marks.seqs, pos=marks.pos)


def _print_salvaged(found: Salvaged) -> None:
    click.echo(f"{found.sessions} sessions, {found.blocks} blocks of entries")
    if found.lost:
        print_table(("SESSION", "FROM", "TO", "WHAT"), [
            (lost.session, str(lost.first or "–"), str(lost.last or "–"), lost.what) for lost in found.lost])


@contextmanager
def _held(data: Path) -> Iterator[Path]:
    """The journal of a folder that no hub has."""
    path = data / JOURNAL_FILE
    if not path.exists():
        raise NotFound(f"there is no journal {path}")
    lock = FolderLock(data)
    if not lock.take():
        raise HubLocked("a hub is running on this data folder; stop it first: trunkline stop")
    try:
        with storage_errors(path, "repaired"):
            finish(path)
            yield path
    finally:
        lock.give_up()


@contextmanager
def _marks_of(path: Path) -> Iterator[Marks]:
    marks = Marks(path.with_suffix(".marks"))
    if path.with_suffix(".marks").exists():
        marks.open(read_only=True)
    try:
        yield marks
    finally:
        marks.close()


def _data(flags: Mapping[str, Any]) -> Path:
    """Flags count behind the subcommand and before it."""
    before = click.get_current_context().find_object(dict) or {}
    return load({**before, **{key: value for key, value in flags.items() if value is not None}}).data
