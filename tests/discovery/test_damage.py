"""Damaged copies of every store: whatever their bytes are, looking at them ends, raises nothing and writes nothing."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.fuzz.mutate import mutated
from tests.tooling.pace import crowding
from tests.tooling.stores import STORES, Made, state_of
from tests.tooling.story import Player
from trunkline.agents import catalog
from trunkline.dialects.elsewhere.transcripts import Timed
from trunkline.dialects.goose.messages import GooseMessages
from trunkline.dialects.notes import AgentNote, CustomNote
from trunkline.dialects.opencode.rows import OpencodeRows, Row
from trunkline.dialects.signals import Malformed, Update
from trunkline.discovery import reading_of, store_of
from trunkline.discovery.base import AgentStore
from trunkline.discovery.goose import rows_after
from trunkline.discovery.opencode import OpencodeRowsOf

QUICK, ALL = 30, 10_000
LONGEST_S = 20.0


def claude(home: Path) -> Made:
    """Claude Code's."""
    folder = home / ".claude" / "projects"
    shutil.copytree(Path(__file__).parents[1] / "data" / "claude" / "projects", folder)
    return Made("claude-code", folder, "11111111-2222-4333-8444-555555555555", next(folder.rglob("*.jsonl")))


MAKERS: dict[str, Callable[[Path], Made]] = {"claude": claude, **STORES}


def damaged(dice: random.Random, whole: bytes) -> bytes:
    """A copy with something wrong: by the parsers' mutations, or by bytes of a page that are others."""
    if dice.random() < 0.5:
        return mutated(dice, [whole])
    data = bytearray(whole)
    for _ in range(dice.choice((1, 4, 40))):
        at = dice.randrange(len(data)) if data else 0
        data[at:at + dice.choice((1, 2, 64))] = dice.randbytes(dice.choice((1, 2, 64)))
    return bytes(data)


def look_through(store: AgentStore, name: str, made: Made) -> None:
    """All that is done with a store: it is listed, a session is found, its history is read and folded."""
    for found in [*store.sessions(), store.find(made.session_id)]:
        if found is not None:
            assert found.id and found.cwd and found.created_at <= found.updated_at
    for path in made.folder.rglob("*"):
        store.session_of(str(path))
    told = read_rows(made) if name == "opencode" else read_goose(made) if name == "goose" else read_lines(name, made.file)
    player = Player()
    for _, signal in told:
        if isinstance(signal, Update | AgentNote | CustomNote | Malformed):
            player.play(signal)


def read_lines(name: str, path: Path) -> list[Timed]:
    reading = reading_of(name)
    assert reading is not None
    return [timed for line in path.read_bytes().split(b"\n") for timed in reading.line(line)] + reading.settle()


def read_rows(made: Made) -> list[Timed]:
    rows, reading = OpencodeRowsOf(str(made.file), made.session_id), OpencodeRows()
    looks: list[Callable[[], list[tuple[Row, list[Row]]]]] = [
        lambda: rows.messages((-1, ""), 500), lambda: rows.changes(0, 500)[0], lambda: rows.before(1 << 60, 500)]
    told: list[Timed] = []
    for look in looks:
        with suppress(OSError):  # it says that it cannot be read
            told += [timed for row, parts in look() for timed in reading.message(row, parts)]
    return told


def read_goose(made: Made) -> list[Timed]:
    reading = GooseMessages()
    with suppress(OSError):
        rows = rows_after(str(made.file), made.session_id, -1, 500)
        return [timed for row in rows for timed in reading.message(row)] + reading.settle()
    return []


def damage(name: str, tmp_path: Path, count: int, seed: int) -> None:
    made = MAKERS[name](tmp_path / "home")
    store = catalog.load()[made.agent].store
    files = [(path, path.read_bytes()) for path in sorted((tmp_path / "home").rglob("*")) if path.is_file()]
    dice = random.Random(seed)
    for number in range(count):
        path, whole = dice.choice(files)
        path.write_bytes(damaged(dice, whole))
        os.utime(path, ns=(number, number))  # nothing that was known of it counts
        before, began = state_of(tmp_path / "home"), time.monotonic()
        looked = store_of(store, str(made.folder))
        assert looked is not None
        try:
            look_through(looked, name, made)
        except Exception as error:
            error.add_note(f"{name}, damage {number} of seed {seed} in {path.name}: {path.read_bytes()[:500]!r}")
            raise
        assert state_of(tmp_path / "home") == before, "nothing is written"
        assert time.monotonic() - began < LONGEST_S * crowding()
        path.write_bytes(whole)


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_damaged_store_is_looked_through_without_a_fault_a_write_or_a_hang(name: str, tmp_path: Path) -> None:
    damage(name, tmp_path, QUICK, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MAKERS))
def test_ten_thousand_damaged_stores_are_too(name: str, tmp_path: Path) -> None:
    damage(name, tmp_path, ALL // len(MAKERS) + 1, seed=2)
