"""How a session is opened: whose updates are held meanwhile, and how much of them; which id is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tests.aio import run
from trunkline.agents.catalog import adhoc
from trunkline.dialects.acp.initialize import InitializeResponse
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.notes import CustomNote
from trunkline.dialects.signals import Update
from trunkline.errors import AgentError
from trunkline.session.driver.acp import opening
from trunkline.session.driver.acp.opening import EARLY_EACH, NOTED_BYTES, SESSION_ID_CHARS, AcpOpening, Inbox, noted


def told(session_id: str, size: int) -> msgspec.Raw:
    """The params of an update that is that long."""
    update = b'{"x":"%b"}' % (b"x" * (size - 8))
    return msgspec.Raw(msgspec.json.encode({"sessionId": session_id, "update": msgspec.Raw(update)}))


def test_updates_before_the_id_is_known_are_held_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "EARLY_BYTES", 2 * (100 + EARLY_EACH))
    inbox = Inbox()
    assert inbox.read(told("s", 100)) == inbox.read(told("s", 100)) == ()
    for _ in range(2):
        (note,) = inbox.read(told("s", 8))
        assert isinstance(note, CustomNote) and note.kind == "early_update" and msgspec.json.decode(note.data)["dropped"] is True
    inbox.session_id = "s"
    assert [len(each.raw) for each in inbox.take_early() if isinstance(each, Update)] == [100, 100]
    (later,) = inbox.read(told("s", 8))
    assert isinstance(later, Update)


def test_the_shortest_updates_count_too_and_no_long_id_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "EARLY_BYTES", 10 * (8 + EARLY_EACH))
    inbox = Inbox()
    assert [len(inbox.read(told("s", 8))) for _ in range(12)] == [0] * 10 + [1] * 2
    other = Inbox()
    assert other.read(told("s" * SESSION_ID_CHARS, 8)) == ()
    (note,) = other.read(told("s" * (SESSION_ID_CHARS + 1), 8))
    assert isinstance(note, CustomNote) and len(note.data) < 2 * SESSION_ID_CHARS


@pytest.mark.parametrize(("size", "opens"), [(SESSION_ID_CHARS, True), (SESSION_ID_CHARS + 1, False)])
def test_a_start_fails_where_the_agents_id_is_too_long(size: int, opens: bool) -> None:
    async def answer(method: str, params: Any, *, at_once: Callable[[bytes], None] | None = None) -> msgspec.Raw | None:
        result = msgspec.json.encode({"sessionId": "s" * size})
        if at_once is not None:
            at_once(result)
        return msgspec.Raw(result)

    hello = read_lenient(b'{"protocolVersion":1}', InitializeResponse)
    work = AcpOpening(adhoc("agent", "agent"), "/", [], "1", Inbox(), answer)
    if opens:
        assert run(work.open(hello, None))[1].session_id == "s" * size
        return
    with pytest.raises(AgentError, match="sessionId that is too long"):
        run(work.open(hello, None))



def test_a_message_that_nobody_understands_is_told_by_its_size_where_it_is_long() -> None:
    assert noted(msgspec.Raw(b'{"a":1}')) == msgspec.Raw(b'{"a":1}')
    assert noted(msgspec.Raw(b"x" * (NOTED_BYTES + 1))) == {"truncated": {"bytes": NOTED_BYTES + 1}}
