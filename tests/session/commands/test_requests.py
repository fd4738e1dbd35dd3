"""What a client may ask for: how long a title may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.session.script import Stage, update
from trunkline.errors import Invalid
from trunkline.session.commands.requests import TITLE_MOST


def test_a_title_that_is_too_long_is_cut_where_an_agent_gives_it_and_refused_where_a_client_does(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        for size in (TITLE_MOST, TITLE_MOST + 1):
            stage.driver.say(update(sessionUpdate="session_info_update", title=f"{size}".ljust(size, "x")))
            await session.snapshot()
            await stage.until(lambda size=size: session.fold.title.startswith(f"{size}"))  # type: ignore[misc]
            assert len(session.fold.title) == TITLE_MOST
        with pytest.raises(Invalid, match=f"longer than {TITLE_MOST}"):
            await session.rename("x" * (TITLE_MOST + 1), by="ann")
        await session.rename("y" * TITLE_MOST, by="ann")
        assert session.fold.title == "y" * TITLE_MOST

    run(scenario())
