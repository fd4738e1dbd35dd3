"""Gemini CLI's sessions, found in its files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tooling.stores import DATA, Made, gemini, state_of
from trunkline.discovery.gemini import GeminiStore


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return gemini(tmp_path)


def test_a_recorded_session_is_found(made: Made) -> None:
    before = state_of(made.folder.parent)
    (found,) = GeminiStore(str(made.folder)).sessions()
    assert (found.id, found.path, found.cwd) == (made.session_id, str(made.file), "/home/dev/project")
    assert (found.title, found.last_message, found.model, found.tokens) == ("run: touch x1", "Done.", "gemini-2.5-pro", 240)
    assert found.created_at == 1_794_842_410_540_000 and not found.in_use
    assert GeminiStore(str(made.folder)).find(made.session_id) == found
    assert state_of(made.folder.parent) == before


def test_its_id_is_known_by_what_is_in_the_file_also_when_that_is_gone(made: Made) -> None:
    store = GeminiStore(str(made.folder))
    assert store.session_of(str(made.file)) == made.session_id
    made.file.unlink()
    assert store.session_of(str(made.file)) == made.session_id
    assert store.session_of(str(made.file.with_name("session-1-00000000.jsonl"))) is None
    assert store.session_of(str(made.folder / "logs.json")) is None


def test_a_session_with_several_files_is_listed_once_by_its_newest(made: Made) -> None:
    newer = made.file.with_name("session-2026-11-16T16-00-30ae2bf1.jsonl")
    shutil.copyfile(made.file, newer)
    os.utime(made.file, (1_000_000_000, 1_000_000_000))
    assert [found.path for found in GeminiStore(str(made.folder)).sessions()] == [str(newer)]


def test_without_the_list_of_projects_the_folder_is_the_one_the_model_was_told(made: Made) -> None:
    (made.folder.parent / "projects.json").unlink()
    assert GeminiStore(str(made.folder)).sessions() == [], "nobody knows its folder"
    told = {"id": "1", "type": "user", "content": [{"text": "I'm currently working in the directory: /home/dev/other\n"}]}
    with made.file.open("a") as file:
        file.write(json.dumps(told) + "\n")
    assert [found.cwd for found in GeminiStore(str(made.folder)).sessions()] == ["/home/dev/other"]


def test_what_is_no_session_is_not_listed(made: Made) -> None:
    other = made.file.with_name("session-2026-11-16T16-00-11111111.jsonl")
    other.write_text('{"sessionId":"11111111-1918-4bfb-bcc9-758f173e65f3","kind":"main"}\n')
    sub = made.file.with_name("session-2026-11-16T16-00-22222222.jsonl")
    text = (DATA / "gemini" / "chat-after.jsonl").read_text().replace("30ae2bf1", "22222222").replace('"main"', '"subagent"')
    sub.write_text(text)
    assert [found.id for found in GeminiStore(str(made.folder)).sessions()] == [made.session_id]


def test_the_newest_session_of_the_folder_that_its_program_works_in_is_in_use(made: Made, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (made.folder.parent / "projects.json").write_text(json.dumps({str(here): "project"}))
    program = tmp_path / "gemini"
    program.write_text("import sys\nprint('runs', flush=True)\nsys.stdin.read()\n")
    with subprocess.Popen([sys.executable, str(program)], cwd=here, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as runs:
        assert runs.stdout is not None and runs.stdout.readline() == "runs\n" and runs.stdin is not None
        os.utime(made.file, (1_000_000_000, 1_000_000_000))
        assert not GeminiStore(str(made.folder)).sessions()[0].in_use, "it was not written to since"
        os.utime(made.file, (4_000_000_000, 4_000_000_000))
        found = GeminiStore(str(made.folder)).sessions()[0]
        assert (found.in_use, found.pid) == (True, runs.pid)
        runs.stdin.close()
