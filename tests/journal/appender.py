"""A process that appends until it is killed, and says on stdout what was committed: ``python appender.py PATH SEED``.

Group n has entries of a session ``only-n``, of ``busy`` and of ``slow``, all telling n, so that a reader can see whether a
group is whole. The line of a group is written after its commit. Some groups have rows, so that all ways to commit are taken.
"""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

from trunkline.journal.base import Entry, Group, SessionRow
from trunkline.journal.stores.sqlite.housekeeping import Upkeep
from trunkline.journal.stores.sqlite.store import SqliteJournal

UPKEEP = Upkeep(checkpoint_bytes=1 << 20, behind_bytes=4 << 20, fold_groups=7, fold_bytes=64 << 10)


def body(number: int, seq: int, size: int) -> bytes:
    """An event that tells its group and seq."""
    return f"{number}/{seq}:".encode().ljust(size, b"x")


def row(number: int) -> SessionRow:
    """The busy session's row as of a group."""
    return SessionRow(id="busy", agent="demo", cwd="/", title=str(number), status="running", created_at=0, updated_at=number,
                      summary=b"{}", checkpoint=str(number).encode(), checkpoint_seq=0)


def has_row(number: int) -> bool:
    """Whether a group has the busy session's row: the first one and every third."""
    return number % 3 == 1


async def append_for_ever(path: Path, seed: int) -> None:
    """One group after the other, each reported when it is committed."""
    chance = random.Random(seed)
    async with SqliteJournal(path, upkeep=UPKEEP) as journal:
        busy = await journal.read("busy", tail=True, limit=1)
        slow = await journal.read("slow", tail=True, limit=1)
        number = slow[0].seq if slow else 0
        seq = busy[0].seq if busy else 0
        while True:
            number += 1
            count = chance.choice([1, 1, 1, 5, 40, 200])
            size = chance.choice([30, 300, 3000])
            parts = {
                "busy": [Entry(seq + n, number, body(number, seq + n, size)) for n in range(1, count + 1)],
                "slow": [Entry(number, number, body(number, number, size))],
                f"only-{number}": [Entry(1, number, body(number, 1, size))],
            }
            seq += count
            await journal.append(Group(parts, {"busy": row(number)} if has_row(number) else {}))
            sys.stdout.write(f"{number} {seq} {parts['busy'][-1].pos}\n")
            sys.stdout.flush()
            if number % 11 == 0:
                await journal.pack("busy", before=seq - 100)


if __name__ == "__main__":
    asyncio.run(append_for_ever(Path(sys.argv[1]), int(sys.argv[2])))
