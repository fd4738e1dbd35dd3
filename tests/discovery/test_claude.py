"""Claude Code's sessions, found in its files: what is read of them, and what is not."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from trunkline.discovery import files, store_of
from trunkline.discovery.claude import ClaudeStore
from trunkline.discovery.files import HEAD
from trunkline.disk.reading import open_plain

DATA = Path(__file__).parents[1] / "data" / "claude" / "projects"
REAL = "11111111-2222-4333-8444-555555555555"
OTHER = "99999999-2222-4333-8444-555555555555"


def line(kind: str, text: str, *, at: str = "2026-02-03T04:05:06.789Z", cwd: str = "/home/dev/other", **more: Any) -> str:
    return json.dumps({"type": kind, "uuid": "u", "cwd": cwd, "timestamp": at,
                       "message": {"role": kind, "content": [{"type": "text", "text": text}]}, **more})


def write(folder: Path, *lines: str, name: str = OTHER) -> Path:
    project = folder / "-home-dev-other"
    project.mkdir(parents=True, exist_ok=True)
    path = project / f"{name}.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_a_real_session_is_found_with_its_folder_its_first_and_its_last_words(tmp_path: Path) -> None:
    shutil.copytree(DATA, tmp_path / "projects")
    (found,) = ClaudeStore(str(tmp_path / "projects")).sessions()
    assert (found.id, found.cwd, found.title) == (REAL, "/home/dev/project", "Please do the work.")
    assert found.last_message == "It counted."
    assert 1_700_000_000_000_000 < found.created_at <= found.updated_at
    assert not found.in_use


def test_a_store_that_is_not_there_has_no_sessions(tmp_path: Path) -> None:
    store = ClaudeStore(str(tmp_path / "nothing"))
    assert store.sessions() == [] and store.find(REAL) is None


def test_only_the_head_and_the_tail_of_a_long_file_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    middle = [line("assistant", "x" * 1000) for _ in range(2000)]
    path = write(tmp_path, line("user", "the first words"), *middle, line("assistant", "the last words"))
    assert path.stat().st_size > 20 * HEAD
    read = 0
    real = open

    def counting(*args: Any, **kwargs: Any) -> Any:
        file = real(*args, **kwargs)
        original = file.read

        def count(size: int = -1) -> Any:
            nonlocal read
            data = original(size)
            read += len(data)
            return data

        class Counted:
            def __enter__(self) -> Any:
                return self

            def __exit__(self, *_: object) -> None:
                file.close()

            read = staticmethod(count)
            seek = staticmethod(file.seek)

        return Counted()

    monkeypatch.setattr("builtins.open", counting)
    (found,) = ClaudeStore(str(tmp_path)).sessions()
    assert (found.title, found.last_message) == ("the first words", "the last words")
    assert read <= 2 * HEAD


def test_a_torn_last_line_and_junk_do_not_hide_a_session(tmp_path: Path) -> None:
    path = write(tmp_path, "not json at all", line("user", "hello"), line("assistant", "hi there"))
    with path.open("a") as file:
        file.write('{"type":"assistant","message":{"content":[{"type":"te')
    (found,) = ClaudeStore(str(tmp_path)).sessions()
    assert (found.title, found.last_message) == ("hello", "hi there")


def test_a_title_that_was_given_goes_before_the_first_words(tmp_path: Path) -> None:
    write(tmp_path, line("user", "hello"), '{"type":"ai-title","aiTitle":"Its own"}')
    (found,) = ClaudeStore(str(tmp_path)).sessions()
    assert found.title == "Its own"
    write(tmp_path, line("user", "hello"), '{"type":"custom-title","customTitle":"Mine"}', '{"type":"ai-title","aiTitle":"Its"}')
    (found,) = ClaudeStore(str(tmp_path)).sessions()
    assert found.title == "Mine"


def test_what_is_no_session_is_not_listed(tmp_path: Path) -> None:
    write(tmp_path, line("user", "below", isSidechain=True))
    write(tmp_path, line("user", "notes"), name="notes")
    write(tmp_path, '{"type":"queue-operation"}', name=REAL)
    agents = tmp_path / "-home-dev-other" / REAL / "subagents"
    agents.mkdir(parents=True)
    (agents / f"{OTHER}.jsonl").write_text(line("user", "below"))
    assert ClaudeStore(str(tmp_path)).sessions() == []


def test_links_out_of_the_store_are_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", line("user", "secret"))
    project = tmp_path / "projects" / "-p"
    project.mkdir(parents=True)
    (project / f"{OTHER}.jsonl").symlink_to(outside)
    (tmp_path / "projects" / "-q").symlink_to(outside.parent)
    store = ClaudeStore(str(tmp_path / "projects"))
    assert store.sessions() == [] and store.find(OTHER) is None


@pytest.mark.parametrize("wanted", ["../../etc/passwd", "", "*", "a/b", f"{REAL}/../{REAL}"])
def test_an_id_that_is_none_finds_nothing(tmp_path: Path, wanted: str) -> None:
    shutil.copytree(DATA, tmp_path / "projects")
    assert ClaudeStore(str(tmp_path / "projects")).find(wanted) is None


def test_a_session_that_a_running_program_has_open_is_in_use(tmp_path: Path) -> None:
    write(tmp_path / "projects", line("user", "hello"))
    registry = tmp_path / "sessions"
    registry.mkdir()
    (registry / "1.json").write_text(json.dumps({"pid": os.getpid(), "sessionId": OTHER, "cwd": "/"}))
    (registry / "2.json").write_text("half of a fi")
    store = ClaudeStore(str(tmp_path / "projects"))
    assert [(found.in_use, found.pid) for found in store.sessions()] == [(True, os.getpid())]
    (registry / "1.json").write_text(json.dumps({"pid": os.getpid(), "procStart": "1", "sessionId": OTHER}))
    assert [found.in_use for found in store.sessions()] == [False], "another program has its number now"
    (registry / "1.json").write_text(json.dumps({"pid": 2**22 + 1, "sessionId": OTHER}))
    assert [found.in_use for found in store.sessions()] == [False], "that program is gone"


def test_what_is_no_file_of_the_registry_is_passed_over_without_waiting(tmp_path: Path) -> None:
    path = write(tmp_path / "projects", line("user", "hello"))
    registry = tmp_path / "sessions"
    registry.mkdir()
    os.mkfifo(registry / "1.json")
    (registry / "2.json").mkdir()
    (registry / "3.json").symlink_to(path)
    (registry / "4.json").write_text("[" * 60_000)
    (registry / "5.json").write_text(json.dumps({"pid": 0, "sessionId": OTHER}))
    (registry / "6.json").write_bytes(b" " * (HEAD + 1) + json.dumps({"pid": os.getpid(), "sessionId": OTHER}).encode())
    found = ClaudeStore(str(tmp_path / "projects")).sessions()
    assert [(each.id, each.in_use) for each in found] == [(OTHER, False)]


def test_the_newest_session_comes_first_and_files_stay_as_they_were(tmp_path: Path) -> None:
    old, new = write(tmp_path, line("user", "old"), name=REAL), write(tmp_path, line("user", "new"))
    os.utime(old, (1_000_000_000, 1_000_000_000))
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in (old, new)]
    assert [found.title for found in ClaudeStore(str(tmp_path)).sessions()] == ["new", "old"]
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in (old, new)] == before


def test_of_very_many_sessions_the_newest_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LISTED_MOST", 1)
    old = write(tmp_path, line("user", "old"), name=REAL)
    write(tmp_path, line("user", "new"))
    os.utime(old, (1_000_000_000, 1_000_000_000))
    assert [found.title for found in ClaudeStore(str(tmp_path)).sessions()] == ["new"]


def test_a_store_is_chosen_by_its_name(tmp_path: Path) -> None:
    assert isinstance(store_of("claude", str(tmp_path)), ClaudeStore)
    assert store_of("claude", None) is None and store_of("", str(tmp_path)) is None and store_of("other", str(tmp_path)) is None


def test_a_file_that_cannot_be_read_does_not_hide_others(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        os.mkfifo(tmp_path / "pipe")  # the superuser reads everything; a pipe in a session's place must not be waited on
        project = tmp_path / "-home-dev-other"
        project.mkdir()
        os.rename(tmp_path / "pipe", project / f"{REAL}.jsonl")
    else:
        write(tmp_path, line("user", "mine"), name=REAL).chmod(0)
    write(tmp_path, line("user", "hello"))
    found: list[str] = []
    store = ClaudeStore(str(tmp_path))
    looking = threading.Thread(target=lambda: found.extend(each.title for each in store.sessions()), daemon=True)
    looking.start()
    looking.join(60)
    assert found == ["hello"]


def test_only_a_file_that_has_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, line("user", "hello"), line("assistant", "one"))
    store = ClaudeStore(str(tmp_path))
    assert store.sessions()[0].last_message == "one"
    opened: list[str] = []

    def noting(name: str) -> Any:
        opened.append(name)
        return open_plain(name)

    monkeypatch.setattr("trunkline.discovery.files.open_plain", noting)
    assert store.sessions()[0].last_message == "one" and opened == []
    with open(path, "a") as file:
        file.write(line("assistant", "two") + "\n")
    assert store.sessions()[0].last_message == "two" and opened == [str(path)]


def test_a_folder_is_looked_at_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(9):
        (tmp_path / str(number)).touch()
    monkeypatch.setattr(files, "ENTRIES_MOST", 4)
    assert len(files.entries(str(tmp_path))) == 4
