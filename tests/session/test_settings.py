"""An agent's options as a session keeps them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.session.script import Stage
from trunkline.errors import TooManyRequests
from trunkline.session import settings


def test_only_so_many_options_are_set_in_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(settings, "KEPT_RULES", 2)
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.settings.set_config("a", "1", by="ann")
        await session.settings.set_config("b", "1", by="ann")
        with pytest.raises(TooManyRequests, match="2 options"):
            await session.settings.set_config("c", "1", by="ann")
        await session.settings.set_config("a", "2", by="ann")
        assert session.fold.chosen_options == {"a": "2", "b": "1"}
        assert [told[1] for told in stage.driver.known_call("config")] == ["a", "b", "a"], "the agent was not told of the other"

    run(scenario())
