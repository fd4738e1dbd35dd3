"""What doctor says of a data folder: its owner and modes, its token, its rules, its journal."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from tests.tooling.rows import every_row
from trunkline.cli.commands.doctor import folder
from trunkline.cli.commands.doctor.finding import Finding
from trunkline.cli.commands.doctor.folder import data_of, journal_of, journal_told, rules_of, token_of
from trunkline.client.hub_views import JournalDamage, JournalView
from trunkline.journal.stores.sqlite.database import migrations


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    path.mkdir(mode=0o700)
    return path


def private(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def only(findings: list[Finding]) -> Finding:
    (found,) = findings
    return found


def test_a_closed_folder_is_fine_and_one_that_is_not_there_is_made_later(data: Path) -> None:
    private(data / "token", "x")
    assert only(data_of(data)).state == "ok"
    assert "the first start makes it" in only(data_of(data / "a" / "b")).what


def test_a_folder_that_cannot_be_made_is_bad(data: Path) -> None:
    private(data / "file", "")
    assert only(data_of(data / "file" / "data")).state == "bad"


@every_row("mode", [0o755, 0o750, 0o707])
def test_a_folder_that_is_open_to_others_is_bad(mode: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("open")
    path.chmod(mode)
    told = only(data_of(path))
    assert (told.state, told.fix) == ("bad", f"chmod 700 {path}") and f"mode {mode:o}" in told.what


def test_a_folder_of_another_user_is_bad(data: Path) -> None:
    told = only(data_of(data, me=os.geteuid() + 1))
    assert told.state == "bad" and "belongs to" in told.what and "--data" in told.fix


def test_files_that_others_may_write_are_named(data: Path) -> None:
    for number in range(5):
        private(data / f"file{number}", "", 0o666)
    told = only(data_of(data))
    assert told.state == "bad" and "file0, file1, file2 and 2 more" in told.what and "chmod go-rwx" in told.fix


def test_a_token_is_found_and_never_shown(data: Path) -> None:
    assert "none yet" in token_of(data, False).what
    private(data / "token", "very-secret\n")
    told = token_of(data, False)
    assert told.state == "ok" and "very-secret" not in told.what
    assert "TRUNKLINE_TOKEN" in token_of(data, True).what


@every_row(("name", "text", "mode", "says"), [
    ("token", " \n", 0o600, "is empty"), ("token", "x", 0o622, "may be written by others"),
    ("tokens.json", "{", 0o600, "tokens.json cannot be read")])
def test_a_token_that_is_no_good_is_bad(name: str, text: str, mode: int, says: str,
                                        tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("token")
    private(path / name, text, mode)
    told = token_of(path, False)
    assert told.state == "bad" and says in told.what and "rm " in told.fix


def test_rules_are_counted_or_what_is_wrong_with_them_is_said(data: Path) -> None:
    assert "none" in rules_of(data).what
    file = private(data / "policy.toml", '[[rules]]\naction = "deny"\n', 0o644)
    assert rules_of(data).what == "1 answer for you"
    assert file.stat().st_mode & 0o777 == 0o644, "it is only looked at"
    private(file, "[[rules]]\naction = 'perhaps'\n")
    assert rules_of(data).state == "bad" and "policy edit" in rules_of(data).fix


def made(path: Path, *, version: int | None = None) -> Path:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE blocks (body BLOB)")
        connection.executemany("INSERT INTO blocks VALUES (randomblob(?))", [(2000,)] * 200)
        connection.execute(f"PRAGMA user_version = {len(migrations()) if version is None else version}")
    connection.close()
    return path


def test_a_journal_is_looked_at_and_nothing_is_made_beside_it(data: Path) -> None:
    assert journal_of(data / "journal.db").what == "nothing is stored yet"
    made(data / "journal.db")
    assert journal_of(data / "journal.db").state == "ok"
    assert os.listdir(data) == ["journal.db"]


def test_a_damaged_journal_is_bad(data: Path) -> None:
    path = made(data / "journal.db")
    content = bytearray(path.read_bytes())
    content[8192:12288] = os.urandom(4096)
    path.write_bytes(content)
    told = journal_of(path)
    assert told.state == "bad" and f"journal repair --data {data}" in told.fix
    path.write_bytes(b"no database" * 999)
    assert journal_of(path).state == "bad"
    path.unlink()
    path.mkdir()
    assert journal_of(path).state == "bad"


def test_one_of_a_newer_version_is_bad(data: Path) -> None:
    assert "newer" in journal_of(made(data / "journal.db", version=len(migrations()) + 1)).what


def test_a_long_one_is_read_for_a_while_only(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "JOURNAL_S", -1.0)
    monkeypatch.setattr(folder, "_STEPS", 1)
    told = journal_of(made(data / "journal.db"))
    assert told.state == "ok" and "journal verify reads it all" in told.what


def test_one_with_a_log_is_left_to_the_next_start(data: Path) -> None:
    private(made(data / "journal.db").with_name("journal.db-wal"), "x")
    assert "was not closed in order" in journal_of(data / "journal.db").what


def test_what_the_hub_says_of_its_journal_counts() -> None:
    assert journal_told(JournalView()).state == "ok"
    assert journal_told(JournalView(state="hurt", damages=[JournalDamage()])).state == "bad"
    told = journal_told(JournalView(state="unwritable", unwritable="the disk is full"))
    assert told.state == "bad" and "the disk is full" in told.what
