"""Qwen Code's sessions, found in its files and its registry."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.tooling.stores import DATA, Made, qwen, read_lines, state_of
from trunkline.agents.process_table import start_time
from trunkline.discovery.qwen import QwenStore


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return qwen(tmp_path)


def test_a_recorded_session_is_found(made: Made) -> None:
    before = state_of(made.folder.parent)
    (found,) = QwenStore(str(made.folder)).sessions()
    assert (found.id, found.path, found.cwd) == (made.session_id, str(made.file), "/home/dev/project")
    assert (found.title, found.last_message, found.model, found.tokens) == ("run: touch a1", "Done.", "fake-model", 240)
    assert found.created_at == 1_794_840_886_336_000 and not found.in_use
    assert QwenStore(str(made.folder)).find(made.session_id) == found
    assert state_of(made.folder.parent) == before


def test_a_session_that_a_running_program_has_open_is_in_use(made: Made) -> None:
    registry = made.folder.parent / "sessions"
    registry.mkdir()
    record = read_lines(DATA / "qwen" / "registry.jsonl")[0]
    mine = {**record, "pid": os.getpid(), "procStart": f"{record['procStart'].partition(':')[0]}:{start_time(os.getpid())}"}
    (registry / "1.json").write_text(json.dumps(mine))
    (registry / "2.json").write_text("half of a fi")
    found = QwenStore(str(made.folder)).sessions()[0]
    assert (found.in_use, found.pid) == (True, os.getpid())
    (registry / "1.json").write_text(json.dumps({**mine, "procStart": "boot:1"}))
    assert not QwenStore(str(made.folder)).sessions()[0].in_use, "another program has its number now"


def test_what_is_no_session_is_not_listed(made: Made) -> None:
    made.file.with_name("11111111-e665-46b8-9d06-928ca5b2b767.jsonl").write_text('{"type":"system","cwd":"/"}\n')
    made.file.with_name(f"{made.session_id}.runtime.json").write_text("{}")
    (made.folder / "notes.txt").write_text("x")
    store = QwenStore(str(made.folder))
    assert [found.id for found in store.sessions()] == [made.session_id]
    assert store.session_of(str(made.file)) == made.session_id
    assert store.session_of(str(made.file.with_suffix(".json"))) is None and store.find("../x") is None
