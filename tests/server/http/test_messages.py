"""Requests and answers of our own have what Starlette's have."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import starlette.requests
import starlette.responses

from trunkline.server.http.messages import Request, Response

HEADERS = [(b"host", b"h"), (b"x-a", b"1"), (b"x-a", b"2"), (b"x-empty", b""), (b"x-latin", b"\xe4")]


def request_scope(query: bytes = b"") -> dict[str, Any]:
    return {"type": "http", "method": "POST", "path": "/", "headers": HEADERS, "query_string": query}


def test_headers_are_found_as_starlette_finds_them() -> None:
    ours, theirs = Request(request_scope()).headers, starlette.requests.Request(request_scope()).headers
    for name in ("Host", "x-a", "X-EMPTY", "x-latin", "x-none"):
        assert (ours.get(name), ours.get(name, "-"), ours.getlist(name)) == (theirs.get(name), theirs.get(name, "-"),
                                                                             theirs.getlist(name))
        assert (name in ours) == (name in theirs)
    assert ours["x-a"] == theirs["x-a"] == "1"
    with pytest.raises(KeyError):
        ours["x-none"]


def test_a_query_is_read_as_starlette_reads_it() -> None:
    for query in (b"", b"a=1&b=&a=2&c", b"a=%C3%A4+x&%20=%00", b"\xff=\xff&;", b"a==&&="):
        ours, theirs = Request(request_scope(query)), starlette.requests.Request(request_scope(query))
        assert ours.query == theirs.query_params.multi_items()
        assert ours.query_params == dict(theirs.query_params)


ANSWERS: tuple[dict[str, Any], ...] = (
    {}, {"status_code": 204, "headers": {"Allow": "GET"}}, {"status_code": 304, "headers": {"ETag": "x"}},
    {"content": b"{}", "headers": {}, "media_type": "application/json"}, {"content": "\xe4", "media_type": "text/html"},
    {"content": "a", "media_type": "text/plain; charset=latin-1"},
    {"content": "a", "headers": {"Content-Length": "1", "Content-Type": "a/b"}, "media_type": "text/plain"},
)


def test_an_answer_is_sent_as_starlette_sends_it_also_to_who_asked_for_a_websocket() -> None:
    for each in ANSWERS:
        for kind in ("http", "websocket"):
            assert sent(Response(**each), kind) == sent(starlette.responses.Response(**each), kind)


def test_a_cookie_is_given_and_taken_back_as_starlette_does_it() -> None:
    ours, theirs = Response(), starlette.responses.Response()
    ours.set_cookie("n", "v", max_age=9, path="/at/x", secure=True)
    theirs.set_cookie("n", "v", max_age=9, path="/at/x", httponly=True, samesite="strict", secure=True)
    assert sent(ours) == sent(theirs)
    ours, theirs = Response(), starlette.responses.Response()
    ours.set_cookie("n", max_age=0, expires=0, path="/at/x", secure=False)
    theirs.delete_cookie("n", path="/at/x", httponly=True, samesite="strict", secure=False)
    assert [name for name, _ in ours.raw_headers] == [name for name, _ in theirs.raw_headers]
    assert ours.raw_headers[-1][1].split(b"expires")[0] == theirs.raw_headers[-1][1].split(b"expires")[0]


def sent(answer: Any, kind: str = "http") -> list[Any]:
    found: list[Any] = []

    async def send(message: Any) -> None:
        found.append(message)

    asyncio.run(answer({"type": kind}, None, send))
    return found
