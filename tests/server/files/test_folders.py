"""Folders to choose from: folders only, real paths, bounded."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.aio import run
from tests.server import site as served
from tests.server.site import site
from trunkline.server.files import folders


def test_folders_are_listed_without_files_and_hidden_ones_last(tmp_path: Path) -> None:
    top = tmp_path / "top"
    for name in ("Beta", "alpha", ".hidden", "gamma/.git"):
        (top / name).mkdir(parents=True)
    (top / "file.txt").write_text("x")
    (top / "link").symlink_to(top / "alpha")
    (top / "nowhere").symlink_to(top / "gone")
    (top / "loop").symlink_to(top / "loop")
    os.mkfifo(top / "pipe")

    async def check() -> None:
        async with site(tmp_path) as hub:
            page = (await hub.ask("GET", f"/folders?path={quote(str(top))}")).json()
            assert [(each["name"], each["hidden"], each["isSymlink"], each["isProject"]) for each in page["folders"]] == [
                ("alpha", False, False, False), ("Beta", False, False, False), ("gamma", False, False, True),
                ("link", False, True, False), (".hidden", True, False, False)]
            assert (page["path"], page["parent"], page["truncated"]) == (str(top.resolve()), str(top.parent.resolve()), False)
            assert page["folders"][0]["path"] == str(top.resolve() / "alpha")

    run(check())


def test_a_link_is_followed_to_the_real_folder_and_its_real_parent(tmp_path: Path) -> None:
    top = tmp_path.resolve()
    (top / "real" / "inside").mkdir(parents=True)
    (top / "link").symlink_to(top / "real" / "inside")

    async def check() -> None:
        async with site(tmp_path) as hub:
            page = (await hub.ask("GET", f"/folders?path={top / 'link'}/../..")).json()
            assert page["path"] == str(top)
            page = (await hub.ask("GET", f"/folders?path={top / 'link'}")).json()
            assert (page["path"], page["parent"]) == (str(top / "real" / "inside"), str(top / "real"))

    run(check())


def test_without_a_path_it_is_the_home_folder_and_the_top_has_no_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path.resolve() / "home"
    (home / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))

    async def check() -> None:
        async with site(tmp_path) as hub:
            page = (await hub.ask("GET", "/folders")).json()
            assert (page["path"], page["home"]) == (str(home),) * 2
            assert [each["name"] for each in page["folders"]] == ["project"]
            assert (await hub.ask("GET", "/folders?path=~/project")).json()["path"] == str(home / "project")
            assert (await hub.ask("GET", "/folders?path=/")).json()["parent"] is None

    run(check())


def test_a_folder_of_very_many_is_cut_and_says_so(tmp_path: Path) -> None:
    for number in range(folders.LISTED_MOST + 1):
        (tmp_path / "many" / f"{number:04}").mkdir(parents=True)

    async def check() -> None:
        async with site(tmp_path) as hub:
            page = (await hub.ask("GET", f"/folders?path={tmp_path / 'many'}")).json()
            assert (len(page["folders"]), page["truncated"]) == (folders.LISTED_MOST, True)

    run(check())


@pytest.mark.parametrize(("path", "status"), [
    ("relative", 400), ("~nobody", 400), ("%00", 400), ("/does/not/exist", 404), ("{top}/file", 400),
])
def test_what_is_no_folder_is_refused(tmp_path: Path, path: str, status: int) -> None:
    (tmp_path / "file").write_text("x")

    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("GET", "/folders?path=" + path.replace("{top}", str(tmp_path)))
            assert answer.status == status, answer.body
            assert answer.json()["details"]["field"] == "path"

    run(check())


def test_names_that_json_cannot_carry_are_left_out(tmp_path: Path) -> None:
    os.mkdir(os.fsencode(tmp_path) + b"/bad\xff")

    async def check() -> None:
        async with site(tmp_path) as hub:
            page = (await hub.ask("GET", f"/folders?path={tmp_path}")).json()
            assert [each["name"] for each in page["folders"]] == ["data", "work"]
            assert (await hub.ask("GET", f"/folders?path={tmp_path}/bad%FF")).status in (400, 404)

    run(check())


def test_folders_of_sessions_are_offered_the_last_used_first_and_only_while_they_are_there(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()

    async def check() -> None:
        async with site(tmp_path) as hub:
            await hub.session()
            await hub.session(cwd=str(gone))
            await hub.session()
            recent = (await hub.ask("GET", "/folders")).json()["recent"]
            assert [(each["name"], each["sessions"]) for each in recent] == [("work", 2), ("gone", 1)]
            assert recent[0]["path"] == str(hub.folder.resolve())
            gone.rmdir()
            recent = (await hub.ask("GET", "/folders")).json()["recent"]
            assert [each["name"] for each in recent] == ["work"]

    run(check())


def test_folders_are_not_for_everybody(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            made = (await hub.ask("POST", "/auth/tokens", json_body={"name": "phone", "scope": "approve"})).json()
            assert (await hub.ask("GET", "/folders", token=made["secret"])).status == 403
            assert (await hub.ask("GET", "/folders", token=served.TOKEN)).status == 200

    run(check())


def test_a_folder_says_which_branch_is_checked_out_in_the_repository_that_it_lies_in(tmp_path: Path) -> None:
    top = tmp_path / "top"
    for name in ("repo/.git", "repo/deep", "detached/.git", "tree", "broken/.git", "plain"):
        (top / name).mkdir(parents=True)
    (top / "repo" / ".git" / "HEAD").write_text("ref: refs/heads/feature/herons\n")
    (top / "detached" / ".git" / "HEAD").write_text("0123456789abcdef0123456789abcdef01234567\n")
    (top / "tree" / ".git").write_text(f"gitdir: {top / 'repo' / '.git'}\n")
    (top / "broken" / ".git" / "HEAD").write_text("what is this")

    async def check() -> None:
        async with site(tmp_path) as hub:
            async def branch(name: str) -> object:
                return (await hub.ask("GET", f"/folders?path={quote(str(top / name))}")).json()["branch"]

            assert [await branch(name) for name in ("repo", "repo/deep", "tree", "detached", "broken", "plain")] == [
                "feature/herons", "feature/herons", "feature/herons", "01234567", None, None]

    run(check())
