"""OpenCode's sessions, found in its database, and followed while it writes there."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.discovery.test_sqlite import Owner
from tests.discovery.test_watch import Heard
from tests.tooling.stores import Made, opencode, state_of
from trunkline.dialects.signals import Signal, Update
from trunkline.discovery import opencode as store_module
from trunkline.discovery.follow import Following
from trunkline.discovery.opencode import OpencodeStore
from trunkline.discovery.told import TOLD
from trunkline.discovery.watch import watch_store


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return opencode(tmp_path)


@pytest.fixture
def owner(made: Made) -> Iterator[Owner]:
    owner = Owner(made.file)
    owner.does("SELECT 1")
    yield owner
    owner.close()


def insert(made: Made, table: str, **row: Any) -> str:
    """The statement that adds a row."""
    values = {"session_id": made.session_id, "time_created": 1794841200000, "time_updated": 1794841200000, **row}
    quoted = ", ".join("'" + str(value).replace("'", "''") + "'" if isinstance(value, str) else str(value)
                       for value in values.values())
    return f"INSERT INTO {table} ({', '.join(values)}) VALUES ({quoted})"


def message(made: Made, message_id: str, role: str, at: int = 0) -> str:
    return insert(made, "message", id=message_id, time_created=1794841200000 + at, time_updated=1794841200000 + at,
                  data=json.dumps({"role": role, "time": {"created": 1794841200000 + at}}))


def text(made: Made, part_id: str, message_id: str, words: str, at: int = 0) -> str:
    return insert(made, "part", id=part_id, message_id=message_id, time_updated=1794841200000 + at,
                  data=json.dumps({"type": "text", "text": words, "time": {"start": 1794841200000 + at, "end": 1}}))


@pytest.mark.parametrize("time", [-(1 << 63), -1, 0, (1 << 63) - 1], ids=["least", "negative", "zero", "most"])
def test_rows_with_a_time_that_there_is_none_of_are_none(made: Made, time: int) -> None:
    with sqlite3.connect(made.file) as database:
        for table in ("part", "message"):
            database.execute(f"UPDATE {table} SET time_created = ?, time_updated = ?", (time, time))
    database.close()
    rows = store_module.OpencodeRowsOf(str(made.file), made.session_id)
    assert rows.newest() == 0 and rows.messages((-(1 << 63), ""), 50) == [] and rows.before((1 << 63) - 1, 50) == []


def test_a_recorded_session_is_found(made: Made) -> None:
    before = state_of(made.folder)
    (found,) = OpencodeStore(str(made.folder)).sessions()
    assert (found.id, found.path, found.cwd, found.title) == (made.session_id, str(made.file), "/home/dev/project", "OK.")
    assert (found.last_message, found.model, found.tokens) == ("Done.", "fake-model", 480)
    assert (found.created_at, found.updated_at) == (1_794_841_054_884_000, 1_794_841_127_533_000)
    assert OpencodeStore(str(made.folder)).find(made.session_id) == found
    assert OpencodeStore(str(made.folder)).find("ses_none") is None and OpencodeStore(str(made.folder)).find("'") is None
    assert state_of(made.folder) == before


def test_what_is_no_session_is_not_listed_and_no_database_is_no_sessions(made: Made, tmp_path: Path) -> None:
    with sqlite3.connect(made.file) as connection:
        connection.execute("INSERT INTO session (id, directory, parent_id) VALUES ('ses_1', '/', 'ses_0')")
        connection.execute("INSERT INTO session (id, directory, time_archived) VALUES ('ses_2', '/', 5)")
        connection.execute("INSERT INTO session (id, directory) VALUES (x'00', 'x')")
    connection.close()
    assert [found.id for found in OpencodeStore(str(made.folder)).sessions()] == [made.session_id]
    assert OpencodeStore(str(tmp_path)).sessions() == [] and OpencodeStore(str(tmp_path)).states() == {}


def test_a_session_is_in_use_where_a_program_works_in_its_folder_and_has_the_database_open(made: Made, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    holder = subprocess.Popen([sys.executable, "-c", "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1])\n"
                               "c.execute('SELECT * FROM session').fetchall()\nprint('open', flush=True)\nsys.stdin.read()",
                               str(made.file)], cwd=here, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with holder:
        assert holder.stdout is not None and holder.stdout.readline() == "open\n" and holder.stdin is not None
        assert [found.in_use for found in OpencodeStore(str(made.folder)).sessions()] == [False], "another folder"
        with sqlite3.connect(made.file) as connection:
            connection.execute("UPDATE session SET directory = ?", (str(here),))
        assert [found.in_use for found in OpencodeStore(str(made.folder)).sessions()] == [False], "not since it began"
        with connection:
            connection.execute("UPDATE session SET time_updated = 4000000000000")
        connection.close()
        found = OpencodeStore(str(made.folder)).sessions()[0]
        assert (found.in_use, found.pid) == (True, holder.pid)
        holder.stdin.close()


class Listener:
    """The texts that were told, and the newest position."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.position = 0
        self._more = asyncio.Event()

    def heard(self, told: list[tuple[int, Signal]], position: int) -> None:
        for _, signal in told:
            if isinstance(signal, Update) and "text" in (fields := json.loads(signal.raw)).get("content", {}):
                self.texts.append(fields["content"]["text"])
        self.position = position
        self._more.set()

    async def until(self, words: str) -> None:
        while words not in self.texts:
            self._more.clear()
            await self._more.wait()


def follower(made: Made, listener: Listener, position: int = 0) -> Following:
    return OpencodeStore.following(str(made.file), made.session_id, position, listener.heard, folder=str(made.folder))


FIRST = ["run: touch a1", "I will use a tool. ", "Done."]


def test_what_is_written_while_it_is_followed_is_told_as_it_comes_and_once(made: Made, owner: Owner) -> None:
    async def scenario() -> None:
        listener = Listener()
        follows = follower(made, listener)
        await follows.start()
        assert listener.texts == FIRST
        owner.does(message(made, "msg_2", "user"))
        owner.does(text(made, "prt_2", "msg_2", "And now?"))
        await listener.until("And now?")
        owner.does(message(made, "msg_3", "assistant", 5))
        owner.does(text(made, "prt_3", "msg_3", "", 5))
        owner.does("UPDATE part SET data = '" + json.dumps({"type": "text", "text": "All.", "time": {"end": 9}})
                   + "', time_updated = 1794841200009 WHERE id = 'prt_3'")
        await listener.until("All.")
        await follows.stop()
        assert listener.texts == [*FIRST, "And now?", "All."]

    run(scenario())


def test_from_a_position_only_what_is_behind_it_is_told(made: Made) -> None:
    async def scenario() -> None:
        first = Listener()
        follows = follower(made, first)
        await follows.start()
        await follows.stop()
        assert first.position > 0
        with sqlite3.connect(made.file) as connection:
            connection.execute(message(made, "msg_2", "user"))
            connection.execute(text(made, "prt_2", "msg_2", "one"))
        history, later = Listener(), Listener()
        follows = follower(made, history, first.position)
        await follows.start()
        await follows.stop()
        assert history.texts == ["one"] and history.position > 0
        with connection:  # in the same millisecond as the last one
            connection.execute(text(made, "prt_3", "msg_2", "two"))
        connection.close()
        follows = follower(made, later, history.position)
        await follows.start()
        await follows.stop()
        assert later.texts == ["two"]

    run(scenario())


def test_a_long_history_is_read_in_pages_and_goes_on_from_any_of_them(made: Made) -> None:
    with sqlite3.connect(made.file) as connection:
        for number in range(170):
            connection.execute(message(made, f"msg_{number:03}", "user", number))
            connection.execute(text(made, f"prt_{number:03}", f"msg_{number:03}", f"prompt {number}", number))
    connection.close()

    async def scenario() -> None:
        pages: list[tuple[int, int]] = []
        listener = Listener()

        def heard(told: list[tuple[int, Signal]], position: int) -> None:
            listener.heard(told, position)
            pages.append((position, len(listener.texts)))

        follows = OpencodeStore.following(str(made.file), made.session_id, 0, heard, folder=str(made.folder))
        await follows.start()
        await follows.stop()
        assert listener.texts == [*FIRST, *(f"prompt {number}" for number in range(170))]
        position, count = pages[1]
        again = Listener()
        follows = follower(made, again, position)
        await follows.start()
        await follows.stop()
        assert again.texts == listener.texts[count:] and 0 < count < len(listener.texts)

    run(scenario())


def test_a_database_that_is_gone_or_damaged_is_waited_for(made: Made) -> None:
    whole = made.file.read_bytes()
    made.file.write_bytes(b"rubbish" * 1000)

    async def scenario() -> None:
        listener = Listener()
        follows = follower(made, listener)
        await follows.start()
        assert listener.texts == []
        made.file.write_bytes(whole)
        follows.look_again()
        await listener.until("Done.")
        await follows.stop()

    run(scenario())


def test_sessions_that_appear_change_and_go_away_are_told(made: Made, owner: Owner) -> None:
    async def scenario() -> None:
        heard = Heard()
        stop = watch_store(lambda: OpencodeStore(str(made.folder)), "agent", heard.callback)
        number = 0
        while heard.nothing():  # until the watch is on
            number += 1
            owner.does(f"UPDATE session SET time_updated = {1794841200000 + number}")
            await asyncio.sleep(0.02)
        assert (await heard.next("session_updated")).session_id == made.session_id
        owner.does("INSERT INTO session (id, directory, time_updated) VALUES ('ses_new', '/', 7)")
        assert (await heard.next("session_created")).session_id == "ses_new"
        owner.does("DELETE FROM session WHERE id = 'ses_new'")
        assert (await heard.next("session_removed")).session_id == "ses_new"
        stop()

    run(scenario())


def test_of_very_many_sessions_the_newest_have_their_last_words(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "PREVIEWED", 0)
    assert OpencodeStore(str(made.folder)).sessions()[0].last_message == ""
    assert os.getpid() not in [pid for pid, _, _ in OpencodeStore(str(made.folder))._running()]


def test_a_program_that_says_what_it_has_is_not_guessed_at(made: Made, owner: Owner) -> None:
    store = OpencodeStore(str(made.folder))
    assert store.root_of(made.session_id) == made.session_id and store.root_of("ses_none") is None
    TOLD.has(4711, {made.session_id})
    try:
        (found,) = store.sessions()
        assert (found.in_use, found.pid) == (True, 4711)
        TOLD.has(4711, set())
        (found,) = store.sessions()
        assert not found.in_use and TOLD.tells(4711)
    finally:
        TOLD.forget(4711)
    assert not TOLD.tells(4711) and TOLD.holder_of(made.session_id) is None


def test_the_session_of_a_sub_agent_leads_to_the_one_that_it_works_for(made: Made, owner: Owner) -> None:
    family = ("ses_child", made.session_id), ("ses_grandchild", "ses_child"), ("ses_a", "ses_b"), ("ses_b", "ses_a")
    for child, parent in family:
        owner.does(f"INSERT INTO session (id, parent_id, directory) VALUES ('{child}', '{parent}', '/home/dev/project')")
    store = OpencodeStore(str(made.folder))
    assert store.root_of("ses_grandchild") == made.session_id
    assert store.root_of("ses_a") in ("ses_a", "ses_b"), "a ring has an end"
