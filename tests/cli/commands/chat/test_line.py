"""What the terminal keeps between chats, and what goes above its line."""

from __future__ import annotations

import asyncio
import stat
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.layout.controls import BufferControl
from prompt_toolkit.layout.processors import TransformationInput
from prompt_toolkit.output.vt100 import Vt100_Output

from tests.aio import eventually, run
from tests.cli.commands.chat.scene import RUN, Scene
from trunkline.cli.commands.chat.line import HISTORY_BYTES, Above, Line, Revealing, kept_history


def test_lines_are_kept_in_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    path = tmp_path / "data" / "chat_history"
    history = kept_history(path)
    history.store_string("one\nof two lines")
    history.store_string("two")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(kept_history(path).load_history_strings()) == ["two", "one\nof two lines"]


def test_beyond_its_bound_the_older_half_is_forgotten_and_what_is_left_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "chat_history"
    history = kept_history(path)
    for number in range(HISTORY_BYTES // 1000):
        history.store_string(f"{number} " + "x" * 1000)
    assert path.stat().st_size > HISTORY_BYTES
    kept = list(kept_history(path).load_history_strings())
    assert path.stat().st_size < HISTORY_BYTES * 0.6
    assert kept[0].startswith(f"{HISTORY_BYTES // 1000 - 1} ")
    assert all(len(line) > 1000 for line in kept)


def test_where_no_file_can_be_written_lines_are_kept_for_this_chat_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert isinstance(kept_history(tmp_path / "link"), InMemoryHistory), "a link may lead to a file of somebody else's"
    assert isinstance(kept_history(tmp_path / "elsewhere" / "below" / "x"), InMemoryHistory)
    assert isinstance(kept_history(tmp_path / "x"), FileHistory)


def test_what_goes_above_the_line_is_taken_once() -> None:
    above = Above()
    above.write("one\n")
    assert above.taken() == "one\n"
    above.write("two\n")
    assert above.taken() == "two\n"
    assert above.taken() == ""


@pytest.mark.parametrize("mode", ["edits", "writes"])
def test_an_input_that_is_edited_hides_nothing_and_prose_is_left_alone(mode: str) -> None:
    async def play() -> str:
        scene, out = Scene(), StringIO()
        text = "echo a \u202etxt.b\u202c \u200bc\u3164d"
        with create_pipe_input() as keys, create_app_session(input=keys, output=Vt100_Output(out, lambda: Size(24, 80))):
            line = Line(Above(), InMemoryHistory(), colour=False)
            line._talk = scene.talk
            scene.talk.line_text = line.text
            if mode == "edits":
                await scene.wait(msgspec.structs.replace(RUN, tool_input={"command": text}))
                await scene.press("e")
                line._begin_line()
            else:
                line._buffer.document = Document(text, len(text))
            assert line.text() == text
            task = asyncio.create_task(line.app.run_async())
            await eventually(lambda: "echo" in out.getvalue())
            line.leave()
            await task
        return out.getvalue()

    drawn = run(play())
    hidden = {"\u202e", "\u202c", "\u200b", "\u3164"} & set(drawn)
    assert hidden == set() if mode == "edits" else hidden
    assert ("[U+202E]txt.b[U+202C] [U+200B]c[U+3164]d" in drawn) == (mode == "edits")


def test_the_caret_is_where_the_text_is() -> None:
    text = "a\u200bb"
    given = TransformationInput(BufferControl(), Document(text), 0, lambda at: at, [("", text)], 80, 24)
    made = Revealing().apply_transformation(given)
    assert "".join(fragment[1] for fragment in made.fragments) == "a[U+200B]b"
    assert [made.source_to_display(at) for at in range(5)] == [0, 1, 9, 10, 11]
    assert [made.display_to_source(at) for at in (0, 1, 4, 9, 10)] == [0, 1, 1, 2, 3]
