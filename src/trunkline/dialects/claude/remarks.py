"""What the CLI says beside the conversation (``system`` frames): retries, limits, hooks, tasks, compaction, notices.

Rule 1: what the Agent Client Protocol has a word for is an update; what only our own events have a word for is a note of that
kind; anything else is a note as it came.
Rule 2: what says nothing to a reader, and comes with every message (``requesting``, estimates), is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, Literal

import msgspec

from trunkline.dialects.claude.conversation.usage import TokenAccount
from trunkline.dialects.claude.frames.types import (
    ApiRetryFrame,
    CompactBoundaryFrame,
    HookFrame,
    InformationalFrame,
    NotificationFrame,
    RateLimitFrame,
    RefusalFrame,
    StatusFrame,
    TaskFrame,
    ToolProgressFrame,
)
from trunkline.dialects.notes import AgentNote, CustomNote, HookRan, Progressed, RateLimited, Retried, SubAgentReport
from trunkline.dialects.outside import Json
from trunkline.dialects.signals import Signal, Update

Level = Literal["info", "warning", "error", "success"]

SILENT: Final = frozenset({"thinking_tokens", "session_state_changed", "control_request_progress", "keep_alive"})
LIMITS: Final = {"five_hour": "five hours", "seven_day": "seven days", "seven_day_opus": "seven days, Opus",
                 "seven_day_sonnet": "seven days, Sonnet", "overage": "extra usage"}
_LEVELS: Final[dict[str, str]] = {"warning": "warning", "warn": "warning", "error": "error", "success": "success"}

_encode = msgspec.json.Encoder().encode


class Remarks:
    """What one CLI process says beside the conversation."""

    def __init__(self, account: TokenAccount, new_id: Callable[[str], str]) -> None:
        self._account = account
        self._new_id = new_id
        self._compaction = ""
        """The compaction that was emitted last; "" where none was in this turn."""
        self._is_compacting = False
        self._sent_off: set[str] = set()
        """The calls that sent a sub-agent off into the background, where it works."""
        self._kept: frozenset[str] = frozenset()
        """Messages that a compaction kept as they are: the CLI writes them again."""

    def is_repeated(self, uuid: str) -> bool:
        """Whether a message is one that was emitted before a compaction and comes again behind it."""
        return uuid in self._kept

    def status(self, frame: StatusFrame) -> list[Signal]:
        """A compaction begins or ends."""
        if frame.status == "compacting":
            return self._compacting(frame.uuid)
        if frame.compact_result is None and frame.compact_error is None:
            return []
        if frame.compact_error is not None or frame.compact_result == "failed":
            return self._compacted("failed", error=frame.compact_error or "the conversation could not be summed up")
        # What it came to follows: a boundary and the summary.
        return []

    def boundary(self, frame: CompactBoundaryFrame, line: bytes) -> list[Signal]:
        """What came before is summed up from here on."""
        kept = frame.compact_metadata.preserved_messages
        listed = kept.get("all_uuids") or kept.get("uuids") if isinstance(kept, dict) else None
        self._kept = frozenset(uuid for uuid in listed if isinstance(uuid, str)) if isinstance(listed, list) else frozenset()
        signals = [*self._compacting(frame.uuid), *self._compacted("completed")]
        return [*signals, CustomNote("compact_boundary", line), *self._account.compacted(frame.compact_metadata.post_tokens)]

    def summary(self, text: str) -> list[Signal]:
        """The summary that a compaction left; nothing where there was none."""
        if not self._compaction or not text:
            return []
        update = {"sessionUpdate": "compaction_update", "compactionId": self._compaction, "status": "completed",
                  "summary": [{"type": "text", "text": text}]}
        self._compaction, self._is_compacting = "", False
        return [_update(update)]

    def turn_ended(self, *, cancelled: bool) -> list[Signal]:
        """A compaction that is still open came to its end with the turn."""
        signals = self._compacted("cancelled" if cancelled else "completed") if self._is_compacting else []
        self._compaction, self._kept = "", frozenset()
        return signals

    def retry(self, frame: ApiRetryFrame) -> list[Signal]:
        """The model is asked again."""
        delay = frame.retry_delay_ms / 1000 if frame.retry_delay_ms is not None else None
        why = _words(frame.error, frame.error_status)
        signals: list[Signal] = [AgentNote(Retried(attempt=frame.attempt, most=frame.max_retries, delay=delay, message=why))]
        if frame.error == "rate_limit" or frame.error_status == 429:
            signals.insert(0, AgentNote(RateLimited(retry_after=delay or 0, limit="requests", message=why)))
        return signals

    def limits(self, frame: RateLimitFrame, line: bytes) -> list[Signal]:
        """The account's limits; one that is reached is emitted as such."""
        info = frame.rate_limit_info
        if info.status != "rejected":
            return [CustomNote("rate_limit_status", line)]
        wait = max(0.0, info.resets_at - _seconds(frame.timestamp)) if info.resets_at and frame.timestamp else 0
        limit = LIMITS.get(info.rate_limit_type or "", info.rate_limit_type or "plan")
        return [AgentNote(RateLimited(retry_after=wait, limit=limit, message="The plan's limit is reached"))]

    def hook(self, kind: str, frame: HookFrame, line: bytes) -> list[Signal]:
        """A hook of the person's own settings. One that failed has something to say to people."""
        if kind != "hook_response":
            return [CustomNote(kind, line)]
        failed = frame.outcome not in ("", "success") or bool(frame.exit_code)
        text = (frame.stderr or frame.output or frame.stdout).strip()
        message = (text or f"The hook failed (exit code {frame.exit_code})") if failed else None
        level: Level = "warning" if failed else "info"
        return [AgentNote(HookRan(name=frame.hook_name or frame.hook_event or "hook", level=level, message=message), frame=line)]

    def task(self, kind: str, frame: TaskFrame, line: bytes, *, is_open: bool) -> list[Signal]:
        """A sub-agent moves on while the call that started it is open, or in the background, where it ends too; anything else
        about tasks is kept as it is."""
        call_id = frame.tool_use_id
        if kind == "task_progress" and frame.description and (is_open or call_id in self._sent_off):
            return [AgentNote(SubAgentReport(sub_agent_id=call_id, state="progress", message=frame.description))]
        if kind == "task_notification" and call_id in self._sent_off:
            self._sent_off.discard(call_id)
            failed = frame.status not in ("", "completed")
            return [AgentNote(SubAgentReport(
                sub_agent_id=call_id, state="completed", parent_tool_call_id=call_id, result=frame.summary, failed=failed))]
        return [CustomNote(kind, line)]

    def sent_off(self, call_id: str) -> list[Signal]:
        """A sub-agent goes on in the background; its call ends now."""
        self._sent_off.add(call_id)
        return [AgentNote(SubAgentReport(sub_agent_id=call_id, state="background", parent_tool_call_id=call_id))]

    def tool_runs(self, frame: ToolProgressFrame) -> list[Signal]:
        """A tool still runs."""
        return [AgentNote(Progressed(label=frame.tool_name or "tool", current=frame.elapsed_time_seconds))]

    def notice(self, frame: InformationalFrame | NotificationFrame | RefusalFrame) -> list[Signal]:
        """A remark for the person."""
        match frame:
            case InformationalFrame():
                text, level = frame.content, _LEVELS.get(frame.level, "info")
            case NotificationFrame():
                text, level = frame.text or frame.message or frame.title, _LEVELS.get(frame.level, "info")
            case RefusalFrame():
                text, level = frame.content or frame.message or "The model would not answer", "warning"
        return [_update({"sessionUpdate": "notice", "severity": level, "title": text})] if text.strip() else []

    def _compacting(self, uuid: str) -> list[Signal]:
        if self._is_compacting:
            return []
        self._compaction, self._is_compacting = uuid or self._new_id("compaction"), True
        return [_update({"sessionUpdate": "compaction_update", "compactionId": self._compaction, "status": "in_progress"})]

    def _compacted(self, status: str, **more: str) -> list[Signal]:
        if not self._is_compacting:
            return []
        self._is_compacting = False
        return [_update({"sessionUpdate": "compaction_update", "compactionId": self._compaction, "status": status, **more})]


def _words(error: str | None, status: int | None) -> str:
    """Why the model has to be asked again."""
    words = (error or "").replace("_", " ") if error != "unknown" else ""
    code = f"HTTP {status}" if status is not None else ""
    return " · ".join(part for part in (words, code) if part) or "the connection broke off"


def _seconds(stamp: str) -> float:
    try:
        read = datetime.fromisoformat(stamp)
    except ValueError:
        return 0
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def _update(update: Json) -> Update:
    return Update(_encode(update))
