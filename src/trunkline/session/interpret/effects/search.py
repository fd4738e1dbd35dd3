"""What a search of code found: files and lines out of the text or the records that agents answer with.

Rule 1: every usual layout is read: ``file:line:text``, a file's name above its numbered lines, bare paths, lists of records.
Rule 2: bounded: at most RESULTS hits of TEXT_CHARS characters, out of the first SCANNED characters.
Rule 3: a hit that has no line (a file found by its name) has line 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from trunkline.dialects.calls.files import file_in
from trunkline.dialects.context.types import SearchResult
from trunkline.dialects.context.unions import SearchResultsOutput
from trunkline.session.interpret.calls.facts import Facts

RESULTS: Final = 200
TEXT_CHARS: Final = 300
SCANNED: Final = 64 << 10

_HIT = re.compile(r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]*):(?P<line>\d+)(?::\d+)?[:-]\s?(?P<text>.*)")
_UNDER = re.compile(r"\s*(?:L|[Ll]ine\s+)?(?P<line>\d+)\s*[:|\t]\s?(?P<text>.*)")
_ABOVE = re.compile(r"(?:File:\s*|#+\s*)?`?(?P<file>[^\s:`][^:`\n]*)`?:?\s*")
_PATH = re.compile(r"[-*]?\s*(?P<file>(?=[^\s:*?<>|\"'/.]*[/.])[^\s:*?<>|\"']+)")

_LINE_KEYS: Final = ("line", "line_number", "lineNumber", "lnum", "startLine")
_TEXT_KEYS: Final = ("content", "text", "match", "preview", "line_text", "lineText")


def found_in(facts: Facts) -> tuple[SearchResultsOutput | None, dict[str, Any]]:
    """The hits of a search, and in ``_meta`` whether there were more."""
    results = list(_results(facts))
    if not results:
        return None, {}
    meta = {"resultsMore": True} if len(results) > RESULTS or len(facts.text) > SCANNED else {}
    return SearchResultsOutput(results=results[:RESULTS]), meta


def _results(facts: Facts) -> Iterator[SearchResult]:
    records = _listed(facts.output)
    if records:
        return _of_records(records)
    text = facts.text[:SCANNED]
    numbered = list(_first(_of_text(text), RESULTS + 1))
    if numbered:
        return iter(numbered)
    paths = list(_first(_of_paths(text), RESULTS + 1))
    return iter(paths) if paths else _of_places(facts)


def _first(results: Iterable[SearchResult], most: int) -> Iterator[SearchResult]:
    for _, result in zip(range(most), results, strict=False):
        yield result


def _listed(output: Any) -> list[dict[str, Any]]:
    """The records of an output that is, or has, a list of hits."""
    if isinstance(output, dict):
        output = next((output[key] for key in ("results", "matches", "hits", "files") if isinstance(output.get(key), list)), None)
    return [item for item in output[:RESULTS + 1] if isinstance(item, dict)] if isinstance(output, list) else []


def _of_records(records: list[dict[str, Any]]) -> Iterator[SearchResult]:
    for record in records:
        file = file_in(record) or record.get("uri")
        if isinstance(file, str):
            line = next((record[key] for key in _LINE_KEYS if type(record.get(key)) is int), 0)
            text = next((record[key] for key in _TEXT_KEYS if isinstance(record.get(key), str)), "")
            yield SearchResult(file=file, line=line, content=text[:TEXT_CHARS])


def _of_text(text: str) -> Iterator[SearchResult]:
    """Hits with line numbers: each with its file, or under the file's name."""
    above = ""
    for row in text.split("\n"):
        if hit := _HIT.fullmatch(row):
            yield _hit(hit["file"], hit["line"], hit["text"])
        elif above and (under := _UNDER.fullmatch(row)):
            yield _hit(above, under["line"], under["text"])
        elif row.strip() and (name := _ABOVE.fullmatch(row.rstrip())) and ("/" in name["file"] or "." in name["file"]):
            above = name["file"]


def _hit(file: str, line: str, text: str) -> SearchResult:
    return SearchResult(file=file, line=int(line[:9]), content=text[:TEXT_CHARS])


def _of_paths(text: str) -> Iterator[SearchResult]:
    for row in text.split("\n"):
        if (path := _PATH.fullmatch(row.strip())) and path["file"].strip("./"):
            yield SearchResult(file=path["file"], line=0, content="")


def _of_places(facts: Facts) -> Iterator[SearchResult]:
    """The places that the agent pointed at, where its text names none."""
    for place in facts.state.locations or ():
        if place.line is not None:
            yield SearchResult(file=place.path, line=place.line, content="")
