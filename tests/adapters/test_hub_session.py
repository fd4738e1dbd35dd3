"""A session of the hub behind the protocol's contract: commands in, and what cannot be is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.adapters.agents import library, options
from tests.adapters.test_catalog_adapter import history
from tests.aio import run
from trunkline.dialects.context.commands import SendMessageCommand
from trunkline.errors import Invalid


def test_a_command_may_be_given_as_the_object_that_it_is(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path) as line:
            session = await line.adapter("demo-fast").start_session(options(tmp_path, "/wait"))
            await session.execute({"command": "cancel"})
            for wrong in ({"command": "nonsense"}, {}, {"command": object()}):
                with pytest.raises(Invalid):
                    await session.execute(wrong)

    run(scenario())


def test_what_no_wire_could_carry_is_refused_as_a_command_and_written_down(tmp_path: Path) -> None:
    deep: dict[str, object] = {}
    for _ in range(3000):
        deep = {"a": deep}
    half = "\ud800"
    wrong: list[tuple[Any, Any]] = [
        ({"command": "send_message", "message": half}, None),
        (SendMessageCommand(message=half), None),
        (SendMessageCommand(message=5), None),  # type: ignore[arg-type]  # a program may do so
        (SendMessageCommand(message="x", meta=deep), None),
        ({"command": "cancel", "_meta": deep}, None),
        *(({"command": "cancel"}, command_id) for command_id in ("", 5, "x" * 10_000, half)),
    ]

    async def scenario() -> None:
        async with library(tmp_path) as line:
            session = await line.adapter("demo-fast").start_session(options(tmp_path, "/wait"))
            for command, command_id in wrong:
                with pytest.raises(Invalid):
                    await session.execute(command, command_id=command_id)
            written = [event for event in await history(session) if getattr(event, "event_name", None) == "command"]
            assert len(written) == len(wrong)
            await session.execute({"command": "cancel"}, command_id="x" * 255)

    run(scenario())
