"""What a title says that is done is held against what the call is. Data only: nothing is run."""

from __future__ import annotations

from typing import Any

from tests.tooling.rows import every_row
from trunkline.dialects.calls import read_call
from trunkline.dialects.calls.titles import TITLE_CHARS, file_beside, folders_beside, may_tell, told_by

FILE = {"path": "src/run/delete.py"}


@every_row(("title", "act"), [
    ("Delete src/a.py", "delete"), ("Deleting file", "delete"), ("rm -r src", "delete"), ("Now remove the file", "delete"),
    ("Read and delete src/a.py", "delete"), ("Rename src/a.py", "move"), ("mv a b", "move"), ("Running: make", "run"),
    ("Execute make", "run"), ("Writing src/a.py", "write"), ("npm publish", "write"), ("pip install x", "write"),
    ("make -j all", "run"), ("make test && make all", "run"), ("`rm src`", "delete"),
])
@every_row(("tool", "kind"), [("Read", "read"), ("Grep", "search"), ("WebFetch", "fetch")])
def test_a_title_that_says_more_than_a_look_makes_it_none(tool: str, kind: str, title: str, act: str) -> None:
    reading = read_call(tool, kind, FILE if kind != "fetch" else {"url": "https://example.org"}, title=title)
    assert act in reading.acts and not reading.sure and not reading.only_looks


@every_row(("title", "given"), [
    ("Read src/a.py", {"path": "src/a.py"}), ("src/a.py", {"path": "src/a.py"}), ("Reading file", {"path": "src/a.py"}),
    ("Read run", {"path": "/w/run"}), ("Read src/run/delete.py (1 - 20)", FILE), ("Read delete.py", FILE), ("cat delete.py",
    FILE),
    ("Search for 'delete'", {"pattern": "delete"}), ("Search delete in src", {"pattern": "delete", "path": "src"}),
    ("how do we delete users", {"query": "how do we delete users"}), ("grep -n -i \"rm -r\" src", {"pattern": "rm -r",
    "path": "src"}),
    ("List files", {"path": "."}), ("Find files matching **/*.py", {"pattern": "**/*.py"}), ("Viewing the last commit",
    {"path": "a"}),
    ("TODO | FIXME", {"pattern": "TODO | FIXME"}), ("delete users", {"pattern": "delete users"}),
])
@every_row(("tool", "kind"), [("Read", "read"), ("Grep", "search")])
def test_what_a_title_repeats_of_the_input_is_looked_for_and_not_done(
        tool: str, kind: str, title: str, given: dict[str, Any]) -> None:
    assert told_by(title, "read" if kind == "read" else "search", given).act is None


@every_row(("title", "is_sure"), [
    ("Delete src/a.py", False), ("Rename `src/a.py`", False), ("Remove a.py", False), ("Edit src/a.py", True),
    ("Remove the unused import", True), ("Write src/a.py", True), ("Update src/a.py to delete old users", True),
])
def test_a_title_that_says_that_the_file_of_an_edit_goes_is_a_doubt(title: str, is_sure: bool) -> None:
    given = {"path": "src/a.py", "old_string": "a", "new_string": "b"}
    assert read_call("Edit", "edit", given, title=title).sure == is_sure


@every_row("title", ["make -j install", "rm x"])
def test_a_title_that_reads_as_a_command_is_judged_as_one_and_is_none(title: str) -> None:
    reading = read_call("Read", "read", FILE, title=title)
    assert (reading.command, reading.claimed) == (None, title)


def test_most_titles_tell_nothing_and_no_long_one_is_read_to_its_end() -> None:
    assert not may_tell("Read src/a.py") and not may_tell("Delete") and may_tell("Delete a.py")
    assert not may_tell("Read " + "a " * TITLE_CHARS + "delete")


@every_row(("title", "path", "other"), [
    ("Read ~/.ssh/id_rsa", "src/a.py", "~/.ssh/id_rsa"), ("Read .env", "README.md", ".env"),
    ("Edit `/etc/hosts`", "a.py", "/etc/hosts"),
    ("Read src/a.py (1 - 20)", "/work/src/a.py", ""), ("Read a.py", "src/b.py", ""), ("Read …/src/a.py", "src/a.py", ""),
    ("Compare src/a.py and src/b.py", "src/c.py", ""), ("Read File", "src/a.py", ""), ("Read src/", "src", ""),
])
def test_a_title_that_names_another_file_than_the_input_is_told(title: str, path: str, other: str) -> None:
    assert file_beside(title, "read", {"path": path}, (path,)) == other


def test_a_title_of_a_search_names_no_file() -> None:
    assert file_beside("Search .env in src/a.py", "search", {"pattern": "x"}, ("src",)) == ""


@every_row(("title", "given", "folders"), [
    ("Search for 'x' in /etc", {"pattern": "x"}, ["/etc"]), ("Search ~/.ssh for x", {"pattern": "x", "path": "src"}, ["~/.ssh"]),
    ("grep x `../other`", {"pattern": "x"}, ["../other"]), ("Find files in /", {"pattern": "**"}, ["/"]),
    ("Search '/api/users' in src", {"pattern": "/api/users"}, []), ("Find TODO / FIXME", {"pattern": "TODO"}, []),
    ("Search x in /work/src", {"pattern": "x", "path": "/work/src"}, []), ("Search x in src/a", {"pattern": "x"}, []),
])
def test_folders_that_a_search_names_only_in_its_title_are_paths_of_it(title: str, given: dict[str, str],
                                                                       folders: list[str]) -> None:
    reading = read_call("grep", "search", given, title=title)
    assert [path for path in reading.paths if path not in given.values()] == folders


def test_a_title_of_a_read_names_no_folder_to_search() -> None:
    assert folders_beside("Read x in /etc", "read", {"path": "x"}) == []
