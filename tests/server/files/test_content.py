"""One file to one reader: ranges, validators, and nothing but plain files from inside."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.tooling.rows import every_row
from trunkline.errors import Forbidden, Invalid, NotFound
from trunkline.server.files import content
from trunkline.server.files.content import FileReply, media_type, open_inside, resolve
from trunkline.server.http.messages import Headers
from trunkline.session.workspace.files import Workspace

BODY = bytes(range(256)) * 4


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data.bin"
    path.write_bytes(BODY)
    return path


def ask(path: Path, headers: dict[str, str], method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    """The reply to a request for the file."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    opened = open_inside(str(path), Workspace([str(path.parent)]))
    asked = Headers([(name.encode(), value.encode()) for name, value in headers.items()])
    run(FileReply(opened, asked, "application/octet-stream")({"method": method}, receive, send))
    assert opened.file.closed
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, b"".join(message["body"] for message in sent[1:])


def test_a_file_is_sent_whole_with_its_length_and_a_validator(file: Path) -> None:
    status, headers, body = ask(file, {})
    assert (status, body, headers["content-length"], headers["accept-ranges"]) == (200, BODY, "1024", "bytes")
    assert headers["etag"].startswith('"')
    assert headers["last-modified"].endswith("GMT")


@pytest.mark.parametrize(("header", "start", "end"), [
    ("bytes=0-0", 0, 1), ("bytes=0-99", 0, 100), ("bytes=100-", 100, 1024), ("bytes=-24", 1000, 1024),
    ("bytes=1000-5000", 1000, 1024), ("bytes=-5000", 0, 1024), ("bytes=0-1023", 0, 1024), ("bytes=1023-", 1023, 1024),
])
def test_a_range_is_answered_with_that_part(file: Path, header: str, start: int, end: int) -> None:
    status, headers, body = ask(file, {"range": header})
    assert (status, body) == (206, BODY[start:end])
    assert headers["content-range"] == f"bytes {start}-{end - 1}/1024"
    assert headers["content-length"] == str(end - start)


@pytest.mark.parametrize("header", ["bytes=1024-", "bytes=5000-6000", "bytes=-0"])
def test_a_range_outside_of_the_file_is_416(file: Path, header: str) -> None:
    status, headers, body = ask(file, {"range": header})
    assert (status, body, headers["content-range"]) == (416, b"", "bytes */1024")


@pytest.mark.parametrize("header", [
    "bytes=", "bytes=a-b", "bytes=5-2", "items=0-1", "bytes=0-1,5-6", "bytes=--1", "bytes=1", "bytes=٣-",
    "bytes=" + "9" * 5000 + "-",
    "bytes=0-" + "9" * 5000, "bytes=-" + "9" * 5000, "bytes=²-",
])
def test_what_is_not_one_range_is_answered_with_the_whole_file(file: Path, header: str) -> None:
    status, _, body = ask(file, {"range": header.encode().decode("latin-1")})
    assert (status, body) == (200, BODY)


def test_a_reader_that_has_the_file_already_is_told_so(file: Path) -> None:
    etag = ask(file, {})[1]["etag"]
    for header in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        status, headers, body = ask(file, {"if-none-match": header})
        assert (status, body, headers["etag"]) == (304, b"", etag)
        assert "content-length" not in headers
    assert ask(file, {"if-none-match": '"other"'})[0] == 200


def test_a_range_of_an_older_version_is_answered_with_the_new_file(file: Path) -> None:
    etag = ask(file, {})[1]["etag"]
    assert ask(file, {"range": "bytes=0-9", "if-range": etag})[0] == 206
    file.write_bytes(BODY + b"more")
    status, _, body = ask(file, {"range": "bytes=0-9", "if-range": etag})
    assert (status, len(body)) == (200, 1028)


def test_head_sends_the_headers_only(file: Path) -> None:
    status, headers, body = ask(file, {}, "HEAD")
    assert (status, headers["content-length"], body) == (200, "1024", b"")


def test_an_empty_file_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert ask(tmp_path / "empty", {})[::2] == (200, b"")
    assert ask(tmp_path / "empty", {"range": "bytes=0-"})[0] == 416


def test_a_large_file_is_sent_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "PIECE", 100)
    (tmp_path / "large").write_bytes(BODY)
    assert ask(tmp_path / "large", {"range": "bytes=50-949"})[2] == BODY[50:950]


def test_a_file_that_shrinks_while_it_is_sent_is_cut_off_not_filled_up(file: Path) -> None:
    opened = open_inside(str(file), Workspace([str(file.parent)]))
    reply = FileReply(opened, Headers([]), "text/plain")
    file.write_bytes(b"short")

    async def send(message: Any) -> None:
        return None

    async def check() -> None:
        await reply({"method": "GET"}, asyncio.Event().wait, send)  # type: ignore[arg-type]

    with pytest.raises(OSError, match="cut"):
        run(check())


@every_row(("name", "kind"), [
    ("a.html", "text/html"), ("a.PNG", "image/png"), ("a.webp", "image/webp"), ("a.md", "text/markdown"),
    ("a.mjs", "text/javascript"), ("a.woff2", "font/woff2"), ("a.tar.gz", "application/octet-stream"),
    ("a", "application/octet-stream"),
])
def test_a_files_type_is_told_by_its_name_alone(name: str, kind: str) -> None:
    assert media_type(name) == kind


def test_a_name_with_odd_bytes_can_be_downloaded(tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/od\xff d\n\"\xc3\xa9.txt"
    with open(odd, "wb") as file:
        file.write(b"x")
    _, headers, _ = ask(Path(os.fsdecode(odd)), {})
    assert headers["content-disposition"] == "inline; filename*=UTF-8''od%FF%20d%0A%22%C3%A9.txt"


def test_only_plain_files_are_opened_and_a_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    with pytest.raises(Forbidden):
        open_inside(str(tmp_path / "pipe"), Workspace([str(tmp_path)]))
    with pytest.raises(Invalid):
        open_inside(str(tmp_path / "folder"), Workspace([str(tmp_path)]))
    with pytest.raises(Forbidden):
        open_inside(str(tmp_path / "link"), Workspace([str(tmp_path)]))
    with pytest.raises(NotFound):
        open_inside(str(tmp_path / "none"), Workspace([str(tmp_path)]))
    with pytest.raises(Forbidden):
        open_inside("/dev/zero", Workspace(["/dev"]))


def test_a_folder_that_became_a_link_after_the_check_leads_nowhere(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "sub").mkdir()
    (inside / "sub" / "file").write_text("ours")
    (outside / "file").write_text("secret")
    checked = resolve(Workspace([str(inside)]), "sub/file")
    (inside / "sub" / "file").unlink()
    (inside / "sub").rmdir()
    (inside / "sub").symlink_to(outside)
    with pytest.raises(Forbidden):
        open_inside(str(checked), Workspace([str(inside)]))
