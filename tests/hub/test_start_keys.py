"""A session that is begun under a key is begun once."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.journal.samples import row
from trunkline.errors import KeyReused, SessionNotFound
from trunkline.hub import NewSession
from trunkline.hub.start_keys import StartKeys, digest_of
from trunkline.journal.base import Group, Journal
from trunkline.journal.stores.memory import MemoryJournal

NEW = NewSession(agent="demo", cwd="/work", env={"KEY": "secret"})


async def nobody(session_id: str) -> Any:
    raise SessionNotFound(session_id)


def start_keys(journal: Journal, find: Any = nobody) -> Any:
    """Untyped: a word stands for a session here."""
    return StartKeys(journal, find)


def test_who_comes_while_it_is_being_begun_gets_the_same() -> None:
    async def scenario() -> None:
        keys, go = start_keys(MemoryJournal()), asyncio.Event()
        starts: list[int] = []

        async def start() -> Any:
            starts.append(1)
            await go.wait()
            return "the session"

        both = [asyncio.create_task(keys.once("k", "digest", start)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(KeyReused):
            await keys.once("k", "of something else", start)
        go.set()
        assert await asyncio.gather(*both) == ["the session", "the session"] and starts == [1]

    run(scenario())


def test_what_could_not_be_begun_is_tried_anew() -> None:
    async def scenario() -> Any:
        keys, outcomes = start_keys(MemoryJournal()), iter([ValueError("no"), "the session"])

        async def start() -> Any:
            outcome = next(outcomes)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        with pytest.raises(ValueError, match="no"):
            await keys.once("k", "digest", start)
        return await keys.once("k", "digest", start)

    assert run(scenario()) == "the session"


def test_one_that_an_earlier_hub_began_is_found_by_its_key_in_the_journal() -> None:
    async def scenario() -> None:
        journal = MemoryJournal()
        state = msgspec.json.encode({"startKey": "k", "startDigest": "digest"})
        await journal.append(Group({}, {"old": row("old", checkpoint=state), "broken": row("broken", checkpoint=b"{")}))

        async def find(session_id: str) -> Any:
            return f"session {session_id}"

        async def start() -> Any:
            return "another one"

        keys = start_keys(journal, find)
        assert await keys.once("k", "digest", start) == "session old"
        assert await keys.once("other", "digest", start) == "another one"
        with pytest.raises(KeyReused):
            await keys.once("k", "of something else", start)
        assert await start_keys(journal).once("k", "digest", start) == "another one", "it was deleted meanwhile"

    run(scenario())


def test_the_digest_tells_wishes_apart_and_holds_no_value_of_a_variable() -> None:
    assert digest_of(NEW) == digest_of(msgspec.structs.replace(NEW, env={"KEY": "another"}))
    assert digest_of(NEW) != digest_of(msgspec.structs.replace(NEW, env={"OTHER": "secret"}))
    assert digest_of(NEW) != digest_of(msgspec.structs.replace(NEW, prompt="hi"))
