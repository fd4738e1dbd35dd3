"""Questions to people: what may be chosen, who answered, and that it is answered once."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.session.interpret.call_builders import only
from tests.session.interpret.told import Told, events, names, packets
from tests.tooling.rows import every_row
from trunkline.dialects.signals import QuestionAsk


def form(**fields: Any) -> bytes:
    return msgspec.json.encode({"type": "object", "properties": fields})


def asked(schema: bytes | None) -> dict[str, Any]:
    return only(events(Told().turn().hear(QuestionAsk("q", "Which?", schema))), "interaction:question")


@every_row(("field", "options"), [
    ({"type": "string", "enum": ["a", "b"]}, ["a", "b"]),
    ({"type": "integer", "oneOf": [{"const": 1, "title": "One"}, {"const": 2}]}, ["1", "2"]),
    ({"type": "array", "items": {"enum": ["x", "y"]}}, ["x", "y"]),
    ({"type": "boolean"}, ["true", "false"]),
    ({"type": "string"}, None),
])
def test_what_the_only_field_of_a_form_takes_can_be_chosen(field: dict[str, Any], options: list[str] | None) -> None:
    assert asked(form(answer=field)).get("options") == options


def test_a_form_of_several_fields_is_in_the_schema_alone() -> None:
    schema = form(one={"type": "boolean"}, two={"type": "boolean"})
    event = asked(schema)
    assert "options" not in event and event["_meta"]["schema"] == msgspec.json.decode(schema)


def test_a_default_is_shown_as_a_text() -> None:
    assert asked(form(count={"type": "integer", "default": 3}))["defaultValue"] == "3"
    assert asked(form(name={"type": "string", "default": "ann"}))["defaultValue"] == "ann"
    assert "defaultValue" not in asked(None)


def test_an_open_question_moves_the_status_and_its_answer_moves_it_back() -> None:
    told = Told().turn()
    told.hear(QuestionAsk("q", "Which?", url="https://x.test"))
    assert told.fold.status == "waiting_for_input" and told.fold.questions["q"].url == "https://x.test"
    told.at().questions.answered("q", action="accept", content=msgspec.Raw(b'{"answer":"b"}'), who="ann")
    entries = told.take()
    assert names(entries)[0] == "question_resolved" and told.fold.status == "running"
    assert events(entries)[0]["data"] == {"questionId": "q", "action": "accept", "content": {"answer": "b"}}
    assert packets(entries)[0]["resolvedBy"] == "ann"
    assert told.fold.questions == {}


@pytest.mark.parametrize(("action", "who", "decided"), [
    ("accept", "ann", (True, "ann", "user")), ("cancel", "timeout", (False, "timeout", "timeout"))])
def test_who_answered_is_remembered_for_those_who_come_late(action: Any, who: str, decided: tuple[bool, str, str]) -> None:
    told = Told().turn()
    told.hear(QuestionAsk("q", "Which?"))
    told.at().questions.answered("q", action=action, content=None, who=who)
    told.take()
    kept = told.fold.decided["q"]
    assert (kept.approved, kept.by, kept.resolved_by) == decided
