"""What a node had of a session when another took it over: entries that the stream did not get. They are put aside, not lost.

Rule 1: one file per session and epoch, a line of JSON for each entry, readable without the hub.
Rule 2: it is on the disk before the session is forgotten here.
"""

from __future__ import annotations

import base64
import logging
from pathlib import Path
from typing import Final

import msgspec

from trunkline.cluster.shipping.outbox import Reads
from trunkline.cluster.shipping.shipper import Lost
from trunkline.disk.private_file import replace_private
from trunkline.disk.reading import open_plain
from trunkline.journal.base import Entry
from trunkline.threads import Lane

log = logging.getLogger("trunkline.cluster")

FOLDER: Final = "quarantine"
PAGE: Final = 1000
PIECE: Final = 1 << 20


async def put_aside(folder: Path, journal: Reads, lost: Lost) -> tuple[Path | None, int]:
    """Write what this node has behind what was taken over; returns the file and how many entries it has."""
    tail: list[Entry] = []
    while page := await journal.read(lost.session_id, after=tail[-1].seq if tail else lost.after, limit=PAGE):
        tail += page
    if not tail:
        return None, 0
    path = folder / FOLDER / f"{lost.session_id}-{lost.epoch}.jsonl"
    await Lane(1).run(_write, path, tail)
    return path, len(tail)


def asides(folder: Path, most: int) -> dict[str, int]:
    """What is there: ``<session>:<epoch>``, the newest first, and how many entries each file has."""
    try:
        files = sorted((folder / FOLDER).glob("*.jsonl"), key=lambda path: path.stat().st_mtime, reverse=True)
        return {":".join(path.stem.rpartition("-")[::2]): count for path in files[:most] if (count := _lines_in(path))}
    except OSError as error:
        log.warning("%s cannot be read: %s", folder / FOLDER, error.strerror)
        return {}


def _lines_in(path: Path) -> int:
    """How many entries a file has; none, where it cannot be read."""
    try:
        with open_plain(path) as file:
            return sum(piece.count(b"\n") for piece in iter(lambda: file.read(PIECE), b""))
    except OSError as error:
        log.warning("%s cannot be read: %s", path, error.strerror)
        return 0


def _write(path: Path, tail: list[Entry]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_private(path, b"".join(_line(entry) for entry in tail))


def _line(entry: Entry) -> bytes:
    shown: dict[str, int | str] = {"seq": entry.seq, "at": entry.at}
    for name in ("event", "update", "packet", "raw", "step"):
        if (value := getattr(entry, name)) is not None:
            shown[name] = _text(value)
    return msgspec.json.encode(shown) + b"\n"


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(value).decode()
