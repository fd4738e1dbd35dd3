"""Commands that were refused before the session saw them are in the journal, as many and as much as it can bear."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.session.commands.test_execute import commands_written
from tests.session.script import Stage
from trunkline.errors import Forbidden, Invalid, StorageError
from trunkline.session.commands.refused import AT_ONCE, EVERY_US, LINE_BYTES, RefusedCommands, id_in


class Desk:
    """Keeps what would be written, at a time of the test's own."""

    def __init__(self) -> None:
        self.now = 1_000_000_000_000
        self.written: list[dict[str, Any]] = []
        self.refused = RefusedCommands(self.note, lambda: self.now)

    async def note(self, name: str, data: dict[str, Any], by: str) -> None:
        self.written.append(data)

    async def refuse(self, times: int, said: bytes = b"{}") -> None:
        for _ in range(times):
            await self.refused.write(said, Forbidden("no"), command_id=None, by="eve")


def test_a_flood_is_cut_to_some_at_once_and_one_a_minute_and_the_rest_is_counted() -> None:
    async def check() -> None:
        desk = Desk()
        await desk.refuse(AT_ONCE + 500)
        assert len(desk.written) == AT_ONCE
        desk.now += EVERY_US
        await desk.refuse(10)
        assert len(desk.written) == AT_ONCE + 1
        assert desk.written[-1]["leftOut"] == 500
        desk.now += 10 * EVERY_US
        await desk.refuse(100)
        assert len(desk.written) == AT_ONCE + 11
        assert desk.written[AT_ONCE + 1]["leftOut"] == 9
        assert "leftOut" not in desk.written[-1]

    run(check())


def test_of_what_was_sent_only_the_beginning_is_kept() -> None:
    async def check() -> None:
        desk = Desk()
        await desk.refused.write(b"\xff" * 1_000_000, Invalid("x" * 9_000), command_id="i" * 9_000, by="eve")
        (written,) = desk.written
        assert (len(written["said"]), written["bytes"]) == (LINE_BYTES, 1_000_000)
        assert len(str(written)) < 3_000

    run(check())


def test_a_journal_that_cannot_be_written_does_not_hide_the_refusal() -> None:
    async def fail(name: str, data: dict[str, Any], by: str) -> None:
        raise StorageError("the disk is full")

    run(RefusedCommands(fail, lambda: 0).write(b"{}", Invalid("no"), command_id=None, by="eve"))


def test_an_id_that_stands_for_another_command_is_refused_in_writing_and_keeps_its_first_meaning(tmp_path: Path) -> None:
    async def check() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        first = await stage.execute("send_message", "same", message="one")
        with pytest.raises(Invalid, match="used for another"):
            await stage.execute("send_message", "same", message="two")
        assert await stage.execute("send_message", "same", message="one") == first
        accepted, refused = [event["data"] for event in await commands_written(stage)]
        assert (accepted["ok"], refused["ok"], refused["id"]) == (True, False, "same")
        assert "two" in refused["said"]

    run(check())


@pytest.mark.parametrize(("said", "found"), [
    (b'{"id":"x","command":3}', "x"), (b'{"id":4}', None), (b"", None), (b"[" * 9999, None),
])
def test_the_id_is_read_of_whatever_was_sent(said: bytes, found: str | None) -> None:
    assert id_in(said) == found
