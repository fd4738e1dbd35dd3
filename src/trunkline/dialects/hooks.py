"""What programs report by hooks while a person uses them in a terminal, and what they take for an answer: what all share.

Rule 1: pure, as every dialect: bytes in, values out. What cannot be read is None, and then nobody has an opinion.
Rule 2: an answer is the text that the hook prints. Nothing (``b""``) is no opinion: the program asks its person as ever. Only
what a person or a rule of ours has decided is anything else.
Rule 3: an agent's catalog entry names its hooks (``hooks = "…"``); the module of that name is in the vendor's own dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final, Literal, Protocol, cast

import msgspec

from trunkline.dialects.outside import Json
from trunkline.dialects.signals import PermissionAsk, QuestionAsk

NO_OPINION: Final = b""

Does = Literal["asks", "goes_on", "waits"]
"""What a program reports: it asks its person about a tool; the work went on, was stopped or begun anew, so that whatever it had
asked before is over; it waits for its person, for something that cannot be answered from here."""

HookKind = Literal["ask", "report"]


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


class HookDialect(Protocol):
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
        """How long the program lets the hook wait."""

    @property
    def reloads(self) -> bool:
        """Whether sessions that run already take up what is installed."""

    def entries(self, command: Callable[[HookKind], str]) -> Mapping[str, Json]:
        """What is added to the settings: an entry for each event, by the event's name."""

    def watched_files(self, folder: str, cwd: str) -> list[str]:
        """Every settings file that may have hooks of others for a session in ``cwd``, or the folder with such files; ``folder``
        is the program's own."""

    def has_foreign(self, text: bytes, is_ours: Callable[[str], bool]) -> bool:
        """Whether a settings file has a permission hook that is not ours. What cannot be read may have one."""

    def read(self, body: bytes) -> HookCall | None:
        """What a hook was called with; None where that is no call that we know."""

    def ask(self, call: HookCall, request_id: str, call_id: str) -> PermissionAsk | QuestionAsk:
        """What a person is asked."""

    def decided(self, call: HookCall, option_id: str | None, reason: str | None, edited: bytes | None) -> bytes:
        """What the hook prints for a decision; without an option, nothing."""

    def answered(self, call: HookCall, action: str, content: bytes | None) -> bytes:
        """What the hook prints for the answer to a question; for one that nobody answered, nothing."""


def hook_dialect(name: str) -> HookDialect | None:
    """The hooks of that name; loaded when they are first wanted. None where that vendor's dialect has none."""
    if not name.isidentifier():
        return None
    try:
        return cast(HookDialect, import_module(f"trunkline.dialects.{name}.hooks").HOOKS)
    except ModuleNotFoundError:
        return None


def commands_in(entries: Any) -> list[str]:
    """The commands of a list of hook entries, in the shape that most programs share: ``[{"hooks": [{"command": …}]}]``. What is
    of another shape counts as a command without words."""
    found: list[str] = []
    for entry in entries if isinstance(entries, list) else [entries]:
        hooks = entry.get("hooks") if isinstance(entry, dict) else None
        for hook in hooks if isinstance(hooks, list) else [None]:
            command = hook.get("command") if isinstance(hook, dict) else None
            found.append(command if isinstance(command, str) else "")
    return found
