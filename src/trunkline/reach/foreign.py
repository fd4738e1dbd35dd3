"""Whether somebody else's hook may decide what a program asks, too: by the settings files of that program, as they are now, and
by what it was started with.

Rule: in doubt it may. Then no rule of ours allows: a fast yes would beat a slower no.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.agents.process_table import command_line
from trunkline.dialects.elsewhere.foreign import HasForeign, TakesHooks
from trunkline.disk.reading import open_plain
from trunkline.errors import Unavailable
from trunkline.reach.shapes import is_our_command
from trunkline.threads import Lane

if TYPE_CHECKING:
    from trunkline.hub import Hub

SETTINGS_MOST: Final = 1 << 20


async def others_decide(hub: Hub, lane: Lane, spec: AgentSpec, dialect: HasForeign, cwd: str, pid: int = 0) -> bool:
    """Whether a hook of somebody else's may decide what a session in that folder asks, whose program is that process."""
    folder = catalog.expand(spec.paths.config, hub.environ)
    if folder is None:
        return True
    try:
        return await lane.run(_is_given_hooks, dialect, pid) or await lane.run(_has_foreign, dialect, folder, cwd)
    except Unavailable:
        return True


def _is_given_hooks(dialect: object, pid: int) -> bool:
    """Whether a program was started with hooks of others, by its command line. One that nobody can read may have some."""
    if not isinstance(dialect, TakesHooks):
        return False
    words = command_line(pid) if pid > 1 else []
    return not words or any(word.partition("=")[0] in dialect.hook_flags for word in words)


def _has_foreign(dialect: HasForeign, folder: str, cwd: str) -> bool:
    for path in [file for place in dialect.watched_files(folder, cwd) for file in _files_at(place)]:
        try:
            with open_plain(path, follow=True) as file:
                text = file.read(SETTINGS_MOST + 1)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return True
        if len(text) > SETTINGS_MOST or dialect.has_foreign(text, is_our_command):
            return True
    return False


def _files_at(path: str) -> list[str]:
    """A file, or those in a folder."""
    try:
        return [os.path.join(path, name) for name in os.listdir(path)]
    except OSError:
        return [path]
