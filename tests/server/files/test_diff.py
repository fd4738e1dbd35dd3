"""What changed: by git, and by the journal where there is no repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.site import Site, site
from trunkline.hub import Session
from trunkline.server.files import diff
from trunkline.server.files import git as server_git
from trunkline.server.files.diff import sections, unified
from trunkline.server.files.git import Tracked
from trunkline.session.workspace.files import Workspace


def git(folder: Path, *args: str) -> str:
    """Run git as some developer; returns what it says."""
    identity = ["-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def repository(folder: Path) -> None:
    """A repository with three committed files."""
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q")
    (folder / "kept.txt").write_text("same\n")
    (folder / "changed.txt").write_text("one\ntwo\nthree\n")
    (folder / "gone.txt").write_text("bye\n")
    (folder / ".gitignore").write_text("ignored\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")


async def asked(hub: Site, session: Session) -> dict[str, Any]:
    """The session's diff."""
    answer = await hub.ask("GET", f"/sessions/{session.id}/diff")
    assert answer.status == 200, answer.body
    body: dict[str, Any] = answer.json()
    return body


def test_a_repositorys_changes_since_head_are_listed_with_new_and_deleted_files(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(hub.folder)
            (hub.folder / "changed.txt").write_text("one\n2\nthree\nfour\n")
            (hub.folder / "gone.txt").unlink()
            (hub.folder / "näw file.txt").write_text("a\nb")
            (hub.folder / "ignored").write_text("x")
            found = await asked(hub, await hub.session())
            assert (found["base"], found["truncated"], found["reason"]) == ("HEAD", False, None)
            assert sorted((each["path"], each["status"], each["additions"], each["deletions"]) for each in found["files"]) == [
                ("changed.txt", "modified", 2, 1), ("gone.txt", "deleted", 0, 1), ("näw file.txt", "added", 2, 0)]
            assert "-two\n+2\n" in found["diff"]
            assert "--- /dev/null\n+++ b/näw file.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n" in found["diff"]

    run(check())


def test_a_repository_that_was_made_inside_the_folder_is_looked_into(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(hub.folder)
            session = await hub.session()
            repository(hub.folder / "inner")
            (hub.folder / "inner" / "src").mkdir()
            (hub.folder / "inner" / "src" / "a.txt").write_text("a\nb\n")
            found = await asked(hub, session)
            assert [(each["path"], each["status"], each["additions"]) for each in found["files"]] == [
                ("inner/.gitignore", "added", 1), ("inner/changed.txt", "added", 3), ("inner/gone.txt", "added", 1),
                ("inner/kept.txt", "added", 1), ("inner/src/a.txt", "added", 2)]
            assert "+++ b/inner/src/a.txt" in found["diff"]

    run(check())


def test_of_an_inner_repository_that_was_there_before_only_what_was_written_since_is_told(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(hub.folder)
            repository(hub.folder / "inner")
            stamps_move_on(tmp_path / "stamp", diff.CLOCK_MS)
            session = await hub.session()
            assert (await asked(hub, session))["files"] == []
            edited, ran = hub.folder / "inner" / "changed.txt", hub.folder / "inner" / "kept.txt"
            edited.write_text("one\n2\nthree\n")
            await hub.turn(session, change(edited, "one\ntwo\nthree\n", "one\n2\nthree\n"))
            ran.write_text("by a command\n")  # what it was before is known to nobody who may be asked
            found = await asked(hub, session)
            assert [(each["path"], each["status"], each["additions"], each["deletions"]) for each in found["files"]] == [
                ("inner/changed.txt", "modified", 1, 1), ("inner/kept.txt", "modified", 0, 0)]
            assert "-two\n+2\n" in found["diff"] and "kept.txt" not in found["diff"]

    run(check())


def stamps_move_on(probe: Path, by_ms: int) -> None:
    """Until files that are written are stamped so much later than those before."""
    probe.touch()
    until = probe.stat().st_ctime_ns + 2 * by_ms * 1_000_000
    while probe.stat().st_ctime_ns <= until:
        probe.write_text("x")


def test_the_diff_can_be_applied(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(hub.folder)
            (hub.folder / "changed.txt").write_text("one\ntwo and a half\nthree")
            (hub.folder / "new.txt").write_text("no newline\r\nat the end")
            found = await asked(hub, await hub.session())
            (tmp_path / "patch").write_bytes(found["diff"].encode())
            copy = tmp_path / "copy"
            git(tmp_path, "clone", "-q", str(hub.folder), str(copy))
            git(copy, "apply", "--whitespace=nowarn", str(tmp_path / "patch"))
            for name in ("changed.txt", "new.txt"):
                assert (copy / name).read_bytes() == (hub.folder / name).read_bytes()

    run(check())


def test_a_repository_without_a_commit_is_compared_with_nothing(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            git(hub.folder, "init", "-q")
            (hub.folder / "staged.txt").write_text("x\n")
            git(hub.folder, "add", ".")
            found = await asked(hub, await hub.session())
            assert found["base"] == "empty"
            assert [(each["path"], each["status"]) for each in found["files"]] == [("staged.txt", "added")]

    run(check())


def test_only_the_sessions_folder_is_shown_not_the_rest_of_its_repository(tmp_path: Path) -> None:
    async def check() -> None:
        repository(tmp_path)
        async with site(tmp_path) as hub:
            (tmp_path / "changed.txt").write_text("outside\n")
            (tmp_path / "new outside").write_text("outside\n")
            (hub.folder / "mine").write_text("inside\n")
            found = await asked(hub, await hub.session())
            assert [each["path"] for each in found["files"]] == ["mine"]
            assert "outside" not in found["diff"]

    run(check())


def test_asking_changes_nothing_and_runs_nothing_of_the_repository(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(hub.folder)
            trap = tmp_path / "trap"
            for setting in ("diff.external", "core.fsmonitor", "core.pager"):
                git(hub.folder, "config", setting, f"touch {trap}; true")
            git(hub.folder, "config", "diff.noprefix", "true")
            git(hub.folder, "config", "color.ui", "always")
            (hub.folder / "changed.txt").write_text("other\n")
            index = (hub.folder / ".git" / "index").read_bytes()
            found = await asked(hub, await hub.session())
            assert [each["path"] for each in found["files"]] == ["changed.txt"]
            assert not trap.exists()
            assert (hub.folder / ".git" / "index").read_bytes() == index

    run(check())


FILTER_NAMES = ["f", "a.b", "a=b", 'odd "name" ö', "F"]


@pytest.mark.parametrize("where", ["attributes in the tree", "attributes of the clone"])
@pytest.mark.parametrize("command", ["clean", "smudge", "process"])
def test_a_filter_that_the_repository_names_is_not_run(tmp_path: Path, command: str, where: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(hub.folder)
            trap = tmp_path / "trap"
            for name in FILTER_NAMES:
                git(hub.folder, "config", f"filter.{name}.{command}", f"touch {trap}; cat")
                git(hub.folder, "config", f"filter.{name}.required", "true")
            inside = where == "attributes in the tree"
            attributes = hub.folder / ".gitattributes" if inside else hub.folder / ".git" / "info" / "attributes"
            attributes.write_text("kept.txt filter=f\nchanged.txt filter=a=b\ngone.txt filter=a.b\n")
            for name in ("kept.txt", "changed.txt", "gone.txt"):
                (hub.folder / name).write_text("other\n")
            found = await asked(hub, await hub.session())
            assert {each["path"] for each in found["files"]} - {".gitattributes"} == {"kept.txt", "changed.txt", "gone.txt"}
            assert "+other\n" in found["diff"]
            assert not trap.exists()

    run(check())


@pytest.mark.parametrize("config", [b'[filter "\xff"]\n\tclean = touch TRAP; cat\n', b"[filter", b"".join(
    b'[filter "f%d"]\n\tclean = touch TRAP; cat\n' % number for number in range(101))], ids=["not UTF-8", "broken", "many"])
def test_a_repository_whose_filters_cannot_be_switched_off_is_not_compared(tmp_path: Path, config: bytes) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(hub.folder)
            (hub.folder / ".gitattributes").write_bytes(b"changed.txt filter=\xff\nkept.txt filter=f100\n")
            session = await hub.session()
            for name in ("kept.txt", "changed.txt"):
                (hub.folder / name).write_text("other\n")
            settings = hub.folder / ".git" / "config"
            settings.write_bytes(settings.read_bytes() + config)
            found = await asked(hub, session)
            assert (found["base"], found["diff"]) == (None, "")
            assert found["reason"]
            assert not (hub.folder / "TRAP").exists()

    run(check())


def test_a_partial_clone_is_compared_without_fetching_what_it_lacks(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(hub.folder)
            trap = tmp_path / "trap"
            blob = git(hub.folder, "rev-parse", "HEAD:changed.txt")
            (hub.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
            for key, value in (("core.repositoryFormatVersion", "1"), ("extensions.partialClone", "origin"),
                               ("remote.origin.url", f"ext::sh -c touch% {trap}"), ("protocol.ext.allow", "always"),
                               ("remote.origin.promisor", "true")):
                git(hub.folder, "config", key, value)
            (hub.folder / "changed.txt").write_text("other\n")
            await asked(hub, await hub.session())
            assert not trap.exists()

    run(check())


def test_a_submodules_config_runs_nothing_either(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(hub.folder)
            trap = tmp_path / "trap"
            repository(tmp_path / "origin")
            git(hub.folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "origin"), "sub")
            git(hub.folder, "commit", "-qm", "with a submodule")
            git(hub.folder, "config", "diff.submodule", "diff")
            git(hub.folder / "sub", "config", "filter.f.clean", f"touch {trap}; cat")
            (hub.folder / "sub" / ".gitattributes").write_text("kept.txt filter=f\n")
            (hub.folder / "sub" / "kept.txt").write_text("other\n")
            found = await asked(hub, await hub.session())
            assert found["files"] == []
            assert not trap.exists()

    run(check())


def test_modes_links_and_binaries_are_shown_as_git_shows_them(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            folder = hub.folder
            repository(folder)
            (folder / "link").symlink_to("kept.txt")
            (folder / "binary").write_bytes(b"a\0b")
            (folder / "empty").write_text("")
            (folder / "turned").write_text("x\n")
            (folder / "sub").mkdir()
            (folder / "sub" / b"\xff.txt".decode("utf-8", "surrogateescape")).write_text("odd name\n")
            git(folder, "add", ".")
            git(folder, "commit", "-qm", "more")
            (folder / "kept.txt").chmod(0o755)
            (folder / "link").unlink()
            (folder / "link").symlink_to("elsewhere")
            (folder / "binary").write_bytes(b"a\0c")
            (folder / "empty").unlink()
            (folder / "turned").unlink()
            (folder / "turned").symlink_to("kept.txt")
            (folder / "sub" / b"\xff.txt".decode("utf-8", "surrogateescape")).write_text("other\n")
            found = await asked(hub, await hub.session())
            assert [(each["path"], each["status"], each["additions"], each["deletions"]) for each in found["files"]] == [
                ("binary", "modified", 0, 0), ("empty", "deleted", 0, 0), ("kept.txt", "modified", 0, 0),
                ("link", "modified", 1, 1), ("sub/\ufffd.txt", "modified", 1, 1),
                ("turned", "deleted", 0, 1), ("turned", "added", 1, 0)]
            theirs = git(folder, "diff", "HEAD", "--no-renames", "--", "kept.txt", "link", "turned", "binary", "empty")
            shown = found["diff"].split("\n")
            assert [line for line in theirs.split("\n") if not line.startswith("index ") and line not in shown] == []

    run(check())


def test_what_git_tells_of_a_folder_that_is_a_link_is_neither_named_nor_shown(tmp_path: Path) -> None:
    root, outside = (tmp_path / "root").resolve(), tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "a.txt").write_text("secret\n")
    (root / "sub").symlink_to(outside)
    known = Tracked("sub/a.txt", "100644", "100644", "1" * 40, "0" * 40)
    found = diff._compare_all(Workspace([str(root)]), [known], {"1" * 40: b"ours\n"}, ["sub/a.txt", "sub/name.txt", "../x"])
    assert [(each.path, each.status) for each in found.files] == [("sub/a.txt", "deleted")]
    assert "secret" not in found.diff and "-ours\n" in found.diff


def test_nothing_from_outside_is_shown_while_a_folder_is_swapped_for_a_link(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            folder, outside = hub.folder, tmp_path / "outside"
            (folder / "sub").mkdir()
            outside.mkdir()
            for number in range(40):
                (folder / "sub" / f"{number}.txt").write_text("inside\n")
                (outside / f"{number}.txt").write_text("SECRET\n")
            (outside / "secretname.txt").write_text("x")
            git(folder, "init", "-q")
            git(folder, "add", ".")
            git(folder, "commit", "-qm", "first")
            for number in range(40):
                (folder / "sub" / f"{number}.txt").write_text("changed\n")
            session = await hub.session()
            with swapping(folder / "sub", outside):
                for _ in range(6):
                    answer = await hub.ask("GET", f"/sessions/{session.id}/diff")
                    assert b"SECRET" not in answer.body and b"secretname" not in answer.body

    run(check())


SWAP = """
import os, sys
folder, outside = sys.argv[1:]
while os.getppid() == PARENT:
    os.rename(folder, folder + "-aside"); os.symlink(outside, folder)
    os.unlink(folder); os.rename(folder + "-aside", folder)
"""


@contextmanager
def swapping(folder: Path, outside: Path) -> Iterator[None]:
    """A folder that is a link every other moment, by a process of its own: quick enough to come between git's looks."""
    program = SWAP.replace("PARENT", str(os.getpid()))
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", program, str(folder), str(outside)]) as process:
        try:
            yield
        finally:
            process.kill()


@pytest.mark.parametrize("how", ["file", "link", "commondir"])
def test_somebody_elses_repository_is_not_compared_with(tmp_path: Path, how: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(tmp_path / "other")
            theirs = tmp_path / "other" / ".git"
            if how == "file":
                (hub.folder / ".git").write_text(f"gitdir: {theirs}\n")
            elif how == "link":
                (hub.folder / ".git").symlink_to(theirs)
            else:
                git(hub.folder, "init", "-q")
                (hub.folder / ".git" / "commondir").write_text(f"{theirs}\n")
            found = await asked(hub, await hub.session())
            assert (found["base"], found["files"], found["diff"]) == (None, [], "")
            assert "does not know of this folder" in found["reason"]

    run(check())


@pytest.mark.parametrize("how", ["worktree", "submodule"])
def test_a_worktree_and_a_submodule_are_compared_with_the_store_that_knows_them(tmp_path: Path, how: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(tmp_path / "other")
            hub.folder.rmdir()
            if how == "worktree":
                git(tmp_path / "other", "worktree", "add", "-q", str(hub.folder))
            else:
                git(tmp_path, "init", "-q")
                git(tmp_path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "other"),
                    hub.folder.name)
            (hub.folder / "changed.txt").write_text("other\n")
            found = await asked(hub, await hub.session())
            assert (found["base"], [each["path"] for each in found["files"]]) == ("HEAD", ["changed.txt"]), found["reason"]

    run(check())


def test_a_binary_a_huge_and_a_foreign_new_file_are_named_and_not_shown(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(hub.folder)
            (tmp_path / "secret").write_text("nobody may read this")
            (hub.folder / "binary").write_bytes(b"a\0b")
            (hub.folder / "huge").write_bytes(b"x\n" * (600 << 10))
            (hub.folder / "link").symlink_to(tmp_path / "secret")
            found = await asked(hub, await hub.session())
            assert {each["path"] for each in found["files"]} == {"binary", "huge", "link"}
            assert "nobody may" not in found["diff"]
            assert len(found["diff"]) < 1000

    run(check())


def test_a_huge_diff_is_cut_to_whole_files_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff, "DIFF_BYTES", 2000)

    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(hub.folder)
            for name in ("changed.txt", "kept.txt"):
                (hub.folder / name).write_text("line\n" * 300)
            found = await asked(hub, await hub.session())
            assert found["truncated"] is True
            assert {each["path"] for each in found["files"]} == {"changed.txt", "kept.txt"}
            assert found["diff"].startswith("diff --git a/changed.txt") and found["diff"].endswith("+line\n")
            assert found["diff"].count("+line\n") == 300

    run(check())


def change(path: Path, old: str | None, new: str) -> str:
    """A prompt that makes the demo agent tell of a finished change."""
    update = {"sessionUpdate": "tool_call", "toolCallId": f"call-{path.name}-{zlib.crc32(new.encode())}",
              "title": "edit", "kind": "edit", "status": "completed",
              "content": [{"type": "diff", "path": str(path), "oldText": old, "newText": new}]}
    return "/raw " + json.dumps(update)


def test_without_a_repository_recorded_changes_are_taken_back_to_find_the_first_content(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            (hub.folder / "new.txt").write_text("b\n")
            (hub.folder / "edited.txt").write_text("head\nB\ntail\n")
            await hub.turn(session, change(hub.folder / "new.txt", None, "a\n"))
            await hub.turn(session, change(hub.folder / "new.txt", "a\n", "b\n"))
            await hub.turn(session, change(hub.folder / "edited.txt", "b", "B"))
            found = await asked(hub, session)
            assert found["base"] == "session"
            assert [(each["path"], each["status"], each["additions"], each["deletions"]) for each in found["files"]] == [
                ("new.txt", "added", 1, 0), ("edited.txt", "modified", 1, 1)]
            assert "-b\n+B\n" in found["diff"]
            view = (await hub.ask("GET", f"/sessions/{session.id}")).json()
            assert view["changes"] == {"files": 2, "linesAdded": 2, "linesRemoved": 1}, "the session counts as its diff does"

    run(check())


def test_what_a_turn_wrote_into_an_inner_repository_is_counted_as_the_turn_and_the_diff_count_it(tmp_path: Path) -> None:
    texts = {"a.txt": "one\ntwo\n", "deep/b.txt": "no newline\r\nat the end", "empty.txt": "",
             "deeper/inner/c.txt": "\n\n+ plus\n"}

    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(hub.folder)
            session = await hub.session()
            for name in ("inner", "inner/deeper/inner"):
                (hub.folder / name).mkdir(parents=True)
                git(hub.folder / name, "init", "-q")
            for name, text in texts.items():
                file = hub.folder / "inner" / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text.encode())
                await hub.turn(session, change(file, None, text))
            git(hub.folder / "inner", "add", "a.txt")
            git(hub.folder / "inner", "commit", "-qm", "of its own")
            found = await asked(hub, session)
            counted = {each["path"]: each["additions"] for each in found["files"]}
            assert counted == {"inner/a.txt": 2, "inner/deep/b.txt": 2, "inner/deeper/inner/c.txt": 3, "inner/empty.txt": 0}
            assert {each.path: each.additions for each in sections(found["diff"])} == counted
            view = (await hub.ask("GET", f"/sessions/{session.id}")).json()
            assert view["changes"] == {"files": len(texts), "linesAdded": sum(counted.values()), "linesRemoved": 0}

    run(check())


def test_a_change_that_cannot_be_found_again_is_counted_not_guessed(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            (hub.folder / "a.txt").write_text("new\n")
            (hub.folder / "b.txt").write_text("somebody else wrote this\n")
            (tmp_path / "outside.txt").write_text("x")
            await hub.turn(session, change(hub.folder / "a.txt", None, "new\n"))
            await hub.turn(session, change(hub.folder / "b.txt", None, "gone\n"))
            await hub.turn(session, change(tmp_path / "outside.txt", None, "x"))
            found = await asked(hub, session)
            assert [each["path"] for each in found["files"]] == ["a.txt"]
            assert found["reason"] == "2 more changed files cannot be compared"

    run(check())


def test_a_diff_that_is_too_long_for_its_event_is_there_on_request(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            old = "".join(f"{n}\n" for n in range(2000))
            await hub.turn(session, change(hub.folder / "long.txt", old, old.replace("1", "one")))
            events = [json.loads(entry.event) for entry in await session.feed.read(after=0, max_bytes=1 << 24)]
            (told,) = [event for event in events if event["type"] == "file:change"]
            assert "diff" not in told
            answer = await hub.ask("GET", told["_meta"]["diff"]["url"])
            found = answer.json()
            assert (found["base"], found["truncated"]) == ("call", False)
            assert [(each["path"], each["additions"], each["deletions"]) for each in found["files"]] == [
                ("long.txt", told["linesAdded"], told["linesRemoved"])]

    run(check())


def test_an_entry_that_changed_no_file_says_so_and_one_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/raw " + json.dumps({
                "sessionUpdate": "tool_call", "toolCallId": "w", "title": "w", "kind": "edit", "status": "completed",
                "rawInput": {"file_path": str(hub.folder / "w.txt"), "content": "a\nb\n"}}))
            events = [json.loads(entry.event) for entry in await session.feed.read(after=0)]
            (result,) = [event for event in events if event["type"] == "tool:result"]
            written = (await hub.ask("GET", f"/sessions/{session.id}/diff?entry={result['seq']}")).json()
            assert [(each["path"], each["additions"]) for each in written["files"]] == [("w.txt", 2)]
            nothing = (await hub.ask("GET", f"/sessions/{session.id}/diff?entry=1")).json()
            assert (nothing["base"], nothing["reason"]) == (None, "entry 1 shows no change to a file")
            assert (await hub.ask("GET", f"/sessions/{session.id}/diff?entry=99999")).status == 404

    run(check())


def test_where_nothing_can_be_said_the_answer_says_why(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            found = await asked(hub, await hub.session())
            assert (found["base"], found["files"], found["diff"]) == (None, [], "")
            assert "not a git repository" in found["reason"]

    run(check())


def test_lines_that_look_like_headers_are_counted_as_lines() -> None:
    text = unified("a b.txt", "-- old\n++ x\n", "-- new\n++ x\n+ + +\n")
    (found,) = sections(text)
    assert (found.path, found.status, found.additions, found.deletions) == ("a b.txt", "modified", 2, 1)
    assert sections("") == []


def test_a_repository_that_keeps_git_busy_for_too_long_is_given_up_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff, "GIT_S", 0.0)
    monkeypatch.setattr(server_git, "GIT_S", 0.0)

    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(hub.folder)
            found = await asked(hub, await hub.session())
            assert (found["base"], found["reason"]) == (None, "git took longer than 0 s")

    run(check())
