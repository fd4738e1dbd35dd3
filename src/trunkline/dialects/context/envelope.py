"""Events as bytes: the envelope in front (``seq, sessionId, timestamp, type, …payload``), and the way back.

Rule 1: what is written once is never written again: a decoded event that is encoded anew gets a new envelope.
Rule 2: reading never raises over what a newer hub may send: it comes back as ``UnknownEvent`` with its bytes.
Rule 3: streamed text is the hot path and is spliced, not encoded: ``delta_prefix`` once per message, ``delta_event`` per chunk.
"""

from __future__ import annotations

from functools import cache, lru_cache

import msgspec
from msgspec import Raw, Struct

from trunkline import decoders
from trunkline.dialects.context.events import Event
from trunkline.dialects.moments import Moments
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Invalid

DeltaPrefix = tuple[bytes, bytes]
"""What is the same in all deltas of a message: the part before the timestamp and the part after it. Opaque to callers."""


class UnknownEvent(Struct, frozen=True, gc=False):
    """An event that this version cannot read: ``raw`` is all of it, ``why`` what was not understood."""

    raw: bytes
    type: str
    seq: int = 0
    session_id: str = ""
    timestamp: str = ""
    why: str = ""


class _Head(Struct, gc=False, rename="camel"):
    type: str
    seq: int = 0
    session_id: str = ""
    timestamp: str = ""


_encoder = msgspec.json.Encoder()
_head_decoder = decoders.of(_Head)


@cache
def _decoder() -> msgspec.json.Decoder[Event]:
    return decoders.of(Event)  # of so many types that it is made with the first event that is read back


stamp_ms = Moments(b"%b%03dZ", 1000).stamp
"""``iso_ms`` as bytes, for splicing."""


def iso_ms(at_us: int) -> str:
    """The protocol's timestamp of a moment in microseconds: UTC, milliseconds, ``Z``."""
    return stamp_ms(at_us).decode()


@lru_cache(maxsize=1024)
def _session_token(session_id: str) -> bytes:
    return _encoder.encode(session_id)


def encode_event(seq: int, session_id: str, at_us: int, event: Event) -> bytes:
    """One event as subscribers get it: a JSON object on one line, envelope first."""
    if event.seq or event.session_id or event.timestamp:
        event = msgspec.structs.replace(event, seq=0, session_id="", timestamp="")
    envelope = b'{"seq":%d,"sessionId":%b,"timestamp":"%b",' % (seq, _session_token(session_id), stamp_ms(at_us))
    body = _encoder.encode(event)
    if b"\r" in body:
        # An agent's own JSON may have it between tokens (never inside a string), and it would end a line of an event stream.
        body = body.replace(b"\r", b" ")
    return envelope + body[1:]


def decode_event(raw: bytes) -> Event | UnknownEvent:
    """Read an event with its envelope; what is not understood is an ``UnknownEvent``, what is no event at all ``Invalid``."""
    try:
        return _decoder().decode(raw)
    except BROKEN as wrong:
        return _unknown(raw, str(wrong))


def _unknown(raw: bytes, why: str) -> UnknownEvent:
    try:
        head = _head_decoder.decode(raw)
    except BROKEN as wrong:
        raise Invalid(f"not an event: {wrong}") from wrong
    return UnknownEvent(raw, head.type, head.seq, head.session_id, head.timestamp, why)


def delta_prefix(session_id: str, message_id: str, role: str | None) -> DeltaPrefix:
    """The fixed parts of a message's deltas, made once per message; without a ``role`` they are ``thinking:delta``."""
    kind = "message:delta" if role else "thinking:delta"
    whose = b',"role":' + _encoder.encode(role) if role else b""
    before = b',"sessionId":' + _session_token(session_id) + b',"timestamp":"'
    after = f'","type":"{kind}","messageId":'.encode() + _encoder.encode(message_id) + whose + b',"delta":'
    return before, after


def delta_event(prefix: DeltaPrefix, seq: int, stamp: bytes, text_json: bytes | Raw) -> bytes:
    """One delta: ``stamp`` is ``stamp_ms(at)``, ``text_json`` the text as a JSON string token, quotes included."""
    before, after = prefix
    return b"".join((b'{"seq":', str(seq).encode(), before, stamp, after, text_json, b"}"))
