"""Files put into a session's folder."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.aio import run
from tests.server.site import Site, site
from trunkline.server.files.uploads import FILES_MOST, free_names, safe_name

BOUNDARY = "----somewhere"
FORM = {"content-type": f"multipart/form-data; boundary={BOUNDARY}"}


def form(*parts: tuple[str, str | None, bytes]) -> bytes:
    """A form of (field, file name, content)."""
    body = b""
    for field, name, content in parts:
        file_name = f'; filename="{name}"' if name is not None else ""
        body += f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{field}"{file_name}\r\n\r\n'.encode() + content + b"\r\n"
    return body + f"--{BOUNDARY}--\r\n".encode()


async def base(hub: Site) -> str:
    """The path of a new session."""
    return f"/sessions/{(await hub.session()).id}"


def test_a_raw_body_becomes_the_file_that_the_path_names(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            path = f"{await base(hub)}/files?path=new/folder/data.bin"
            answer = await hub.ask("POST", path, body=[b"one ", b"two ", b""])
            assert answer.status == 201
            assert answer.json() == {"files": [{"name": "data.bin", "path": "new/folder/data.bin", "size": 8}]}
            assert (hub.folder / "new/folder/data.bin").read_bytes() == b"one two "
            assert (await hub.ask("POST", path, body=b"three")).status == 201
            assert (hub.folder / "new/folder/data.bin").read_bytes() == b"three"
            assert [each.name for each in (hub.folder / "new/folder").iterdir()] == ["data.bin"]

    run(check())


def test_a_form_puts_its_files_into_a_folder_and_overwrites_none(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            path = f"{await base(hub)}/files?path=attachments"
            body = form(("file", "a.txt", b"first"), ("note", None, b"ignored"), ("file", "a.txt", b"second"))
            answer = await hub.ask("POST", path, body=body, headers=FORM)
            assert answer.status == 201
            assert [each["path"] for each in answer.json()["files"]] == ["attachments/a.txt", "attachments/a_1.txt"]
            assert (hub.folder / "attachments/a_1.txt").read_bytes() == b"second"
            answer = await hub.ask("POST", path.partition("?")[0], body=form(("file", "b", b"")), headers=FORM)
            assert answer.json()["files"] == [{"name": "b", "path": "b", "size": 0}]

    run(check())


@pytest.mark.parametrize("name", ["../../evil", "/etc/evil", "..\\evil", "a/../../evil", "..", ".", "", ".bashrc", "e\tvil"])
def test_a_senders_file_name_never_chooses_the_folder(tmp_path: Path, name: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("POST", f"{await base(hub)}/files", body=form(("file", name, b"x")), headers=FORM)
            if answer.status == 201:
                (uploaded,) = answer.json()["files"]
                assert "/" not in uploaded["path"]
                assert not uploaded["name"].startswith(".")
                assert (hub.folder / uploaded["path"]).read_bytes() == b"x"
            assert set(os.listdir(tmp_path)) == {"work", "data"}

    run(check())


@pytest.mark.parametrize(("body", "headers"), [
    (b"no boundary here", FORM), (form(("note", None, b"text only")), FORM), (b"x", {"content-type": "multipart/form-data"}),
    (form(*(("file", f"{n}", b"x") for n in range(21))), FORM), (b"", FORM),
])
def test_a_form_that_cannot_be_used_is_refused(tmp_path: Path, body: bytes, headers: dict[str, str]) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("POST", f"{await base(hub)}/files", body=body, headers=headers)
            assert (answer.status, answer.json()["code"]) == (400, "invalid")
            assert list(hub.folder.iterdir()) == []

    run(check())


def test_a_file_over_the_limit_is_refused_and_leaves_nothing_behind(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path, upload_limit=100, upload_total_limit=1000) as hub:
            path = f"{await base(hub)}/files"
            assert (await hub.ask("POST", f"{path}?path=x", body=[b"y" * 60, b"y" * 60])).status == 413
            assert (await hub.ask("POST", path, body=form(("file", "x", b"y" * 101)), headers=FORM)).status == 413
            assert (await hub.ask("POST", path, body=form(("file", "x", b"y" * 2000)), headers=FORM)).status == 413
            assert list(hub.folder.iterdir()) == []
            assert (await hub.ask("POST", f"{path}?path=x", body=b"y" * 100)).status == 201

    run(check())


def test_a_client_that_leaves_in_the_middle_leaves_nothing_behind(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            exchange = hub.open("POST", f"{await base(hub)}/files?path=half", body=[b"first half"])
            exchange.cut_short()
            await exchange.leave()
            assert (await exchange.answer()).status == 0
            assert list(hub.folder.iterdir()) == []

    run(check())


@pytest.mark.parametrize("path", ["", ".", "folder"])
def test_a_raw_upload_needs_the_path_of_a_file(tmp_path: Path, path: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            (hub.folder / "folder").mkdir()
            answer = await hub.ask("POST", f"{await base(hub)}/files?path={path}", body=b"x")
            assert answer.status == 400
            assert list((hub.folder / "folder").iterdir()) == []

    run(check())


def test_an_upload_over_a_link_replaces_what_the_link_names_only_inside(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            (tmp_path / "outside").write_text("untouched")
            (hub.folder / "out").symlink_to(tmp_path / "outside")
            (hub.folder / "dangling").symlink_to(tmp_path / "not there yet")
            path = await base(hub)
            assert (await hub.ask("POST", f"{path}/files?path=out", body=b"x")).status == 403
            assert (await hub.ask("POST", f"{path}/files?path=dangling", body=b"x")).status == 403
            answer = await hub.ask("POST", f"{path}/files", body=form(("file", "dangling", b"x")), headers=FORM)
            assert answer.json()["files"][0]["name"] == "dangling_1"
            assert (tmp_path / "outside").read_text() == "untouched"
            assert not (tmp_path / "not there yet").exists()

    run(check())


@given(st.text(max_size=300))
def test_any_name_becomes_one_that_is_safe(name: str) -> None:
    safe = safe_name(name)
    assert safe
    assert not safe.startswith(".")
    assert "/" not in safe
    assert "\\" not in safe
    assert "\0" not in safe
    assert len(safe) <= 120
    assert safe not in (".", "..")


@pytest.mark.parametrize(("name", "tried"), [("a.txt", ["a.txt", "a_1.txt", "a_2.txt"]), ("a", ["a", "a_1", "a_2"])])
def test_names_are_tried_with_and_without_a_suffix(name: str, tried: list[str]) -> None:
    assert list(islice(free_names(name), 3)) == tried


def test_a_form_has_only_so_many_files(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            body = form(*(("file", f"{number}.txt", b"x") for number in range(FILES_MOST + 1)))
            assert (await hub.ask("POST", f"{await base(hub)}/files", body=body, headers=FORM)).status == 400
            assert list(hub.folder.glob("*.txt")) == []

    run(check())


def test_a_file_for_which_no_name_is_left_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trunkline.server.files.uploads.NAMES_MOST", 1)

    async def check() -> None:
        async with site(tmp_path) as hub:
            path, body = f"{await base(hub)}/files", form(("file", "a.txt", b"x"))
            assert (await hub.ask("POST", path, body=body, headers=FORM)).status == 201
            assert (await hub.ask("POST", path, body=body, headers=FORM)).status == 400
            assert [each.name for each in hub.folder.glob("*a*")] == ["a.txt"]

    run(check())


def test_a_form_in_a_charset_that_decodes_nothing_is_refused(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            headers = {"content-type": f"{FORM['content-type']}; charset=undefined"}
            answer = await hub.ask("POST", f"{await base(hub)}/files", body=form(("file", "a", b"")), headers=headers)
            assert (answer.status, answer.json()["code"]) == (400, "invalid")

    run(check())
