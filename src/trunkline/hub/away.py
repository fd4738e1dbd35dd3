"""Whether the person is away: then programs whose hooks would hide their own prompt may be answered from here.

Rule 1: the person says so (``trunkline away|here``, the page's switch). Nobody else does.
Rule 2: it outlives the hub: whoever left does not come back because the hub was restarted.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.disk.own_file import read_own
from trunkline.disk.private_file import PrivateFile


class _Kept(msgspec.Struct, forbid_unknown_fields=True):
    away: bool = False
    since: int = 0
    by: str = ""


class Away:
    """The state, and the file that keeps it; a hub that keeps no files forgets it."""

    def __init__(self, path: Path | None) -> None:
        self._kept = _Kept()
        self._file = PrivateFile(path, lambda: msgspec.json.encode(self._kept)) if path is not None else None

    @property
    def is_away(self) -> bool:
        """Whether nobody sits at the terminals."""
        return self._kept.away

    @property
    def since(self) -> int:
        """Since when it is as it is: UTC, microseconds; 0 where nobody has said."""
        return self._kept.since

    @property
    def by(self) -> str:
        """Who said so."""
        return self._kept.by

    def load(self) -> None:
        """Read what an earlier hub kept. It blocks."""
        if self._file is None:
            return
        try:
            self._kept = decoders.decode(read_own(self._file.path), _Kept)
        except (OSError, *BROKEN):
            return  # nobody has said: the person is here

    async def set(self, away: bool, *, at: int, by: str) -> None:
        """The person leaves, or is back; StorageError where that cannot be kept."""
        self._kept = _Kept(away, at, by)
        if self._file is not None:
            self._file.save_soon()
            await self._file.saved()
