"""Packets as a person reads them in a terminal.

Rule 1: a packet type we do not know is skipped: tomorrow's hub may send more.
Rule 2: nothing is shown twice: a call is one line when it ends (and, without a terminal, one when it begins), a plan only
what changed in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from trunkline.cli.terminal.card import approval_lines, question_lines
from trunkline.cli.terminal.screen import Screen
from trunkline.dialects.context.descriptions import describe_tool_call
from trunkline.dialects.context.types import ASKED_ANEW, PASSED_ON
from trunkline.dialects.visible import one_line, one_revealed_line

STATUS_MARKS = {"pending": ("○", None), "in_progress": ("●", "yellow"), "completed": ("✓", "green"), "failed": ("✗", "red")}
ANSWER = frozenset({"agent_message_chunk"})
"""The agent's own words alone."""
ASKED = frozenset({"approval_requested", "question_requested"})
ASKS = ASKED | {"approval_resolved", "question_resolved"}
_ID_BEHIND = re.compile(r" \([0-9a-f]{12}\)(?=$| \()")
_DECIDED = re.compile(r"(?<=: decided by )[^\n]+$")
"""Who wrote a rule, at the end of a reason that the hub gave."""

CALLS_KNOWN = 2_000
"""Calls whose names are remembered, and that are taken to run: as many as a hub follows."""
NAME_CHARS = 1_000

UNNAMED = "browser"
"""What the hub calls a browser that nobody gave a name."""

Fields = Mapping[str, Any]


class Show:
    """Writes packets to a screen."""

    def __init__(self, screen: Screen, *, only: frozenset[str] | None = None, but: frozenset[str] = frozenset(),
                 prompts: bool = False, root: str = "") -> None:
        self._screen = screen
        self._root = root.rstrip("/") + "/"
        self._prompts = prompts
        self._names: dict[str, str] = {}
        self._running: dict[str, str] = {}
        self._plan: dict[str, str] = {}
        self._usage: Fields | None = None
        self._thinking = False
        self._only = only
        self._but = but
        self._handlers: dict[str, Callable[[Fields], None]] = {
            "agent_message_chunk": self._message,
            "agent_thought_chunk": self._thought,
            "user_message_chunk": self._prompt,
            "tool_call_start": self._started,
            "tool_call_progress": self._progress,
            "agent_plan_update": self._planned,
            "artifact_created": self._artifact,
            "current_mode_update": self._mode,
            "usage_update": self._used,
            "approval_requested": self._approval_requested,
            "approval_resolved": self._approval_resolved,
            "question_requested": self._question_requested,
            "question_resolved": self._question_resolved,
            "gap": self._gap,
            "prompt_response": self._ended,
            "error": self._failed,
        }

    def packet(self, packet: Fields) -> None:
        """Show one packet."""
        kind = str(packet.get("type", ""))
        if kind in self._handlers and kind not in self._but and (self._only is None or kind in self._only):
            self._handlers[kind](packet)

    @property
    def usage(self) -> str:
        """How full the model's context is, in words; empty where the agent does not tell."""
        return usage_words(self._usage)

    def doing(self) -> str:
        """What is going on right now, for the line at the bottom."""
        return next(reversed(self._running.values()), "") if self._running else ""

    def _message(self, packet: Fields) -> None:
        self._print_text(packet, thinking=False)

    def _thought(self, packet: Fields) -> None:
        self._print_text(packet, thinking=True)

    def _print_text(self, packet: Fields, *, thinking: bool) -> None:
        if thinking != self._thinking:
            self._screen.fresh_line()
        self._thinking = thinking
        self._screen.stream(text_of(packet.get("content")), dim=thinking)

    def _prompt(self, packet: Fields) -> None:
        if self._prompts:
            self._screen.line(text_of(packet.get("content")), mark="▸", colour="cyan")

    def _started(self, packet: Fields) -> None:
        while len(self._names) >= CALLS_KNOWN:
            del self._names[next(iter(self._names))]
        self._names[str(packet.get("toolCallId"))] = str(packet.get("title", ""))[:NAME_CHARS]

    def _progress(self, packet: Fields) -> None:
        call_id, status = str(packet.get("toolCallId")), str(packet.get("status"))
        label = _label(self._names.get(call_id, ""), packet, self._root)
        if status in ("completed", "failed"):
            self._running.pop(call_id, None)
            self._finished(label, status, packet)
        elif status == "in_progress":
            if call_id not in self._running and not self._screen.terminal:
                self._tool_line("→", None, label)
            self._running[call_id] = label[:NAME_CHARS]
            if len(self._running) > CALLS_KNOWN:
                del self._running[next(iter(self._running))]

    def _finished(self, label: str, status: str, packet: Fields) -> None:
        mark, colour = STATUS_MARKS[status]
        self._tool_line(mark, colour, label)
        if status == "failed" and (reason := _failure(packet)):
            self._screen.line(self._screen.cut(reason, taken=4), dim=True, indent="    ")

    def _tool_line(self, mark: str, colour: str | None, label: str) -> None:
        self._screen.line(self._screen.cut(label, taken=4), mark=mark, colour=colour, indent="  ")

    def _planned(self, packet: Fields) -> None:
        entries = {str(entry.get("content", "")): str(entry.get("status", "pending")) for entry in packet.get("entries", ())}
        if entries and not self._plan:
            self._screen.line("plan", dim=True, indent="  ")
        for content, status in entries.items():
            if self._plan.get(content) != status:
                mark, colour = STATUS_MARKS.get(status, ("○", None))
                self._screen.line(self._screen.cut(content, taken=6), mark=mark, colour=colour, indent="    ")
        self._plan = entries

    def _artifact(self, packet: Fields) -> None:
        artifact = packet.get("artifact", {})
        made = one_line(f"{artifact.get('type', 'file')} {artifact.get('path', '')}")
        self._screen.line(made, mark="+", colour="cyan", indent="  ")

    def _mode(self, packet: Fields) -> None:
        self._screen.line(one_line(f"mode: {packet.get('currentModeId', '')}"), dim=True, indent="  ")

    def _gap(self, packet: Fields) -> None:
        self._screen.line(one_line(str(packet.get("message", "entries are lost"))), mark="!", colour="red", indent="  ")

    def _used(self, packet: Fields) -> None:
        self._usage = packet

    def _approval_requested(self, packet: Fields) -> None:
        for line in approval_lines(packet, root=self._root):
            line.print(self._screen)

    def _approval_resolved(self, packet: Fields) -> None:
        if packet.get("reason") == ASKED_ANEW:
            self._screen.line(f"taken back: {ASKED_ANEW}", mark="!", colour="yellow", indent="  ")
            return
        why = _DECIDED.sub(lambda by: who_words(by[0]), one_revealed_line(str(packet.get("reason") or "")))
        verdict = "allowed" if packet.get("approved") else "answered" if why.startswith(PASSED_ON) else "denied"
        reason = f" ({why})" if why else ""
        self._screen.line(f"{verdict} by {who_words(_resolver(packet))}{reason}", dim=True, indent="  ")

    def _question_requested(self, packet: Fields) -> None:
        for line in question_lines(str(packet.get("question", "")), str(packet.get("url") or ""), self._screen.columns):
            line.print(self._screen)

    def _question_resolved(self, packet: Fields) -> None:
        word = {"accept": "answered", "decline": "declined", "cancel": "cancelled"}.get(str(packet.get("action")), "resolved")
        self._screen.line(f"{word} by {who_words(_resolver(packet))}", dim=True, indent="  ")

    def _ended(self, packet: Fields) -> None:
        self._running.clear()
        reason = str(packet.get("stopReason", ""))
        note = "" if reason == "end_turn" else f"stopped: {reason.replace('_', ' ')}"
        words = [word for word in (note, usage_words(self._usage)) if word]
        if words:
            self._screen.line(" · ".join(words), dim=True, indent="  ")

    def _failed(self, packet: Fields) -> None:
        self._running.clear()
        self._screen.line(one_line(str(packet.get("message", "the turn failed"))), mark="✗", colour="red", indent="  ")


def text_of(content: Any) -> str:
    """What can be shown of a content block in a line of text."""
    if not isinstance(content, Mapping):
        return ""
    if content.get("type") == "text":
        return str(content.get("text", ""))
    resource = content.get("resource")
    uri = content.get("uri") or (resource.get("uri") if isinstance(resource, Mapping) else None)
    return f"[{content.get('type')} {uri or content.get('mimeType') or ''}]".replace(" ]", "]")


def _label(name: str, packet: Fields, root: str) -> str:
    """``Run: npm test``: the call's line (with paths from ``root`` on); else the title that the agent gave, which a name of
    several words is already."""
    given = packet.get("rawInput")
    line = describe_tool_call(name, given) if isinstance(given, Mapping) and name and " " not in name else name
    return one_line(line.replace(f": {root}", ": ", 1)) if line != name else str(packet.get("title") or name)


def _failure(packet: Fields) -> str:
    output = packet.get("rawOutput")
    if isinstance(output, Mapping):
        for key in ("error", "message", "output"):
            if isinstance(output.get(key), str):
                return one_line(output[key])
    return one_line(output) if isinstance(output, str) else ""


def who_words(by: str) -> str:
    """Who did something, as the journal names them, in words: the main token is what whoever sits at this machine comes with, and
    the id behind a device's name says nothing to anybody."""
    named = one_line(by)
    words = _ID_BEHIND.sub("", named, count=1)
    if words == named and named.partition(" (")[0] == "main":
        return f"you{named.removeprefix('main')}"  # an editor's name may follow
    if words != named and words == UNNAMED:
        return f"a {UNNAMED}"
    return {"": "somebody", "user": "somebody", "policy": "a rule"}.get(words, words)


def _resolver(packet: Fields) -> str:
    """Who answered, by name where the packet has it."""
    meta = packet.get("_meta")
    named = meta.get("by") if isinstance(meta, Mapping) else None
    return str(named or packet.get("resolvedBy") or "")


def usage_words(usage: Fields | None) -> str:
    if usage is None:
        return ""
    words = f"context: {_short(usage.get('used', 0))} of {_short(usage.get('size', 0))} tokens"
    cost = usage.get("cost")
    return f"{words}, {cost['amount']:.2f} {cost['currency']}" if isinstance(cost, Mapping) else words


def _short(number: int) -> str:
    return f"{number / 1000:.1f}k" if number >= 1000 else str(number)
