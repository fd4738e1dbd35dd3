"""What an agent asks of its client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from trunkline.agents.catalog import Quirks
from trunkline.dialects.acp.methods import (
    FS_READ_TEXT_FILE,
    FS_WRITE_TEXT_FILE,
    TERMINAL_CREATE,
    TERMINAL_KILL,
    TERMINAL_OUTPUT,
    TERMINAL_RELEASE,
    TERMINAL_WAIT_FOR_EXIT,
)
from trunkline.errors import Forbidden
from trunkline.session.client.requests import HubCalls
from trunkline.session.workspace.files import Workspace


class Anything:
    """Lets everything through."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def read(self, path: str) -> None:
        """Nothing is secret."""

    def write(self, path: str, content: str | msgspec.Raw) -> AbstractAsyncContextManager[Path]:
        return nullcontext(self._folder / path)

    def run(self, command: str, args: Sequence[str], cwd: str | None,
            env: Mapping[str, str]) -> AbstractAsyncContextManager[Path]:
        return nullcontext(self._folder / (cwd or ""))


def ours(session_id: str) -> None:
    """Any session is the caller's own."""


def test_what_a_command_printed_is_told_when_it_has_ended(tmp_path: Path) -> None:
    told: list[tuple[str, str, int | None]] = []

    async def scenario() -> None:
        calls = HubCalls(Workspace([str(tmp_path)]), {"PATH": "/usr/bin:/bin"}, Quirks(), Anything(tmp_path), lambda _: None,
                            lambda *ended: told.append(ended))
        made = await calls.accept(TERMINAL_CREATE, b'{"sessionId":"s","command":"echo hi; exit 3"}', ours)()
        terminal_id = msgspec.json.decode(made)["terminalId"]
        ask = msgspec.json.encode({"sessionId": "s", "terminalId": terminal_id})
        await calls.accept(TERMINAL_WAIT_FOR_EXIT, ask, ours)()
        await calls.accept(TERMINAL_RELEASE, ask, ours)()
        assert set(told) == {(terminal_id, "hi\n", 3)}

    run(scenario())


def test_a_command_that_still_runs_is_not_told(tmp_path: Path) -> None:
    told: list[tuple[str, str, int | None]] = []

    async def scenario() -> None:
        calls = HubCalls(Workspace([str(tmp_path)]), {"PATH": "/usr/bin:/bin"}, Quirks(), Anything(tmp_path), lambda _: None,
                            lambda *ended: told.append(ended))
        made = await calls.accept(TERMINAL_CREATE, b'{"sessionId":"s","command":"sleep 30"}', ours)()
        ask = msgspec.json.encode({"sessionId": "s", "terminalId": msgspec.json.decode(made)["terminalId"]})
        await calls.accept(TERMINAL_OUTPUT, ask, ours)()
        await calls.close()
        assert told == []

    run(scenario())


def test_a_command_belongs_to_the_turn_in_which_it_was_asked_for_however_late_it_is_served(tmp_path: Path) -> None:
    async def scenario() -> None:
        calls = HubCalls(Workspace([str(tmp_path)]), {"PATH": "/usr/bin:/bin"}, Quirks(), Anything(tmp_path), lambda _: None)
        calls.turn_began()
        serving = calls.accept(TERMINAL_CREATE, b'{"sessionId":"s","command":"sleep 30"}', ours)
        calls.turn_ended()
        assert calls.turn_cancelled(ended=True) == []
        try:
            with pytest.raises(Forbidden, match="cancelled"):
                await serving()
        finally:
            await calls.close()

    run(scenario())


def test_what_is_asked_in_another_sessions_name_is_not_even_looked_at(tmp_path: Path) -> None:
    def foreign(session_id: str) -> None:
        raise Forbidden(session_id)

    async def scenario() -> None:
        calls = HubCalls(Workspace([str(tmp_path)]), {"PATH": "/usr/bin:/bin"}, Quirks(), Anything(tmp_path), lambda _: None)
        more = {"path": "a.txt", "content": "x", "command": "true", "terminalId": "none"}
        ask = msgspec.json.encode({"sessionId": "other", **more})
        for method in (FS_READ_TEXT_FILE, FS_WRITE_TEXT_FILE, TERMINAL_CREATE, TERMINAL_OUTPUT,
                       TERMINAL_WAIT_FOR_EXIT, TERMINAL_KILL, TERMINAL_RELEASE):
            with pytest.raises(Forbidden, match="other"):
                await calls.accept(method, ask, foreign)()

    run(scenario())
    assert list(tmp_path.iterdir()) == []
