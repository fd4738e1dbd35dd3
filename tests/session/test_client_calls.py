"""What an agent asks of its client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

import msgspec

from tests.aio import run
from trunkline.agents.catalog import Quirks
from trunkline.dialects import acp
from trunkline.session.client_calls import ClientCalls
from trunkline.session.workspace import Workspace


class Anything:
    """Lets everything through."""

    def read(self, path: str) -> None:
        """Nothing is secret."""

    def write(self, path: str, content: str) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def run(self, command: str, args: Sequence[str], cwd: str | None,
            env: Mapping[str, str]) -> AbstractAsyncContextManager[None]:
        return nullcontext()


def test_what_a_command_printed_is_told_when_it_has_ended(tmp_path: Path) -> None:
    told: list[tuple[str, str, int | None]] = []

    async def scenario() -> None:
        calls = ClientCalls(Workspace([str(tmp_path)]), {"PATH": "/usr/bin:/bin"}, Quirks(), Anything(), lambda: None,
                            lambda *ended: told.append(ended))
        made = await calls.serve(acp.TERMINAL_CREATE, b'{"sessionId":"s","command":"echo hi; exit 3"}')
        terminal_id = msgspec.json.decode(made)["terminalId"]
        ask = msgspec.json.encode({"sessionId": "s", "terminalId": terminal_id})
        await calls.serve(acp.TERMINAL_WAIT_FOR_EXIT, ask)
        await calls.serve(acp.TERMINAL_RELEASE, ask)
        assert set(told) == {(terminal_id, "hi\n", 3)}

    run(scenario())


def test_a_command_that_still_runs_is_not_told(tmp_path: Path) -> None:
    told: list[tuple[str, str, int | None]] = []

    async def scenario() -> None:
        calls = ClientCalls(Workspace([str(tmp_path)]), {"PATH": "/usr/bin:/bin"}, Quirks(), Anything(), lambda: None,
                            lambda *ended: told.append(ended))
        made = await calls.serve(acp.TERMINAL_CREATE, b'{"sessionId":"s","command":"sleep 30"}')
        ask = msgspec.json.encode({"sessionId": "s", "terminalId": msgspec.json.decode(made)["terminalId"]})
        await calls.serve(acp.TERMINAL_OUTPUT, ask)
        await calls.close()
        assert told == []

    run(scenario())
