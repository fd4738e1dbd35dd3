"""Tells when a session of a vendor's store appears, changes or goes away, by what happens to its file.

Rule 1: the kernel tells; nothing is read. A folder that is not there yet is looked for now and then.
Rule 2: a burst of writes is one change.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from typing import Literal

from watchfiles import Change, awatch

from trunkline.dialects.context import SessionDiscoveryEvent
from trunkline.discovery.base import Store

ABSENT_LOOK_S = 5.0
"""How often a store's folder is looked for that is not there: the vendor's program was never started here."""

REFUSED_LOOK_S = 60.0

DEBOUNCE_MS = 200

log = logging.getLogger("trunkline.discovery")

Kind = Literal["session_created", "session_removed", "session_updated"]
Callback = Callable[[SessionDiscoveryEvent], None]

_KINDS: dict[Change, Kind] = {
    Change.added: "session_created", Change.deleted: "session_removed", Change.modified: "session_updated"}


def watch_store(store: Store, agent: str, callback: Callback) -> Callable[[], None]:
    """Call back for every session of a store, from now on; returns what ends it."""
    stop = asyncio.Event()
    task = asyncio.get_running_loop().create_task(_watch(store, agent, callback, stop))
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    return stop.set


_tasks: set[asyncio.Task[None]] = set()
"""The loop keeps no strong reference to a task."""


async def _watch(store: Store, agent: str, callback: Callback, stop: asyncio.Event) -> None:
    while not stop.is_set():
        if not await asyncio.to_thread(os.path.isdir, store.folder):
            await _wait(stop, ABSENT_LOOK_S)  # the library would watch nothing, without a word
            continue
        try:
            await _tell(store, agent, callback, stop)
        except (OSError, RuntimeError) as error:  # RuntimeError: how the library tells that the kernel's limit is reached
            log.warning("%s cannot be watched, which is tried again in %.0f s: %s", store.folder, REFUSED_LOOK_S, error)
            await _wait(stop, REFUSED_LOOK_S)


async def _tell(store: Store, agent: str, callback: Callback, stop: asyncio.Event) -> None:
    async for changes in awatch(store.folder, watch_filter=None, stop_event=stop, debounce=DEBOUNCE_MS, step=50,
                                ignore_permission_denied=True):
        for kind, session_id in _news(store, changes):
            _call(callback, SessionDiscoveryEvent(type=kind, session_id=session_id, agent=agent))


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return


def _news(store: Store, changes: set[tuple[Change, str]]) -> list[tuple[Kind, str]]:
    """What a burst of changes comes to: one piece of news for each session."""
    news: dict[str, Kind] = {}
    for change, path in changes:
        session_id = store.session_of(path)
        if session_id is not None and news.get(session_id) != "session_created":
            news[session_id] = _KINDS[change]
    return [(kind, session_id) for session_id, kind in sorted(news.items())]


def _call(callback: Callback, event: SessionDiscoveryEvent) -> None:
    try:
        callback(event)
    except Exception as error:  # a listener's boundary: its fault must not end the watch
        asyncio.get_running_loop().call_exception_handler({"message": "a session callback failed", "exception": error})
