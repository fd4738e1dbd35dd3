"""A session that is followed by its file: how far it was read, and what a live line to its program told ahead of it.

Rule: what the line told is known again by a digest of its words when the file says it, so that nothing is told twice; also after
a restart, since it is stored with the entries that told it.
"""

from __future__ import annotations

from msgspec.structs import replace

from trunkline.session.fold import KEPT_TOLD, Ahead, Awaited
from trunkline.session.interpret.writer import Writer


class FollowedInterpreter:
    """The file and the line of one session."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    @property
    def ahead(self) -> Ahead:
        """What the line is ahead of the file."""
        return self._writer.fold.ahead or _LEVEL

    def followed_to(self, position: int) -> None:
        """So many bytes of the file are taken."""
        self._writer.fold.watch_position = position

    def line(self, is_open: bool, why: str = "") -> None:
        """A live line to the program is open, or is not any more."""
        if self._writer.fold.line is not is_open:
            self._writer.fold.line = is_open
            self._writer.custom("line_opened" if is_open else "line_lost", {"reason": why} if why else {})

    def telling(self) -> None:
        """A text begins that the line tells."""
        self._set(replace(self.ahead, telling=True))

    def told(self, digest: str) -> None:
        """That text is told to its end."""
        self._set(replace(self.ahead, telling=False, told=(*self.ahead.told, digest)[-KEPT_TOLD:]))

    def said(self, digest: str | None) -> None:
        """The file has said what was told: one that was told to its end, or the one that is being told (None)."""
        if digest is None:
            self._set(replace(self.ahead, telling=False))
            return
        left = list(self.ahead.told)
        left.remove(digest)
        self._set(replace(self.ahead, told=tuple(left)))

    def sent(self, prompt: Awaited) -> None:
        """A prompt goes out by the line."""
        self._set(replace(self.ahead, prompts=(*self.ahead.prompts, prompt)[-KEPT_TOLD:]))
        self._writer.custom("prompt_sent", {"turnId": prompt.turn_id}, meta={"by": prompt.by})

    def came_back(self, prompt: Awaited) -> None:
        """The file has it; or it was not taken."""
        self._set(replace(self.ahead, prompts=tuple(each for each in self.ahead.prompts if each is not prompt)))

    def level(self) -> None:
        """The file has the end of a turn: what it did not say until then it will not say."""
        self._set(_LEVEL)

    def _set(self, ahead: Ahead) -> None:
        self._writer.fold.ahead = ahead if ahead != _LEVEL else None


_LEVEL = Ahead()
