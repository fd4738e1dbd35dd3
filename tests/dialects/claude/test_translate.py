"""The translator as a whole: turns and their ends, what the CLI says beside them, and lines that nobody should write."""

from __future__ import annotations

import json
import time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dialects.acp.schema import faults
from tests.dialects.acp.strategies import json_values, texts
from tests.dialects.claude import sample_frames as f
from tests.tooling.claude_runs import encoded, output, runs, translator
from tests.tooling.examples import examples
from tests.tooling.rows import every_row
from trunkline.dialects.claude.frames.types import SYSTEM
from trunkline.dialects.claude.translate import _printed
from trunkline.dialects.jsonrpc import LineSplitter
from trunkline.dialects.notes import AgentNote, CustomNote
from trunkline.dialects.signals import TurnEnd, Update

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


# -- turns -------------------------------------------------------------------------------------------------------------


def test_a_result_before_any_prompt_says_why_the_start_failed() -> None:
    translate = translator()
    told = f.hear(translate, f.result(subtype="error_during_execution", is_error=True, errors=["No conversation found"]))
    assert translate.failure is not None and translate.failure.message == "No conversation found"
    assert [signal.kind for signal in told if isinstance(signal, AgentNote | CustomNote)] == ["result"]


def test_what_only_the_result_says_is_told_from_it() -> None:
    told = f.hear(f.prompted(), f.init(), f.result(result="Unknown command: x"))
    assert f.said(told) == "Unknown command: x"


def test_an_error_was_shown_already_and_is_not_told_from_the_result_again() -> None:
    shown = f.whole("s", f.text("Credit balance is too low"), model="<synthetic>", error="billing_error")
    told = f.hear(f.prompted(), f.init(), shown, f.result(is_error=True, result="Credit balance is too low"))
    assert f.said(told) == "Credit balance is too low"
    end = told[-1]
    assert isinstance(end, TurnEnd) and end.error is not None and json.loads(end.error.data or b"")["error"] == "billing_error"


def test_an_interrupted_turn_of_an_old_build_was_cancelled() -> None:
    told = f.hear(f.prompted(), f.init(), f.spoken([f.text("[Request interrupted by user]")]),
                  f.result(subtype="error_during_execution"))
    assert f.ends(told) == ["cancelled"] and f.said(told) == ""


def test_the_id_of_the_conversation_is_learnt_and_changes_when_it_is_cleared() -> None:
    translate = f.prompted()
    f.hear(translate, f.init())
    assert translate.session_id == f.SESSION
    f.hear(translate, f.whole("m", f.use("c", "TodoWrite", todos=[{"content": "A"}])), f.result())
    told = f.hear(translate, f.frame("conversation_reset", new_conversation_id="n"), f.init(session_id="new"), f.result(
        session_id="new"))
    assert translate.session_id == "new"
    assert f.notes(told, "session_id") == [{"sessionId": "new", "previous": f.SESSION}]
    assert f.updates(told, "plan") == [{"sessionUpdate": "plan", "entries": []}]


# -- beside the conversation -------------------------------------------------------------------------------------------


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


@every_row("subtype", sorted(SYSTEM))
def test_every_known_subtype_is_told_or_left_out_on_purpose(subtype: str) -> None:
    told = f.hear(translator(), f.system(subtype))
    assert told or subtype in QUIET


def test_a_very_long_result_is_told_whole() -> None:
    long = "y" * (5 << 20)
    (update,) = f.updates(f.hear(translator(), f.answer("c", long)))
    assert update["content"][0]["content"]["text"] == long


@given(st.sampled_from(TYPES), st.sampled_from(["", *SYSTEM, "success", "tomorrow"]),
       st.dictionaries(texts, json_values, max_size=3), st.dictionaries(st.sampled_from(MEMBERS), json_values, max_size=5))
def test_no_frame_of_any_shape_breaks_it(kind: str, subtype: str, more: dict[str, Any], known: dict[str, Any]) -> None:
    translate = f.prompted("p")
    told = f.hear(translate, encoded({**more, **known, "type": kind, "subtype": subtype}), f.result(user_message_uuids=["p"]))
    for signal in told:
        if isinstance(signal, Update):
            assert not faults("SessionUpdate", signal.raw), signal.raw
    assert len(f.ends(told)) == 1


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
    translate = f.prompted()
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


def test_what_a_slash_command_printed_is_read_in_one_pass() -> None:
    begun = "<local-command-stdout>"
    nested = f"x{begun} a {begun}b</local-command-stderr> c <local-command-stderr></local-command-stdout>"
    assert _printed(nested) == f"a {begun}b"
    assert _printed(" nothing in tags ") == "nothing in tags"
    begin = time.thread_time()
    assert _printed(begun * 12_000) == begun * 12_000
    assert time.thread_time() - begin < 2, "a quarter of a megabyte took 39 s once"
