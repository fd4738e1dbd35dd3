"""The demo's end of the pipe: one message a line, and a hub that is gone ends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.demo.client import demo
from tests.aio import WITHIN_S


@pytest.mark.parametrize(("line", "code"), [(b"no json", -32700), (b"[" * 100_000, -32700), (b"[]", -32600), (b"17", -32600)])
def test_a_line_that_is_no_message_is_answered_without_an_id(tmp_path: Path, line: bytes, code: int) -> None:
    with demo(tmp_path) as client:
        client.write(line + b"\n\r\n")
        answer = client.next()
        assert answer["id"] is None and answer["error"]["code"] == code
        client.open()


@pytest.mark.parametrize("request_id", [0, "seven", "1", 2**40])
def test_ids_come_back_as_they_were(tmp_path: Path, request_id: object) -> None:
    with demo(tmp_path) as client:
        client.is_strict = False
        client.send({"id": request_id, "method": "initialize", "params": {"protocolVersion": 1}})
        assert client.next()["id"] == request_id


def test_end_of_stdin_ends_it_even_in_a_turn(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        client.begin_prompt(client.open(), "/silent")
        assert client.end() == 0


def test_a_client_that_goes_away_ends_it(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        assert client.process.stdout
        client.process.stdout.close()
        client.begin_prompt(session, "/burst 100000 100")
        assert client.process.wait(WITHIN_S) == 0
