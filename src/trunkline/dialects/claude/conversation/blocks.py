"""The blocks of an answer, and which of them a whole text is: told by what was said, since blocks that said nothing may come in
pieces and not as a whole.

Rule: what a person was told of a block is not told again, and what was not told is not lost. Where a whole text is like no block
it is a block of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

SAID_KEPT: Final = 1 << 20
"""Characters of a block that are kept to be compared; of a longer one its beginning and its length are."""


class TextPieces(msgspec.Struct):
    """A block of an answer: what it said by now, and what of an earlier attempt it has yet to repeat."""

    kind: str
    said: list[str] = []
    size: int = 0
    confirmed: bool = False
    call_id: str = ""
    echo: str = ""
    """What was told before and is expected to be said again; empty once it was, or once something else was said."""

    def add(self, piece: str) -> None:
        """It said more."""
        if self.size < SAID_KEPT:
            self.said.append(piece[:SAID_KEPT - self.size])
        self.size += len(piece)

    def shown(self) -> str:
        """What was told of it, by it or by the attempt that it repeats; nothing where not all of it is kept."""
        return "" if self.size > SAID_KEPT else self.echo or self.text()

    def text(self) -> str:
        """What it said in one piece, up to SAID_KEPT."""
        if len(self.said) > 1:
            self.said = ["".join(self.said)]
        return self.said[0] if self.said else ""


def block_of(blocks: Iterable[TextPieces], kind: str, text: str) -> TextPieces | None:
    """The block that came in pieces and is whole now; None where no block is like it."""
    waiting = [block for block in blocks if block.kind == kind and not block.confirmed]
    for alike in _ALIKE:
        for block in waiting:
            if alike(block.text(), text):
                return block
    return None


def rest_of(block: TextPieces, text: str) -> str:
    """What a whole text says beyond the pieces of its block."""
    known = block.text()
    if block.size > len(known):
        return text[block.size:] if text.startswith(known) else ""
    if text.startswith(known):
        return text[len(known):]
    if not known.strip():
        return text
    bare = text.lstrip()
    return bare[len(known.lstrip()):] if bare.startswith(known.lstrip()) else ""


def _same(known: str, text: str) -> bool:
    return known == text


def _same_but_for_space(known: str, text: str) -> bool:
    return bool(known.strip()) and known.strip() == text.strip()


def _begun(known: str, text: str) -> bool:
    return bool(known) and text.startswith(known)


def _begun_but_for_space(known: str, text: str) -> bool:
    return bool(known.strip()) and text.lstrip().startswith(known.lstrip())


def _longer(known: str, text: str) -> bool:
    return bool(text.strip()) and known.lstrip().startswith(text.strip())


def _silent(known: str, text: str) -> bool:
    return not known.strip()


_ALIKE: Final[tuple[Callable[[str, str], bool], ...]] = (
    _same, _same_but_for_space, _begun, _begun_but_for_space, _longer, _silent)
"""The ways in which pieces and a whole text are one, the surest first."""
