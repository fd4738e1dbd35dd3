"""Messages and thoughts."""

from __future__ import annotations

import msgspec
import pytest

from tests.session.interpret.told import Told, events, names, packets, updates
from tests.session.script import text, update
from trunkline.dialects.calls import ToolNames
from trunkline.dialects.context.unions import TextPart
from trunkline.dialects.notes import AgentNote, RedactedThinking
from trunkline.session.fold import Fold
from trunkline.session.interpret import Interpreter
from trunkline.session.interpret.text import LAST_TEXT, chunk_text, entitle, last_words
from trunkline.session.interpret.writer import TEXT_LIMIT


def test_the_first_chunk_starts_a_message_and_carries_update_and_packet() -> None:
    told = Told().turn()
    first = told.hear(text("Hel"))
    assert names(first) == ["message:start", "message:delta"]
    assert [entry.update is not None for entry in first] == [True, False]
    assert len(packets(first)) == 1
    (second,) = told.hear(text("lo"))
    assert (names([second]), len(packets([second])), len(updates([second]))) == (["message:delta"], 1, 1)


def test_every_chunk_gives_exactly_one_packet_and_one_update() -> None:
    told = Told().turn()
    entries = told.hear(*[text(str(number)) for number in range(50)])
    assert [packet["content"]["text"] for packet in packets(entries)] == [str(number) for number in range(50)]
    assert len(updates(entries)) == 50


def test_the_end_of_a_message_has_all_of_its_text() -> None:
    told = Told().turn()
    told.hear(text('a "quoted" \\ back'), text("\nslash \u00e9\U0001f600"))
    done = told.hear(text("hm", "agent_thought_chunk"))
    assert names(done) == ["message:complete", "session:status_changed", "thinking:start", "thinking:delta"]
    assert events(done)[0]["content"] == [{"type": "text", "text": 'a "quoted" \\ back\nslash \u00e9\U0001f600'}]


def test_another_message_id_is_another_message() -> None:
    told = Told().turn()
    entries = told.hear(text("a", messageId="1"), text("b", messageId="1"), text("c", messageId="2"), text("d"))
    assert names(entries) == ["message:start", "message:delta", "message:delta", "message:complete", "message:start",
                              "message:delta", "message:delta"]
    assert events(entries)[0]["_meta"] == {"agentMessageId": "1"}


def test_a_tool_call_completes_the_message_before_it() -> None:
    told = Told().turn()
    told.hear(text("look:"))
    entries = told.hear(update(sessionUpdate="tool_call", toolCallId="c", title="T"), text("done"))
    assert names(entries) == ["message:complete", "tool:start", "message:start", "message:delta"]


def test_a_message_too_long_for_an_event_is_cut_there_and_whole_in_its_chunks() -> None:
    told = Told().turn()
    piece = "é" * 1000
    count = TEXT_LIMIT // 2000 + 50
    told.hear(*[text(piece) for _ in range(count)], text("the end"))
    told.at().text.close()
    (event,) = events(told.take())
    whole = event["content"][0]["text"]
    assert len(whole.encode()) <= TEXT_LIMIT < len(whole.encode()) + 4
    assert event["_meta"]["truncated"]["bytes"] == count * 2000 + len("the end")
    assert event["_meta"]["truncated"]["url"].startswith("/sessions/s/messages?after=")
    assert told.fold.last_text == "the end"


def test_lists_show_the_end_of_a_long_message_from_a_whole_word() -> None:
    told = Told().turn()
    told.hear(text("counting " * 40 + "done"))
    told.at().text.close()
    assert told.fold.last_text == "… " + "counting " * 21 + "done"
    assert last_words("x" * 300) == "x" * LAST_TEXT, "what has no words is cut anywhere"
    assert last_words("a" * 100 + " " + "b" * LAST_TEXT) == "b" * LAST_TEXT


def test_an_image_is_a_message_of_its_own() -> None:
    told = Told().turn()
    told.hear(text("see"))
    block = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    entries = told.hear(update(sessionUpdate="agent_message_chunk", content=block))
    assert names(entries) == ["message:complete", "message:start", "message:complete"]
    assert events(entries)[2]["content"] == [{"type": "image", "url": "data:image/png;base64,aGk=", "mimeType": "image/png"}]
    assert packets(entries)[0]["content"]["data"] == "aGk="


def test_a_chunk_with_a_wrong_name_is_put_right_and_the_agents_bytes_are_kept() -> None:
    told = Told().turn()
    said = update(sessionUpdate="agent_message_chunk", content={"type": "image", "data": "aGk=", "mediaType": "image/png"})
    started = told.hear(said)[0]
    assert started.raw == said.raw and started.update is not None
    assert msgspec.json.decode(started.update)["content"]["mimeType"] == "image/png"


def test_thinking_is_told_as_a_status_at_most_four_times_a_second() -> None:
    told = Told().turn()
    entries = []
    for _ in range(40):
        entries += told.hear(text("hm", "agent_thought_chunk"), later_us=25_000)
        entries += told.hear(text("so"), later_us=25_000)
    changes = [event for event in events(entries) if event["type"] == "session:status_changed"]
    assert 2 <= len(changes) <= 9, "two seconds of quick changes"


def test_that_the_agent_stopped_thinking_is_told_at_once() -> None:
    told = Told().turn()
    entries = told.hear(text("hm", "agent_thought_chunk"), text("so"), later_us=1_000)
    assert [event["to"] for event in events(entries) if event["type"] == "session:status_changed"] == ["thinking", "running"]


def test_a_thought_that_came_too_soon_to_be_told_as_a_status_is_told_when_it_lasts() -> None:
    told = Told().turn()
    for _ in range(6):
        told.hear(text("hm", "agent_thought_chunk"), text("so"), later_us=1_000)
    told.hear(text("long", "agent_thought_chunk"), later_us=1_000)
    assert told.fold.status == "running", "four changes in this second are enough"
    told.hear(text(" thought", "agent_thought_chunk"), later_us=2_000_000)
    assert told.fold.status == "thinking"


def test_in_no_second_are_there_more_than_four_changes_of_thinking() -> None:
    told = Told().turn()
    stamps = []
    for number in range(300):
        for entry in told.hear(text("x", "agent_thought_chunk" if number % 2 else "agent_message_chunk"), later_us=37_000):
            if b"session:status_changed" in entry.event:
                stamps.append(entry.at)
    assert len(stamps) > 20
    assert all(later - sooner >= 1_000_000 for sooner, later in zip(stamps, stamps[4:], strict=False))


def test_text_with_remarks_on_it_is_told_like_any_other_and_keeps_them() -> None:
    told = Told().turn()
    remarked = [text(word, _meta={"goose": number}) for number, word in enumerate(("one ", "two"))]
    entries = told.hear(*remarked, text(" three"))
    assert names(entries) == ["message:start", "message:delta", "message:delta", "message:delta"]
    assert updates(entries)[0]["_meta"] == {"goose": 0} and len(updates(entries)) == len(packets(entries)) == 3
    told.at().text.close()
    assert events(told.take())[0]["content"] == [{"type": "text", "text": "one two three"}]


def test_what_sub_agents_and_the_agent_say_at_once_is_kept_apart() -> None:
    told = Told()
    told.interpret = Interpreter(told.fold, tools=ToolNames(parent_call="x.parent"))
    told.turn()
    one, two = {"x": {"parent": "c1"}}, {"x": {"parent": "c2"}}
    entries = told.hear(text("a1 ", _meta=one), text("a2", _meta=one), text("b", _meta=two), text("main"), text(" on"),
                        text("a3", _meta=one))
    told.at().text.close()
    entries += told.take()
    starts = [event for event in events(entries) if event["type"] == "message:start"]
    assert [event.get("_meta") for event in starts] == [
        {"parentToolCallId": "c1"}, {"parentToolCallId": "c2"}, None, {"parentToolCallId": "c1"}]
    whole = [event["content"][0]["text"] for event in events(entries) if event["type"] == "message:complete"]
    assert whole == ["a1 a2", "b", "main on", "a3"]
    assert told.fold.last_text == "main on", "lists of sessions show what the agent itself said"
    assert len(packets(entries)) == 6


def test_the_words_of_any_chunk_are_found_again_in_its_update() -> None:
    for said in (text("a"), text("a", "agent_thought_chunk", _meta={"x": 1})):
        assert chunk_text(said.raw) == b'"a"'
    assert chunk_text(update(sessionUpdate="plan", entries=[]).raw) is None


def test_an_agents_echo_of_the_prompt_is_kept_and_not_shown_twice() -> None:
    told = Told().turn("hello")
    entries = told.hear(text("hello", "user_message_chunk"))
    assert (names(entries), packets(entries), updates(entries)) == (["user_message_echo"], [], [])


class Looked(str):
    """A text that notes whether anybody goes through the whole of it."""

    def strip(self, chars: str | None = None, /) -> str:
        raise AssertionError("the whole of it")


@pytest.mark.parametrize(("text", "title"), [("\n  First line\nmore" + "x" * 9000, "First line"), (" " * 9000 + "far", "")])
def test_a_title_is_looked_for_in_the_beginning_of_a_text_only(text: str, title: str) -> None:
    fold = Fold(session_id="s", agent="a", cwd="/p", created_at=0, updated_at=0)
    entitle(fold, [TextPart(text=Looked(text))])
    assert (fold.title or "") == title


def test_text_is_heard_up_to_what_is_none() -> None:
    told = Told().turn()
    call, behind = update(sessionUpdate="tool_call", toolCallId="c1", title="List", kind="read"), text("three")
    rest = iter([text("one "), text("hm", "agent_thought_chunk"), text("two"), call, behind])
    assert told.at().on_text(rest) is call
    assert list(rest) == [behind]
    assert [entry.update for entry in told.take() if entry.update is not None] == [
        each.raw for each in (text("one "), text("hm", "agent_thought_chunk"), text("two"))]


def test_a_thought_that_is_not_shown_is_told_as_one() -> None:
    told = Told().turn()
    found = events(told.hear(text("Hm."), AgentNote(RedactedThinking()), text("So.")))
    assert [event["type"] for event in found if event["type"].startswith("thinking:")] == ["thinking:start", "thinking:complete"]
    done = next(event for event in found if event["type"] == "thinking:complete")
    assert (done["redacted"], done["content"]) == (True, "")


@pytest.mark.parametrize(("block", "part"), [
    ({"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}},
     {"type": "tool_use", "toolCallId": "c1", "name": "Bash", "input": {"command": "ls"}}),
    ({"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "a"}], "is_error": True},
     {"type": "tool_result", "toolCallId": "c1", "content": "a", "isError": True}),
    ({"type": "tool_result", "toolCallId": "c1", "content": "a"}, {"type": "tool_result", "toolCallId": "c1", "content": "a"}),
])
@pytest.mark.parametrize(("kind", "role"), [("agent_message_chunk", "assistant"), ("user_message_chunk", "user")])
def test_a_chunk_that_calls_a_tool_or_has_its_result_is_a_part_of_a_message(
        block: dict[str, object], part: dict[str, object], kind: str, role: str) -> None:
    told = Told().turn()
    done = events(told.hear(update(sessionUpdate=kind, content=block)))[-1]
    assert (done["type"], done["role"], done["content"]) == ("message:complete", role, [part])
    assert not told.fold.calls, "it is no call of its own"


def test_the_text_of_an_embedded_resource_is_in_the_event() -> None:
    told = Told().turn()
    short = {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "its text"}}
    long = {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "x" * (TEXT_LIMIT + 1)}}
    found = [events(told.hear(update(sessionUpdate="agent_message_chunk", content=block)))[-1] for block in (short, long)]
    assert [event["content"][0]["text"] for event in found] == [
        "[file:///a.txt](file:///a.txt)\nits text", "[file:///b.txt](file:///b.txt)"]
