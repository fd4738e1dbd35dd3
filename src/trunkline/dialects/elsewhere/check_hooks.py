"""Hooks that check a call and never wait: what programs share that are denied something by them, and never allowed.

Rule: the check is answered at once, by a rule that denies or with nothing. All else that such a program reports is a report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec

from trunkline.dialects.elsewhere.foreign import IsOurs, others_in, read_settings
from trunkline.dialects.elsewhere.hooks import NO_OPINION, HookCall, HookKind
from trunkline.dialects.outside import Json
from trunkline.dialects.signals import PermissionOption

DENY: Final = PermissionOption("reject", "Deny", "reject_once")
NO_REASON: Final = "A rule of this person's does not allow it."


class CheckHooks:
    """What those implement of ``HookDialect`` alike."""

    variable = ""
    races = False
    blank = "{}\n"
    limit_s = 0
    reloads = False
    check = ""
    """The event before a tool."""
    reports: Iterable[str] = ()
    """The events that are told."""
    timeout = 0
    """How long the program may let a hook run, in its own unit: it takes a moment, or has given up on the hub by then."""
    denial = ""
    """What the program calls a decision that denies."""

    def entries(self, command: Callable[[HookKind], str]) -> Mapping[str, Json]:
        """The check before a tool, which is answered at once, and reports."""
        def entry(kind: HookKind) -> Json:
            return {"hooks": [{"type": "command", "command": command(kind), "timeout": self.timeout}]}

        return {self.check: entry("check"), **dict.fromkeys(self.reports, entry("report"))}

    def has_foreign(self, text: bytes, is_ours: IsOurs) -> bool:
        """Hooks of others for the same event. They cannot allow anything either."""
        return others_in(read_settings(text), self.check, is_ours)

    def decided(self, call: HookCall, option_id: str | None, reason: str | None, edited: bytes | None) -> bytes:
        """A denial; there is no yes."""
        if option_id != DENY.option_id:
            return NO_OPINION
        return msgspec.json.encode({"decision": self.denial, "reason": reason or NO_REASON})

    def answered(self, call: HookCall, action: str, content: bytes | None) -> bytes:
        """They ask no questions by their hooks."""
        return NO_OPINION
