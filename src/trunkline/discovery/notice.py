"""What the kernel says about the files below a folder, for any number of listeners.

Rule 1: one watch per folder, however many listen. A watch costs a thread, and the program has few of them to spare.
Rule 2: a folder that is not there yet is looked for now and then; one that cannot be watched is looked at by asking everybody to.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from typing import Literal
from weakref import WeakKeyDictionary

from trunkline.errors import Unavailable
from trunkline.threads import Lane

What = Literal["added", "changed", "deleted"]
Changes = list[tuple[What, str]]
OnChange = Callable[[Changes], None]
"""Takes what happened to which files; nothing at all means that nobody knows, so that one should look."""

ABSENT_LOOK_S = 1.0
"""How often a folder is looked for that is not there: the vendor's program was never started here."""

APPEARED_S = 0.3
"""How long a new watch may take to begin: who listens for a folder that has just come looks into it then."""

BLIND_LOOK_S = 2.0
"""How often everybody looks where the kernel does not tell, because its limit is reached or the file system cannot."""

DEBOUNCE_MS = 100

log = logging.getLogger("trunkline.discovery")

_Folders = dict[str, "_Folder"]
_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Folders] = WeakKeyDictionary()


def listen(folder: str, on_change: OnChange) -> Callable[[], None]:
    """Call back for whatever happens below a folder, from now on; returns what ends it."""
    folders = _loops.setdefault(asyncio.get_running_loop(), {})
    watched = folders.get(folder)
    if watched is None:
        watched = folders[folder] = _Folder(folder)
    watched.listeners.append(on_change)

    def stop() -> None:
        if on_change in watched.listeners:
            watched.listeners.remove(on_change)
        if not watched.listeners and folders.get(folder) is watched:
            del folders[folder]
            watched.stop()

    return stop


class _Folder:
    """One watch and those who listen to it."""

    def __init__(self, folder: str) -> None:
        self.listeners: list[OnChange] = []
        self._folder = folder
        self._over = asyncio.Event()
        self._lane = Lane(1)
        self._task = asyncio.get_running_loop().create_task(self._run())

    def stop(self) -> None:
        """Nobody listens any more. The thread ends by itself, a moment later."""
        self._over.set()

    async def _run(self) -> None:
        was_absent = False
        while not self._over.is_set():
            if not await self._is_there():
                was_absent = True
                await self._wait(ABSENT_LOOK_S)  # the library would watch nothing, without a word
                continue
            if was_absent:
                was_absent = False
                asyncio.get_running_loop().call_later(APPEARED_S, self._notify, [])
            try:
                await self._watch_changes()
            except (OSError, RuntimeError) as error:  # RuntimeError: what the library raises where the kernel refuses
                log.warning("%s cannot be watched, it is looked at every %.0f s instead: %s", self._folder, BLIND_LOOK_S, error)
                await self._look()

    async def _is_there(self) -> bool:
        try:
            return await self._lane.run(os.path.isdir, self._folder)
        except Unavailable:
            return False  # the disk does not answer: the same as if it were gone

    async def _watch_changes(self) -> None:
        from watchfiles import Change, awatch  # loads a library that most programs never need
        names: dict[Change, What] = {Change.added: "added", Change.modified: "changed", Change.deleted: "deleted"}
        async for changes in awatch(self._folder, watch_filter=None, stop_event=self._over, debounce=DEBOUNCE_MS, step=20,
                                    ignore_permission_denied=True):
            self._notify([(names[change], path) for change, path in changes])

    async def _look(self) -> None:
        while not self._over.is_set():
            self._notify([])
            await self._wait(BLIND_LOOK_S)

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._over.wait()
        except TimeoutError:
            return

    def _notify(self, changes: Changes) -> None:
        for on_change in list(self.listeners):
            try:
                on_change(changes)
            except Exception as error:  # a listener's boundary: the others must still be called
                asyncio.get_running_loop().call_exception_handler({"message": "a file callback failed", "exception": error})
