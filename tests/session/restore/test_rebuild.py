"""A session's state, made again from its entries, against the state that it had."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.session.script import Stage, text
from trunkline.errors import SessionUnreadable
from trunkline.journal.base import Entry, Group, RowFilter, SessionRow
from trunkline.journal.stores.memory import MemoryJournal
from trunkline.session.commands.requests import Decision
from trunkline.session.fold import Waits
from trunkline.session.fold.caps import Caps
from trunkline.session.restore.rebuild import rebuilt

SAME = ("session_id", "agent", "cwd", "created_at", "title", "titled_by_user", "seq", "turns", "messages", "errors",
        "chain", "caps", "waits", "last_text", "status", "turn")


@pytest.mark.parametrize("with_steps", [True, False])
def test_what_the_entries_tell_is_known_again(tmp_path: Path, with_steps: bool) -> None:
    async def scenario() -> None:
        journal = MemoryJournal()
        stage = Stage(tmp_path, journal=journal)
        session = await stage.open()
        await session.rename("a title", by="ann")
        await session.settings.set_limits(Caps(turns=50), Waits(approval_s=30), by="ann")
        await stage.send("hello")
        stage.driver.say(text("good day"))
        stage.driver.ask()
        await stage.until(lambda: bool(session.fold.approvals))
        await session.approvals.decide("req-1", Decision(decision="allow"), by="ann")
        stage.driver.end()
        await stage.packets("prompt_response")
        await session.snapshot()
        if not with_steps:
            for entry in await journal.read(session.id):
                entry.step = None  # as an earlier Trunkline wrote it
        [row] = await journal.rows(RowFilter(id=session.id))
        fold = await rebuilt(journal, msgspec.structs.replace(row, checkpoint=b"", agent="", cwd="", title=""))
        assert {name: getattr(fold, name) for name in SAME} == {name: getattr(session.fold, name) for name in SAME}

    run(scenario())


def test_a_session_without_its_first_entries_and_without_a_folder_cannot_be_made_again() -> None:
    async def scenario() -> None:
        journal = MemoryJournal()
        await journal.append(Group({"a": [Entry(9, 1, b"not an event"), Entry(10, 1, b"{}")]}, {}))
        row = SessionRow(id="a", agent="", cwd="", title="", status="idle", created_at=1, updated_at=1, summary=b"",
                         checkpoint=b"", checkpoint_seq=0, last_seq=10)
        with pytest.raises(SessionUnreadable, match="first entries are lost"):
            await rebuilt(journal, row)
        row.cwd = "/work"
        assert (await rebuilt(journal, row)).seq == 10

    run(scenario())
