"""Questions that an agent asks through a tool of its own: told, and not as if we could answer them."""

from __future__ import annotations

from typing import Any

from tests.session.interpret.told import Told, events, names
from tests.session.script import update
from tests.tooling.rows import every_row
from trunkline.agents import catalog
from trunkline.dialects.calls import ToolNames
from trunkline.session.interpret import Interpreter
from trunkline.session.interpret.asks.tool_questions import questions_in


def asking(names_of_tools: dict[str, Any]) -> Told:
    told = Told()
    told.interpret = Interpreter(told.fold, tools=ToolNames(roles=names_of_tools))
    return told.turn()


def test_a_question_asked_through_a_tool_is_told_once_and_not_as_one_that_we_could_answer() -> None:
    told = asking({"inquire": "ask_user"})
    call = {"toolCallId": "c", "title": "inquire", "name": "inquire", "status": "in_progress"}
    choices = [{"label": "Red", "description": "warm"}, {"label": "Blue"}]
    asked = {"questions": [{"question": "Which colour?", "options": choices}, {"question": "Why?"}]}
    told.hear(update(sessionUpdate="tool_call", **call))
    entries = told.hear(update(sessionUpdate="tool_call_update", toolCallId="c", rawInput=asked),
                        update(sessionUpdate="tool_call_update", toolCallId="c", status="completed"))
    first, second = [event for event in events(entries) if event["type"] == "interaction:question"]
    assert (first["questionId"], first["question"], first["options"]) == ("c", "Which colour?", ["Red", "Blue"])
    assert (second["questionId"], second["question"], "options" in second) == ("c#2", "Why?", False)
    assert first["_meta"] == {"toolCallId": "c", "answerable": False}
    assert told.fold.questions == {} and "waiting_for_input" not in {event.get("to") for event in events(told.entries)}


def test_a_question_is_known_by_the_name_that_the_catalog_has_for_it() -> None:
    told = Told()
    told.interpret = Interpreter(told.fold, tools=catalog.load()["claude-agent-acp"].tool_names)
    asked = {"questions": [{"question": "Which colour?", "header": "Colour", "options": [{"label": "Red"}]}]}
    entries = told.turn().hear(update(sessionUpdate="tool_call", toolCallId="c", title="Which colour?", kind="other",
                                      rawInput=asked, _meta={"claudeCode": {"toolName": "AskUserQuestion"}}))
    (question,) = [event for event in events(entries) if event["type"] == "interaction:question"]
    assert (question["question"], question["options"]) == ("Which colour?", ["Red"])


def test_a_tool_that_asks_nobody_asks_nothing() -> None:
    told = asking({"other": "read"})
    entries = told.hear(update(sessionUpdate="tool_call", toolCallId="c", title="inquire", name="inquire",
                               rawInput={"question": "Which?"}))
    assert "interaction:question" not in names(entries)


@every_row(("given", "found"), [
    (b'{"question":"Which?","choices":["a",{"title":"b"},7]}', [("Which?", ["a", "b"])]),
    (b'{"questions":["One?",{"prompt":"Two?"},7,{}]}', [("One?", []), ("Two?", [])]),
    (b'{"message":"Hm?"}', [("Hm?", [])]), (b"[]", []), (b"{}", []), (None, []), (b"{", []),
])
def test_questions_are_found_in_the_shapes_that_tools_use(given: bytes | None, found: list[tuple[str, list[str]]]) -> None:
    assert questions_in(given) == found
