"""Files inside a session's roots: list, read, find; and nothing outside, however it is asked for."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.aio import run
from tests.server.site import Site, site
from trunkline.server.files import files


def furnish(folder: Path) -> None:
    """A small project, and a secret beside it."""
    folder.mkdir(exist_ok=True)
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "src" / "deep" / "Widget.tsx").write_text("export const x = 1;\n")
    (folder / "src" / "widget_test.py").write_text("assert True\n")
    (folder / "README.md").write_text("# Hello\n")
    (folder / "page.html").write_text("<script>alert(1)</script>")
    (folder / "picture.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / "blob").write_bytes(b"\0\1")
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "widget.js").write_text("")
    (folder.parent / "secret.txt").write_text("nobody may read this")
    (folder.parent / "outside").mkdir()
    (folder.parent / "outside" / "file.txt").write_text("nor this")
    (folder / "link_in").symlink_to(folder / "README.md")
    (folder / "link_out").symlink_to(folder.parent / "secret.txt")
    (folder / "folder_out").symlink_to(folder.parent / "outside")
    (folder / "loop").symlink_to(folder / "loop")


async def furnished(hub: Site) -> str:
    """A session in a furnished folder; returns its path."""
    furnish(hub.folder)
    return f"/sessions/{(await hub.session()).id}"


def test_a_folder_is_listed_folders_first_then_by_name(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            base = await furnished(hub)
            listed = (await hub.ask("GET", f"{base}/files")).json()
            assert listed["path"] == "."
            assert listed["truncated"] is False
            assert [each["name"] for each in listed["entries"]] == [
                "node_modules", "src", "blob", "folder_out", "link_in", "link_out", "loop", "page.html", "picture.png",
                "picture.svg", "README.md"]
            by_name = {each["name"]: each for each in listed["entries"]}
            assert by_name["src"]["isDirectory"] is True
            assert (by_name["src"]["size"], by_name["src"]["mimeType"]) == (None, None)
            assert (by_name["README.md"]["size"], by_name["README.md"]["mimeType"]) == (8, "text/markdown")
            assert by_name["README.md"]["modifiedAt"].endswith("Z")
            assert (by_name["folder_out"]["isSymlink"], by_name["folder_out"]["isDirectory"]) == (True, False)
            deeper = (await hub.ask("GET", f"{base}/files?path=src/deep")).json()
            assert [each["path"] for each in deeper["entries"]] == ["src/deep/Widget.tsx"]
            absolute = (await hub.ask("GET", f"{base}/files?path={quote(str(hub.folder / 'src'))}")).json()
            assert absolute["path"] == "src"

    run(check())


def test_a_folder_with_very_many_files_is_listed_in_part_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LISTED_MOST", 3)

    async def check() -> None:
        async with site(tmp_path) as hub:
            listed = (await hub.ask("GET", f"{await furnished(hub)}/files")).json()
            assert (len(listed["entries"]), listed["truncated"]) == (3, True)

    run(check())


def test_a_name_that_is_not_utf8_does_not_break_the_listing(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            base = await furnished(hub)
            os.mkdir(os.fsencode(hub.folder) + b"/odd\xff.txt")
            answer = await hub.ask("GET", f"{base}/files")
            assert answer.status == 200
            assert "odd\ufffd.txt" in [each["name"] for each in answer.json()["entries"]]

    run(check())


@pytest.mark.parametrize(("path", "status"), [("src/none", 404), ("README.md", 400), ("link_out", 403), ("folder_out", 403)])
def test_what_is_no_folder_inside_is_not_listed(tmp_path: Path, path: str, status: int) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            assert (await hub.ask("GET", f"{await furnished(hub)}/files?path={path}")).status == status

    run(check())


@pytest.mark.parametrize(("path", "kind", "attachment"), [
    ("README.md", "text/plain; charset=utf-8", False), ("page.html", "text/plain; charset=utf-8", False),
    ("src/deep/Widget.tsx", "application/octet-stream", True), ("src/widget_test.py", "text/plain; charset=utf-8", False),
    ("picture.png", "image/png", False), ("picture.svg", "image/svg+xml", False), ("blob", "application/octet-stream", True),
    ("link_in", "application/octet-stream", True),
])
def test_a_file_is_sent_as_something_that_no_browser_runs(tmp_path: Path, path: str, kind: str, attachment: bool) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("GET", f"{await furnished(hub)}/files/content?path={path}")
            assert (answer.status, answer.body) == (200, (hub.folder / path).read_bytes())
            if path != "link_in":
                assert answer.header("content-type") == kind
                assert (answer.header("content-disposition") or "").startswith("attachment") == attachment
            policy = answer.header("content-security-policy") or ""
            assert "sandbox" in policy
            assert "allow-scripts" not in policy
            assert answer.header("x-content-type-options") == "nosniff"

    run(check())


def test_a_part_of_a_file_can_be_asked_for(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            path = f"{await furnished(hub)}/files/content?path=README.md"
            answer = await hub.ask("GET", path, headers={"range": "bytes=2-6"})
            assert (answer.status, answer.body) == (206, b"Hello")
            again = await hub.ask("GET", path, headers={"if-none-match": answer.header("etag")})
            assert (again.status, again.body) == (304, b"")

    run(check())


# Every way out that we could think of → the statuses that keep it shut
ESCAPES: list[tuple[str, set[int]]] = [
    ("../secret.txt", {403}), ("src/../../secret.txt", {403}), ("src/../README.md", {403}), ("..", {403}),
    ("./../secret.txt", {403}), ("src/deep/../../../secret.txt", {403}), ("..\\secret.txt", {403}),
    ("src\\..\\..\\secret.txt", {403}), ("/etc/passwd", {403}), ("//etc/passwd", {403}), ("/", {403}),
    ("/proc/self/environ", {403}), ("/dev/zero", {403}), ("link_out", {403}), ("folder_out/file.txt", {403}),
    ("folder_out", {403}), ("loop", {400, 403, 404}), ("%2e%2e/secret.txt", {403}), ("..%2fsecret.txt", {403}),
    ("%2e%2e%2fsecret.txt", {403}), ("%252e%252e%252fsecret.txt", {404}), ("..%c0%afsecret.txt", {404}),
    ("%2fetc%2fpasswd", {403}), ("README.md%00.png", {400}), ("%00", {400}), ("src%00/../x", {400, 403}),
    ("~/.ssh/id_rsa", {404}), ("file:///etc/passwd", {404}), ("C:%5Cwindows", {404}), ("x" * 300, {400}), ("x/" * 2500, {400}),
    ("%F0%9F%98%80" * 70, {400}), ("README.md/x", {404}), ("", {400}), ("...", {404}), ("....//x", {404}), ("src/.", {400}),
    ("%E2%80%A5/secret.txt", {404}),
]


def test_no_path_leads_out_of_the_roots(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            base = await furnished(hub)
            for path, statuses in ESCAPES:
                await _try_to_escape(hub, base, _queried(path), statuses)
            assert (tmp_path / "secret.txt").read_text() == "nobody may read this"
            assert (tmp_path / "outside" / "file.txt").read_text() == "nor this"
            assert sorted(os.listdir(tmp_path / "outside")) == ["file.txt"]
            assert sorted(os.listdir(tmp_path)) == ["data", "outside", "secret.txt", "work"]

    run(check())


async def _try_to_escape(hub: Site, base: str, path: str, statuses: set[int]) -> None:
    read = await hub.ask("GET", f"{base}/files/content?path={path}")
    assert read.status in statuses, (path, read.body)
    assert b"nobody may read" not in read.body
    assert b"nor this" not in read.body
    listed = await hub.ask("GET", f"{base}/files?path={path}")
    assert b'"name":"outside"' not in listed.body, (path, listed.body)
    put = await hub.ask("POST", f"{base}/files?path={path}", body=b"overwritten")
    assert put.status >= 400 or 404 in statuses, (path, put.body)


def _queried(path: str) -> str:
    """As a browser would send it; what is escaped already stays."""
    return quote(path, safe="%/")


def test_files_are_found_by_a_part_of_their_path_best_match_first(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            base = await furnished(hub)
            found = (await hub.ask("GET", f"{base}/files/find?q=WIDGET")).json()
            assert [each["path"] for each in found["files"]] == ["src/widget_test.py", "src/deep/Widget.tsx"]
            assert [each["path"] for each in (await hub.ask("GET", f"{base}/files/find?q=deep/w")).json()["files"]] == [
                "src/deep/Widget.tsx"]
            some = (await hub.ask("GET", f"{base}/files/find?q=e&limit=2")).json()
            assert (len(some["files"]), some["truncated"]) == (2, True)
            assert (await hub.ask("GET", f"{base}/files/find?q=secret")).json()["files"] == []
            assert (await hub.ask("GET", f"{base}/files/find?q=file.txt")).json()["files"] == []
            missing = await hub.ask("GET", f"{base}/files/find")
            assert (missing.status, missing.json()["details"]) == (400, {"field": "q"})

    run(check())


def test_a_search_that_does_not_look_into_deep_folders_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trunkline.server.files.files.DEPTH_MOST", 2)

    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            (hub.folder / "one").mkdir()
            (hub.folder / "one" / "zzz").write_text("")
            found = (await hub.ask("GET", f"/sessions/{session.id}/files/find?q=zzz")).json()
            assert (len(found["files"]), found["truncated"]) == (1, False)
            (hub.folder / "one" / "two").mkdir()
            (hub.folder / "one" / "two" / "zzz").write_text("")
            found = (await hub.ask("GET", f"/sessions/{session.id}/files/find?q=zzz")).json()
            assert (len(found["files"]), found["truncated"]) == (1, True)

    run(check())


def test_a_search_in_a_huge_tree_stops_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "SEARCHED_MOST", 2)

    async def check() -> None:
        async with site(tmp_path) as hub:
            assert (await hub.ask("GET", f"{await furnished(hub)}/files/find?q=zzz")).json() == {
                "query": "zzz", "files": [], "truncated": True}

    run(check())


def test_before_there_is_a_session_files_are_found_in_the_folder_that_it_would_have(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            furnish(hub.folder)
            found = (await hub.ask("GET", f"/folders/find?path={quote(str(hub.folder))}&q=widget")).json()
            assert [each["path"] for each in found["files"]] == ["src/widget_test.py", "src/deep/Widget.tsx"]
            for path in ("src", str(hub.folder / "README.md"), str(hub.folder / "gone")):
                assert (await hub.ask("GET", f"/folders/find?path={quote(path)}&q=a")).status == 400

    run(check())
