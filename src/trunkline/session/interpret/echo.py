"""Whether what an agent says that the person said is only the prompt again, which the hub has written down itself.

Rule: the prompt's own text is an echo, in pieces from its beginning or whole with something around it, whatever the white space.
Pictures and files are one as long as a prompt that has some is being echoed. Anything else was said elsewhere and is news.
"""

from __future__ import annotations

import msgspec

from trunkline.dialects.acp.content import ContentBlock, TextContent
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.errors import Invalid


class Echo:
    """What of the prompt the agent has not said again yet."""

    def __init__(self) -> None:
        self._blocks: list[msgspec.Raw] = []
        self._whole = self._left = ""
        self._has_others = False

    def expect(self, blocks: list[msgspec.Raw]) -> None:
        """A prompt goes out. It is only read where the agent says something that may be its echo."""
        self._blocks, self._whole, self._left, self._has_others = blocks, "", "", False

    def _read(self) -> None:
        texts = [_text_of(raw) for raw in self._blocks]
        self._blocks, self._has_others = [], None in texts
        self._whole = self._left = "".join("".join(text or "" for text in texts).split())

    def takes(self, block: ContentBlock) -> bool:
        """Whether a piece is the echo's next."""
        if self._blocks:
            self._read()
        if not isinstance(block, TextContent):
            return self._has_others
        squeezed = "".join(block.text.split())
        if self._left.startswith(squeezed):
            self._left = self._left[len(squeezed):]
            return bool(squeezed) or bool(self._whole)
        return bool(self._whole) and self._whole in squeezed


def _text_of(raw: msgspec.Raw) -> str | None:
    try:
        block = read_lenient(bytes(raw), ContentBlock)
    except Invalid:
        return None
    return block.text if isinstance(block, TextContent) else None
