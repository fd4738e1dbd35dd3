"""Copilot CLI's hooks in a terminal: what it calls them with, and what it takes for an answer.

Rule 1: ``permissionRequest`` is called before the terminal's own prompt, and hides it: it waits only while the person is away.
Rule 2: it fails closed. Whatever is no answer, and every exit code but 0, denies the call. So the command line itself sees to it
that a hook that cannot run says nothing and ends with 0: then the terminal asks.
Rule 3: an answer changes nothing beyond its call.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from trunkline import decoders
from trunkline.dialects.copilot.events import KINDS
from trunkline.dialects.elsewhere.foreign import above
from trunkline.dialects.elsewhere.hooks import NO_OPINION, HookCall, HookKind
from trunkline.dialects.elsewhere.transcripts import asked
from trunkline.dialects.outside import BROKEN, Json
from trunkline.dialects.signals import PermissionAsk, PermissionOption

ASK: Final = "permissionRequest"
PROMPTED: Final = "userPromptSubmitted"
LIMIT_S: Final = 300

ALLOW: Final = PermissionOption("allow", "Allow", "allow_once")
ALWAYS: Final = PermissionOption("allow_always", "Always allow", "allow_always")
DENY: Final = PermissionOption("reject", "Deny", "reject_once")

REPOSITORY: Final = (".github/hooks", ".github/copilot/hooks")
"""Where a project may have hooks of its own."""

_encode = msgspec.json.Encoder().encode


class _Input(msgspec.Struct, rename="camel"):
    """The members of a hook's input that matter. Only the permission's says by which name it was called."""

    session_id: str
    hook_name: str = ""
    cwd: str = ""
    tool_name: str = ""
    tool_input: Any = None
    prompt: str | None = None


_read = decoders.of(_Input).decode


class CopilotHooks:
    """Implements ``HookDialect``."""

    variable = "COPILOT_LOADER_PID"
    races = False
    settings = "hooks/trunkline.json"
    blank = '{\n  "version": 1\n}\n'
    limit_s = LIMIT_S
    reloads = False

    def entries(self, command: Callable[[HookKind], str]) -> Mapping[str, Json]:
        """The permission hook, and the report of a prompt: from then on the session is followed."""
        return {ASK: _entry(command("ask"), LIMIT_S), PROMPTED: _entry(command("report"), 5)}

    def watched_files(self, folder: str, cwd: str) -> list[str]:
        """The folder of the person's hooks, that of plugins, and those of the project, which may begin in any folder above: what
        is in there may decide, too."""
        return [*(posixpath.join(folder, name) for name in ("hooks", "installed-plugins")), *above(cwd, *REPOSITORY)]

    def has_foreign(self, text: bytes, is_ours: Callable[[str], bool]) -> bool:
        """Hooks of others for the same event."""
        try:
            read = msgspec.json.decode(text)
        except BROKEN:
            return True
        hooks = read.get("hooks") if isinstance(read, dict) else None
        listed = hooks.get(ASK, []) if isinstance(hooks, dict) else None
        return not isinstance(listed, list) or not all(
            isinstance(each, dict) and isinstance(line := each.get("bash"), str) and is_ours(line) for each in listed)

    def read(self, body: bytes) -> HookCall | None:
        """A call that asks, or one that says that somebody prompted."""
        try:
            read = _read(body)
        except BROKEN:
            return None
        if read.hook_name == ASK:
            if not read.tool_name or not isinstance(read.tool_input, dict):
                return None
            return HookCall(does="asks", session_id=read.session_id, cwd=read.cwd, tool=read.tool_name, given=read.tool_input)
        return HookCall(does="goes_on", session_id=read.session_id, cwd=read.cwd) if read.prompt is not None else None

    def ask(self, call: HookCall, request_id: str, call_id: str) -> PermissionAsk:
        """A permission."""
        described = asked(call_id, call.tool, KINDS.get(call.tool, "other"), call.given, cwd=call.cwd)
        return PermissionAsk(request_id, described, (ALLOW, ALWAYS, DENY), beyond_turn=True)

    def decided(self, call: HookCall, option_id: str | None, reason: str | None, edited: bytes | None) -> bytes:
        """What a decision is for the CLI. "Always" is a rule of ours: the CLI is told of this call alone."""
        if option_id in (ALLOW.option_id, ALWAYS.option_id):
            return _encode({"behavior": "allow"})
        if option_id == DENY.option_id:
            return _encode({"behavior": "deny", "message": reason or "The person did not allow this."})
        return NO_OPINION

    def answered(self, call: HookCall, action: str, content: bytes | None) -> bytes:
        """It asks no questions by hooks."""
        return NO_OPINION


def _entry(command: str, limit_s: int) -> Json:
    return {"type": "command", "bash": f"{command} 2>/dev/null || true", "timeoutSec": limit_s}


HOOKS: Final = CopilotHooks()
