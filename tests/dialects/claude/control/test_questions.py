"""The CLI's own questions as forms, and filled forms as the answers that it reads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dialects.acp.schema import faults
from tests.dialects.claude import sample_frames as f
from tests.tooling.claude_runs import translator
from trunkline.dialects.claude.translate import Translator
from trunkline.dialects.signals import PermissionAsk, QuestionAsk


def question(translate: Translator, *questions: dict[str, Any]) -> QuestionAsk:
    (asked,) = f.hear(translate, f.ask("q1", "AskUserQuestion", input={"questions": list(questions)}))
    assert isinstance(asked, QuestionAsk)
    return asked


COLOUR = {"question": "Which colour?", "header": "Colour", "multiSelect": False,
          "options": [{"label": "Red", "description": "r"}, {"label": "Blue"}]}

SIZES = {"question": "Sizes?", "header": "Sizes", "multiSelect": True, "options": [{"label": "S"}, {"label": "L"}]}


def test_a_question_is_a_form_with_choices_and_room_for_other_words() -> None:
    asked = question(translator(), COLOUR, SIZES)
    assert (asked.message, asked.tool_call_id) == ("Which colour?\nSizes?", "c1")
    assert asked.schema is not None and not faults("ElicitationSchema", asked.schema)
    fields = json.loads(asked.schema)["properties"]
    assert list(fields) == ["answer1", "answer1_other", "answer2", "answer2_other"]
    assert [choice["const"] for choice in fields["answer1"]["oneOf"]] == ["Red", "Blue"]
    assert (fields["answer2"]["type"], len(fields["answer2"]["items"]["anyOf"])) == ("array", 2)


@pytest.mark.parametrize(("content", "answers"), [
    ({"answer1": "Red", "answer2": ["S", "L"]}, {"Which colour?": "Red", "Sizes?": "S, L"}),
    ({"answer1": "Red", "answer1_other": "dark green"}, {"Which colour?": "dark green"}),
    ({"answer2": ["S"], "answer2_other": "XXL"}, {"Sizes?": "S, XXL"}),
    ({}, {}),
])
def test_answers_are_told_by_the_questions_own_texts(content: dict[str, Any], answers: dict[str, str]) -> None:
    translate = translator()
    asked = question(translate, COLOUR, SIZES)
    told = f.answered(translate.control.answer_question(asked.request_id, "accept", json.dumps(content).encode()))
    assert told["behavior"] == "allow"
    assert told["updatedInput"] == {"questions": [COLOUR, SIZES], "answers": answers}


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_question_that_is_not_answered_is_denied(action: str) -> None:
    translate = translator()
    asked = question(translate, COLOUR)
    assert f.answered(translate.control.answer_question(asked.request_id, action, None))["behavior"] == "deny"
    assert translate.control.answer_question(asked.request_id, action, None) is None


def test_a_question_without_words_is_asked_like_any_tool() -> None:
    assert isinstance(f.hear(translator(), f.ask("q1", "AskUserQuestion", input={"questions": [7]}))[0], PermissionAsk)
