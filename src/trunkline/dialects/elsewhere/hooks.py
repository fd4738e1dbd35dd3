"""What programs report by hooks while a person uses them in a terminal, and what they take for an answer: what all share.

Rule 1: pure, as every dialect: bytes in, values out. What cannot be read is None, and then nobody has an opinion.
Rule 2: an answer is the text that the hook prints. Nothing (``b""``) is no opinion: the program asks its person as ever. Only
what a person or a rule of ours has decided is anything else.
Rule 3: an agent's catalog entry names its hooks (``hooks = "…"``); the module of that name is in the vendor's own dialect. A
program that has no hooks but runs plugins has its plugin in there (``plugins.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Final, Literal, Protocol, cast, runtime_checkable

import msgspec

from trunkline.dialects.elsewhere.foreign import HasForeign
from trunkline.dialects.outside import Json
from trunkline.dialects.signals import PermissionAsk, QuestionAsk

NO_OPINION: Final = b""

Does = Literal["asks", "checks", "asks_there", "goes_on", "waits"]
"""What a program reports: it asks its person about a tool, and takes an answer from here; it is about to ask or run, and takes
a denial at once, no wait; it asks its person, and takes no answer from here; the work went on, was stopped or begun anew, so that
whatever it had asked before is over; it waits for its person, for something else."""

HookKind = Literal["ask", "check", "report"]
"""How the hook program is called: it waits for an answer, waits a moment for one, waits for none."""


class HookCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a hook."""

    does: Does
    session_id: str
    cwd: str
    part: str = ""
    """The sub-agent that asks; empty: the agent itself."""
    tool: str = ""
    given: Json = {}
    message: str = ""
    of_part: bool = False
    """Only this part of the session went on: what others of it ask still waits."""
    ran: bool = False
    """The work went on because the tool ran: somebody allowed it."""


class HookDialect(HasForeign, Protocol):
    """How one vendor's program calls hooks, and what it takes from them."""

    @property
    def variable(self) -> str:
        """The variable in which a hook finds the process id of the program; empty where there is none."""

    @property
    def races(self) -> bool:
        """Whether the program asks its person while the hook waits: the first answer wins."""

    @property
    def settings(self) -> str:
        """The settings file, below the program's own folder."""

    @property
    def blank(self) -> str:
        """What such a file begins with, where there is none."""

    @property
    def limit_s(self) -> int:
        """How long the program lets a hook wait for somebody's answer; 0 where none of its hooks does."""

    @property
    def reloads(self) -> bool:
        """Whether sessions that run already take up what is installed."""

    def entries(self, command: Callable[[HookKind], str]) -> Mapping[str, Json]:
        """What is added to the settings: an entry for each event, by the event's name."""

    def read(self, body: bytes) -> HookCall | None:
        """What a hook was called with; None where that is no call that we know."""

    def ask(self, call: HookCall, request_id: str, call_id: str) -> PermissionAsk | QuestionAsk:
        """What a person is asked."""

    def decided(self, call: HookCall, option_id: str | None, reason: str | None, edited: bytes | None) -> bytes:
        """What the hook prints for a decision; without an option, nothing."""

    def answered(self, call: HookCall, action: str, content: bytes | None) -> bytes:
        """What the hook prints for the answer to a question; for one that nobody answered, nothing."""


@runtime_checkable
class ShowsPrompt(Protocol):
    """A program whose prompt can be recognised on its screen, and answered by one key."""

    @property
    def keys(self) -> Mapping[str, str]:
        """The key for each option that it can be answered with, as tmux names keys."""

    def is_shown(self, screen: str, call: HookCall) -> bool:
        """Whether this screen asks about exactly this call, so that those keys mean those options. In doubt it does not."""


@runtime_checkable
class InPlugin(Protocol):
    """A program whose hooks are a plugin: a folder of its own, with files that are ours alone."""

    @property
    def folder(self) -> str:
        """Where the plugin is; the settings file is below it. ``~`` and ``${NAME:-default}`` are filled in."""

    @property
    def files(self) -> Mapping[str, str]:
        """What is in it besides, by the names below the folder."""


def hook_dialect(name: str) -> HookDialect | None:
    """The hooks of that name; loaded when they are first wanted. None where that vendor's dialect has none."""
    return cast(HookDialect | None, getattr(module_of(name), "HOOKS", None))


def hook_limit_s(name: str) -> int:
    """How long those hooks wait for somebody's answer; 0 where none does."""
    dialect = hook_dialect(name)
    return dialect.limit_s if dialect is not None else 0


def module_of(name: str) -> ModuleType | None:
    """The module with a vendor's hooks, or with its plugin; None where there is none."""
    if not name.isidentifier():
        return None
    try:
        return import_module(f"trunkline.dialects.{name}.hooks")
    except ModuleNotFoundError:
        return None
