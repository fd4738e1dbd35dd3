"""Sessions at work while something goes wrong: one prompts each, others watch it at a gateway and at its owner.

Rule 1: a prompt has a key, and goes again under it, here or at another node, until somebody says that it was taken.
Rule 2: a watcher takes its stream up again behind the last thing that it saw, at another gateway each time.
Rule 3: what is seen is kept as a number and a sum of the bytes; what comes twice or out of order is counted where it comes.
"""

from __future__ import annotations

import itertools
import json
import random
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from tests.faults.cluster.world import World
from tests.tooling.hub_process import Session
from tests.tooling.wire import Broken, Packet, Reply

DEADLINE_S: Final = 60.0
"""A request that has no answer by then hangs. A gateway repeats a command for 30 s, after 10 s of silence."""
STREAM_S: Final = 6.0
"""A watcher begins anew after so long: that is one more cursor that has to fit."""
PAUSE_S: Final = 0.1
NOTES: Final = "done.txt"
PIECES, PAIR_S = 8, 0.08
NOTES_MOST: Final = 20


def play(token: str) -> str:
    """A prompt: its agent notes the token, and then says some words over some time."""
    words: list[list[Any]] = [["note", NOTES, token]]
    for number in range(PIECES):
        words += [["say", f"{token} {number} {'word ' * 20}"], ["say", "and on"], ["pause", PAIR_S]]
    return json.dumps(words)


class Seen:
    """What one watcher was shown of a session."""

    def __init__(self) -> None:
        self.shown: dict[int, int] = {}
        self.last = 0
        self.twice = 0
        self.disorder = 0
        self.notes: list[str] = []
        """What was wrong, for whoever looks for the reason."""

    def take(self, packet: Packet, where: str = "") -> None:
        number = packet.id
        if number is None:
            return  # no entry: what a reader is told besides
        if number in self.shown:
            self.twice += 1
            self._note(where, f"{number} again behind {self.last}", packet)
        elif number < self.last:
            self.disorder += 1
            self._note(where, f"{number} behind {self.last}", packet)
        self.shown[number] = zlib.crc32(packet.data)
        self.last = max(self.last, number)

    def _note(self, where: str, what: str, packet: Packet) -> None:
        if len(self.notes) < NOTES_MOST:
            self.notes.append(f"{time.strftime('%H:%M:%S')} at {where}: {what}: {packet.data[:120]!r}")


class Tally:
    """What all requests of a load came to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.statuses: Counter[str] = Counter()
        self.requests = 0
        self.hung: list[str] = []
        self.slowest_s = 0.0

    def __str__(self) -> str:
        return f"{self.requests} requests, slowest {self.slowest_s:.1f} s: {dict(self.statuses)}"

    def ask(self, what: str, request: Callable[[], Reply]) -> Reply | None:
        """The answer; None where the connection broke, or nothing came by the deadline."""
        began, said = time.monotonic(), "broken"
        reply = None
        try:
            reply = request()
            said = str(reply.status) if reply.status < 400 else f"{reply.status} {reply.json().get('code')}"
        except TimeoutError:
            said = "hung"
        except (Broken, OSError):
            pass  # the hub was killed, or is not there yet
        self._count(what, said, time.monotonic() - began)
        return reply

    def _count(self, what: str, said: str, took_s: float) -> None:
        with self._lock:
            self.requests += 1
            self.statuses[said] += 1
            self.slowest_s = max(self.slowest_s, took_s)
            if said == "hung":
                self.hung.append(f"{what} ({took_s:.0f} s)")


class Work:
    """One session: its prompts, and its two watchers."""

    def __init__(self, world: World, session: Session, tally: Tally, seed: int) -> None:
        self.world, self.tally = world, tally
        self.id, self._folder = session.id, session.folder
        self.at_gateway, self.at_owner = Seen(), Seen()
        self.taken: list[str] = []
        """Prompts that a hub said it has."""
        self.sent = 0
        self.prompting, self.watching = threading.Event(), threading.Event()
        self._dice = random.Random(seed)
        self._gateways = itertools.cycle(world.gateways)
        self._threads = [threading.Thread(target=each, daemon=True) for each in (
            self._prompt_always, lambda: self._watch(self._next_gateway, self.at_gateway),
            lambda: self._watch(self._owner, self.at_owner))]
        self.failures: list[BaseException] = []

    @property
    def session(self) -> Session:
        """At the node that owns it now."""
        return Session(self.world.owner_of(self.id), self.id, self._folder)

    def start(self) -> None:
        self.prompting.set()
        self.watching.set()
        for thread in self._threads:
            thread.start()

    def stop_prompting(self) -> None:
        self.prompting.clear()

    def settle(self, within_s: float) -> None:
        """Wait for the prompt that is on its way."""
        self._threads[0].join(within_s)
        assert not self._threads[0].is_alive(), f"{self.id}: a prompt is still on its way"

    def stop_watching(self) -> None:
        self.watching.clear()

    def join(self) -> None:
        for thread in self._threads:
            thread.join(DEADLINE_S + STREAM_S)
            assert not thread.is_alive(), "somebody hangs"
        if self.failures:
            raise self.failures[0]

    def _prompt_always(self) -> None:
        try:
            while self.prompting.is_set():
                self.sent += 1
                self._prompt(f"{self.id}:{self.sent}")
                time.sleep(self._dice.uniform(0.0, 0.5))
        except BaseException as error:
            self.failures.append(error)
            raise

    def _prompt(self, token: str) -> None:
        """Send it until it is taken."""
        body, headers = {"content": play(token)}, {"Idempotency-Key": token}
        until = time.monotonic() + 3 * DEADLINE_S
        while time.monotonic() < until:
            where = self._dice.choice(sorted(self._doors()))
            reply = self.tally.ask(f"prompt {token} at {where}", lambda where=where: self.world.wire(where).ask(  # type: ignore[misc]
                "POST", f"{self.session.path}/send-message", body, headers, wait_s=DEADLINE_S))
            if reply is not None and reply.status == 202:
                self.taken.append(token)
                return
            time.sleep(self._dice.uniform(0.1, 0.4))

    def _doors(self) -> set[str]:
        """Where people prompt: at gateways, and at the owner unless it is a runner, which knows a session no more as soon as it
        has handed that over."""
        owner = self.world.sessions[self.id]
        own = {owner} if self.world.roles[owner] != "runner" else set()
        return (own | set(self.world.gateways)) - self.world.unasked

    def _next_gateway(self) -> str:
        return next(self._gateways)

    def _owner(self) -> str:
        return self.world.sessions[self.id]

    def _watch(self, where: Callable[[], str], seen: Seen) -> None:
        try:
            while self.watching.is_set():
                try:
                    self._watch_once(where(), seen)
                except (Broken, OSError):
                    pass
                time.sleep(PAUSE_S)
        except BaseException as error:
            self.failures.append(error)
            raise

    def _watch_once(self, where: str, seen: Seen) -> None:
        """Watch one stream until it ends, or for a while."""
        began = time.monotonic()
        try:
            path = f"{self.session.path}/packets"
            stream = self.world.wire(where).stream(path, last_event_id=seen.last or None, wait_s=DEADLINE_S)
        except TimeoutError:
            self.tally.hung.append(f"stream of {self.id} at {where} ({time.monotonic() - began:.0f} s)")
            return
        with stream:
            stream.answer.allow(STREAM_S)
            for packet in stream:
                seen.take(packet, where)
                if not self.watching.is_set():
                    return


def start_work(world: World, each: int, tally: Tally) -> list[Work]:
    """So many new sessions of each owner, at work."""
    works = [Work(world, world.new_session(owner), tally, number) for number in range(each) for owner in world.owners]
    world.wait_whole()
    for work in works:
        work.start()
    return works
