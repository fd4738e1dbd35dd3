"""GitHub Copilot CLI's sessions, found in their folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tooling.stores import Made, copilot, state_of
from trunkline.discovery.copilot import CopilotStore


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return copilot(tmp_path)


def test_a_recorded_session_is_found(made: Made) -> None:
    before = state_of(made.folder)
    (found,) = CopilotStore(str(made.folder)).sessions()
    assert (found.id, found.path, found.cwd) == (made.session_id, str(made.file), "/home/dev/project")
    assert (found.title, found.last_message, found.model, found.tokens) == ("run: touch t120", "Done.", "fake-model", 240)
    assert found.created_at == 1_794_842_878_121_000 and not found.in_use
    assert CopilotStore(str(made.folder)).find(made.session_id) == found
    assert state_of(made.folder) == before


@pytest.mark.parametrize(("written", "title"), [
    ("name: 'It''s: mine'", "It's: mine"), ('name: "Mine"', "Mine"), ("name: Mine too", "Mine too"),
    ("name: |", "run: touch t120"), ("name: 'half", "run: touch t120"), ("rubbish \xff", "run: touch t120"),
])
def test_its_name_is_the_one_that_stands_beside_it(made: Made, written: str, title: str) -> None:
    made.file.with_name("workspace.yaml").write_text(f"id: x\n{written}\nuser_named: true\n")
    assert CopilotStore(str(made.folder)).sessions()[0].title == title


def test_a_session_that_a_running_program_has_open_is_in_use(made: Made) -> None:
    store = CopilotStore(str(made.folder))
    left = made.file.with_name(f"inuse.{2**22 + 1}.lock")
    left.touch()
    assert not store.sessions()[0].in_use, "that program is gone"
    lock = made.file.with_name(f"inuse.{os.getpid()}.lock")
    lock.touch()
    assert (store.sessions()[0].in_use, store.sessions()[0].pid) == (True, os.getpid())
    lock.unlink()
    assert not store.sessions()[0].in_use


def test_what_is_no_session_is_not_listed(made: Made) -> None:
    for name in ("11111111-3d16-4b89-a99f-1972e7c10530", "notes"):
        (made.folder / name).mkdir()
        (made.folder / name / "events.jsonl").write_text('{"type":"session.start","data":{"context":{"cwd":"/"}}}\n')
    store = CopilotStore(str(made.folder))
    assert [found.id for found in store.sessions()] == [made.session_id]
    assert store.session_of(str(made.file)) == made.session_id
    assert store.session_of(str(made.file.with_name("other.jsonl"))) is None
    assert store.session_of(str(made.folder / "notes" / "events.jsonl")) is None


def test_a_lock_that_is_older_than_the_process_of_its_number_is_of_another_one(tmp_path: Path) -> None:
    made = copilot(tmp_path)
    lock = made.file.with_name(f"inuse.{os.getpid()}.lock")
    lock.write_text(str(os.getpid()))
    assert CopilotStore(str(made.folder)).sessions()[0].in_use
    os.utime(lock, (1_000_000_000, 1_000_000_000))
    assert not CopilotStore(str(made.folder)).sessions()[0].in_use
