"""The blocks of an answer, and which of them a whole text is: known by its text, since empty blocks may come in
pieces and not as a whole.

Rule: what was emitted of a block is not emitted again, and what was not is not lost. Where a whole text is like no block
it is a block of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

TEXT_KEPT: Final = 1 << 20
"""Characters of a block that are kept to be compared; of a longer one its beginning and its length are."""


class TextPieces(msgspec.Struct):
    """A block of an answer: its text by now, and what of an earlier attempt it has yet to repeat."""

    kind: str
    pieces: list[str] = []
    size: int = 0
    confirmed: bool = False
    call_id: str = ""
    echo: str = ""
    """What was emitted before and is expected to come again; empty once it did, or once something else came."""

    def add(self, piece: str) -> None:
        """More of it came."""
        if self.size < TEXT_KEPT:
            self.pieces.append(piece[:TEXT_KEPT - self.size])
        self.size += len(piece)

    def shown(self) -> str:
        """What was emitted of it, by it or by the attempt that it repeats; nothing where not all of it is kept."""
        return "" if self.size > TEXT_KEPT else self.echo or self.text()

    def text(self) -> str:
        """Its text in one piece, up to TEXT_KEPT."""
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""


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
