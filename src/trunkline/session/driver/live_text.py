"""Text that a live line tells before the session's file has it: told once, whoever is first.

A piece is what the file will say in one go: a message, a thought. The line tells it in parts, and says when it is whole.
Rule 1: the file is the record. What it says and the line did not tell is written as ever, in the file's order.
Rule 2: what the line told to its end is left out when the file says it; of what it told in part the rest is written.
Rule 3: what the file has said already is not told; a piece that is short may be in the file before the line's words are here.
Rule 4: the line tells only pieces whose beginning it has seen: a part from the middle could not be known again.
"""

from __future__ import annotations

import hashlib
from collections import deque
from typing import Final, NamedTuple

from trunkline import decoders
from trunkline.dialects.acp.reading.decode import text_chunk
from trunkline.dialects.elsewhere.transcripts import said
from trunkline.dialects.signals import Signal, Update
from trunkline.session.recorder import Recorder

SAID_MOST: Final = 64
"""Texts of the file, the newest, by which it is known that the line comes late."""

BEGINNING: Final = 256
"""Characters of each that are compared."""

_KINDS = {False: "agent_message_chunk", True: "agent_thought_chunk"}


class Begun(NamedTuple):
    """A piece of which the line has told the beginning."""

    message_id: str
    text: str
    thinking: bool
    since: int
    """How many texts the file had said when the line told it."""
    whole: str | None = None
    """All of it, where that is here."""


class _Said(NamedTuple):
    """A text of the file."""

    number: int
    message_id: str
    thinking: bool
    digest: str
    beginning: str


class _Piece:
    """What is being told."""

    def __init__(self, message_id: str, thinking: bool, text: bytes = b"") -> None:
        self.message_id = message_id
        self.thinking = thinking
        self.text = bytearray(text)

    def is_of(self, message_id: str, thinking: bool) -> bool:
        return (self.message_id, self.thinking) == (message_id, thinking)


class LiveText:
    """The texts of one session that a line tells."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._piece: _Piece | None = None
        self._overtaken: _Piece | None = None
        """The piece that the file said to its end while it was told: what the line has left of it is old."""
        self._said: deque[_Said] = deque(maxlen=SAID_MOST)
        """What the file said."""
        self.said = 0
        """How many texts the file has said."""

    def was_said(self, begins: Begun) -> bool:
        """Whether the file has a piece already: the message of that id, the same words where all of them are known, or one that
        begins so, and came to the file after the line had told of it. Where it has not after all, it will say it."""
        text = begins.text[:BEGINNING]
        digest = _digest(begins.thinking, begins.whole.encode()) if begins.whole else ""
        return any((begins.message_id and begins.message_id == said.message_id) or digest == said.digest
                   or (said.number > begins.since and said.thinking is begins.thinking and said.beginning.startswith(text))
                   for said in self._said)

    def tell(self, message_id: str, text: str, *, thinking: bool) -> None:
        """The line tells more of a piece; the first words of another one end the one before."""
        if not text or (self._overtaken is not None and self._overtaken.is_of(message_id, thinking)):
            return
        if self._piece is not None and not self._piece.is_of(message_id, thinking):
            self.end()
        interpret = self._recorder.at()
        if self._piece is None:
            self._piece = _Piece(message_id, thinking)
            interpret.followed.telling()
        self._piece.text += text.encode()
        interpret.on_signals([said(text, message_id, _KINDS[thinking])])
        self._recorder.write()

    def end(self, whole: str | None = None) -> None:
        """The piece is whole: this is what the file will say of it. (None: what was told.)"""
        if self._piece is None:
            return
        text = (whole or "").encode()
        if text.startswith(self._piece.text) and len(text) > len(self._piece.text):
            self.tell(self._piece.message_id, text[len(self._piece.text):].decode(), thinking=self._piece.thinking)
        piece, self._piece = self._piece, None
        interpret = self._recorder.at()
        interpret.followed.told(_digest(piece.thinking, text or piece.text))
        interpret.text.close()
        self._recorder.write()

    def news(self, signal: Signal) -> Signal | None:
        """What is new in what the file says; None where all of it was told."""
        chunk = text_chunk(signal.raw) if isinstance(signal, Update) else None
        if chunk is None or chunk.kind not in _KINDS.values():
            return signal
        words, thinking = decoders.decode(chunk.text, str), chunk.kind == _KINDS[True]
        text, ahead = words.encode(), self._recorder.fold.ahead
        digest = _digest(thinking, text)
        self.said += 1
        self._said.append(_Said(self.said, chunk.message_id or "", thinking, digest, words[:BEGINNING]))
        if ahead is None:
            return signal
        if digest in ahead.told:
            self._recorder.at().followed.said(digest)
            return None
        return self._rest(signal, text, thinking) if ahead.telling else signal

    def _rest(self, signal: Signal, text: bytes, thinking: bool) -> Signal | None:
        """What is left of a piece that is told in part; all of it where it is another one."""
        piece = self._piece or self._told_before()
        if piece is None or piece.thinking is not thinking or not text.startswith(piece.text):
            return signal
        self._piece, self._overtaken = None, piece
        self._recorder.at().followed.said(None)
        rest = text[len(piece.text):].decode()
        return said(rest, piece.message_id, _KINDS[thinking]) if rest else None

    def _told_before(self) -> _Piece | None:
        """What was being told when the hub was stopped; the journal has its words."""
        text, ahead = self._recorder.fold.text, self._recorder.fold.ahead
        if text is None or ahead is None or not ahead.telling:
            return None
        words = decoders.decode(b'"' + b"".join(text.parts) + b'"', str)
        return _Piece(text.agent_message_id or "", text.thinking, words.encode())


def _digest(thinking: bool, text: bytes | bytearray) -> str:
    return hashlib.blake2b(text, digest_size=8, person=b"thought" if thinking else b"message").hexdigest()
