"""What a call did on the web: pages fetched, searches made."""

from __future__ import annotations

from typing import Any

import pytest

from tests.session.interpret.call_builders import made, of_type, only, text


def test_a_page_has_its_address_title_and_beginning() -> None:
    found = made("fetch", rawInput={"url": "https://x.test/a"}, content=text("# The page\n\nWords."),
                 rawOutput={"statusCode": 200})
    assert only(found, "tool:result")["structured"] == {
        "type": "web_content", "url": "https://x.test/a", "title": "The page", "summary": "# The page\n\nWords."}
    assert only(found, "web:operation")["operation"] == {
        "kind": "fetch", "url": "https://x.test/a", "title": "The page", "statusCode": 200}


def test_an_address_may_stand_in_the_words_of_a_prompt() -> None:
    found = made("fetch", title="web", rawInput={"prompt": "Sum up https://x.test/b please"})
    assert only(found, "web:operation")["operation"]["url"] == "https://x.test/b"


@pytest.mark.parametrize("fields", [
    {"rawOutput": {"results": [{"title": "T", "url": "https://t.test", "snippet": "S"}]}},
    {"content": text('Links: [{"title": "T", "url": "https://t.test", "snippet": "S"}]\nMore.')},
    {"content": text("- [T](https://t.test) S")},
])
def test_a_web_search_tells_what_it_found(fields: dict[str, Any]) -> None:
    found = made("fetch", rawInput={"query": "q"}, **fields)
    assert only(found, "web:operation")["operation"] == {
        "kind": "search", "query": "q", "results": [{"title": "T", "url": "https://t.test", "snippet": "S"}]}


def test_a_search_of_code_by_query_is_not_the_web() -> None:
    found = made("search", rawInput={"query": "where is x"}, content=text("a.py:1:x"))
    assert not of_type(found, "web:operation") and only(found, "tool:result")["structured"]["type"] == "search_results"


def test_a_failed_fetch_was_no_operation() -> None:
    assert not of_type(made("fetch", status="failed", rawInput={"url": "https://x.test"}), "web:operation")
