"""Hooks of others, beside us: a program of theirs may deny what a rule of ours would allow.

Rule: what cannot be read may have one. Who is not sure that we are alone lets no rule allow.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import msgspec

from trunkline.dialects.outside import BROKEN, Json

IsOurs = Callable[[str], bool]
"""Whether a command is one of our hooks."""


class HasForeign(Protocol):
    """How one vendor's settings name hooks that decide."""

    def watched_files(self, folder: str, cwd: str) -> list[str]:
        """Every settings file that may have hooks of others for a session in ``cwd``, or the folder with such files; ``folder``
        is the program's own."""

    def has_foreign(self, text: bytes, is_ours: IsOurs) -> bool:
        """Whether a settings file has a permission hook that is not ours. What cannot be read may have one."""


@runtime_checkable
class TakesHooks(Protocol):
    """A program that one start of it may be given hooks for, by its command line."""

    @property
    def hook_flags(self) -> tuple[str, ...]:
        """The flags that do so."""


def above(cwd: str, *names: str) -> list[str]:
    """Files of these names in a folder, and in all above it."""
    files: list[str] = []
    while cwd.startswith("/"):
        files += [posixpath.join(cwd, name) for name in names]
        if cwd == "/":
            break
        cwd = posixpath.dirname(cwd)
    return files


def read_settings(text: bytes) -> Json | None:
    """Settings in JSON; None for what cannot be read. An empty file has none."""
    if not text.strip():
        return {}
    try:
        read = msgspec.json.decode(text)
    except BROKEN:
        return None
    return read if isinstance(read, dict) else None


def others_in(settings: Json | None, event: str, is_ours: IsOurs) -> bool:
    """Whether settings of the shape that most programs share have a hook of others for that event."""
    if settings is None:
        return True
    hooks = settings.get("hooks", {})
    return not isinstance(hooks, dict) or not all(map(is_ours, commands_in(hooks.get(event, []))))


def commands_in(entries: Any) -> list[str]:
    """The commands of a list of hook entries: ``[{"hooks": [{"command": …}]}]``. What is of another shape counts as a command
    without words."""
    found: list[str] = []
    for entry in entries if isinstance(entries, list) else [entries]:
        hooks = entry.get("hooks") if isinstance(entry, dict) else None
        for hook in hooks if isinstance(hooks, list) else [None]:
            command = hook.get("command") if isinstance(hook, dict) else None
            found.append(command if isinstance(command, str) else "")
    return found
