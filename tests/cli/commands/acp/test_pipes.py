"""Our own stdin and stdout: every line as soon as it is whole, and an editor that reads no more is told from one that waits."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import aclosing
from types import SimpleNamespace

import pytest

from tests.aio import run
from trunkline.cli.commands.acp.pipes import CutLine, EditorLeft, Stdout, stdin_lines
from trunkline.dialects.jsonrpc import LineSplitter


@pytest.fixture
def editor() -> Iterator[io.FileIO]:
    """What the editor writes to: our stdin is a pipe from it while the test runs."""
    before = os.dup(0)
    reader, writer = os.pipe()
    os.dup2(reader, 0)
    os.close(reader)
    with io.FileIO(writer, "w") as file:
        yield file
    os.dup2(before, 0)
    os.close(before)


def test_lines_come_as_soon_as_they_are_whole_and_a_last_one_without_an_end_counts(editor: io.FileIO) -> None:
    async def check() -> None:
        async with aclosing(stdin_lines()) as lines:  # type: ignore[type-var]
            editor.write(b"one\n\n  \ntw")
            assert await anext(lines) == b"one"
            editor.write(b"o\nthree")
            assert await anext(lines) == b"two"
            editor.close()
            assert [line async for line in lines] == [b"three"], "empty lines are none"

    run(check())


def test_of_a_line_that_is_too_long_the_beginning_is_told_as_such(editor: io.FileIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trunkline.cli.commands.acp.pipes.LineSplitter", lambda: LineSplitter(limit=8))

    async def check() -> None:
        editor.write(b"x" * 20 + b"\nshort\n")
        editor.close()
        async with aclosing(stdin_lines()) as lines:  # type: ignore[type-var]
            first, second = [line async for line in lines]
        assert isinstance(first, CutLine) and not isinstance(second, CutLine) and second == b"short"

    run(check())


def test_what_is_written_to_a_file_is_there_at_once_and_an_editor_that_left_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=file))
    run(Stdout(None).write(b"hello\n"))
    assert file.getvalue() == b"hello\n"
    reader, writer = os.pipe()
    os.close(reader)
    with io.FileIO(writer, "w") as nobody:
        monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=nobody))
        with pytest.raises(EditorLeft):
            run(Stdout(None).write(b"hello\n"))
