"""``trunkline answer``: a question is answered from elsewhere."""

from __future__ import annotations

from tests.cli.commands.elsewhere import begun, state, wait_for
from tests.cli.conftest import Place
from tests.tooling.processes import eventually
from trunkline.cli.commands.sessions.answer import filled_in
from trunkline.client import QuestionView


def test_a_question_is_answered_by_its_fields_or_declined(place: Place) -> None:
    place.serve()
    session = begun(place, "/question")
    wait_for(place, session, "pendingQuestions")
    wrong = place.call_here("answer", "-", "nme=Ada")
    assert wrong.returncode == 2 and b"the fields are name, colour, steps, sure" in wrong.stderr
    assert b"name: an answer is needed" in place.call_here("answer", "-", "steps=4").stderr
    assert b"colour: expected a number from 1 to 2: 1 Red, 2 Blue" in place.call_here("answer", "-", "name=A", "colour=x").stderr
    assert place.call_here("answer", session, "name=Ada", "colour=1", "steps=4").stdout.startswith(b"answered ")
    eventually(lambda: '"Ada"' in state(place, session)["lastText"], "the agent has it")
    place.call_here("send", session, "/question")
    wait_for(place, session, "pendingQuestions")
    assert place.call_here("answer", "-", "--decline").stdout.startswith(b"declined ")


def test_a_question_with_one_field_takes_its_value_alone() -> None:
    assert filled_in(QuestionView(question_id="q", options=["red", "blue"]), ["2"]) == {"answer": "blue"}
    assert filled_in(QuestionView(question_id="q"), ["answer=x=y"]) == {"answer": "x=y"}
    assert filled_in(QuestionView(question_id="q", url="https://example.com"), []) is None
