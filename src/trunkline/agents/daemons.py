"""Programs that an agent starts for all its users: they outlive it, and are not ours to end.

Rule: only what the catalog names is spared. Whoever has such a command line is taken for one; the agent runs as the same user
and could start a real one as well. What is left running is reported.
"""

from __future__ import annotations

import msgspec


class Daemon(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of them."""

    name: str
    """What people call it."""
    command: tuple[str, ...]
    """The program's file name, and words that stand among its arguments."""
