"""Whose turn it is: which result ends a prompt of ours, and which ends what the CLI began of its own accord.

    no turn ──prompted──→ ours ──result──→ no turn          a task in the background woke the CLI:
    no turn ──init──→ its own ──result──→ no turn           it starts a turn that nobody asked for

Rule 1: a result that names the prompts which it ends is believed. One that names another reason (``origin``) ends no prompt.
Rule 2: older builds name neither. There, a prompt that was written while another turn ran is ended by the result after that
turn's, unless the CLI has reported that it took the prompt into it.
Rule 3: a CLI that has not answered yet begins nothing of its own: its ``init`` is its opening. One that never answers any request
knows no such turns, and may send that frame once, before the first prompt.
Rule 4: a prompt that the CLI takes out of its queue (an interrupt came before it began) has no result: saying so ends it.
"""

from __future__ import annotations

from typing import Final

from trunkline.dialects.claude.frames.types import ResultFrame

OURS: Final = ("", "human", "user", "prompt")
"""Kinds of origin that stand for a prompt."""


class CliTurns:
    """The turns of one CLI process."""

    def __init__(self) -> None:
        self.working = False
        """Whether a turn runs, be it a prompt's or one of the CLI's own."""
        self.is_opening = False
        """It has not answered yet."""
        self._prompts: list[str | None] = []
        """Written, and not ended."""
        self._is_behind = False
        """The oldest of them was written while another turn ran, and nothing shows that it has begun."""
        self._has_begun = False
        """A turn began whose result is still to come."""
        self._is_taken = False
        """It took a prompt up, or is about to."""

    @property
    def is_ours(self) -> bool:
        """Whether what runs, if anything runs, is a prompt's turn."""
        return bool(self._prompts) and not self._is_behind

    def prompted(self, uuid: str | None) -> None:
        """A prompt was written."""
        if not self._prompts:
            self._is_behind = self.working
        self._prompts.append(uuid)
        self.working = True

    def taken(self, uuids: list[str]) -> None:
        """The CLI reported that it took these prompts up."""
        if any(uuid in self._prompts for uuid in uuids):
            self._is_behind = False
            self._is_taken = True

    def begun(self) -> bool:
        """A turn begins; whether it is one that no prompt asked for."""
        own = not self._prompts and not self.working
        if own and self.is_opening:
            return False
        self.working = self._has_begun = True
        return own

    def ended(self, result: ResultFrame) -> bool:
        """A turn is over; whether it was a prompt's."""
        ended = self._prompts_of(result)
        self._is_behind = self._has_begun = self._is_taken = False
        self._prompts = [uuid for uuid in self._prompts if uuid not in ended]
        self.working = bool(self._prompts)
        return bool(ended)

    def withdrawn(self, uuid: str) -> bool:
        """The CLI will not answer this prompt; whether it was open. A turn of the CLI's own that runs goes on."""
        if uuid not in self._prompts:
            return False
        self._prompts.remove(uuid)
        self.working = bool(self._prompts) or (self._has_begun and not self._is_taken)
        self._is_behind = self._is_behind and bool(self._prompts)
        return True

    def _prompts_of(self, result: ResultFrame) -> list[str | None]:
        """The prompts that a result ends; builds that name none end all that they were sent."""
        named = result.user_message_uuids or ([result.user_message_uuid] if result.user_message_uuid else [])
        if named and None not in self._prompts:
            return [uuid for uuid in self._prompts if uuid in named]
        if result.origin is not None and result.origin.kind not in OURS:
            return []
        return [] if self._is_behind else list(self._prompts)
