"""What an agent says that the person said: the prompt again, or something that was said elsewhere."""

from __future__ import annotations

from tests.session.interpret.test_replay import replaying, user
from tests.session.interpret.told import Told, events, names
from tests.session.script import text


def test_outside_of_a_replay_an_echo_stays_an_echo() -> None:
    told = replaying()
    told.at().replayed()
    told.turn("hello  world")
    assert names(told.hear(user("hello "), user("world"))) == ["user_message_echo", "user_message_echo"]


def test_what_the_person_said_elsewhere_is_a_message_like_any_other() -> None:
    told = Told().turn("hello")
    told.hear(user("hello"))
    found = events(told.hear(user("and also "), user("this"), text("Yes.")))
    said = [event for event in found if event["type"] == "message:complete"]
    assert [event["role"] for event in said] == ["user"] and "_meta" not in said[0]
    assert "".join(part["text"] for part in said[0]["content"]) == "and also this"


def test_a_prompt_that_is_told_again_with_something_around_it_is_an_echo() -> None:
    told = Told().turn("make it blue")
    assert names(told.hear(user("<context/>\nmake it blue"))) == ["user_message_echo"]
