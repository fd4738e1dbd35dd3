"""What running programs themselves told of which sessions they have, where a plugin of ours is in them.

Rule: it is known while the program's line is open, and forgotten with it. Of a program that tells nothing is guessed.
"""

from __future__ import annotations

from typing import Final


class ToldByPrograms:
    """The sessions of each program. It is told on the loop and read in threads: each change is one assignment."""

    def __init__(self) -> None:
        self._sessions: dict[int, frozenset[str]] = {}

    def has(self, pid: int, session_ids: set[str]) -> None:
        """That program has these, and no others."""
        self._sessions = {**self._sessions, pid: frozenset(session_ids)}

    def forget(self, pid: int) -> None:
        """It is not known any more what that program has."""
        self._sessions = {each: held for each, held in self._sessions.items() if each != pid}

    def tells(self, pid: int) -> bool:
        """Whether that program says what it has."""
        return pid in self._sessions

    def holder_of(self, session_id: str) -> int | None:
        """The program that has it; None where none says so."""
        return next((pid for pid, held in self._sessions.items() if session_id in held), None)


TOLD: Final = ToldByPrograms()
"""Of this machine: processes are not a hub's."""
