"""goose's sessions, found in its database, and followed while it writes there."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.aio import eventually, run
from tests.tooling.stores import Made, goose, state_of
from trunkline.dialects.signals import Signal, TurnEnd, Update
from trunkline.discovery.goose import PAGE, GooseStore


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return goose(tmp_path)


def write(made: Made, query: str, *values: Any) -> None:
    with sqlite3.connect(made.file) as connection:
        connection.execute(query, values)
    connection.close()


def add(made: Made, number: int, role: str, *parts: Any) -> None:
    write(made, "INSERT INTO messages (id, message_id, session_id, role, content_json, created_timestamp) "
          "VALUES (?, ?, ?, ?, ?, ?)", number, f"m{number}", made.session_id, role, json.dumps(parts), 1794841900)


def test_a_recorded_session_is_found(made: Made) -> None:
    before = state_of(made.folder)
    store = GooseStore(str(made.folder))
    (found,) = store.sessions()
    assert (found.id, found.path, found.cwd, found.title) == (made.session_id, str(made.file), "/home/dev/project", "OK.")
    assert (found.last_message, found.model, found.tokens) == ("Done.", "fake-model", 960)
    assert (found.created_at, found.updated_at) == (1_794_841_791_000_000, 1_794_842_201_000_000)
    assert store.find(made.session_id) == found and store.find("20261116_2") is None and store.find("'") is None
    assert store.states() == {made.session_id: found.updated_at}
    assert state_of(made.folder) == before


def test_a_session_without_a_name_has_its_prompt_for_one(made: Made) -> None:
    write(made, "UPDATE sessions SET name = ''")
    assert [found.title for found in GooseStore(str(made.folder)).sessions()] == ["run: touch a1"]


def test_what_is_no_session_of_a_persons_is_not_listed(made: Made, tmp_path: Path) -> None:
    others = ("20261116_2", "sub_agent", None), ("20261116_3", "user", "20261116_1"), ("x", "user", None)
    for session_id, kind, parent in others:
        write(made, "INSERT INTO sessions (id, session_type, working_dir, parent_session_id) VALUES (?, ?, '/', ?)",
              session_id, kind, parent)
    assert [found.id for found in GooseStore(str(made.folder)).sessions()] == [made.session_id]
    assert GooseStore(str(tmp_path)).sessions() == [] and GooseStore(str(tmp_path)).states() == {}


def test_a_session_is_in_use_where_goose_works_in_its_folder(made: Made, tmp_path: Path) -> None:
    (tmp_path / "goose").write_text("import sys; print(flush=True); sys.stdin.read()")
    write(made, "UPDATE sessions SET working_dir = ?, updated_at = '2999-01-01 00:00:00'", str(tmp_path))
    with subprocess.Popen([sys.executable, str(tmp_path / "goose")], cwd=tmp_path, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        program.stdout.readline()
        (found,) = GooseStore(str(made.folder)).sessions()
        assert (found.in_use, found.pid) == (True, program.pid)
        program.communicate()
    assert not GooseStore(str(made.folder)).sessions()[0].in_use


def test_rows_that_are_added_are_told_as_they_come_and_the_end_of_a_turn_once(made: Made) -> None:
    async def scenario() -> None:
        heard: list[Signal] = []
        positions: list[int] = []

        def take(signals: list[tuple[int, Signal]], position: int) -> None:
            heard.extend(signal for _, signal in signals)
            positions.append(position)

        following = GooseStore.following(str(made.file), made.session_id, 0, take, folder=str(made.folder))
        await following.start()
        assert positions == [5] and sum(isinstance(signal, TurnEnd) for signal in heard) == 1
        add(made, 6, "user", {"type": "text", "text": "more"})
        for number in range(7, 7 + PAGE + 10):
            add(made, number, "assistant", {"type": "text", "text": f"part {number}"})
        following.look_again()
        await eventually(lambda: positions[-1] == 6 + PAGE + 10)
        told = b"".join(signal.raw for signal in heard if isinstance(signal, Update))
        assert told.count(b"part ") == PAGE + 10 and told.count(b"Done.") == 1
        assert isinstance(heard[-1], TurnEnd)
        await following.stop()
        again: list[Signal] = []
        following = GooseStore.following(
            str(made.file), made.session_id, positions[-1], lambda signals, _: again.extend(signal for _, signal in signals),
            folder=str(made.folder))
        await following.start()
        await following.stop()
        assert again == [], "after a restart nothing is told twice"

    run(scenario())


def test_a_database_that_is_gone_says_nothing(made: Made) -> None:
    async def scenario() -> None:
        heard: list[int] = []
        following = GooseStore.following(str(made.file), made.session_id, 3, lambda _, position: heard.append(position),
                                         folder=str(made.folder))
        os.unlink(made.file)
        await following.start()
        await following.stop()
        assert heard == []

    run(scenario())
