"""Whether a session takes orders: it is open, and its agent is ours.

Rule: what people do with a session is reached through its properties (``session.turns``, ``session.approvals``,
``session.settings``), and these check here. So nobody can forget to.
"""

from __future__ import annotations

from trunkline.errors import TrunklineError
from trunkline.session.driver.watch import refuse
from trunkline.session.fold import Fold


class Admission:
    """The door of one session."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self._closed_by: TrunklineError | None = None

    @property
    def is_open(self) -> bool:
        """Whether the session is not being closed."""
        return self._closed_by is None

    @property
    def is_driven(self) -> bool:
        """Whether it is open, and has an agent of ours."""
        return self.is_open and self._fold.watches is None

    @property
    def has_line(self) -> bool:
        """Whether it is open, and somebody else's agent takes prompts by a live line."""
        return self.is_open and self._fold.watches is not None and self._fold.line

    def close(self, error: TrunklineError) -> None:
        """Whatever is asked from now on is refused with this; the first reason counts."""
        self._closed_by = self._closed_by or error

    def check_open(self) -> None:
        """Refuse whatever needs an open session."""
        if self._closed_by is not None:
            raise self._closed_by

    def check_answered(self) -> None:
        """Refuse whatever needs an agent that asks: ours, or one elsewhere that has asked by its hook."""
        fold = self._fold
        if fold.watches is None or not (fold.approvals or fold.questions or fold.decided):
            self.check_driven()
        self.check_open()

    def check_driven(self) -> None:
        """Refuse whatever needs an agent of ours."""
        self.check_open()
        if self._fold.watches is not None:
            refuse()
