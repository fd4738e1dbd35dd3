"""What became of a load: compares what watchers were shown, what agents noted and what the stream has with what there is.

Rule 1: the truth of a session is what its owner tells from the beginning, after all is well again.
Rule 2: everything is counted, and nothing is excused.
"""

from __future__ import annotations

import itertools
import re
import time
import zlib
from collections import Counter
from typing import Final, NamedTuple

from tests.aio import run
from tests.cluster.shipping.owner import messages
from tests.faults.cluster.load import DEADLINE_S, NOTES, Seen, Tally, Work
from tests.faults.cluster.servers import refusals
from tests.faults.cluster.world import POOL, World
from tests.tooling.hub_process import Session
from tests.tooling.processes import eventually
from tests.tooling.wire import Broken, Wire
from trunkline.cluster import wire as messages_of
from trunkline.cluster.jetstream import Stored

TOKEN: Final = re.compile(rb'"note\\",\s*\\"[^"]*\\",\s*\\"([^"\\]+)\\"')
"""A prompt's token, where its text stands in a packet."""
SETTLED_S: Final = 120.0


class Counts(NamedTuple):
    """What was found of all sessions of a load."""

    shown: int = 0
    """Packets that watchers at gateways were shown, each once."""
    shown_at_owner: int = 0
    lost: int = 0
    """Shown at a gateway, and not there any more, or changed."""
    lost_at_owner: int = 0
    """The same of watchers at the owner."""
    missed: int = 0
    """There, and never shown to a watcher that went on behind it."""
    twice: int = 0
    disorder: int = 0
    commands: int = 0
    done_twice: int = 0
    """Prompts that an agent got more than once, or that stand in the session more than once."""
    promised: int = 0
    """Prompts that were taken, and are not in the session."""
    entries: int = 0
    not_in_stream: int = 0
    """Entries of the owner that the stream does not have once, in order."""
    two_owners: int = 0
    """Messages of an owner behind those of its successor."""

    def __add__(self, other: object) -> Counts:
        assert isinstance(other, Counts)
        return Counts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    @property
    def faults(self) -> dict[str, int]:
        """What should be 0, and is not."""
        good = ("shown", "shown_at_owner", "commands", "entries")
        return {name: count for name, count in self._asdict().items() if count and name not in good}


class History(NamedTuple):
    """A session as somebody tells it from the beginning: packets by number, and the tokens of its prompts."""

    packets: dict[int, int]
    tokens: Counter[str]


def settle(world: World, works: list[Work]) -> None:
    """Wait until every turn is over, and every watcher has been shown all there is."""
    for work in works:
        work.stop_prompting()
    for work in works:
        work.settle(4 * DEADLINE_S)
    world.wait_whole()
    for work in works:
        eventually(lambda work=work: is_at_rest(work.session), f"{work.id} is at rest", SETTLED_S)  # type: ignore[misc]
    assert refusals(world.servers) == [], "keys let everybody do what they do"


def judge(world: World, works: list[Work]) -> Counts:
    """Count, after ``settle``; the watchers end here."""
    told = {work: history(work.session.wire, work.session) for work in works}
    until = time.monotonic() + SETTLED_S
    for work, truth in told.items():
        for seen in (work.at_gateway, work.at_owner):
            while seen.last < max(truth.packets, default=0) and time.monotonic() < until:
                time.sleep(0.05)
    for work in works:
        work.stop_watching()
    for work in works:
        work.join()
    stored = _whole_stream(world, works)
    return sum((_of_session(world, work, told[work], stored[work.id]) for work in works), Counts())


def _whole_stream(world: World, works: list[Work]) -> dict[str, list[Stored]]:
    """What the stream has of each session. A replica that was away answers too, and may need a while to have all again."""
    until = time.monotonic() + SETTLED_S
    while True:
        stored = run(_stored(world, [work.id for work in works]), timeout_s=SETTLED_S)
        short = [work for work in works if _not_in_stream(stored[work.id], work.session.view()["lastSeq"])]
        if not short or time.monotonic() > until:
            return stored
        time.sleep(0.5)


def check_requests(tally: Tally) -> None:
    """Nobody waited in vain, and nobody was told that something is not there."""
    assert tally.hung == [], f"requests over their deadline: {tally.hung}"
    assert not [said for said in tally.statuses if said.startswith(("404", "500"))], tally.statuses


def is_at_rest(session: Session) -> bool:
    try:
        return session.wire.ask("GET", session.path, wait_s=10).json().get("status") in ("idle", "error")
    except (OSError, Broken):
        return False


def history(wire: Wire, session: Session) -> History:
    """Every packet, as a node tells it, up to the last one that its owner has now."""
    last = last_packet(session)
    told = History({}, Counter())
    if not last:
        return told
    with wire.stream(f"{session.path}/packets", wait_s=SETTLED_S).expect() as stream:
        for packet in stream:
            if packet.id is None:
                continue
            told.packets[packet.id] = zlib.crc32(packet.data)
            if b"user_message_chunk" in packet.data and (found := TOKEN.search(packet.data)):
                told.tokens[found[1].decode()] += 1
            if packet.id >= last:
                return told
    raise AssertionError(f"the stream of {session.id} ended before {last}")


def last_packet(session: Session) -> int:
    """The number of the newest packet that its owner has."""
    page = session.wire.get(f"{session.path}/messages?limit=1000")
    while page["nextAfter"] is not None:
        page = session.wire.get(f"{session.path}/messages?limit=1000&after={page['nextAfter']}")
    return int(page["messages"][-1]["seq"]) if page["messages"] else 0


def _of_session(world: World, work: Work, truth: History, stored: list[Stored]) -> Counts:
    notes = _notes(work.session)
    for line in (*work.at_gateway.notes, *work.at_owner.notes, *_changed(work.at_gateway, truth)):
        print(f"{work.id}: {line}")
    last = int(work.session.view()["lastSeq"])
    watchers = (work.at_gateway, work.at_owner)
    return Counts(
        shown=len(work.at_gateway.shown), shown_at_owner=len(work.at_owner.shown),
        lost=lost(work.at_gateway, truth), lost_at_owner=lost(work.at_owner, truth),
        missed=sum(len(truth.packets.keys() - seen.shown.keys()) for seen in watchers),
        twice=sum(seen.twice for seen in watchers), disorder=sum(seen.disorder for seen in watchers),
        commands=work.sent, done_twice=sum(count > 1 for count in notes.values()) + sum(
            count > 1 for count in truth.tokens.values()),
        promised=sum(token not in truth.tokens for token in work.taken),
        entries=last, not_in_stream=_not_in_stream(stored, last), two_owners=_two_owners(stored))


def _changed(seen: Seen, truth: History) -> list[str]:
    gone = [number for number, data in seen.shown.items() if truth.packets.get(number) != data]
    return [f"shown, and {'changed' if number in truth.packets else 'gone'}: {number}" for number in gone[:20]]


def lost(seen: Seen, truth: History) -> int:
    """What a watcher was shown that is not there any more, or changed."""
    return sum(truth.packets.get(number) != data for number, data in seen.shown.items())


def _notes(session: Session) -> Counter[str]:
    path = session.folder / NOTES
    return Counter(path.read_text().split()) if path.exists() else Counter()


def streamed(world: World, session_ids: list[str]) -> dict[str, list[int]]:
    """The entries of sessions that the stream has, by their numbers."""
    stored = run(_stored(world, session_ids), timeout_s=SETTLED_S)
    return {session_id: [seq for _, seq in _numbers(found)] for session_id, found in stored.items()}


def _numbers(stored: list[Stored]) -> list[tuple[int, int]]:
    """The epoch and the number of each entry."""
    numbers: list[tuple[int, int]] = []
    for message in stored:
        read = messages_of.read_message(message.headers, message.data)
        if isinstance(read, messages_of.Entries):
            epoch = messages_of.read_mark(message.headers).epoch
            numbers += [(epoch, seq) for seq in sorted([entry.seq for entry in read.entries] + list(read.parts))]
    return numbers


def _not_in_stream(stored: list[Stored], last: int) -> int:
    return unlike(_numbers(stored), last)


def unlike(numbers: list[tuple[int, int]], last: int) -> int:
    """How often what the stream has does not go on with the next number, up to ``last``. An owner that took a session over from
    one that is away leaves numbers out: those that the other may have given out."""
    steps = itertools.pairwise([(0, 0), *numbers])
    wrong = sum(seq != before + 1 and not (epoch > was > 0 and seq > before) for (was, before), (epoch, seq) in steps)
    return wrong + ((numbers[-1][1] if numbers else 0) != last)


def _two_owners(stored: list[Stored]) -> int:
    return steps_back([messages_of.read_mark(message.headers).epoch for message in stored])


def steps_back(epochs: list[int]) -> int:
    """How often an owner wrote behind its successor."""
    return sum(later < sooner for sooner, later in itertools.pairwise(epochs))


async def _stored(world: World, session_ids: list[str]) -> dict[str, list[Stored]]:
    async with world.admin() as connection:
        return {session_id: await messages(connection, session_id, POOL) for session_id in session_ids}
