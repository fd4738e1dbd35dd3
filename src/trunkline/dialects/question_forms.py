"""Questions with choices, as several agents ask them, as a form; and a filled form as what was chosen for each.

    {"question": "Which color?", "header": "Color", "options": [{"label": "Red", "description": "…"}], …}

Rule: each question is a field of choices and, beside it, a field for other words: any answer may be given.
"""

from __future__ import annotations

from typing import Any

from trunkline.dialects.outside import Json
from trunkline.dialects.signals import OTHER_WORDS


def questions_in(listed: Any) -> list[Json]:
    """The questions that have words."""
    entries = listed if isinstance(listed, list) else []
    return [question for question in entries if isinstance(question, dict) and text_in(question, "question")]


def form_of(questions: list[Json], several: str) -> Json | None:
    """The questions as a JSON Schema of the kind that elicitations use; None where there is nothing to ask. ``several`` is the
    member that says whether more than one may be chosen."""
    if not questions:
        return None
    fields: Json = {}
    for name, question in zip(_names(questions), questions, strict=True):
        fields[name] = _field(question, several)
        if _choices(question):
            fields[name + OTHER_WORDS] = {"type": "string", "title": "Other", "description": "An answer in other words"}
    return {"type": "object", "properties": fields}


def chosen_in(questions: list[Json], several: str, content: Json) -> list[list[str]]:
    """What was chosen for each question; nothing where it was left out."""
    answers: list[list[str]] = []
    for name, question in zip(_names(questions), questions, strict=True):
        chosen, other = _chosen(content.get(name)), content.get(name + OTHER_WORDS)
        if isinstance(other, str) and other.strip():
            chosen = [*chosen, other.strip()] if question.get(several) is True else [other.strip()]
        answers.append(chosen)
    return answers


def text_in(fields: Json, name: str) -> str:
    """A member that is a text."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _names(questions: list[Json]) -> list[str]:
    return ["answer"] if len(questions) == 1 else [f"answer{number}" for number in range(1, len(questions) + 1)]


def _field(question: Json, several: str) -> Json:
    field: Json = {"type": "string", "title": text_in(question, "header") or text_in(question, "question"),
                   "description": text_in(question, "question")}
    choices = _choices(question)
    if not choices:
        return field
    if question.get(several) is True:
        return {**field, "type": "array", "items": {"anyOf": choices}}
    return {**field, "oneOf": choices}


def _choices(question: Json) -> list[Json]:
    listed = question.get("options")
    options = listed if isinstance(listed, list) else []
    return [_choice(option) for option in options if isinstance(option, dict) and text_in(option, "label")]


def _choice(option: Json) -> Json:
    label, description = text_in(option, "label"), text_in(option, "description")
    return {"const": label, "title": label, **({"description": description} if description else {})}


def _chosen(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [each for each in listed if isinstance(each, str) and each]
