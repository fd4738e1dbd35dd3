"""Questions that an agent asks through a tool of its own: announced, so that a person knows what it waits for.

Rule 1: such a question is answered where the agent asks it (its own terminal, a permission that it asks for). ``_meta`` says so:
``answerable`` is false. A question that the hub can answer comes as an elicitation and is announced in ``asks``.
Rule 2: each is announced once, when its words are known.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from trunkline.dialects.context.events import UserQuestionEvent
from trunkline.dialects.outside import BROKEN
from trunkline.session.fold import OpenCall
from trunkline.session.interpret.writer import Writer

_WORDS = ("question", "prompt", "message", "text")
_CHOICES = ("options", "choices", "suggestions")


def questions_in(raw_input: bytes | None) -> list[tuple[str, list[str]]]:
    """The questions in a call's input, each with its choices."""
    try:
        asked = msgspec.json.decode(raw_input or b"null")
    except BROKEN:
        return []
    if not isinstance(asked, dict):
        return []
    several = asked.get("questions")
    found = [_question(one) for one in (several if isinstance(several, list) else [asked])]
    return [question for question in found if question[0]]


def emit_questions(writer: Writer, call: OpenCall) -> None:
    """Announce what a call asks, once it is known."""
    questions = questions_in(call.state.raw_input)
    if call.questioned or not questions:
        return
    call.questioned = True
    tool_call_id = call.state.tool_call_id
    for number, (words, choices) in enumerate(questions, 1):
        writer.add(UserQuestionEvent(
            question_id=tool_call_id if number == 1 else f"{tool_call_id}#{number}", question=words, options=choices or UNSET,
            meta={"toolCallId": tool_call_id, "answerable": False}))


def _question(asked: Any) -> tuple[str, list[str]]:
    if isinstance(asked, str):
        return asked, []
    if not isinstance(asked, dict):
        return "", []
    words = next((asked[key] for key in _WORDS if isinstance(asked.get(key), str)), "")
    choices: list[Any] = next((asked[key] for key in _CHOICES if isinstance(asked.get(key), list)), [])
    return words, [label for choice in choices if (label := _label(choice))]


def _label(choice: Any) -> str:
    if isinstance(choice, dict):
        choice = choice.get("label") or choice.get("title") or choice.get("value")
    return choice if isinstance(choice, str) else ""
