"""The packets face: send a prompt, attach and resume, page through what is stored.

Rule 1: one packet, one seq, one id. A reader that was cut anywhere goes on after the last id it saw.
Rule 2: closing a stream never touches the turn.
"""

from __future__ import annotations

from functools import partial

from trunkline.hub import Accepted
from trunkline.hub.sight import ShownSession
from trunkline.server.auth.guests import guest_of
from trunkline.server.call import HttpCall, Reply, reply
from trunkline.server.lost import lost_entry
from trunkline.server.packets.frames import all_frames, failure_frame, packet_frames
from trunkline.server.packets.history import page_after, page_before
from trunkline.server.packets.turns import relay_turn
from trunkline.server.sessions.prompt import Prompted, SendMessage, prompt_blocks
from trunkline.server.sse import EventStream, Outlet, Pump, follow

PAGE_MOST = 1_000
PAGE_DEFAULT = 100


async def send_message(call: HttpCall) -> Reply:
    """Take a prompt and stream its turn, unless the client asked for JSON: then say where to attach."""
    elsewhere = call.parts.elsewhere if guest_of(call.request.scope) is None else None
    taken = await elsewhere.prompt(call) if elsewhere is not None else None
    if taken is not None:
        return turn_stream(call, *taken) if isinstance(taken, Prompted) else taken
    session = await call.session()
    message = await call.body(SendMessage)
    accepted = await session.turns.send(
        prompt_blocks(message.content), when_busy=message.when_busy, idempotency_key=call.idempotency_key(), by=call.caller.name,
    )
    if not call.takes_stream():
        return reply(accepted, 202)

    return turn_stream(call, session, accepted, call.cursor(session.feed.last_seq))


def turn_stream(call: HttpCall, session: ShownSession, accepted: Accepted, seen: int) -> Reply:
    """The packets of the turn that a prompt was taken for, but for those that its sender has seen."""
    return _stream(call, partial(relay_turn, session.feed, accepted.turn_id, accepted.seq, seen), session.id)


async def attach(call: HttpCall) -> Reply:
    """Every packet after the cursor, then live."""
    session = await call.shown()
    place = await call.place_in(session.feed)

    async def pump(outlet: Outlet) -> None:
        if place.lost is not None:
            await outlet.write(all_frames([lost_entry(session.id, place)]))
        await follow(session.feed, place.after, packet_frames, outlet)

    return _stream(call, pump, session.id)


async def messages(call: HttpCall) -> Reply:
    """A page of stored packets: the first after ``after``, or, with only ``before``, the last before it."""
    feed = (await call.shown()).feed
    after, before = call.integer("after"), call.integer("before", least=1)
    limit = call.integer("limit", PAGE_DEFAULT, least=1, most=PAGE_MOST)
    if before is not None and after is None:
        return reply(await page_before(feed, before, limit))
    return reply(await page_after(feed, after or 0, before, limit))


def _stream(call: HttpCall, pump: Pump, session_id: str) -> EventStream:
    return EventStream(pump, call.parts.streams, failure_frame, token_id=call.caller.token_id,
                       keepalive_s=call.parts.options.keepalive_s, watches=lambda shown, _: shown == session_id)
