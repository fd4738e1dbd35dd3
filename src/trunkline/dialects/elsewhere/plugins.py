"""A plugin of ours in somebody else's program: how its settings name it, what it tells by its line, and what it can be told.

Rule 1: pure, as every dialect: a line in, one of these out; what cannot be read is None.
Rule 2: an order is a line, too. Nothing (``b""``) is no opinion.
Rule 3: an agent's catalog entry names its hooks (``hooks = "…"``); where its program runs plugins and no hooks, the module of
that name in the vendor's dialect has the plugin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

import msgspec

from trunkline.dialects.elsewhere.hooks import module_of
from trunkline.dialects.elsewhere.lines import AskOver, NotTaken, Said, Says
from trunkline.dialects.outside import Json
from trunkline.dialects.signals import PermissionAsk, QuestionAsk


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The program asks its person."""

    key: str
    call_id: str = ""
    """The call that it is about; empty where it is about none."""
    about: str = ""
    """The program's own word for what is asked."""
    given: Json = {}
    questions: list[Json] = []
    """What it asks, where that is no permission."""
    is_alone: bool = False
    """Whether nobody but us and the person can answer it: no other plugin is there."""


class Shows(msgspec.Struct, frozen=True):
    """The program has this session on its screen; or none, where it is empty."""

    session_id: str


class Works(msgspec.Struct, frozen=True):
    """The session is being worked on, or not any more."""

    is_busy: bool


class InSession(msgspec.Struct, frozen=True):
    """What is about one session, and has its place in its order."""

    session_id: str
    event: Asked | AskOver | Says | Said | Works


PluginEvent = InSession | Shows | NotTaken

Stored = tuple[str, Json]
"""A call as the program's own store has it: the tool's name and its input."""


class PluginDialect(Protocol):
    """How one vendor's program is told of our plugin, and how that speaks."""

    @property
    def settings(self) -> str:
        """The settings file that names it, below the program's own folder."""

    @property
    def plugins(self) -> str:
        """The list of plugins in there."""

    @property
    def file(self) -> str:
        """Our plugin, in ``reach/plugins``."""

    def item(self, path: str, options: Json) -> Any:
        """What names a plugin, and what it is to know."""

    def path_in(self, item: Any) -> str:
        """The plugin that an item names; empty where it names none."""

    def read(self, line: bytes) -> list[PluginEvent]:
        """What a line says that matters."""

    def ask(self, asked: Asked, call_id: str, stored: Stored | None) -> PermissionAsk | QuestionAsk:
        """What a person is asked; the ask's own id is not given yet."""

    def decided(self, key: str, option_id: str | None, reason: str | None) -> bytes:
        """The order for a decision; nothing without an option."""

    def answered(self, asked: Asked, action: str, content: bytes | None) -> bytes:
        """The order for the answer to a question; nothing for one that nobody answered."""

    def check_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Raise Unsupported when the program cannot take one of the blocks."""

    def prompt(self, session_id: str, turn_id: str, blocks: Sequence[msgspec.Raw]) -> bytes:
        """The order that sends a prompt."""

    def cancel(self, session_id: str) -> bytes:
        """The order that ends a turn."""


def plugin_dialect(name: str) -> PluginDialect | None:
    """The plugin of that name; None where that vendor's dialect has none."""
    return cast(PluginDialect | None, getattr(module_of(name), "PLUGIN", None))
