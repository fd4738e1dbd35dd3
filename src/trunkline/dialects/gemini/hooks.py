"""Gemini CLI's hooks in a terminal: what it calls them with, and what it takes for an answer.

Rule 1: ``BeforeTool`` is called before the terminal's own prompt, and hides it while it runs. So it is answered at once, with a
denial by rule or with nothing. It cannot allow: the prompt comes all the same.
Rule 2: ``Notification`` comes with the prompt. Nothing can be answered to it; its person answers in the terminal.
Rule 3: times are in milliseconds, and an exit code of 2 would deny.
Rule 4: the screen is recognised in doubt-free cases only: the prompt of a command, whole, with "Allow once" marked.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from trunkline import decoders
from trunkline.dialects.elsewhere.check_hooks import DENY, CheckHooks
from trunkline.dialects.elsewhere.hooks import HookCall
from trunkline.dialects.elsewhere.transcripts import called
from trunkline.dialects.gemini.parts import KINDS
from trunkline.dialects.outside import BROKEN, Json
from trunkline.dialects.signals import PermissionAsk, PermissionOption

CHECK: Final = "BeforeTool"
ASKS: Final = "Notification"
PERMISSION: Final = "ToolPermission"
RAN: Final = "AfterTool"
GOES_ON: Final = (RAN, "BeforeAgent", "AfterAgent", "SessionEnd")
LIMIT_MS: Final = 5_000

ALLOW: Final = PermissionOption("allow", "Allow", "allow_once")

SHELL: Final = "run_shell_command"
SYSTEM: Final = ("/etc/gemini-cli/settings.json", "/Library/Application Support/GeminiCli/settings.json")

_encode = msgspec.json.Encoder().encode
_PROMPT: Final = re.compile(
    r"│ ╭─+╮ │\n((?:│ │ .* │ │\n)+)│ ╰─+╯ │\n│ Allow execution of[^\n]*\n(?:│ +│\n)*│ ● 1\. Allow once +│")
"""The prompt of a command: a box with all of it, the question, the first choice marked."""


class _Input(msgspec.Struct):
    """The members of a hook's input that matter."""

    session_id: str
    hook_event_name: str
    cwd: str = ""
    tool_name: str = ""
    tool_input: Any = None
    notification_type: str = ""
    message: str = ""
    details: Any = None


_read = decoders.of(_Input).decode


class GeminiHooks(CheckHooks):
    """Implements ``HookDialect`` and ``ShowsPrompt``."""

    settings = "settings.json"
    check, reports, timeout, denial = CHECK, (ASKS, *GOES_ON), LIMIT_MS, "deny"
    keys: Mapping[str, str] = {ALLOW.option_id: "Enter", DENY.option_id: "Escape"}

    def watched_files(self, folder: str, cwd: str) -> list[str]:
        """The person's settings, the project's and the administrator's."""
        return [posixpath.join(folder, self.settings), posixpath.join(cwd, ".gemini", self.settings), *SYSTEM]

    def read(self, body: bytes) -> HookCall | None:
        """A tool that is about to be asked about, a prompt in the terminal, or work that went on."""
        try:
            read = _read(body)
        except BROKEN:
            return None
        common: Json = {"session_id": read.session_id, "cwd": read.cwd}
        given = read.tool_input if isinstance(read.tool_input, dict) else {}
        match read.hook_event_name:
            case "BeforeTool" if read.tool_name and isinstance(read.tool_input, dict):
                return HookCall(does="checks", tool=read.tool_name, given=given, **common)
            case "Notification" if read.notification_type == PERMISSION:
                return HookCall(does="asks_there", message=read.message, **common, **_asked(read.details))
            case event if event in GOES_ON:
                return HookCall(does="goes_on", tool=read.tool_name, given=given, ran=event == RAN, **common)
        return None

    def ask(self, call: HookCall, request_id: str, call_id: str) -> PermissionAsk:
        """A permission that is watched, or answered by a key."""
        described = called(call_id, call.tool, KINDS.get(call.tool, "other"), call.given, cwd=call.cwd, title=call.message)
        return PermissionAsk(request_id, _encode(described), (ALLOW, DENY), beyond_turn=True, rules_allow=False)

    def is_shown(self, screen: str, call: HookCall) -> bool:
        """One prompt, with exactly this command in its box. One that is wrapped is compared without its spaces."""
        command, prompts = call.given.get("command"), _PROMPT.findall(screen)
        if call.tool != SHELL or not isinstance(command, str) or len(prompts) != 1:
            return False
        lines = [line[4:-4].rstrip() for line in prompts[0].splitlines()]
        return lines[0] == command.rstrip() if len(lines) == 1 else _bare("".join(lines)) == _bare(command)


def _asked(details: Any) -> Json:
    """The tool that a prompt is about, as far as the prompt says it."""
    details = details if isinstance(details, dict) else {}

    def text(name: str) -> str:
        return value if isinstance(value := details.get(name), str) else ""

    match text("type"):
        case "exec" if text("command"):
            return {"tool": SHELL, "given": {"command": text("command")}}
        case "edit" if text("filePath"):
            return {"tool": "write_file", "given": {"file_path": text("filePath"), "content": text("newContent")}}
        case "mcp" if text("toolName"):
            return {"tool": f"mcp_{text('serverName')}_{text('toolName')}"}
    return {"tool": text("title") or "tool"}


def _bare(text: str) -> str:
    return "".join(text.split())


HOOKS: Final = GeminiHooks()
