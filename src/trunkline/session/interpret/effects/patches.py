"""Patches as text: ``*** Begin Patch`` blocks and unified diffs, taken apart by file.

Rule 1: only what a patch says is reported; its lines are counted, never applied.
Rule 2: a body that was shortened ("...") is no diff: only what its header announces counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from trunkline.dialects.context.types import ChangeType

PATCH_CHARS: Final = 1 << 20
"""Characters of a patch that are looked at."""

_MARK = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)
_MOVE = re.compile(r"^\*\*\* Move to: (.+?)\s*$", re.MULTILINE)
_FILE = re.compile(r"^--- (?P<old>[^\n]+)\n\+\+\+ (?P<new>[^\n]+)\n", re.MULTILINE)
_NEW = re.compile(r"@@ -0,0 \+1(?:,(\d{1,9}))? @@")
_KINDS: Final[dict[str, ChangeType]] = {"Add": "created", "Update": "modified", "Delete": "deleted"}


class PatchedFile(NamedTuple):
    """One file of a patch; ``body`` are its hunks. ``announced``: lines added, where the body does not have them all."""

    path: str
    kind: ChangeType
    body: str
    announced: int | None = None


def files_of_patch(text: str) -> Iterator[PatchedFile]:
    """The files of a patch, in order."""
    text = text[:PATCH_CHARS]
    marks = list(_MARK.finditer(text))
    if marks:
        for mark, after in zip(marks, [*marks[1:], None], strict=True):
            yield from _marked(mark, text[mark.end():after.start() if after else None])
        return
    files = list(_FILE.finditer(text))
    for file, after in zip(files, [*files[1:], None], strict=True) if files else ():
        yield _diffed(file, text[file.end():after.start() if after else None])


def _marked(mark: re.Match[str], rest: str) -> Iterator[PatchedFile]:
    kind, path = _KINDS[mark.group(1)], mark.group(2)
    lines = [line for line in rest.strip("\n").split("\n") if not line.startswith("***")]
    body = "\n".join(lines).strip("\n")
    if kind == "created":
        yield _new_file(path, lines if body else [])
        return
    moved = _MOVE.search(rest)
    if moved:
        yield PatchedFile(path, "deleted", "")
        yield PatchedFile(moved.group(1), "created", body)
    else:
        yield PatchedFile(path, kind, body)


def _new_file(path: str, lines: list[str]) -> PatchedFile:
    """A file that a patch adds: every line of its body has a plus, else the body was shortened."""
    whole = all(line.startswith("+") for line in lines)
    body = "\n".join((f"@@ -0,0 +1,{len(lines)} @@", *lines)) if lines and whole else ""
    return PatchedFile(path, "created", body, None if whole else sum(line.startswith("+") for line in lines))


def _diffed(file: re.Match[str], rest: str) -> PatchedFile:
    old, new = _name(file["old"]), _name(file["new"])
    hunks = rest[rest.find("@@"):] if "@@" in rest else ""
    body = "\n".join(line for line in hunks.rstrip("\n").split("\n") if line[:1] in ("+", "-", " ", "@", "\\"))
    if old == "/dev/null" or (new != "/dev/null" and body.startswith("@@ -0,0 ")):
        return PatchedFile(new, "created", *_as_announced(body))
    return PatchedFile(old, "deleted", body) if new == "/dev/null" else PatchedFile(new, "modified", body)


def _as_announced(body: str) -> tuple[str, int | None]:
    """The hunk of a new file; where it has fewer lines than its header announces, only that number."""
    head = _NEW.match(body)
    announced = int(head.group(1) or 1) if head else 0
    there = sum(line.startswith("+") for line in body.split("\n"))
    return ("", announced) if there < announced else (body, None)


def _name(header: str) -> str:
    """The path of a header line, without its time and without ``a/`` or ``b/``."""
    path = header.split("\t", 1)[0].strip()
    return path[2:] if path[:2] in ("a/", "b/") else path
