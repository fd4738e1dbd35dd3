"""The packets face: send a prompt, attach and resume, page through what is stored.

Rule 1: one packet, one seq, one id. A reader that was cut anywhere goes on after the last id it saw.
Rule 2: closing a stream never touches the turn.
"""

from __future__ import annotations

from functools import partial

from trunkline.server.call import HttpCall, Reply, reply
from trunkline.server.packets.frames import failure_frame, packet_frames
from trunkline.server.packets.history import page_after, page_before
from trunkline.server.packets.turns import relay_turn
from trunkline.server.sessions.prompt import SendMessage, prompt_blocks
from trunkline.server.sse import EventStream, Pump, follow

PAGE_MOST = 1_000
PAGE_DEFAULT = 100


async def send_message(call: HttpCall) -> Reply:
    """Take a prompt and stream its turn, unless the client asked for JSON: then say where to attach."""
    session = await call.session()
    message = await call.body(SendMessage)
    accepted = await session.turns.send(
        prompt_blocks(message.content), when_busy=message.when_busy, idempotency_key=call.idempotency_key(), by=call.caller.name,
    )
    if not call.takes_stream():
        return reply(accepted, 202)

    seen = call.cursor(session.feed.last_seq)
    return _stream(call, partial(relay_turn, session.feed, accepted.turn_id, accepted.seq, seen), session.id)


async def attach(call: HttpCall) -> Reply:
    """Every packet after the cursor, then live."""
    session = await call.session()
    after = call.cursor(session.feed.last_seq)
    return _stream(call, partial(follow, session.feed, after, packet_frames), session.id)


async def messages(call: HttpCall) -> Reply:
    """A page of stored packets: the first after ``after``, or, with only ``before``, the last before it."""
    feed = (await call.session()).feed
    after, before = call.integer("after"), call.integer("before", least=1)
    limit = call.integer("limit", PAGE_DEFAULT, least=1, most=PAGE_MOST)
    if before is not None and after is None:
        return reply(await page_before(feed, before, limit))
    return reply(await page_after(feed, after or 0, before, limit))


def _stream(call: HttpCall, pump: Pump, session_id: str) -> EventStream:
    return EventStream(pump, call.parts.streams, failure_frame, token_id=call.caller.token_id,
                       keepalive_s=call.parts.options.keepalive_s, watches=lambda shown, _: shown == session_id)
