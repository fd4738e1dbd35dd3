"""Hubs that go from test to test: to start one and to stop it costs more than most tests do on it.

Rule 1: whoever asks for a hub with the same settings gets the same, without sessions. What it remembers besides (devices, rules,
folders) may be of others: a test of those starts its own.
Rule 2: after each test everything that the hub started for it is gone, and nothing held its loop, as after a hub of its own.
Rule 3: a hub that a test stopped, killed or started again is not given to another.
Rule 4: only the last few are kept. The guard of a hub's loop takes a fortieth of a core also while nobody asks for anything: what
is not used for some ten seconds costs more than to start it anew.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import children_of, eventually

MOST = 2
"""Tests of one module take turns with two at most."""


class KeptHubs:
    """All hubs that are kept by one process of tests; ``new_root`` makes an empty folder."""

    def __init__(self, new_root: Callable[[str], Path]) -> None:
        self._new_root = new_root
        self._kept: dict[str, tuple[HubProcess, int]] = {}
        """In the order in which they were given back."""
        self._taken: set[str] = set()

    def take(self, *flags: str, **settings: Any) -> HubProcess:
        """The hub with these settings; it is started when there is none."""
        name = repr((flags, sorted(settings.items())))
        if name not in self._kept:
            self._make_room()
            hub = HubProcess(self._new_root("kept"), *flags, **settings)
            hub.start()
            self._kept[name] = (hub, hub.pid)
        self._taken.add(name)
        return self._kept[name][0]

    def give_back(self) -> None:
        """After a test: clear what was taken, and end what cannot be used again."""
        taken, self._taken = self._taken, set()
        for name in taken:
            hub, pid = self._kept.pop(name)
            if not hub.runs or hub.pid != pid:
                hub.close()
                continue
            try:
                _clear(hub)
            except BaseException:
                hub.close()
                raise
            self._kept[name] = (hub, pid)

    def _make_room(self) -> None:
        """End those that were not used for longest."""
        unused = [name for name in self._kept if name not in self._taken]
        for name in unused[:max(0, len(self._kept) + 1 - MOST)]:
            self._kept.pop(name)[0].close()

    def close(self) -> None:
        """End all of them."""
        while self._kept:
            _, (hub, _) = self._kept.popitem()
            hub.close()


def _clear(hub: HubProcess) -> None:
    while page := hub.wire.get("/sessions")["sessions"]:
        for session in page:
            hub.wire.ask("DELETE", f"/sessions/{session['id']}").expect(204)

    def left() -> list[Any]:
        """Who is there besides the hub and its nursery."""
        own = {hub.pid, *(child.pid for child in children_of(hub.pid))}
        return [process for process in hub.left() if process.pid not in own]

    eventually(lambda: not left(), f"nothing is left of the sessions of {hub.home}")
    assert hub.may_hold or hub.holds() == [], "the hub's loop was held:\n" + "\n".join(hub.holds())
