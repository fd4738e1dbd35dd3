"""goose's hooks in a terminal: a plugin, what it is called with, and what it takes for an answer.

Rule 1: ``PreToolUse`` comes after the person's yes, before the tool. It is answered at once, with a denial by rule or with
nothing; it cannot allow.
Rule 2: nothing announces goose's own prompt, so that nobody here can know that it waits.
Rule 3: an exit code of 2 would deny.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from trunkline.dialects.goose.messages import KINDS
from trunkline.dialects.hooks import NO_OPINION, HookCall, HookKind, commands_in
from trunkline.dialects.outside import BROKEN, Json
from trunkline.dialects.signals import PermissionAsk, PermissionOption
from trunkline.dialects.transcripts import called

CHECK: Final = "PreToolUse"
REPORTS: Final = ("UserPromptSubmit", "PostToolUse", "Stop")
LIMIT_S: Final = 5
"""How long goose may let the hook run; it takes a moment, or has given up on the hub by then."""
DENY: Final = PermissionOption("reject", "Deny", "reject_once")
NO_REASON: Final = "A rule of this person's does not allow it."

_encode = msgspec.json.Encoder().encode


class _Input(msgspec.Struct):
    """The members of a hook's input that matter."""

    session_id: str
    event: str
    working_dir: str = ""
    tool_name: str = ""
    tool_input: Any = None


_read = msgspec.json.Decoder(_Input).decode


class GooseHooks:
    """Implements ``HookDialect`` and ``InPlugin``."""

    variable = ""
    races = False
    folder = "~/.agents/plugins/trunkline"
    settings = "hooks/hooks.json"
    files: Mapping[str, str] = {"plugin.json": '{"name": "trunkline", "version": "1.0.0"}\n'}
    blank = "{}\n"
    limit_s = 0
    reloads = False

    def entries(self, command: Callable[[HookKind], str]) -> Mapping[str, Json]:
        """The check before a tool, which is answered at once, and reports."""
        def entry(kind: HookKind) -> Json:
            return {"hooks": [{"type": "command", "command": command(kind), "timeout": LIMIT_S}]}

        return {CHECK: entry("check"), **dict.fromkeys(REPORTS, entry("report"))}

    def watched_files(self, folder: str, cwd: str) -> list[str]:
        """Rules never allow what goose asks, whatever other hooks there are."""
        return [posixpath.join(folder, self.settings)]

    def has_foreign(self, text: bytes, is_ours: Callable[[str], bool]) -> bool:
        """Hooks of others for the same event, in a file of ours."""
        try:
            hooks = msgspec.json.decode(text).get("hooks", {})
            return not all(map(is_ours, commands_in(hooks.get(CHECK, []))))
        except (*BROKEN, AttributeError):
            return bool(text.strip())

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

    def decided(self, call: HookCall, option_id: str | None, reason: str | None, edited: bytes | None) -> bytes:
        """A denial; there is no yes."""
        return _encode({"decision": "block", "reason": reason or NO_REASON}) if option_id == DENY.option_id else NO_OPINION

    def answered(self, call: HookCall, action: str, content: bytes | None) -> bytes:
        """It asks no questions by its hooks."""
        return NO_OPINION


HOOKS: Final = GooseHooks()
