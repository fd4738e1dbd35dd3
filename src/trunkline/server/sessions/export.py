"""A session to keep: the whole conversation, as a file of markdown or JSON.

Rule 1: it ends at the entry that was the last when the request came, however long the download takes: the state in its head is of
that entry.
Rule 2: it is written as it is read, a stretch of the journal at a time: its size is nobody's memory.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from typing import Literal

import msgspec
from starlette.responses import StreamingResponse

from trunkline.dialects.context.envelope import iso_ms
from trunkline.errors import Invalid
from trunkline.feeds.session import Feed
from trunkline.hub import SessionView
from trunkline.hub.sight import ShownSession
from trunkline.journal.base import Entry
from trunkline.server.call import HttpCall, Reply
from trunkline.server.sessions.markdown import MarkdownTranscript

Format = Literal["markdown", "json"]
FORMATS: tuple[Format, ...] = ("markdown", "json")
SHAPE = 1
"""The number of the JSON form; one more when it changes so that old readers cannot read it."""

_MEDIA = {"markdown": ("text/markdown; charset=utf-8", "md"), "json": ("application/json", "json")}


class ExportHead(msgspec.Struct, rename="camel"):
    """What stands before the events: ``{…, "events": […]}``. ``lastSeq`` is the last event in it."""

    trunkline: int
    exported_at: str
    last_seq: int
    session: SessionView


async def export(call: HttpCall) -> Reply:
    """The whole session as a file."""
    form = call.text("format") or "markdown"
    if form not in FORMATS:
        raise Invalid(f"format must be markdown or json, not {form[:40]!r}",
                      details={"field": "format", "allowed": list(FORMATS)})
    session = await call.shown()
    view = await session.snapshot()
    media, ending = _MEDIA[form]
    body = _markdown(session, view) if form == "markdown" else _json(session, view)
    name = f"{_slug(view.title) or 'session'}-{_slug(session.id)[-8:]}.{ending}"
    return StreamingResponse(body, media_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})


async def _markdown(session: ShownSession, view: SessionView) -> AsyncIterator[bytes]:
    transcript = MarkdownTranscript()
    yield transcript.head(title=view.title, agent=view.agent, folder=view.cwd, started=view.created_at).encode()
    async for entries in _stretches(session.feed, view.last_seq):
        yield "".join([transcript.render(entry.event) for entry in entries]).encode("utf-8", "replace")
    yield transcript.end().encode()


async def _json(session: ShownSession, view: SessionView) -> AsyncIterator[bytes]:
    head = ExportHead(SHAPE, iso_ms(time.time_ns() // 1000), view.last_seq, view)
    yield msgspec.json.encode(head)[:-1] + b',"events":['
    before = b"\n"
    async for entries in _stretches(session.feed, view.last_seq):
        yield before + b",\n".join([entry.event for entry in entries])
        before = b",\n"
    yield b"\n]}\n"


async def _stretches(feed: Feed, last: int) -> AsyncIterator[list[Entry]]:
    position = 0
    while entries := await feed.read(after=position, before=last + 1):
        yield entries
        position = entries[-1].seq


def _slug(text: str) -> str:
    """What is safe in a file's name anywhere."""
    return re.sub(r"[^a-z0-9]+", "-", text[:200].lower()).strip("-")[:40]
