"""One tool call, looked at once: whatever shape its input and output have, what is there is found and nothing fails."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.session.interpret.call_builders import facts_of
from tests.tooling.rows import every_row
from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.acp.tools import Content, ToolCallLocation
from trunkline.session.fold import Evidence
from trunkline.session.interpret.calls.facts import Head, decoded, head_of, name_of, unfenced


def test_an_input_that_is_wrapped_is_looked_into() -> None:
    facts = facts_of({"name": "tool", "arguments": {"path": "a.txt", "name": "inner"}})
    assert (facts.input["path"], facts.input["name"]) == ("a.txt", "inner")


def test_an_input_that_came_as_a_text_is_looked_into() -> None:
    assert facts_of('{"path": "a.txt"}').input == {"path": "a.txt"} and facts_of('["a"]').input == facts_of("{").input == {}


def test_arguments_that_came_as_a_text_are_the_input_where_there_is_no_other() -> None:
    evidence = Evidence(arguments='{"path": "a.txt"}')
    assert facts_of(evidence=evidence).input == {"path": "a.txt"}
    assert facts_of({"path": "b.txt"}, evidence=evidence).input == {"path": "b.txt"}


@every_row(("answer", "text"), [
    ("done", "done"), ({"stdout": "out", "error": "no"}, "out"), ({"n": 1}, '{"n":1}'), ([1, 2], "[1,2]"), (None, ""),
])
def test_the_text_of_an_output_is_itself_or_the_member_that_holds_it_or_its_json(answer: object, text: str) -> None:
    assert facts_of(answer=answer).text == text


def test_what_a_call_shows_is_its_text_unless_that_came_with_an_ask() -> None:
    facts = facts_of(answer="printed", content=[Content(content=TextContent(text="shown"))])
    assert facts.text == "shown"
    asked = facts_of(answer="printed", content=[Content(content=TextContent(text="Because it must be made"))])
    asked.call.shows_ask = True
    assert asked.text == "printed"


def test_a_member_is_found_in_the_output_in_its_metadata_and_only_with_the_right_type() -> None:
    facts = facts_of(answer={"exit_code": True, "ok": False, "metadata": {"exit_code": 3}})
    assert facts.look("exit_code", kind=int) == 3, "true is no number"
    assert facts.look("ok", kind=bool) is False
    assert facts.look("ok") is None
    assert facts_of(evidence=Evidence(response={"exit_code": 4})).look("exit_code", kind=int) == 4


def test_paths_are_those_of_the_input_each_once_and_absolute() -> None:
    assert facts_of({"paths": ["a.txt", "./b", "a.txt", "/x/../y", "~/z"]}).paths == ["/w/a.txt", "/w/b", "/y", "~/z"]
    assert facts_of(locations=[ToolCallLocation(path="file:///w/c")]).paths == ["/w/c"]
    assert facts_of().short("/w/src/a.py") == "src/a.py" and facts_of().short("/elsewhere/a.py") == "elsewhere/a.py"


@every_row("most", range(16, 130))
def test_the_beginning_of_a_long_text_is_cut_between_characters(most: int) -> None:
    for token in (msgspec.json.encode('é"\U0001f600\\n\n' * 9), b'"' + b"\\u00e9\\ud83d\\ude00" * 7 + b'"'):
        head, whole = head_of(msgspec.Raw(token), most), msgspec.json.decode(token)
        assert whole.startswith(head.text) and head.cut == (len(token) > most)
        assert head.text, "as much of it as there is room for"


def test_a_text_that_fits_is_all_there() -> None:
    assert head_of(msgspec.Raw(b'"abc"'), 5) == Head("abc", False)
    assert facts_of(answer={"stdout": "abcdef"}).head("stdout", chars=4) == Head("abc", True), "its quote is a byte too"
    assert facts_of(answer={"stdout": 7}).head("stdout", chars=4) is None


@pytest.mark.parametrize("broken", [b"{", b"", b"[" * 100_000, b"\xff"])
def test_what_is_no_json_is_nothing(broken: bytes) -> None:
    assert decoded(broken) is None


@pytest.mark.parametrize(("fields", "name"), [
    ({"tool": "Bash", "name": "shell", "first_title": "Run"}, "Bash"), ({"name": "shell", "first_title": "Run"}, "shell"),
    ({"first_title": "Run", "title": "Ran"}, "Run"), ({"kind": "execute"}, "execute"),
])
def test_a_tool_is_called_by_the_best_name_that_is_known(fields: dict[str, Any], name: str) -> None:
    assert name_of(CallState(tool_call_id="c", **fields)) == name


@pytest.mark.parametrize(("text", "inside"), [
    ("```sh\nhi\n```\n", "hi"), ("```\na\n```\nb\n```\n", "```\na\n```\nb\n```\n"), ("see ```x```", "see ```x```"),
])
def test_only_a_fence_around_all_of_a_text_is_taken_off(text: str, inside: str) -> None:
    assert unfenced(text) == inside
