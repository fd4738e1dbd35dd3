"""What was typed becomes a question that the index always understands."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.errors import Invalid
from trunkline.journal.search.words import LENGTH_MOST, WORDS_MOST, expression_of


@every_row(("typed", "expression"), [
    ("parser", '"parser"*'),
    ("fix  parser", '"fix"* AND "parser"*'),
    ('"fix the" pars', '"fix the" AND "pars"*'),
    ("src/a_b.py", '"src/a_b.py"*'),
    ("NOT x OR y*", '"NOT"* AND "x"* AND "OR"* AND "y*"*'),
    ('open "quote', '"open"* AND "quote"*'),
    ("- + parser", '"parser"*'),
    ("naïve 日本", '"naïve"* AND "日本"*'),
])
def test_words_are_found_by_their_beginning_and_phrases_as_they_are(typed: str, expression: str) -> None:
    assert expression_of(typed) == expression


@every_row("typed", ["", "   ", '""', "--- ***", '"', "_"])
def test_a_question_without_a_word_is_refused(typed: str) -> None:
    with pytest.raises(Invalid, match="no word"):
        expression_of(typed)


def test_a_question_has_an_end() -> None:
    with pytest.raises(Invalid, match="longer"):
        expression_of("a" * (LENGTH_MOST + 1))
    with pytest.raises(Invalid, match="more than"):
        expression_of("a " * (WORDS_MOST + 1))


@given(st.text(max_size=60))
def test_whatever_is_typed_the_index_understands_it_or_it_is_refused(typed: str) -> None:
    try:
        expression = expression_of(typed)
    except Invalid:
        return
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5 (body)")
    try:
        connection.execute("SELECT count(*) FROM t WHERE t MATCH ?", (expression,)).fetchone()
    finally:
        connection.close()
