"""Headers of a message as bytes: JetStream's own interface hands them out that way.

Rule 1: what cannot be read is left out. A header of ours that is missing is the reader's business.
Rule 2: where a message is heard is no proof of who put it there. Servers look at the subject of a question, not at where its
        answer is to go: whoever may ask can have an answer sent to any subject that somebody listens to. (Into a stream none
        comes: ``roles.py``.) What a stream handed out says in its headers where it is stored, which cannot be left out.
"""

from __future__ import annotations

from typing import Final

WAS_AT: Final = "Nats-Subject"
"""What a server adds to each stored message that it hands out, behind what the message has already."""
WAS_IN: Final = "Nats-Stream"
"""The same for its stream."""
_WAS_IN_LINE: Final = f"\r\n{WAS_IN}:".encode()
_SAID_AGAIN: Final = (("tl.live.", "tl.j."), ("tl.kv.", "$KV."))


def is_astray(subject: str, raw: bytes) -> bool:
    """Whether what is heard at a subject of ours is an answer that somebody had sent there: at one where streams say again what
    they store, anything else; at the others, what a stream handed out. (Answers come to inboxes.)"""
    if not subject.startswith("tl."):
        return False
    stored_at = next((source + subject[len(said):] for said, source in _SAID_AGAIN if subject.startswith(said)), None)
    return _WAS_IN_LINE in raw if stored_at is None else parse_headers(raw).get(WAS_AT) != stored_at


def parse_headers(raw: bytes) -> dict[str, str]:
    """Names and values; of a name that is there twice the last counts."""
    found: dict[str, str] = {}
    for line in raw.decode("utf-8", "replace").split("\r\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            found[name] = value.strip()
    return found
