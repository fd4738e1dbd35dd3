"""The folders that callers name for sessions, and those that are the hub's own."""

from __future__ import annotations

import os
from collections.abc import Sequence

from trunkline.errors import Invalid
from trunkline.hub.shapes import HubOptions
from trunkline.journal.stores import store_named
from trunkline.session.workspace.files import Workspace
from trunkline.threads import Lane, check_off_loop

LANE_MOST = 32
"""Folders that are looked at, at a time: one that hangs keeps nobody else from starting a session."""


def guarded_folders(options: HubOptions) -> tuple[str, ...]:
    """What no rule opens to an agent: the hub's own data, its store, the rules themselves, and the hub's key for its cluster; by
    the name that each was given, and by where it really is. Looks at the disk."""
    if not options.keeps_files:
        return ()
    places = (options.data, store_named(options.store).folder, options.policy_file, options.cluster_credentials)
    names = [str(place) for place in places if place is not None]
    return tuple(dict.fromkeys((*names, *map(os.path.realpath, names))))


def folder_lane() -> Lane:
    """Where folders are looked at that callers name, and files that are no session's."""
    return Lane(LANE_MOST)


def folder(cwd: str, guarded: Sequence[str]) -> str:
    """The real path of a folder that is there, and is not the hub's own. Looks at the disk, so that it runs in a lane."""
    check_off_loop()
    check_place(cwd)
    if not os.path.isdir(cwd):
        raise Invalid(f"cwd is not a folder: {cwd}")
    real = os.path.realpath(cwd)
    Workspace([real], guarded).check(real, cwd)
    return real


def check_place(cwd: str) -> None:
    """Invalid for what names no folder, here or anywhere."""
    if not os.path.isabs(cwd) or "\0" in cwd:
        raise Invalid(f"cwd must be an absolute path, not {cwd!r}")
