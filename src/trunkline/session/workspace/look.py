"""What has to be found out on the disk about something that is asked for: where its paths lead, and the text that it changes.

Rule 1: it is found out off the loop and before the ask is judged or written down; whoever judges looks at no disk.
Rule 2: what cannot be found out in time is not known, and what is not known allows nothing.
Rule 3: what was found out is kept with the ask (``Disk``), in the journal too: a rule that decides later decides from the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from stat import S_ISREG

import msgspec

from trunkline.errors import TrunklineError, Unavailable
from trunkline.session.fold import DISK_PLACES, Disk, SeenFile
from trunkline.session.policy.decide import PolicyAsk
from trunkline.session.workspace.files import Workspace
from trunkline.threads import check_off_loop

LOOK_S = 5.0
"""How long an ask waits for the disk: a person is waiting for it too, and a mount that is gone never answers."""


class DiskLook(msgspec.Struct, frozen=True):
    """What was found."""

    places: Mapping[str, str] = {}
    """Where a path really leads, by the path as it was spelled."""
    texts: Mapping[str, str] = {}
    """The text of a file, by its path."""

    def real(self, path: str) -> str | None:
        """Where a path leads; None where that is not known."""
        return self.places.get(path)

    def knows(self, paths: Iterable[str]) -> bool:
        """Whether all of these were looked up."""
        return all(path in self.places for path in paths)


    @staticmethod
    def kept(disk: Disk | None, asks: Sequence[PolicyAsk]) -> DiskLook:
        """What was found when these were asked."""
        if disk is None:
            return DiskLook()
        unknown = frozenset(disk.unknown)
        places = {path: place for ask in asks for path in ask.paths if path not in unknown
                  and (place := disk.real.get(path) or (None if disk.cut else spelled_place(ask.root, path))) is not None}
        return DiskLook(places)

    def to_keep(self, asks: Sequence[PolicyAsk]) -> Disk | None:
        """What is kept with these; None where they name no path."""
        named = {path: ask.root for ask in asks for path in ask.paths}
        if not named:
            return None
        unknown = [path for path in named if path not in self.places]
        real = {path: self.places[path] for path, root in named.items()
                if path in self.places and self.places[path] != spelled_place(root, path)}
        if len(real) + len(unknown) <= DISK_PLACES:
            return Disk(real, unknown)
        return Disk(dict(islice(((path, self.places[path]) for path in named if path in self.places), DISK_PLACES)), cut=True)


async def look_at(space: Workspace, root: str, paths: Sequence[str], files: Sequence[str] = (),
                  known: DiskLook | None = None) -> DiskLook:
    """Look up the paths (relative ones from ``root``) and read the files, as far as that is not known and can be in time."""
    known = known or DiskLook()
    wanted = [path for path in dict.fromkeys(paths) if path not in known.places]
    if not wanted and not files:
        return known
    try:
        found = await space.lane.run_within(LOOK_S, _look, space, root, wanted, files)
    except (TimeoutError, Unavailable):
        return known
    return DiskLook({**known.places, **found.places}, {**known.texts, **found.texts})


async def see(space: Workspace, paths: Sequence[str]) -> dict[str, SeenFile]:
    """Files of the session as they are now, as far as that can be known in time."""
    try:
        return await space.lane.run_within(LOOK_S, _see, space, paths)
    except (TimeoutError, Unavailable):
        return {}


def _see(space: Workspace, paths: Sequence[str]) -> dict[str, SeenFile]:
    found: dict[str, SeenFile] = {}
    for path in paths:
        try:
            status = space.look(space.resolve(path))
        except FileNotFoundError:
            found[path] = SeenFile(exists=False)
        except (OSError, TrunklineError):
            continue  # not the session's, or no path at all
        else:
            found[path] = SeenFile(exists=True, size=status.st_size, text=space.glance(path) if S_ISREG(status.st_mode) else None)
    return found


def _look(space: Workspace, root: str, paths: Sequence[str], files: Sequence[str]) -> DiskLook:
    texts = {file: text for file in files if (text := space.glance(file)) is not None}
    return DiskLook(places_of(root, paths), texts)


def spelled_place(root: str, path: str) -> str:
    """Where a path leads by its spelling alone."""
    return os.path.normpath(os.path.join(root, os.path.expanduser(path)))


def places_of(root: str, paths: Iterable[str]) -> dict[str, str]:
    """Where paths really lead; those that lead nowhere at all (no name can be so) are left out."""
    check_off_loop()
    places: dict[str, str] = {}
    for path in paths:
        try:
            places[path] = os.path.realpath(os.path.join(root, os.path.expanduser(path)))
        except (OSError, ValueError):
            continue  # ValueError: a NUL, or what no file system can spell
    return places
