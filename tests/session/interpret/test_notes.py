"""Notes: what they mean, and that none is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.session.interpret.told import Told, events, names
from tests.session.script import text, update
from trunkline.dialects.context.types import EnvironmentProject, EnvironmentRuntime
from trunkline.dialects.signals import NOTES, Note, read_note, sent_note
from trunkline.session.interpret.lifecycle import environment_of

JSON = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
                    max_leaves=8)


def note(kind: str, **data: Any) -> Note:
    return Note(kind, msgspec.json.encode(data))


def only(told: Told, said: Note) -> dict[str, Any]:
    (event,) = events(told.hear(said))
    return {key: value for key, value in event.items() if key not in ("seq", "sessionId", "timestamp")}


def test_a_rate_limit_is_told_in_seconds() -> None:
    assert only(Told(), note("rate_limit", retryAfter=30, limit="requests", message="slow down")) == {
        "type": "resource:rate_limit", "retryAfter": 30, "limit": "requests", "message": "slow down"}


def test_a_retry_is_news_for_people_and_keeps_its_figures() -> None:
    event = only(Told(), note("retry", attempt=2, most=5, delay=1.5, message="overloaded"))
    assert (event["level"], event["message"]) == ("warning", "overloaded: attempt 2 of 5 in 1.5 s")
    assert event["_meta"]["note"] == {"attempt": 2, "most": 5, "delay": 1.5, "message": "overloaded"}
    assert only(Told(), note("retry", attempt=1))["message"] == "Attempt 1"


def test_a_hook_that_says_something_is_a_notification_and_any_other_is_kept() -> None:
    said = only(Told(), note("hook", name="lint", level="error", message="2 faults"))
    assert (said["type"], said["level"], said["title"], said["message"]) == (
        "interaction:notification", "error", "lint", "2 faults")
    quiet = only(Told(), note("hook", name="lint", took=3))
    assert (quiet["type"], quiet["eventName"], quiet["data"]) == ("custom", "hook", {"name": "lint", "took": 3})


@pytest.mark.parametrize(("data", "share"), [
    ({"current": 1, "total": 4}, 25), ({"current": 1, "total": 3}, 33.3), ({"current": 1}, None),
    ({"current": 0, "total": 0}, None),
])
def test_progress_is_told_with_its_share_where_that_is_known(data: dict[str, Any], share: float | None) -> None:
    event = only(Told(), note("progress", label="Indexing", **data))
    assert event == {"type": "progress:update", "label": "Indexing", **data} | ({} if share is None else {"percentage": share})


def test_a_model_is_told_with_the_environment_it_is_part_of() -> None:
    told = Told()
    assert only(told, note("model", id="m-1"))["data"] == {"id": "m-1"}, "there is no environment yet to tell it with"
    told.at().lifecycle.environment(environment_of(told.fold, EnvironmentProject(path="/w", name="w"),
                                                   EnvironmentRuntime(os="o", arch="a")))
    assert events(told.take())[0]["context"]["model"] == {"id": "m-1"}
    event = only(told, note("model", id="m-2", displayName="M Two", provider="p"))
    assert event["context"]["model"] == {"id": "m-2", "displayName": "M Two", "provider": "p"}
    assert told.hear(note("model", id="m-2", displayName="M Two", provider="p")) == []
    told.turn().hear(text("hi"))
    told.at().text.close()
    assert events(told.take())[-1]["model"] == "m-2"


def test_tokens_name_our_message_for_the_agents() -> None:
    told = Told().turn()
    (start, _) = events(told.hear(text("hi", messageId="theirs")))
    while_open = only(told, note("tokens", input=1, output=1, messageId="theirs"))
    told.at().text.close()
    told.take()
    afterwards = only(told, note("tokens", input=1, output=1, messageId="theirs"))
    assert while_open["messageId"] == afterwards["messageId"] == start["messageId"]
    assert "messageId" not in only(told, note("tokens", input=1, output=1, messageId="another"))


def test_pieces_of_a_calls_input_belong_to_the_call() -> None:
    told = Told().turn()
    told.hear(update(sessionUpdate="tool_call", toolCallId="c", title="T"))
    assert only(told, note("args_delta", toolCallId="c", delta='{"a":')) == {
        "type": "tool:args_delta", "toolCallId": "c", "delta": '{"a":'}


def test_a_sub_agent_is_told_from_its_start_to_its_end() -> None:
    told = Told()
    entries = told.hear(
        note("subagent", subAgentId="s", state="spawned", parentToolCallId="c", task="count", model="m"),
        note("subagent", subAgentId="s", state="progress", message="half", progress=50),
        note("subagent", subAgentId="s", state="completed", parentToolCallId="c", result="3", tokens={"input": 1, "output": 2}))
    assert names(entries) == ["subagent:spawned", "subagent:progress", "subagent:completed"]
    assert events(entries)[1]["progress"] == 50
    assert events(entries)[2]["tokenUsage"] == {"inputTokens": 1, "outputTokens": 2}


def test_an_agent_that_goes_on_under_another_id_comes_back_under_that() -> None:
    told = Told().turn()
    entries = told.hear(Note("session_id", b'{"sessionId":"new","previous":"old"}'))
    assert told.fold.agent_session_id == "new"
    assert names(entries) == ["agent_session_changed"]


def test_what_the_agent_does_of_its_own_accord_is_complete_when_it_is_over() -> None:
    told = Told()
    told.hear(note("background_turn", state="started"), text("Your task is done."))
    entries = told.hear(note("background_turn", state="ended", stopReason="end_turn"))
    assert names(entries) == ["message:complete", "background_turn"]


def test_a_turn_of_its_own_that_ends_within_a_prompts_turn_closes_nothing() -> None:
    told = Told().turn()
    told.hear(text("half a"))
    assert names(told.hear(note("background_turn", state="ended"))) == ["background_turn"]


@given(st.sampled_from([*NOTES, "tomorrow"]), JSON)
def test_whatever_a_note_holds_it_breaks_nothing_and_leaves_a_trace(kind: str, data: Any) -> None:
    told = Told().turn()
    said = Note(kind, msgspec.json.encode(data))
    entries = told.hear(said)
    assert entries
    if read_note(said) is None:
        kept = data if isinstance(data, dict) else {"value": data}
        assert (names(entries), events(entries)[0]["data"]) == ([kind], kept)


@pytest.mark.parametrize("params", [b"null", b"[]", b'{"kind":7}', b"{}", b'{"data":{}}'])
def test_a_notification_that_is_no_note_is_none(params: bytes) -> None:
    assert sent_note(params) is None


def test_a_note_that_was_sent_has_its_kind_and_its_data() -> None:
    assert sent_note(b'{"sessionId":"x","kind":"hook","data":{"name":"n"}}') == Note("hook", b'{"name":"n"}')
    assert sent_note(b'{"kind":"hook"}') == Note("hook", b"{}")


def test_every_note_is_in_the_docs() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "interpretation.md").read_text(encoding="utf-8")
    for kind, body in NOTES.items():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{kind}` |")]
        fields = [field.encode_name for field in msgspec.structs.fields(body)]
        assert [field for field in fields if f"`{field}`" not in row] == []
