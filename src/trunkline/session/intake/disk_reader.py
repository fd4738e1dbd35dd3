"""Looks at the disk for what an agent sends: where an ask's paths lead, what a result left there, what a call will overwrite.

Rule 1: all of it is done off the loop. Whoever takes what the agent sends waits for the first two; for the third nobody waits but
        the result of that very call, at most FORESEEN at once.
Rule 2: a look that fails or is cut short found nothing: not known is not allowed, and a result is written, seen or not.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from functools import partial
from typing import Any, Final, TypeVar

from trunkline.session.fold import SeenFile
from trunkline.session.interpret.asks.asks import Announced
from trunkline.session.interpret.effects.disk import Wanted
from trunkline.session.recorder import Recorder
from trunkline.session.workspace.files import Workspace
from trunkline.session.workspace.look import DiskLook, look_at, see

FORESEEN: Final = 8
"""Calls whose files are looked at beforehand at the same time; what more of them overwrite is reported as the agent has it."""

log = logging.getLogger("trunkline.session")

T = TypeVar("T")


class DiskReader:
    """The looks of one session."""

    def __init__(self, recorder: Recorder, workspace: Workspace) -> None:
        self._recorder = recorder
        self._workspace = workspace
        self._look: asyncio.Task[Any] | None = None
        """The one that is waited for."""
        self._foreseen: dict[str, asyncio.Task[None]] = {}
        """Looks at what calls will overwrite, by call."""
        self._stopped = False

    def stop(self) -> None:
        """The agent is gone: nothing is looked at for it any more, until ``resume``."""
        self._stopped = True
        if self._look is not None:
            self._look.cancel()
        for task in list(self._foreseen.values()):
            task.cancel()

    def resume(self) -> None:
        """All that it had sent is taken."""
        self._stopped = False

    async def look_at(self, announced: Announced) -> DiskLook:
        """Where the paths of an ask lead, and the texts that it changes."""
        if self._stopped:
            return DiskLook()
        return await self._looked(
            look_at(self._workspace, announced.own.about.root, announced.paths, announced.files), DiskLook())

    async def see(self, wanted: Wanted) -> dict[str, SeenFile]:
        """The files of a result, as they are."""
        if (before := self._foreseen.get(wanted.call.state.tool_call_id)) is not None:
            await asyncio.wait([before])
        if self._stopped or not wanted.paths:
            return {}
        return await self._looked(see(self._workspace, wanted.paths), {})

    async def _looked(self, looking: Coroutine[Any, Any, T], nothing: T) -> T:
        look = asyncio.get_running_loop().create_task(looking)
        self._look = look
        await asyncio.wait([look])
        self._look = None
        if look.cancelled():
            return nothing
        if look.exception() is not None:  # the look's boundary: Rule 2
            log.error("a look at the disk failed", exc_info=look.exception())
            return nothing
        return look.result()

    def foresee(self) -> None:
        """Look at what the calls that were just announced will overwrite, while everything else goes on."""
        disk = self._recorder.at().tools.disk
        for call_id, paths in disk.take_foreseen().items():
            if self._stopped or len(self._foreseen) >= FORESEEN:
                disk.found(call_id, {})
                continue
            task = self._foreseen[call_id] = asyncio.get_running_loop().create_task(self._find(call_id, paths))
            task.add_done_callback(partial(self._look_over, call_id))

    async def _find(self, call_id: str, paths: list[str]) -> None:
        try:
            self._found(call_id, await see(self._workspace, paths))
        except Exception:  # the look's boundary: a call goes on, seen or not
            log.exception("a look at the disk failed")

    def _look_over(self, call_id: str, task: asyncio.Task[None]) -> None:
        """A look beforehand has ended; one that was cancelled found nothing."""
        self._found(call_id, {})

    def _found(self, call_id: str, files: dict[str, SeenFile]) -> None:
        if self._foreseen.pop(call_id, None) is not None:
            self._recorder.at().tools.disk.found(call_id, files)
