"""A person's word that the hub may listen on an agent's live line: a small file in the data folder, and nothing elsewhere.

Rule 1: without it nothing connects. It is given and taken back by a command, never at a start-up.
Rule 2: it is looked at by whoever would connect; a hub that runs is told when it comes and goes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec

from trunkline.agents.catalog import AgentSpec
from trunkline.disk.private_file import write_private
from trunkline.errors import StorageError

FOLDER: Final = "hooks"
"""In the data folder, beside what is kept of hooks."""


_END: Final = ".line.json"


def agreed(data: Path) -> set[str]:
    """The agents whose lines the person agreed to."""
    try:
        return {name.removesuffix(_END) for name in os.listdir(data / FOLDER) if name.endswith(_END)}
    except OSError:
        return set()


class LineConsent:
    """One agent's."""

    def __init__(self, spec: AgentSpec, data: Path) -> None:
        self.spec = spec
        self.data = data
        self._path = data / FOLDER / f"{spec.name}{_END}"

    @property
    def path(self) -> Path:
        """The file that says so."""
        return self._path

    def is_given(self) -> bool:
        """Whether the hub may connect."""
        return self._path.is_file()

    def give(self) -> None:
        """It may."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(self._path, msgspec.json.encode({"agent": self.spec.name}))
        except OSError as error:
            raise StorageError(f"cannot write {self._path}: {error.strerror}") from error

    def take_back(self) -> None:
        """It may not any more."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(f"cannot remove {self._path}: {error.strerror}") from error
