"""Codex's sessions, found in its files and its index."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.tooling.stores import Made, codex, state_of
from trunkline.discovery.codex import CodexStore


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return codex(tmp_path)


def write(made: Made, session_id: str, *lines: dict[str, Any]) -> Path:
    path = made.file.parent / f"rollout-2026-11-16T15-00-00-{session_id}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def meta(**more: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-16T15:00:00Z", "type": "session_meta", "payload": {"cwd": "/home/dev", **more}}


OTHER = "01a1e4d7-0000-7cb1-84c4-54f2b21811b0"


def test_a_recorded_session_is_found_with_what_the_index_says_of_it(made: Made) -> None:
    (found,) = CodexStore(str(made.folder)).sessions()
    assert (found.id, found.path, found.cwd) == (made.session_id, str(made.file), "/home/dev/project")
    assert (found.title, found.last_message, found.model, found.tokens) == ("fake title", "Done.", "gpt-5.5", 2160)
    assert found.created_at == 1_794_840_673_027_000 and found.updated_at >= found.created_at
    assert not found.in_use and found.pid is None


def test_without_the_index_the_file_says_what_it_can(made: Made) -> None:
    (made.folder.parent / "state_5.sqlite").unlink()
    found = CodexStore(str(made.folder)).find(made.session_id)
    assert found is not None
    assert (found.title, found.last_message, found.model, found.tokens) == ("run: touch a1", "Done.", "gpt-5.5", 240)


def test_the_newest_index_counts_and_a_broken_one_hides_nothing(made: Made) -> None:
    home = made.folder.parent
    with sqlite3.connect(home / "state_10.sqlite") as newer:
        newer.execute("CREATE TABLE threads (id TEXT, title TEXT)")
        newer.execute("INSERT INTO threads VALUES (?, 'newer')", (made.session_id,))
    newer.close()
    assert CodexStore(str(made.folder)).sessions()[0].title == "newer"
    (home / "state_11.sqlite").write_bytes(b"SQLite format 3\0" + b"\xff" * 4000)
    assert CodexStore(str(made.folder)).sessions()[0].title == "run: touch a1"


def test_a_session_whose_lock_is_held_is_in_use_by_its_holder(made: Made) -> None:
    locks = made.folder.parent / "thread-writer-locks"
    locks.mkdir()
    with (locks / f"{made.session_id}.lock").open("w") as lock:
        store = CodexStore(str(made.folder))
        assert not store.sessions()[0].in_use, "the file is there, the lock is not held"
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = store.sessions()[0]
        assert (found.in_use, found.pid) == (True, os.getpid())
    assert not store.sessions()[0].in_use


def test_what_is_no_session_is_not_listed(made: Made) -> None:
    write(made, OTHER, meta(source={"subagent": "review"}))
    write(made, OTHER.replace("0000", "1111"), {"type": "event_msg", "payload": {"type": "task_started"}})
    (made.file.parent / "notes.jsonl").write_text("{}\n")
    (made.folder / f"rollout-1-{OTHER}.jsonl").mkdir()
    store = CodexStore(str(made.folder))
    assert [found.id for found in store.sessions()] == [made.session_id]
    assert store.find("*") is None and store.find(OTHER) is None


def test_a_torn_line_and_a_long_beginning_do_not_hide_a_session(made: Made) -> None:
    long = {"type": "world_state", "payload": {"state": "x" * 100_000}}
    answer = {"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"text": "last"}]}}
    prompt = {"type": "event_msg", "payload": {"type": "user_message", "message": "first\nwords"}}
    path = write(made, OTHER, meta(), long, prompt, *[long] * 5, answer)
    with path.open("a") as file:
        file.write('{"timestamp": "2026')
    found = CodexStore(str(made.folder)).find(OTHER)
    assert found is not None and (found.title, found.last_message) == ("first", "last")


def test_looking_changes_nothing(made: Made) -> None:
    before = state_of(made.folder.parent)
    store = CodexStore(str(made.folder))
    store.sessions(), store.find(made.session_id)
    assert state_of(made.folder.parent) == before


def test_a_file_is_known_by_its_name(made: Made) -> None:
    store = CodexStore(str(made.folder))
    assert store.session_of(str(made.file)) == made.session_id
    assert store.session_of(str(made.folder.parent / made.file.name)) is None
    assert store.session_of(str(made.file.with_suffix(".txt"))) is None
