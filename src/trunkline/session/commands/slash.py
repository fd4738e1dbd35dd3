"""The slash commands that an agent offers. Some lists are long, so the fold only knows which entry has it."""

from __future__ import annotations

from typing import Any

import msgspec

from trunkline.dialects.acp.reading.decode import decode_update
from trunkline.dialects.acp.updates import AvailableCommandsUpdate
from trunkline.journal.base import EntryReads
from trunkline.session.fold import Fold


async def offered_commands(journal: EntryReads, fold: Fold) -> list[dict[str, Any]] | None:
    """The commands, from the entry that lists them; None where the agent listed none."""
    seq = fold.commands_seq
    if not seq:
        return None
    entries = await journal.read(fold.session_id, after=seq - 1, before=seq + 1)
    update = decode_update(entries[0].update) if entries and entries[0].update else None
    if not isinstance(update, AvailableCommandsUpdate):
        return None
    listed: list[dict[str, Any]] = msgspec.to_builtins(update.available_commands)
    return listed
