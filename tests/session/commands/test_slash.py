"""The slash commands that an agent offers, out of the entry that lists them."""

from __future__ import annotations

from pathlib import Path

from tests.aio import run
from tests.session.script import Stage, text, update
from trunkline.session.commands.slash import offered_commands


def test_the_last_list_of_commands_is_read_from_its_entry(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        assert await offered_commands(stage.journal, session.fold) is None, "it offered none"
        for name in ("old", "plan"):
            offered = [{"name": name, "description": "Make one", "input": {"hint": "what"}}]
            stage.driver.say(update(sessionUpdate="available_commands_update", availableCommands=offered), text("so"))
        await session.snapshot()
        found = await offered_commands(stage.journal, session.fold)
        assert found is not None and [(each["name"], each["input"]["hint"]) for each in found] == [("plan", "what")]

    run(scenario())


def test_where_the_entry_is_another_or_gone_there_are_no_commands(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(text("so"))
        await session.snapshot()
        for seq in (session.fold.seq, session.fold.seq + 1):
            session.fold.commands_seq = seq
            assert await offered_commands(stage.journal, session.fold) is None

    run(scenario())
