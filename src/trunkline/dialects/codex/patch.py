"""Patches as Codex writes them (``*** Begin Patch``), as diffs of the Agent Client Protocol.

Rule: only what a patch says is shown. A file that it deletes has no text here, and so no diff.
"""

from __future__ import annotations

import posixpath
from typing import Final

from trunkline.dialects.outside import Json

PATCH_CHARS: Final = 1 << 20
"""Characters of a patch that are looked at."""

PIECES: Final = 200
"""Diffs that one patch gives."""

_MARK: Final = "*** "


def diffs_of_patch(patch: str, cwd: str) -> list[Json]:
    """The changes of a patch: a new file whole, each piece of a changed one by itself."""
    found: list[Json] = []
    path, added, old, new = "", False, [], []  # type: str, bool, list[str], list[str]

    def close() -> None:
        if path and (old or new):
            diff: Json = {"type": "diff", "path": path, "newText": "".join(new)}
            found.append(diff if added else {**diff, "oldText": "".join(old)})
        old.clear()
        new.clear()

    for line in patch[:PATCH_CHARS].splitlines(keepends=True):
        if len(found) >= PIECES:
            break
        if line.startswith(_MARK):
            close()
            path, added = _header(line, path, added, cwd)
        elif line.startswith("@@"):
            close()
        elif line[:1] == "+":
            new.append(line[1:])
        elif line[:1] == "-":
            old.append(line[1:])
        else:
            old.append(line[1:] if line[:1] == " " else line)
            new.append(old[-1])
    close()
    return found


def _header(line: str, path: str, added: bool, cwd: str) -> tuple[str, bool]:
    """Which file comes now, and whether it is new."""
    word, _, name = line.removeprefix(_MARK).strip().partition(": ")
    match word:
        case "Add File" | "Update File":
            return posixpath.join(cwd, name), word == "Add File"
        case "Move to":
            return posixpath.join(cwd, name), False
        case "End of File":
            return path, added
    return "", False
