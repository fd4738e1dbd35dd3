"""Search over HTTP: words in, passages of sessions out.

Rule 1: what can be found is what a viewer may read anyway: words, tool calls and titles of sessions.
Rule 2: a snippet is text in pieces, never markup: whoever shows it decides how a match looks.
"""

from __future__ import annotations

import msgspec

from trunkline import decoders
from trunkline.dialects.context.envelope import iso_ms
from trunkline.errors import Invalid
from trunkline.journal.search import FoundText
from trunkline.server.call import HttpCall, Reply, reply

LIMIT_DEFAULT = 20
LIMIT_MOST = 100
WITHIN_S = 4.0
"""How long another node may take: its index reads up for half of it."""
AROUND = 25
"""Entries before a match that its address shows as well."""


class SnippetPart(msgspec.Struct):
    """A piece of a snippet, and whether it is what was looked for."""

    text: str
    match: bool


class SearchHit(msgspec.Struct, rename="camel", kw_only=True):
    """A passage that matches. ``kind`` is title, user, assistant or tool; ``seq`` is its entry, 0 for a title."""

    session_id: str
    title: str
    agent: str
    cwd: str
    kind: str
    seq: int
    at: str
    snippet: list[SnippetPart]
    url: str
    node: str | msgspec.UnsetType = msgspec.UNSET
    """The node of the cluster that found it; absent without a cluster."""


class SearchPage(msgspec.Struct):
    """The best matches, best first. Without ``complete`` the index is still reading: the same search finds more later.
    ``missing``: the nodes of a cluster that did not answer, whose sessions were not searched."""

    query: str
    hits: list[SearchHit]
    complete: bool
    missing: list[str] | msgspec.UnsetType = msgspec.UNSET


_page = decoders.of(SearchPage)


async def search(call: HttpCall) -> Reply:
    """Find words in titles, in what was said and in what tools were called with."""
    typed = call.text("q")
    if typed is None:
        raise Invalid("q is needed", details={"field": "q"})
    limit = call.integer("limit", LIMIT_DEFAULT, least=1, most=LIMIT_MOST)
    found, complete = await call.hub.index.find(typed, limit=limit)
    page = SearchPage(typed, [_hit(each) for each in found], complete)
    if call.parts.cluster is not None:
        for hit in page.hits:
            hit.node = call.parts.cluster.node
    if call.asks_all and call.parts.elsewhere is not None:
        answers, page.missing = await call.parts.elsewhere.ask_all(call, WITHIN_S, "/search")
        others = [_page.decode(body) for body in answers.values()]
        page.complete = page.complete and all(other.complete for other in others)
        page.hits = _merged([page.hits, *(other.hits for other in others)])[:limit]
    return reply(page)


def _merged(lists: list[list[SearchHit]]) -> list[SearchHit]:
    """The best of each node, then the second best: how well a match fits can only be compared within one index. Of those that are
    equally good for their nodes the newest is first; a session that two nodes have found is there once."""
    ranked = sorted(((rank, hit) for hits in lists for rank, hit in enumerate(hits)), key=lambda each: each[1].at, reverse=True)
    ranked.sort(key=lambda each: each[0])
    return list({(hit.session_id, hit.seq, hit.kind): hit for _, hit in reversed(ranked)}.values())[::-1]


def _hit(found: FoundText) -> SearchHit:
    row = found.row
    return SearchHit(
        session_id=row.id, title=row.title, agent=row.agent, cwd=row.cwd, kind=found.kind, seq=found.seq, at=iso_ms(found.at),
        snippet=[SnippetPart(text, match) for text, match in found.snippet], url=_url(row.id, found.seq),
    )


def _url(session_id: str, seq: int) -> str:
    """Where to read on: the session, or its events around the match."""
    return f"/sessions/{session_id}/history?after={max(seq - 1 - AROUND, 0)}" if seq else f"/sessions/{session_id}"
