"""Claude Code's hooks in a terminal: what it calls them with, and what it takes for an answer.

Rule 1: ``PermissionRequest`` is called beside the terminal's own prompt; the first answer wins, and a late one does nothing.
Rule 2: no opinion is nothing at all. A value that it does not know it ignores, so nothing is allowed by a mistake in here.
Rule 3: an answer changes nothing beyond its call, but for the mode in which an approved plan goes on, in that session only.
Rule 4: only what is needed is set: each call of a hook is a process that the person waits for.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from trunkline import decoders
from trunkline.dialects.claude.calls import tools
from trunkline.dialects.claude.control.asks import ALLOW, ALWAYS, APPROVALS, DENY, PLAN, QUESTION, STOP, denied, object_in
from trunkline.dialects.claude.control.questions import answers_of, form_of, question_text
from trunkline.dialects.elsewhere.foreign import IsOurs, above, others_in, read_settings
from trunkline.dialects.elsewhere.hooks import NO_OPINION, Does, HookCall, HookKind
from trunkline.dialects.outside import BROKEN, Json
from trunkline.dialects.signals import PermissionAsk, QuestionAsk

ASK: Final = "PermissionRequest"
LIMIT_S: Final = 3600
"""How long the CLI lets the hook wait; the hub gives up a minute before (``session/driver/elsewhere.py``)."""

STOPPED: Final = "Stop"
"""The agent's turn has ended. Its sub-agents in the background work on, and what they ask still waits."""
REPORTS: Final[Mapping[str, Does]] = {"UserPromptSubmit": "goes_on", STOPPED: "goes_on", "Notification": "waits"}
IDLE: Final = "idle_prompt"

MANAGED: Final = tuple(f"{folder}/managed-settings{end}" for end in (".json", ".d")
                       for folder in ("/etc/claude-code", "/Library/Application Support/ClaudeCode"))
FLAGS: Final = ("--settings", "--plugin-dir", "--plugin-url", "--agents")
"""By which a session is given settings, plugins or agents of its own, with hooks of theirs."""

_encode = msgspec.json.Encoder().encode


class _Input(msgspec.Struct):
    """The members of a hook's input that matter."""

    session_id: str
    hook_event_name: str
    cwd: str = ""
    tool_name: str = ""
    tool_input: Any = None
    agent_id: str = ""
    notification_type: str = ""
    message: str = ""
    cursor_version: Any = None


_read = decoders.of(_Input).decode


class ClaudeHooks:
    """Implements ``HookDialect`` and ``TakesHooks``."""

    variable = "CLAUDE_PID"
    races = True
    settings = "settings.json"
    blank = "{}\n"
    limit_s = LIMIT_S
    reloads = True
    hook_flags = FLAGS

    def entries(self, command: Callable[[HookKind], str]) -> Mapping[str, Json]:
        """The permission hook, which waits, and reports, which do not."""
        ask = {"matcher": "*", "hooks": [{"type": "command", "command": command("ask"), "timeout": LIMIT_S}]}
        report = {"hooks": [{"type": "command", "command": command("report"), "timeout": 5}]}
        return {ASK: ask, **dict.fromkeys(REPORTS, report)}

    def watched_files(self, folder: str, cwd: str) -> list[str]:
        """The person's settings, those of the project in any folder above, and the administrator's."""
        of_projects = above(cwd, *(posixpath.join(".claude", name) for name in ("settings.json", "settings.local.json")))
        return list(dict.fromkeys([posixpath.join(folder, self.settings), *MANAGED, *of_projects]))

    def has_foreign(self, text: bytes, is_ours: IsOurs) -> bool:
        """Hooks of others for the same event; a plugin may bring some."""
        read = read_settings(text)
        plugins = read.get("enabledPlugins") if read is not None else None
        return others_in(read, ASK, is_ours) or (isinstance(plugins, dict) and any(plugins.values()))

    def read(self, body: bytes) -> HookCall | None:
        """A call that asks, or one that says that the work went on."""
        try:
            read = _read(body)
        except BROKEN:
            return None
        if read.cursor_version is not None:
            return None  # another program, which runs this one's hooks and takes other answers
        given = read.tool_input if isinstance(read.tool_input, dict) else {}
        if read.hook_event_name == ASK:
            if not read.tool_name or not isinstance(read.tool_input, dict):
                return None
            return HookCall(does="asks", session_id=read.session_id, cwd=read.cwd, part=read.agent_id, tool=read.tool_name,
                            given=given)
        does = REPORTS.get(read.hook_event_name)
        if does is None or (does == "waits" and read.notification_type == IDLE):
            return None  # that a turn has ended is told by its end
        return HookCall(does=does, session_id=read.session_id, cwd=read.cwd, part=read.agent_id, message=read.message,
                        of_part=read.hook_event_name == STOPPED)

    def ask(self, call: HookCall, request_id: str, call_id: str) -> PermissionAsk | QuestionAsk:
        """A permission; a question of the CLI's own comes as a form."""
        if call.tool == QUESTION and (form := form_of(call.given)) is not None:
            return QuestionAsk(request_id, question_text(call.given), _encode(form), tool_call_id=call_id, beyond_turn=True)
        options = APPROVALS if call.tool == PLAN else (ALLOW, ALWAYS, DENY, STOP)
        described = _encode(tools.described(call_id, call.tool, call.given))
        return PermissionAsk(request_id, described, options, editable=call.tool not in (PLAN, QUESTION), beyond_turn=True)

    def decided(self, call: HookCall, option_id: str | None, reason: str | None, edited: bytes | None) -> bytes:
        """What a decision is for the CLI. "Always" is a rule of ours: the CLI is told of this call alone."""
        if option_id in (ALLOW.option_id, ALWAYS.option_id):
            return _decision({"behavior": "allow", **({} if edited is None else {"updatedInput": object_in(edited)})})
        if call.tool == PLAN and option_id in ("default", "acceptEdits"):
            mode = {"type": "setMode", "mode": option_id, "destination": "session"}
            # Of a tool that is there to ask its person, only an answer with its input counts as that person's.
            return _decision({"behavior": "allow", "updatedInput": call.given, "updatedPermissions": [mode]})
        if option_id in (DENY.option_id, STOP.option_id, "plan"):
            return _decision(denied(reason, stop=option_id == STOP.option_id))
        return NO_OPINION

    def answered(self, call: HookCall, action: str, content: bytes | None) -> bytes:
        """The answers, by the questions' own texts; a question that somebody declined is a denial."""
        if action == "accept":
            given = {**call.given, "answers": answers_of(call.given, object_in(content))}
            return _decision({"behavior": "allow", "updatedInput": given})
        return _decision(denied("The person did not answer the question.")) if action == "decline" else NO_OPINION


def _decision(decision: Json) -> bytes:
    return _encode({"hookSpecificOutput": {"hookEventName": ASK, "decision": decision}})


HOOKS: Final = ClaudeHooks()
