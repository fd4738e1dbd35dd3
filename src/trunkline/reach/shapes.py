"""What is written into a program's settings so that it asks here, too: commands of hooks, or the name of a plugin.

Rule: pure, text in and text out. What is ours is known by the name of our file in it, wherever that file was.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from trunkline.dialects.elsewhere.hooks import HookDialect, HookKind
from trunkline.dialects.elsewhere.plugins import PluginDialect
from trunkline.dialects.outside import Json
from trunkline.reach import trunkline_hook
from trunkline.reach.settings_file import (
    items_in,
    missing_lists,
    our_commands,
    with_entries,
    with_item,
    without_entries,
    without_items,
)

PLUGINS: Final = Path(__file__).with_name("plugins")

State = Literal["installed", "partly", "outdated", "absent"]


class Shape(Protocol):
    """What we have in a settings file."""

    def put(self, text: str) -> str:
        """The text with it, where it is not there."""

    def cut(self, text: str, made: Collection[str] | None = None) -> str:
        """The text without it. ``made`` are the lists that came with it, where that is known."""

    def missing(self, text: str) -> list[str]:
        """Which of the lists that it needs are not there."""

    def state(self, text: str) -> State:
        """Whether it is there."""


class HookCommands:
    """An entry for each event that the program calls hooks for."""

    def __init__(self, dialect: HookDialect, words: Callable[[HookKind], list[str]]) -> None:
        self._dialect = dialect
        self._entries = dialect.entries(lambda kind: shlex.join(words(kind)))
        self._wanted = our_commands(self.put(""), is_our_command)

    def put(self, text: str) -> str:
        """One entry more for each event."""
        return with_entries(text, self._entries, self._dialect.blank)

    def cut(self, text: str, made: Collection[str] | None = None) -> str:
        """Without our hooks."""
        return without_entries(text, is_our_command, made)

    def missing(self, text: str) -> list[str]:
        """Lists of events, and the one of them all."""
        return missing_lists(text, self._entries)

    def state(self, text: str) -> State:
        """By the commands that are there."""
        found = our_commands(text, is_our_command)
        if not found:
            return "absent"
        if any(not set(commands).issubset(self._wanted.get(event, ())) for event, commands in found.items()):
            return "outdated"
        return "installed" if all(len(found.get(event, ())) == 1 for event in self._wanted) else "partly"


class NamedPlugin:
    """An item in the program's list of plugins."""

    def __init__(self, dialect: PluginDialect, options: Json) -> None:
        self._dialect = dialect
        self._item = dialect.item(str(PLUGINS / dialect.file), options)

    def put(self, text: str) -> str:
        """One item more."""
        return with_item(text, self._dialect.plugins, self._item)

    def cut(self, text: str, made: Collection[str] | None = None) -> str:
        """Without our item."""
        return without_items(text, self._dialect.plugins, self._is_ours, made is None or self._dialect.plugins in made)

    def missing(self, text: str) -> list[str]:
        """The list of plugins."""
        return [] if items_in(text, self._dialect.plugins) is not None else [self._dialect.plugins]

    def state(self, text: str) -> State:
        """By the item that is there."""
        ours = [item for item in items_in(text, self._dialect.plugins) or [] if self._is_ours(item)]
        if not ours:
            return "absent"
        return "installed" if ours == [self._item] else "outdated"

    def _is_ours(self, item: Any) -> bool:
        parts = Path(self._dialect.path_in(item)).parts
        return parts[-4:] == (*PLUGINS.parts[-3:], self._dialect.file)


def is_our_command(command: str) -> bool:
    """Whether a hook's command runs our program."""
    return os.path.basename(trunkline_hook.__file__) in command
