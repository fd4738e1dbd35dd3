"""Headers of a message as bytes: JetStream's own interface hands them out that way.

Rule 1: what cannot be read is left out. A header of ours that is missing is the reader's business.
Rule 2: where a message is, is no proof of who put it there. Servers look at the subject of a question, not at where its answer is
        to go: whoever may read one message can have the server send it to any subject, a stream's too. Such a message says in
        its headers where it was before (``Nats-Stream``), and that cannot be left out: it is FORWARDED, and counts for nothing.
"""

from __future__ import annotations

from typing import Final

WAS_AT: Final = "Nats-Subject"
"""What a server adds to each stored message that it hands out, behind what the message has already."""
FORWARDED: Final = "Tl-Forwarded"
"""Never sent: the client adds it to what was not put where it was found by somebody who may."""
WAS_IN: Final = "Nats-Stream"
"""The same for the stream; what a server says of its own (nobody listens) has no stream."""
_WAS_IN_LINE: Final = b"\r\nNats-Stream:"
_SAID_AGAIN: Final = (("tl.live.", "tl.j."), ("tl.kv.", "$KV."))


def was_copied(raw: bytes) -> bool:
    """Whether a stored message was handed out before it was stored."""
    return raw.count(_WAS_IN_LINE) > 1


def is_astray(subject: str, raw: bytes) -> bool:
    """Whether a stored message is heard at a subject of ours where no stream says it again. Answers come to inboxes."""
    if _WAS_IN_LINE not in raw or not subject.startswith("tl."):
        return False
    stored_at = next((source + subject[len(said):] for said, source in _SAID_AGAIN if subject.startswith(said)), None)
    return was_copied(raw) or parse_headers(raw).get(WAS_AT) != stored_at


def parse_headers(raw: bytes) -> dict[str, str]:
    """Names and values; of a name that is there twice the last counts."""
    found: dict[str, str] = {}
    for line in raw.decode("utf-8", "replace").split("\r\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            found[name] = value.strip()
    return found
