"""What the CLI says beside the conversation: compaction, retries, limits, hooks, tasks, titles."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.claude import sample_frames as f
from tests.tooling.claude_runs import translator


def test_a_compaction_is_told_from_its_start_to_its_summary() -> None:
    told = f.hear(f.prompted(), f.system("status", status="compacting", uuid="k"), f.system("status", compact_result="success"),
                  f.system("compact_boundary", compact_metadata={"trigger": "auto", "pre_tokens": 9, "post_tokens": 3}),
                  f.spoken("All that was said.", isSynthetic=True))
    assert [(update["compactionId"], update["status"]) for update in f.updates(told, "compaction")] == [
        ("k", "in_progress"), ("k", "completed"), ("k", "completed")]
    assert f.updates(told)[-1]["summary"] == [{"type": "text", "text": "All that was said."}]
    assert len(f.notes(told, "compact_boundary")) == 1


def test_messages_that_a_compaction_kept_are_not_told_again() -> None:
    translate = f.prompted()
    kept = f.whole("s1", f.text("Usage: 3"), model="<synthetic>", uuid="k1")
    boundary = f.system("compact_boundary", compact_metadata={"preserved_messages": {"all_uuids": ["k1", "k2"]}})
    told = f.hear(translate, kept, boundary, kept, f.spoken("earlier words", uuid="k2"), f.result())
    assert f.said(told) == "Usage: 3" and f.notes(told, "user_message") == []


@pytest.mark.parametrize(("last", "status"), [
    (f.system("status", compact_result="failed", compact_error="too long"), "failed"),
    (f.result(subtype="error_during_execution", terminal_reason="aborted_streaming"), "cancelled"),
    (f.result(), "completed"),
])
def test_every_compaction_that_starts_also_ends(last: bytes, status: str) -> None:
    told = f.hear(f.prompted(), f.system("status", status="compacting"), last, f.result())
    assert [update["status"] for update in f.updates(told, "compaction")] == ["in_progress", status]


def test_a_retry_is_a_note_and_a_limit_is_one_too() -> None:
    told = f.hear(translator(), f.system("api_retry", attempt=2, max_retries=5, retry_delay_ms=1500, error_status=429,
                                         error="rate_limit"))
    assert f.notes(told, "rate_limit") == [{"retryAfter": 1.5, "limit": "requests", "message": "rate limit · HTTP 429"}]
    assert f.notes(told, "retry") == [{"attempt": 2, "most": 5, "delay": 1.5, "message": "rate limit · HTTP 429"}]
    (broken,) = f.notes(f.hear(translator(), f.system("api_retry", attempt=1, error_status=None, error="unknown")), "retry")
    assert broken["message"] == "the connection broke off"


def test_a_plans_limit_is_told_when_it_is_reached() -> None:
    info = {"status": "rejected", "resetsAt": 1_800_000_060, "rateLimitType": "five_hour"}
    (limit,) = f.notes(f.hear(translator(), f.frame("rate_limit_event", rate_limit_info=info, timestamp="2027-01-15T08:00:00Z")),
                       "rate_limit")
    assert (limit["retryAfter"], limit["limit"]) == (60, "five hours")
    told = f.hear(translator(), f.frame("rate_limit_event", rate_limit_info={"status": "allowed_warning"}))
    assert len(f.notes(told, "rate_limit_status")) == 1


@pytest.mark.parametrize(("fields", "level", "message"), [
    ({"exit_code": 0, "outcome": "success", "stdout": "context for the model"}, "info", None),
    ({"exit_code": 2, "outcome": "error", "stderr": "no tests"}, "warning", "no tests"),
    ({"exit_code": 1}, "warning", "The hook failed (exit code 1)"),
])
def test_a_hook_speaks_to_people_when_it_fails(fields: dict[str, Any], level: str, message: str | None) -> None:
    told = f.hear(translator(), f.system("hook_started", hook_name="Stop"), f.system("hook_response", hook_name="Stop", **fields))
    (ran,) = f.notes(told, "hook")
    assert (ran["name"], ran["level"], ran.get("message")) == ("Stop", level, message)
    assert len(f.notes(told, "hook_started")) == 1


def test_a_sub_agent_moves_on_while_its_call_is_open() -> None:
    moves = f.system("task_progress", task_id="a", tool_use_id="t", description="Reading")
    told = f.hear(translator(), f.whole("m", f.use("t", "Task", prompt="p")), moves, f.answer("t", "done"), moves)
    assert [note["message"] for note in f.notes(told, "subagent")] == ["Reading"]
    assert len(f.notes(told, "task_progress")) == 1, "afterwards it is only kept"


def test_a_sub_agent_in_the_background_is_done_when_the_cli_says_so_and_not_with_its_call() -> None:
    launched = f.answer("t", "Async agent launched", record={"status": "async_launched", "agentId": "a"})
    moves = f.system("task_progress", task_id="a", tool_use_id="t", description="Reading")
    ends = f.system("task_notification", task_id="a", tool_use_id="t", status="completed", summary="Twelve.")
    told = f.hear(translator(), f.whole("m", f.use("t", "Task", prompt="p")), launched, moves, ends, moves)
    assert [(note["state"], note["message"] or note["result"]) for note in f.notes(told, "subagent")] == [
        ("background", ""), ("progress", "Reading"), ("completed", "Twelve.")]
    (call_ended,) = [index for index, signal in enumerate(told) if b'"status":"completed"' in getattr(signal, "raw", b"")]
    assert f.notes(told[:call_ended], "subagent"), "who hears that the call is over knows already that its sub-agent is not"


@pytest.mark.parametrize(("status", "failed"), [("completed", False), ("failed", True), ("stopped", True), ("killed", True)])
def test_a_sub_agent_in_the_background_that_came_to_nothing_says_so(status: str, failed: bool) -> None:
    launched = f.answer("t", "Async agent launched", record={"status": "async_launched", "agentId": "a"})
    ends = f.system("task_notification", task_id="a", tool_use_id="t", status=status, summary="x")
    told = f.hear(translator(), f.whole("m", f.use("t", "Agent", prompt="p")), launched, ends)
    assert f.notes(told, "subagent")[-1]["failed"] is failed


def test_titles_remarks_and_what_commands_print_are_told() -> None:
    told = f.hear(translator(), f.system("session_title_changed", title="T"),
                  f.system("informational", content="Note.", level="warning"), f.system("notification", text="Ping"),
                  f.system("model_refusal_no_fallback", message="No."),
                  f.system("local_command_output", content="out"), f.spoken("<local-command-stdout>done </local-command-stdout>"),
                  f.frame("tool_progress", tool_name="Bash", elapsed_time_seconds=3))
    assert f.updates(told, "session_info") == [{"sessionUpdate": "session_info_update", "title": "T"}]
    assert [(notice["severity"], notice["title"]) for notice in f.updates(told, "notice")] == [
        ("warning", "Note."), ("info", "Ping"), ("warning", "No.")]
    assert f.said(told) == "outdone"
    assert f.notes(told, "progress") == [{"label": "Bash", "current": 3}]
