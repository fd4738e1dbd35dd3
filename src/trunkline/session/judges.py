"""What judges calls and commands, loaded when the first of them comes, off the loop.

It takes a tenth of a second: too long for the start of a hub whose agents only talk, and for the loop. Whoever is about to judge
something awaits ``load_judges`` first, or runs in a thread and calls ``load_judges_here``.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Final

JUDGES: Final = ("trunkline.dialects.risk", "tree_sitter", "tree_sitter_bash")

_loaded: set[str] = set()


def are_loaded() -> bool:
    """Whether they are here already."""
    return bool(_loaded)


def load_judges_here() -> None:
    """Load them, in this thread."""
    if not _loaded:
        _loaded.update([import_module(name).__name__ for name in JUDGES])


async def load_judges() -> None:
    """Load them in a thread, where they are not here yet."""
    if not _loaded:
        await asyncio.to_thread(load_judges_here)
