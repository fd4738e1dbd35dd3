"""Row H: both ways store the same, and what is refused is counted and goes again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
import uvloop

from benchmarks.cluster.batches import InRounds, Message, Run, refusals
from benchmarks.cluster.shipping import shipped
from benchmarks.cluster.world import connection_to, servers
from trunkline.cluster import jetstream, subjects
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import WRONG_LAST, Ack, Refusal

SESSIONS, ROUNDS = 3, 2


def test_both_ways_store_all_and_count_what_was_refused() -> None:
    async def stored(run: Run, go: Callable[[int], Awaitable[None]]) -> list[int]:
        """The numbers of the sessions' last messages."""
        await go(ROUNDS)
        lasts = [await jetstream.last_message(run.connection, subjects.JOURNAL, subject) for subject in run.subjects]
        return [0 if last is None else last.seq for last in lasts]

    async def go() -> None:
        connection = await connection_to(found, "box")
        singles, batches = Run(connection, SESSIONS), Run(connection, SESSIONS)
        assert max(await stored(singles, singles.singles)) == SESSIONS * ROUNDS
        assert await stored(batches, batches.batches) == [SESSIONS * ROUNDS * 2 - back for back in (2, 1, 0)]
        assert not singles.told and not batches.told
        assert (len(singles.answers_s), len(batches.answers_s)) == (SESSIONS * ROUNDS, ROUNDS)
        last = SESSIONS * ROUNDS * 2
        for run, way in ((singles, singles.singles), (batches, batches.batches)):
            run.fences[0] += 1
            last += SESSIONS * ROUNDS
            assert max(await stored(run, way)) == max(run.fences) == last
            assert run.told == {str(WRONG_LAST): 1}
        await connection.close()

    with servers(1) as found:
        uvloop.run(go())
        assert uvloop.run(refusals(found, 0.01)).value.startswith("0 of ")


def test_a_connection_that_batches_ships_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []

    async def counted(connection: Connection, batch_id: str, messages: Sequence[Message]) -> Ack | Refusal:
        sent.append(len(messages))
        return await publish_batch(connection, batch_id, messages)

    publish_batch = jetstream.publish_batch
    monkeypatch.setattr(jetstream, "publish_batch", counted)
    with servers(1) as found:
        took_s, *_ = uvloop.run(shipped(found, tmp_path, 20, 200, InRounds))
    assert took_s > 0 and max(sent) > 1
