"""An agent tells its history again: both sides of it become messages, once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.session.interpret.told import Told, events, names, packets, updates
from tests.session.script import text, update
from trunkline.dialects.signals import Update
from trunkline.session.fold import checkpoint, restore
from trunkline.session.interpret.writer import TEXT_LIMIT


def replaying() -> Told:
    told = Told()
    told.interpret.replaying = True
    return told


def user(words: str, **more: Any) -> Update:
    return text(words, "user_message_chunk", **more)


def test_what_the_person_said_is_a_message_of_theirs() -> None:
    told = replaying()
    entries = told.hear(user("Fix it\nplease"), text("Done."), user("Thanks"))
    told.at().replayed()
    entries += told.take()
    assert [(event["type"], event.get("role")) for event in events(entries)] == [
        ("message:start", "user"), ("message:delta", "user"), ("message:complete", "user"),
        ("message:start", "assistant"), ("message:delta", "assistant"), ("message:complete", "assistant"),
        ("message:start", "user"), ("message:delta", "user"), ("message:complete", "user")]
    assert events(entries)[2]["content"] == [{"type": "text", "text": "Fix it\nplease"}]
    assert events(entries)[0]["_meta"] == {"replayed": True}
    assert [packet["type"] for packet in packets(entries)] == ["user_message_chunk", "agent_message_chunk", "user_message_chunk"]
    assert len(updates(entries)) == 3
    assert told.fold.title == "Fix it" and told.fold.messages == 3 and told.interpret.replaying is False


@pytest.mark.parametrize(("ids", "messages"), [((None, None), 1), (("a", "a"), 1), (("a", "b"), 2), (("a", None), 1)])
def test_pieces_of_one_message_are_one_message(ids: tuple[str | None, str | None], messages: int) -> None:
    told = replaying()
    said = [user(words, **({} if message_id is None else {"messageId": message_id}))
            for words, message_id in zip(("one ", "two"), ids, strict=True)]
    told.hear(*said)
    told.at().replayed()
    told.take()
    completed = [event for event in events(told.entries) if event["type"] == "message:complete"]
    assert len(completed) == messages
    assert [part["text"] for event in completed for part in event["content"]] == ["one ", "two"]


def test_an_image_of_the_persons_is_part_of_their_message() -> None:
    told = replaying()
    image = update(sessionUpdate="user_message_chunk", content={"type": "image", "data": "aGk=", "mimeType": "image/png"})
    told.hear(user("look"), image)
    told.at().replayed()
    told.take()
    assert names(told.entries) == ["message:start", "message:delta", "user_content", "message:complete"]
    assert [part["type"] for part in events(told.entries)[-1]["content"]] == ["text", "image"]


def test_a_call_that_the_history_leaves_open_ends_with_the_next_message_of_the_person() -> None:
    told = replaying()
    call = update(sessionUpdate="tool_call", toolCallId="c", title="T", status="in_progress")
    told.hear(call, user("next"), call)
    told.at().replayed()
    told.take()
    errors = [event for event in events(told.entries) if event["type"] == "tool:error"]
    assert [event["error"]["code"] for event in errors] == ["abandoned", "abandoned"]
    assert sum(event["type"] == "tool:start" for event in events(told.entries)) == 2, "ids are used again"


def test_a_huge_message_of_the_persons_is_cut_in_its_completion() -> None:
    told = replaying()
    told.hear(user("x" * 1000), user("y" * (TEXT_LIMIT + 1)))
    told.at().replayed()
    told.take()
    completed = events(told.entries)[-1]
    assert completed["_meta"]["truncated"]["bytes"] > TEXT_LIMIT and len(completed["content"]) == 1


def test_a_message_that_was_open_in_a_crash_is_still_completed() -> None:
    told = replaying()
    told.hear(user("half a hist"))
    again = restore(checkpoint(told.fold))
    assert again.user_message is not None and again.user_message == told.fold.user_message
