"""The CLI's own questions (``AskUserQuestion``) as forms, and filled forms as the answers that it reads.

Rule 1: each question is a field of choices and, beside it, a field for other words: any answer may be given, as in the CLI.
Rule 2: the CLI reads answers by the question's own text; several choices are one text, with commas.
"""

from __future__ import annotations

from typing import Any

from trunkline.dialects.outside import Json
from trunkline.dialects.signals import OTHER_WORDS


def questions_in(given: Json) -> list[Json]:
    """The questions that have words."""
    listed = given.get("questions")
    entries = listed if isinstance(listed, list) else []
    return [question for question in entries if isinstance(question, dict) and _text(question, "question")]


def question_text(given: Json) -> str:
    """All questions in one text."""
    return "\n".join(_text(question, "question") for question in questions_in(given))


def form_of(given: Json) -> Json | None:
    """The questions as a JSON Schema of the kind that elicitations use; None where there is nothing to ask."""
    questions = questions_in(given)
    if not questions:
        return None
    fields: Json = {}
    for name, question in zip(_names(questions), questions, strict=True):
        fields[name] = _field(question)
        if _choices(question):
            fields[name + OTHER_WORDS] = {"type": "string", "title": "Other", "description": "An answer in other words"}
    return {"type": "object", "properties": fields}


def answers_of(given: Json, content: Json) -> Json:
    """What the CLI reads: answers by the questions' texts. A question that was left out is not among them."""
    questions = questions_in(given)
    answers: Json = {}
    for name, question in zip(_names(questions), questions, strict=True):
        chosen, other = _chosen(content.get(name)), content.get(name + OTHER_WORDS)
        if isinstance(other, str) and other.strip():
            chosen = [*chosen, other.strip()] if question.get("multiSelect") is True else [other.strip()]
        if chosen:
            answers[_text(question, "question")] = ", ".join(chosen)
    return answers


def _names(questions: list[Json]) -> list[str]:
    return ["answer"] if len(questions) == 1 else [f"answer{number}" for number in range(1, len(questions) + 1)]


def _field(question: Json) -> Json:
    field: Json = {"type": "string", "title": _text(question, "header") or _text(question, "question"),
                   "description": _text(question, "question")}
    choices = _choices(question)
    if not choices:
        return field
    if question.get("multiSelect") is True:
        return {**field, "type": "array", "items": {"anyOf": choices}}
    return {**field, "oneOf": choices}


def _choices(question: Json) -> list[Json]:
    listed = question.get("options")
    options = listed if isinstance(listed, list) else []
    return [_choice(option) for option in options if isinstance(option, dict) and _text(option, "label")]


def _choice(option: Json) -> Json:
    label, description = _text(option, "label"), _text(option, "description")
    return {"const": label, "title": label, **({"description": description} if description else {})}


def _chosen(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [each for each in listed if isinstance(each, str) and each]


def _text(fields: Json, name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
