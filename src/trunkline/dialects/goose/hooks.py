"""goose's hooks in a terminal: a plugin, what it is called with, and what it takes for an answer.

Rule 1: ``PreToolUse`` comes after the person's yes, before the tool. It is answered at once, with a denial by rule or with
nothing; it cannot allow.
Rule 2: nothing announces goose's own prompt, so that nobody here can know that it waits.
Rule 3: an exit code of 2 would deny.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from trunkline import decoders
from trunkline.dialects.elsewhere.check_hooks import DENY, CheckHooks
from trunkline.dialects.elsewhere.hooks import HookCall
from trunkline.dialects.elsewhere.transcripts import called
from trunkline.dialects.goose.messages import KINDS
from trunkline.dialects.outside import BROKEN, Json
from trunkline.dialects.signals import PermissionAsk

CHECK: Final = "PreToolUse"
REPORTS: Final = ("UserPromptSubmit", "PostToolUse", "Stop")
LIMIT_S: Final = 5

_encode = msgspec.json.Encoder().encode


class _Input(msgspec.Struct):
    """The members of a hook's input that matter."""

    session_id: str
    event: str
    working_dir: str = ""
    tool_name: str = ""
    tool_input: Any = None


_read = decoders.of(_Input).decode


class GooseHooks(CheckHooks):
    """Implements ``HookDialect`` and ``InPlugin``."""

    folder = "~/.agents/plugins/trunkline"
    settings = "hooks/hooks.json"
    files: Mapping[str, str] = {"plugin.json": '{"name": "trunkline", "version": "1.0.0"}\n'}
    check, reports, timeout, denial = CHECK, REPORTS, LIMIT_S, "block"

    def watched_files(self, folder: str, cwd: str) -> list[str]:
        """Rules never allow what goose asks, whatever other hooks there are."""
        return [posixpath.join(folder, self.settings)]

    def read(self, body: bytes) -> HookCall | None:
        """A tool that is about to run, or work that went on."""
        try:
            read = _read(body)
        except BROKEN:
            return None
        given = read.tool_input if isinstance(read.tool_input, dict) else {}
        common: Json = {"session_id": read.session_id, "cwd": read.working_dir, "tool": read.tool_name, "given": given}
        if read.event == CHECK:
            return HookCall(does="checks", **common) if read.tool_name and isinstance(read.tool_input, dict) else None
        return HookCall(does="goes_on", ran=read.event == "PostToolUse", **common) if read.event in REPORTS else None

    def ask(self, call: HookCall, request_id: str, call_id: str) -> PermissionAsk:
        """What rules look at. Nobody is asked."""
        described = called(call_id, call.tool, KINDS.get(call.tool, "other"), call.given, cwd=call.cwd)
        return PermissionAsk(request_id, _encode(described), (DENY,), beyond_turn=True, rules_allow=False)


HOOKS: Final = GooseHooks()
