"""Files inside the roots, and nothing outside them."""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest

from tests.aio import run
from trunkline.errors import Forbidden, Invalid, NotFound, TooLarge
from trunkline.session.workspace.files import GLANCE_BYTES, Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "root" / "sub").mkdir(parents=True)
    (tmp_path / "root" / "a.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "outside.txt").write_text("secret")
    (tmp_path / "root" / "link").symlink_to(tmp_path / "outside.txt")
    (tmp_path / "root" / "up").symlink_to(tmp_path)
    (tmp_path / "root-but-not").mkdir()
    return Workspace([str(tmp_path / "root")])


@pytest.mark.parametrize("path", ["../outside.txt", "sub/../../outside.txt", "link", "up/outside.txt", "/etc/passwd",
                                  "../root-but-not/x", "up", ".."])
def test_every_way_out_is_forbidden(workspace: Workspace, path: str) -> None:
    with pytest.raises(Forbidden, match="outside the session's folders"):
        workspace.resolve(path)
    with pytest.raises(Forbidden):
        workspace.write_text(path, "x")


@pytest.mark.parametrize("path", ["", "a\0b", "x" * 5000])
def test_what_is_no_path_is_invalid(workspace: Workspace, path: str) -> None:
    with pytest.raises((Invalid, NotFound)):
        workspace.read_text(path)


def test_a_part_that_became_a_link_since_it_was_checked_leads_nowhere(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text("secret")
    real = workspace.resolve("sub")
    part = workspace.within(str(real))
    real.rmdir()
    real.symlink_to(tmp_path / "outside")
    with pytest.raises((Forbidden, Invalid)):
        part.read_text("a.txt")
    with pytest.raises((Forbidden, Invalid)):
        part.write_text("b.txt", "x")
    assert os.listdir(tmp_path / "outside") == ["a.txt"]


def test_a_path_inside_is_found_absolute_or_relative(workspace: Workspace) -> None:
    root = workspace.roots[0]
    assert workspace.resolve("a.txt") == workspace.resolve(f"{root}/sub/../a.txt") == Path(root, "a.txt")
    assert workspace.relative(Path(root, "sub/x")) == "sub/x"


def test_lines_are_counted_from_one(workspace: Workspace) -> None:
    assert workspace.read_text("a.txt") == "one\ntwo\nthree\n"
    assert workspace.read_text("a.txt", line=2) == "two\nthree\n"
    assert workspace.read_text("a.txt", line=2, limit=1) == "two\n"
    assert workspace.read_text("a.txt", limit=2) == "one\ntwo\n"
    assert workspace.read_text("a.txt", line=9) == ""


def test_a_missing_file_and_a_folder_are_clear_errors(workspace: Workspace) -> None:
    with pytest.raises(NotFound, match=r"missing\.txt"):
        workspace.read_text("missing.txt")
    with pytest.raises(Invalid, match="cannot read sub: is a folder"):
        workspace.read_text("sub")
    with pytest.raises(Invalid, match="cannot write"):
        workspace.write_text("sub", "x")


def test_writing_makes_folders_keeps_permissions_and_leaves_no_half_file(workspace: Workspace) -> None:
    root = Path(workspace.roots[0])
    (root / "a.txt").chmod(0o755)
    workspace.write_text("a.txt", "new")
    workspace.write_text("deep/er/b.txt", "b")
    assert (root / "a.txt").stat().st_mode & 0o777 == 0o755
    assert (root / "a.txt").read_text() == "new" and (root / "deep/er/b.txt").read_text() == "b"
    assert not list(root.rglob("*.part"))


def test_a_pipe_is_refused_and_waits_for_nobody(workspace: Workspace) -> None:
    os.mkfifo(Path(workspace.roots[0], "pipe"))
    with pytest.raises(Invalid, match="not a plain file"):
        workspace.read_text("pipe")


def test_a_planted_half_file_leads_nowhere(workspace: Workspace) -> None:
    root = Path(workspace.roots[0])
    (root / ".a.txt.part").symlink_to(root.parent / "outside.txt")
    workspace.write_text("a.txt", "new")
    assert (root.parent / "outside.txt").read_text() == "secret"
    assert not (root / "a.txt").is_symlink() and (root / "a.txt").read_text() == "new"


def test_a_few_lines_of_a_huge_file_cost_a_few_lines(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trunkline.session.workspace.files.READ_LIMIT", 1000)
    huge = Path(workspace.roots[0], "huge")
    huge.write_bytes(b"first\n" + b"x" * 5000 + b"\nthird\n")
    assert workspace.read_text("huge", limit=1) == "first\n"
    assert workspace.read_text("huge", line=3) == "third\n"
    with pytest.raises(TooLarge, match="1000 bytes"):
        workspace.read_text("huge", line=2, limit=1)
    with pytest.raises(TooLarge):
        workspace.read_text("huge")


def test_a_line_far_inside_a_giant_is_refused(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trunkline.session.workspace.files.SKIPPED_MOST", 1 << 20)
    with open(Path(workspace.roots[0], "giant"), "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(TooLarge, match="away from the file's beginning"):
        workspace.read_text("giant", line=2)


def test_a_far_line_of_a_file_of_line_ends_costs_little(workspace: Workspace) -> None:
    with open(Path(workspace.roots[0], "ends"), "wb") as file:
        for _ in range(32):
            file.write(b"\n" * (1 << 20))
        file.write(b"last")
    began = time.thread_time()
    assert workspace.read_text("ends", line=(32 << 20) + 1) == "last"
    assert workspace.read_text("ends", line=2_000_000_000, limit=1) == ""
    assert len(workspace.read_text("ends", line=7, limit=30 << 20)) == 30 << 20
    assert time.thread_time() - began < 1.0, "line by line it takes 8 s"


@pytest.mark.parametrize("text", ["", "\n", "a", "a\n", "\n\na", "a\n\nb\n", "".join(f"{n}\n" * (n % 3) for n in range(40))])
def test_lines_are_the_same_in_whatever_pieces_they_are_read(workspace: Workspace, text: str,
                                                             monkeypatch: pytest.MonkeyPatch) -> None:
    Path(workspace.roots[0], "lines").write_text(text)
    lines = text.splitlines(keepends=True)
    for size in (1, 2, 3, 7, 1000):
        monkeypatch.setattr("trunkline.session.workspace.files.PIECE", size)
        for line, limit in product((None, 0, 1, 2, 3, 30, 60), (None, 0, 1, 2, 100)):
            first = max((line or 1) - 1, 0)
            wanted = "".join(lines[first:None if limit is None else first + limit])
            assert workspace.read_text("lines", line=line, limit=limit) == wanted, (size, line, limit)


def test_what_was_allowed_at_one_place_is_not_written_at_another(workspace: Workspace) -> None:
    root = Path(workspace.roots[0])
    real = workspace.resolve("sub/x/a.txt")
    (root / "sub").rename(root / "aside")
    (root / "sub").symlink_to(root.parent)
    with pytest.raises(Invalid):
        workspace.write_text("sub/x/a.txt", "x", real=real)
    assert not (root.parent / "x").exists()


def test_nothing_lands_outside_while_a_folder_is_swapped_for_a_link(workspace: Workspace) -> None:
    root, outside = Path(workspace.roots[0]), Path(workspace.roots[0]).parent / "root-but-not"
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            with suppress(OSError):
                (root / "sub").rename(root / "aside")
                (root / "sub").symlink_to(outside)
            with suppress(OSError):
                (root / "sub").unlink()
                (root / "aside").rename(root / "sub")

    swapper = threading.Thread(target=swap)
    swapper.start()
    for number in range(500):
        with suppress(Forbidden, Invalid):
            workspace.write_text(f"sub/new{number}/a.txt", "landed")
    over.set()
    swapper.join()
    assert list(outside.rglob("*")) == []


def test_on_the_loop_it_raises(workspace: Workspace) -> None:
    async def scenario() -> None:
        for look in (workspace.resolve, workspace.read_text, workspace.glance):
            with pytest.raises(RuntimeError, match="event loop"):
                look("a.txt")

    run(scenario())


def test_a_file_is_shown_up_to_a_size(workspace: Workspace) -> None:
    workspace.write_bytes("small.txt", b"x" * GLANCE_BYTES)
    workspace.write_bytes("large.txt", b"x" * (GLANCE_BYTES + 1))
    assert len(workspace.glance("small.txt") or "") == GLANCE_BYTES
    assert workspace.glance("large.txt") is None


@pytest.mark.parametrize("content", [b"", b"one\ntwo\n", "h\u00e9\u4f60\U0001f600".encode() * 200_000, b"\xff\x00\"\\" * 100_000])
@pytest.mark.parametrize("window", [{}, {"line": 1, "limit": 10}, {"line": 2}])
def test_a_text_is_the_same_made_json_piece_by_piece(workspace: Workspace, content: bytes, window: dict[str, int]) -> None:
    workspace.write_bytes("text.txt", content)
    made = workspace.read_json("text.txt", "content", **window)
    assert json.loads(made) == {"content": workspace.read_text("text.txt", **window)}


def test_what_grows_too_long_as_json_is_refused(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trunkline.session.workspace.files.READ_LIMIT", 1000)
    workspace.write_bytes("text.txt", b"\x00" * 500)
    with pytest.raises(TooLarge):
        workspace.read_json("text.txt", "content")
