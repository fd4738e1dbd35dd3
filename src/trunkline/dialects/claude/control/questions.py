"""The CLI's own questions (``AskUserQuestion``) as forms, and filled forms as the answers that it reads.

Rule: the CLI reads answers by the question's own text; several choices are one text, with commas.
"""

from __future__ import annotations

from trunkline.dialects import question_forms
from trunkline.dialects.outside import Json

SEVERAL = "multiSelect"


def questions_in(given: Json) -> list[Json]:
    """The questions that have words."""
    return question_forms.questions_in(given.get("questions"))


def question_text(given: Json) -> str:
    """All questions in one text."""
    return "\n".join(question_forms.text_in(question, "question") for question in questions_in(given))


def form_of(given: Json) -> Json | None:
    """The questions as a form; None where there is nothing to ask."""
    return question_forms.form_of(questions_in(given), SEVERAL)


def answers_of(given: Json, content: Json) -> Json:
    """What the CLI reads: answers by the questions' texts. A question that was left out is not among them."""
    questions = questions_in(given)
    answers = zip(questions, question_forms.chosen_in(questions, SEVERAL, content), strict=True)
    return {question_forms.text_in(question, "question"): ", ".join(chosen) for question, chosen in answers if chosen}
