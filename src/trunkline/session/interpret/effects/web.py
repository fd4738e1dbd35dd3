"""What a call did on the web: a page fetched, a search made.

Rule: an address or a query must be known; a call that shows neither gives no operation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET

from trunkline.dialects.context.types import WebSearchResult
from trunkline.dialects.context.unions import WebContentOutput, WebFetch, WebOperation, WebSearch
from trunkline.dialects.outside import BROKEN
from trunkline.session.interpret.calls.facts import Facts, unfenced

RESULTS: Final = 50
SUMMARY_CHARS: Final = 500
SCANNED: Final = 64 << 10
SHOWN_URL: Final = 2048
"""Characters of an address; a ``data:`` address may hold a whole page."""

_ADDRESS = re.compile(r"https?://[^\s<>\"'`)\]]+")
_TITLE = re.compile(r"<title[^<>]*>([^<]{1,300})|\A\s*#\s+([^\n]{1,300})", re.IGNORECASE)
_LINK = re.compile(r"\[(?P<title>[^\]\n]{1,300})\]\((?P<url>https?://(?:(?!\]\()[^\s)])+)\)(?P<after>[^\n\[]{0,300})")
_LIST_BEGIN, _LIST_END = re.compile(r"\[\s*\{"), re.compile(r"\}\s*\]")
"""Two, not one: behind the first beginning there is an end or there is none, and no later beginning need look for it again."""

_URL_KEYS: Final = ("url", "uri", "link", "href")
_QUERY_KEYS: Final = ("query", "q", "search_query", "searchQuery", "search_term", "pattern")
_SNIPPET_KEYS: Final = ("snippet", "description", "content", "text", "summary")
_STATUS_KEYS: Final = ("statusCode", "status_code", "httpStatus", "code")


def operation_of(facts: Facts) -> WebOperation | None:
    """What a finished call did on the web; None where it did nothing there."""
    if facts.role == "fetch":
        url = address_of(facts)
        status = facts.look(*_STATUS_KEYS, kind=int)
        return WebFetch(url=url, title=_title(facts) or UNSET, status_code=status or UNSET) if url else None
    if facts.role == "web_search":
        query = facts.look_in(facts.input, _QUERY_KEYS) or _searched_for(facts)
        results = list(results_of(facts))[:RESULTS]
        return WebSearch(query=query, results=results or UNSET) if query else None
    return None


def page_of(facts: Facts) -> WebContentOutput | None:
    """The page that was fetched."""
    url = address_of(facts)
    if not url:
        return None
    summary = unfenced(facts.text[:SUMMARY_CHARS * 4]).strip()[:SUMMARY_CHARS]
    return WebContentOutput(url=url, title=_title(facts) or UNSET, summary=summary or UNSET)


def address_of(facts: Facts) -> str:
    """The address that was fetched: of the input, else the first that its words or the title name."""
    url = facts.look_in(facts.input, _URL_KEYS)
    if not url:
        urls = facts.input.get("urls")
        url = urls[0] if isinstance(urls, list) and urls and isinstance(urls[0], str) else ""
    if not url:
        found = _ADDRESS.search(facts.look_in(facts.input, ("prompt", "query")) or facts.state.title)
        url = found.group() if found else ""
    return url[:SHOWN_URL]


def results_of(facts: Facts) -> Iterator[WebSearchResult]:
    """What a web search found: records where there are any, else the links of its text."""
    records = _records(facts.output) or _records_in(facts.text[:SCANNED])
    if records:
        yield from records
        return
    for link in _LINK.finditer(facts.text[:SCANNED]):
        yield WebSearchResult(title=link["title"], url=link["url"], snippet=link["after"].strip(" -–:.\t"))


def _records(output: Any) -> list[WebSearchResult]:
    if isinstance(output, dict):
        listed = (output.get(key) for key in ("results", "links", "items", "sources"))
        output = next((value for value in listed if isinstance(value, list)), None)
    if not isinstance(output, list):
        return []
    return [result for item in output[:RESULTS] if isinstance(item, dict) and (result := _record(item)) is not None]


def _record(item: dict[str, Any]) -> WebSearchResult | None:
    url = Facts.look_in(item, _URL_KEYS)
    if not url:
        return None
    title = Facts.look_in(item, ("title", "name")) or url
    return WebSearchResult(title=title[:300], url=url, snippet=Facts.look_in(item, _SNIPPET_KEYS)[:SUMMARY_CHARS])


def _records_in(text: str) -> list[WebSearchResult]:
    """The results that stand as a JSON list within the text."""
    begin = _LIST_BEGIN.search(text)
    end = _LIST_END.search(text, begin.end()) if begin is not None else None
    if begin is None or end is None:
        return []
    try:
        return _records(msgspec.json.decode(text[begin.start():end.end()]))
    except BROKEN:
        return []


def _searched_for(facts: Facts) -> str:
    """The query that a title quotes, where the input has none."""
    quoted = re.search(r"[\"“]([^\"”\n]{1,300})[\"”]", facts.state.title)
    return quoted.group(1) if quoted else ""


def _title(facts: Facts) -> str:
    title = facts.look("title")
    if isinstance(title, str) and title:
        return title[:300]
    found = _TITLE.search(facts.text[:4096])
    return (found.group(1) or found.group(2)).strip() if found else ""
