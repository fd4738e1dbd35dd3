"""The translator as a whole: turns and their ends, what the CLI says beside them, and lines that nobody should write."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dialects.acp.schema import faults
from tests.dialects.acp.strategies import json_values, texts
from tests.dialects.claude import sample_frames as f
from tests.tooling.claude_runs import encoded, output, runs, translator
from tests.tooling.examples import examples
from tests.tooling.rows import every_row
from trunkline.dialects.claude.frames.types import SYSTEM
from trunkline.dialects.claude.translate import Translator, _printed
from trunkline.dialects.jsonrpc import LineSplitter
from trunkline.dialects.notes import AgentNote, CostSpent, CustomNote
from trunkline.dialects.signals import Malformed, Signal, TurnEnd, Update

TYPES = ["assistant", "user", "stream_event", "result", "control_request", "control_response", "control_cancel_request",
         "conversation_reset", "command_lifecycle", "tool_progress", "rate_limit_event", "auth_status", "tool_use_summary",
         "prompt_suggestion", "active_goal", "keep_alive", "system", "tomorrow"]
"""Every type of frame that the CLI writes, and one that it does not write yet."""

MEMBERS = ["message", "event", "request", "response", "result", "usage", "modelUsage", "origin", "errors", "tool_use_result",
           "parent_tool_use_id", "session_id", "user_message_uuids", "status", "compact_metadata", "rate_limit_info",
           "slash_commands", "tool_use_meta", "uuid"]
"""Members that frames have, to be given any value."""

QUIET = {"status", "task_progress", "thinking_tokens", "session_state_changed", "control_request_progress", "init", "api_retry",
         "local_command_output", "notification", "informational", "commands_changed", "session_title_changed"}


def prompted(uuid: str | None = None) -> Translator:
    translate = translator()
    translate.prompted(uuid)
    return translate


def ends(signals: list[Signal]) -> list[str | None]:
    return [signal.stop for signal in signals if isinstance(signal, TurnEnd)]


# -- turns -------------------------------------------------------------------------------------------------------------


def test_a_prompt_ends_with_its_result_behind_everything_that_was_said() -> None:
    told = f.hear(prompted("p"), f.init(), f.begin("m"), f.block(0), f.say(0, "Hi"), f.whole("m", f.text("Hi")), f.stop(),
                  f.result(result="Hi", user_message_uuids=["p"]))
    assert isinstance(told[-1], TurnEnd) and ends(told) == ["end_turn"]


def test_a_turn_that_nobody_asked_for_is_told_and_ends_in_a_note() -> None:
    translate = translator()
    told = f.hear(translate, f.init(), f.whole("m", f.text("Your task is done.")))
    assert (f.notes(told, "background_turn"), translate.working) == ([{"state": "started"}], True)
    told = f.hear(translate, f.result(origin={"kind": "task-notification"}))
    assert (ends(told), translate.working) == ([], False)
    assert f.notes(told, "background_turn") == [{"state": "ended", "stopReason": "end_turn", "origin": "task-notification"}]


def test_a_prompt_that_was_sent_into_a_turn_of_the_clis_own_ends_with_its_own_result() -> None:
    translate = translator()
    f.hear(translate, f.init())
    translate.prompted("p")
    assert (ends(f.hear(translate, f.result())), translate.working) == ([], True)
    assert (ends(f.hear(translate, f.init(), f.result())), translate.working) == (["end_turn"], False)


@pytest.mark.parametrize("sign", [
    f.frame("command_lifecycle", command_uuid="p", state="started"),
    f.system("status", status="requesting", user_message_uuids=["p"]),
    f.frame("user", uuid="p", message={"content": "hello"}, isReplay=True),
])
def test_a_prompt_that_the_cli_took_into_its_own_turn_ends_with_that(sign: bytes) -> None:
    translate = translator()
    f.hear(translate, f.init())
    translate.prompted("p")
    assert ends(f.hear(translate, sign, f.result())) == ["end_turn"]


@pytest.mark.parametrize("fields", [{"origin": {"kind": "task-notification"}}, {"user_message_uuids": ["another"]}])
def test_a_result_of_something_else_does_not_end_a_prompt(fields: dict[str, Any]) -> None:
    translate = prompted("p")
    assert ends(f.hear(translate, f.init(), f.result(**fields))) == []
    assert ends(f.hear(translate, f.result(user_message_uuid="p"))) == ["end_turn"]


def became(state: str, uuid: str = "p") -> bytes:
    return f.frame("command_lifecycle", command_uuid=uuid, state=state)


def interrupted(*uuids: str) -> bytes:
    response = {"still_queued": [], "cancelled": list(uuids)}
    return f.frame("control_response", response={"subtype": "success", "request_id": "r", "response": response})


@pytest.mark.parametrize("frames", [
    [became("queued"), became("cancelled"), interrupted("p")], [became("queued"), interrupted("p"), became("cancelled")],
    [became("cancelled")], [interrupted("p")], [became("started"), became("cancelled")],
])
def test_a_prompt_that_an_interrupt_took_out_of_the_queue_was_cancelled_and_once(frames: list[bytes]) -> None:
    translate = prompted("p")
    assert (ends(f.hear(translate, frames)), translate.working) == (["cancelled"], False)
    assert f.hear(translate, frames) == []
    translate.prompted("next")
    assert ends(f.hear(translate, frames, f.init(), f.result(user_message_uuids=["next"]))) == ["end_turn"]


@pytest.mark.parametrize("state", ["discarded", "refused"])
def test_a_prompt_that_the_cli_does_not_want_is_an_error_that_says_so(state: str) -> None:
    translate = prompted("p")
    (end,) = f.hear(translate, became("queued"), became(state))
    assert isinstance(end, TurnEnd) and end.error is not None and state in end.error.message
    assert not translate.working


@pytest.mark.parametrize("state", ["cancelled", "discarded", "refused"])
def test_what_becomes_of_a_prompt_after_its_result_ends_nothing(state: str) -> None:
    translate = prompted("p")
    told = f.hear(translate, became("started"), f.init(), f.result(terminal_reason="aborted_streaming", user_message_uuids=["p"]))
    translate.prompted("next")
    assert (ends(told), f.hear(translate, became(state)), translate.working) == (["cancelled"], [], True)


def test_a_result_that_comes_after_its_prompt_was_taken_back_ends_nothing_else() -> None:
    translate = prompted("p")
    f.hear(translate, became("started"), f.init(), became("cancelled"))
    translate.prompted("next")
    assert ends(f.hear(translate, f.result(terminal_reason="aborted_streaming", user_message_uuids=["p"]))) == []
    assert ends(f.hear(translate, f.result(user_message_uuids=["next"]))) == ["end_turn"]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_turn_of_the_clis_own_goes_on_when_the_prompt_behind_it_is_taken_back(is_first: bool) -> None:
    """It may have begun before the prompt was written, or while the prompt was on its way."""
    translate = translator()
    if is_first:
        f.hear(translate, f.init())
    translate.prompted("p")
    if not is_first:
        f.hear(translate, f.init())
    assert (ends(f.hear(translate, became("queued"), became("cancelled"))), translate.working) == (["cancelled"], True)
    told = f.hear(translate, f.result(origin={"kind": "task-notification"}))
    assert (ends(told), len(f.notes(told, "background_turn")), translate.working) == ([], 1, False)


@pytest.mark.parametrize("response", [
    {"cancelled": True}, {"cancelled": [1]}, {"cancelled": ["other"]}, {"cancelled": None}, [], None])
def test_the_answer_to_another_request_takes_no_prompt_back(response: Any) -> None:
    translate = prompted("p")
    f.hear(translate, f.frame("control_response", response={"subtype": "success", "request_id": "r", "response": response}))
    assert translate.working


def test_a_result_before_any_prompt_says_why_the_start_failed() -> None:
    translate = translator()
    told = f.hear(translate, f.result(subtype="error_during_execution", is_error=True, errors=["No conversation found"]))
    assert translate.failure is not None and translate.failure.message == "No conversation found"
    assert [signal.kind for signal in told if isinstance(signal, AgentNote | CustomNote)] == ["result"]


def test_what_only_the_result_says_is_told_from_it() -> None:
    told = f.hear(prompted(), f.init(), f.result(result="Unknown command: x"))
    assert f.said(told) == "Unknown command: x"


def test_an_error_was_shown_already_and_is_not_told_from_the_result_again() -> None:
    shown = f.whole("s", f.text("Credit balance is too low"), model="<synthetic>", error="billing_error")
    told = f.hear(prompted(), f.init(), shown, f.result(is_error=True, result="Credit balance is too low"))
    assert f.said(told) == "Credit balance is too low"
    end = told[-1]
    assert isinstance(end, TurnEnd) and end.error is not None and json.loads(end.error.data or b"")["error"] == "billing_error"


def test_an_interrupted_turn_of_an_old_build_was_cancelled() -> None:
    told = f.hear(prompted(), f.init(), f.spoken([f.text("[Request interrupted by user]")]),
                  f.result(subtype="error_during_execution"))
    assert ends(told) == ["cancelled"] and f.said(told) == ""


def test_the_id_of_the_conversation_is_learnt_and_changes_when_it_is_cleared() -> None:
    translate = prompted()
    f.hear(translate, f.init())
    assert translate.session_id == f.SESSION
    f.hear(translate, f.whole("m", f.use("c", "TodoWrite", todos=[{"content": "A"}])), f.result())
    told = f.hear(translate, f.frame("conversation_reset", new_conversation_id="n"), f.init(session_id="new"), f.result(
        session_id="new"))
    assert translate.session_id == "new"
    assert f.notes(told, "session_id") == [{"sessionId": "new", "previous": f.SESSION}]
    assert f.updates(told, "plan") == [{"sessionUpdate": "plan", "entries": []}]


# -- what it takes -----------------------------------------------------------------------------------------------------


def test_tokens_are_told_by_message_and_the_rest_of_a_turn_with_its_end() -> None:
    since = {"claude-x": {"inputTokens": 30, "outputTokens": 9, "cacheReadInputTokens": 4, "thinkingTokens": 2}}
    told = f.hear(prompted(), f.init(), f.begin("m"), f.stop(input_tokens=10, output_tokens=5, cache_read_input_tokens=4),
                  f.result(model_usage_since_last_result=since))
    assert f.notes(told, "tokens") == [{"input": 10, "output": 5, "cacheRead": 4, "cacheWrite": 0, "messageId": "m"}]
    end = told[-1]
    assert isinstance(end, TurnEnd) and json.loads(end.usage or b"") == {
        "inputTokens": 30, "outputTokens": 9, "cachedReadTokens": 4, "cachedWriteTokens": 0, "thoughtTokens": 2}


def test_an_old_builds_turn_takes_what_its_models_count_grew_by() -> None:
    translate = prompted()

    def took(used: int, **usage: int) -> int:
        (end,) = (signal for signal in f.hear(translate, f.init(), f.result(
            modelUsage={"a": {"inputTokens": used}, "b": {"inputTokens": 1}}, usage=usage)) if isinstance(signal, TurnEnd))
        translate.prompted()
        taken: int = json.loads(end.usage or b"")["inputTokens"]
        return taken

    assert took(1000, input_tokens=5) == 5, "what was there before this process is none of this turn's"
    assert took(1030, input_tokens=5) == 30, "sub-agents are in the models' count only"


def test_a_turn_of_the_clis_own_tells_the_rest_of_its_tokens_too() -> None:
    since = {"claude-x": {"inputTokens": 30}}
    told = f.hear(translator(), f.init(), f.begin("m"), f.stop(input_tokens=10), f.result(model_usage_since_last_result=since))
    assert [note["input"] for note in f.notes(told, "tokens")] == [10, 20]


def test_money_and_room_are_told_together_and_by_model() -> None:
    models = {"claude-x": {"inputTokens": 10, "contextWindow": 200_000, "costUSD": 0.5}}
    told = f.hear(prompted(), f.init(), f.begin("m"), f.stop(input_tokens=10, output_tokens=5),
                  f.result(modelUsage=models, total_cost_usd=0.5))
    assert f.updates(told, "usage") == [
        {"sessionUpdate": "usage_update", "used": 15, "size": 200_000, "cost": {"amount": 0.5, "currency": "USD"}}]
    assert f.notes(told, "model_usage") == [models]


def test_money_is_told_where_no_room_is_known() -> None:
    told = f.hear(prompted(), f.init(), f.result(total_cost_usd=0.5))
    assert AgentNote(CostSpent(0.5, "USD", is_total=True)) in told


# -- beside the conversation -------------------------------------------------------------------------------------------


def test_a_compaction_is_told_from_its_start_to_its_summary() -> None:
    told = f.hear(prompted(), f.system("status", status="compacting", uuid="k"), f.system("status", compact_result="success"),
                  f.system("compact_boundary", compact_metadata={"trigger": "auto", "pre_tokens": 9, "post_tokens": 3}),
                  f.spoken("All that was said.", isSynthetic=True))
    assert [(update["compactionId"], update["status"]) for update in f.updates(told, "compaction")] == [
        ("k", "in_progress"), ("k", "completed"), ("k", "completed")]
    assert f.updates(told)[-1]["summary"] == [{"type": "text", "text": "All that was said."}]
    assert len(f.notes(told, "compact_boundary")) == 1


def test_messages_that_a_compaction_kept_are_not_told_again() -> None:
    translate = prompted()
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
    told = f.hear(prompted(), f.system("status", status="compacting"), last, f.result())
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


def test_what_the_cli_says_in_a_persons_name_is_kept_and_is_no_message_of_theirs() -> None:
    told = f.hear(translator(), f.spoken("Output token limit hit.", isSynthetic=True), f.spoken("from elsewhere"))
    assert [signal.kind for signal in told if isinstance(signal, AgentNote | CustomNote)] == ["synthetic_message", "user_message"]


def test_answers_to_our_requests_are_handed_out_once() -> None:
    translate = translator()
    given = {"subtype": "success", "request_id": "a", "response": {"x": 1}}
    told = f.hear(translate, f.frame("control_response", response=given),
                  f.frame("control_response", response={"subtype": "success", "request_id": "b"}),
                  f.frame("control_response", response={"subtype": "error", "request_id": "c", "error": "No."}))
    assert told == []
    assert [(answer.request_id, answer.ok, answer.body, answer.error) for answer in translate.control.take_answers()] == [
        ("a", True, b'{"x": 1}', None), ("b", True, b"null", None), ("c", False, b"null", "No.")]
    assert translate.control.take_answers() == []


# -- whatever comes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", [
    b"not json", b"[1]", b"7", b'"x"', b"{}", b'{"type":7}', b'{"type":""}', b"{" * 9000, b"\xff\xfe",
    b'{"type":"user","message":{"content":"\\ud800"}}'])
def test_a_line_that_is_no_frame_is_malformed(line: bytes) -> None:
    (told,) = translator().receive(line)
    assert isinstance(told, Malformed) and told.size == len(line) and len(told.line) <= 4096


def test_nothing_is_nothing() -> None:
    assert translator().receive(b"") == [] and translator().receive(b" \r\n") == []


@pytest.mark.parametrize("line", [f.frame("tomorrow", x=1), f.system("tomorrow", x=1), f.frame("system")])
def test_a_type_that_nobody_knows_is_kept_as_it_came(line: bytes) -> None:
    (note,) = translator().receive(line)
    assert isinstance(note, CustomNote) and note.data == line


@every_row("subtype", sorted(SYSTEM))
def test_every_known_subtype_is_told_or_left_out_on_purpose(subtype: str) -> None:
    told = f.hear(translator(), f.system(subtype))
    assert told or subtype in QUIET


def test_a_result_of_an_odd_shape_ends_its_turn_all_the_same() -> None:
    odd = f.result(stop_reason=7, usage=[], modelUsage="x", errors={}, total_cost_usd="free", origin=1, user_message_uuids=3)
    assert ends(f.hear(prompted(), odd)) == ["end_turn"]


def test_numbers_of_any_length_are_told_as_they_are() -> None:
    (update,) = f.updates(f.hear(translator(), f.whole("m", f.use("c", "X", n=int("9" * 40), x=1e300))))
    assert update["rawInput"] == {"n": int("9" * 40), "x": 1e300}


def test_an_answer_of_an_odd_shape_is_an_answer_all_the_same() -> None:
    translate = translator()
    odd = {"subtype": "success", "request_id": "a", "response": {"x": 1}, "error": 5}
    f.hear(translate, f.frame("control_response", response=odd))
    (answer,) = translate.control.take_answers()
    assert (answer.request_id, answer.ok, json.loads(answer.body)) == ("a", True, {"x": 1})


def test_a_very_long_result_is_told_whole() -> None:
    long = "y" * (5 << 20)
    (update,) = f.updates(f.hear(translator(), f.answer("c", long)))
    assert update["content"][0]["content"]["text"] == long


@given(st.sampled_from(TYPES), st.sampled_from(["", *SYSTEM, "success", "tomorrow"]),
       st.dictionaries(texts, json_values, max_size=3), st.dictionaries(st.sampled_from(MEMBERS), json_values, max_size=5))
def test_no_frame_of_any_shape_breaks_it(kind: str, subtype: str, more: dict[str, Any], known: dict[str, Any]) -> None:
    translate = prompted("p")
    told = f.hear(translate, encoded({**more, **known, "type": kind, "subtype": subtype}), f.result(user_message_uuids=["p"]))
    for signal in told:
        if isinstance(signal, Update):
            assert not faults("SessionUpdate", signal.raw), signal.raw
    assert len(ends(told)) == 1


@settings(max_examples=examples(12))
@given(st.sampled_from([line for run in runs() for line in output(run) if len(line) < 3000][::7]), st.data())
def test_a_real_line_with_any_member_replaced_breaks_nothing(line: bytes, data: st.DataObject) -> None:
    message = json.loads(line)
    place: Any = message
    for _ in range(data.draw(st.integers(1, 4))):
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], dict | list) or not place[key]:
            break
        place, key = (place[key], None) if data.draw(st.booleans()) else (place, key)
        if key is not None:
            break
    if key is None:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
    place[key] = data.draw(json_values)
    translate = prompted()
    for signal in f.hear(translate, encoded(message)):
        if isinstance(signal, Update):
            assert not faults("SessionUpdate", signal.raw), signal.raw


@settings(max_examples=examples(5), deadline=None)
@given(st.sampled_from(["main", "subagent", "ask", "background", "slash"]), st.data())
def test_the_bytes_may_be_cut_anywhere(run: str, data: st.DataObject) -> None:
    """The CLI's output arrives as the pipe gives it; the lines are put together again, and mean the same."""
    stream = b"".join(line + b"\n" for line in output(run))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=40)))
    whole, pieces = translator(), translator()
    reader, lines = LineSplitter(), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        lines += reader.feed(stream[start:end])
    assert f.hear(pieces, lines) == f.hear(whole, output(run))


NO_TEXT = [b'{"type":"system","subtype":"init","cwd":"\xff"}', b'{"type":"system","subtype":"init","tools":["\xc3"]}',
           b'{"type":"control_response","response":{"request_id":"r","subtype":"success","response":{"a":"\xff"}}}',
           b'{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","input":{"\xfe":1}}}',
           b'{"type":"tomorrow","x":"\xed\xa0\x80"}']


@pytest.mark.parametrize("line", NO_TEXT)
def test_a_frame_that_is_no_utf8_is_malformed_and_goes_nowhere(line: bytes) -> None:
    translate = prompted()
    (told,) = translate.receive(line)
    assert isinstance(told, Malformed) and told.why.startswith("not UTF-8")
    assert translate.control.take_answers() == [] and translate.control.take_output() == []


@pytest.mark.parametrize("number", [b"1e400", b"-1e309", b"9" * 400, b"9" * 5000])
def test_a_number_that_nobody_can_hold_costs_its_member_or_the_line(number: bytes) -> None:
    for line in (b'{"type":"system","subtype":"api_retry","attempt":%b,"retry_delay_ms":%b}',
                 b'{"type":"result","num_turns":%b,"x":%b}'):
        for signal in prompted().receive(line % (number, number)):
            assert isinstance(signal, Malformed | AgentNote | CustomNote | TurnEnd | Update)


def test_what_a_slash_command_printed_is_read_in_one_pass() -> None:
    begun = "<local-command-stdout>"
    nested = f"x{begun} a {begun}b</local-command-stderr> c <local-command-stderr></local-command-stdout>"
    assert _printed(nested) == f"a {begun}b"
    assert _printed(" nothing in tags ") == "nothing in tags"
    begin = time.thread_time()
    assert _printed(begun * 12_000) == begun * 12_000
    assert time.thread_time() - begin < 2, "a quarter of a megabyte took 39 s once"
