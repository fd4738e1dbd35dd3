"""Paths that lead through a process, not through folders, and may be any place: ``/proc/self/root/x``, ``/dev/fd/3/x``, ``~-/x``.

Rule 1: pure, by spelling alone. What is known of where such a path leads is said as well, because a rule that names that place is
about it; but that is never all that it may be.
Rule 2: ``..`` behind a link leads elsewhere than its spelling says, and ``/proc`` and ``/dev`` are full of links.
Rule 3: most paths have nothing of this, so a look for a few characters comes first.
"""

from __future__ import annotations

from typing import Final

from trunkline.dialects import late_re as re
from trunkline.dialects.glob_tokens import path_tokens, run

_STACKED: Final = re.compile(r"~[+-]?\d*(?=/|$)")
"""Folders by their number or their sign: ``~+``, ``~-``, ``~2``, ``~-1``."""
_PROCESS: Final = re.compile(
    r"/proc/[^/]+/(?:task/[^/]+/)?(?:(?:root|cwd|map_files)(?=/|$)|fd/[^/]+/)"
    r"|/proc/(?!self/|thread-self/)[^/]+/(?:task/[^/]+/)?fd/[^/]"
    r"|/dev/(?:fd/[^/]+|stdin|stdout|stderr)/")
_THROUGH: Final = re.compile(r"/proc/[^/]+/(?:task/[^/]+/)?(root|cwd)(?=/|$)")
_LINKS: Final = ("root", "cwd", "fd", "task", "map_files")
_STREAMS: Final = ("fd", "stdin", "stdout", "stderr")
_DEPTH: Final = 8
"""Ways through a process, one behind the other, that are followed."""


def is_stacked(path: str) -> bool:
    """Whether a path begins at a folder that only the shell knows (``~-/x``, ``~1/x``)."""
    return path[:1] == "~" and path[1:2] not in ("", "/") and _STACKED.match(path) is not None


def roams(full: str, clean: str) -> bool:
    """Whether an absolute path, as it is written and without its dots, leads through a process."""
    if "/proc/" not in full and "/dev/" not in full:
        return False
    return _PROCESS.match(clean) is not None or ("/.." in full and _turns_back(full))


def _turns_back(full: str) -> bool:
    """Whether ``..`` stands behind something in ``/proc`` or ``/dev``."""
    stack: list[str] = []
    for part in full.split("/"):
        if part == "..":
            if len(stack) > 1 and stack[0] in ("proc", "dev"):
                return True
            del stack[-1:]
        elif part not in ("", "."):
            stack.append(part)
    return False


def beyond(clean: str, base: str) -> str:
    """Where a path through a process most likely leads: its root is the root, and its folder is the one where we stand."""
    for _ in range(_DEPTH):
        found = _THROUGH.match(clean)
        if found is None:
            break
        clean = (clean[found.end():] or "/") if found[1] == "root" else base + clean[found.end():]
    return clean


def may_roam(outline: str) -> bool:
    """Whether a pattern of absolute paths may stand for one that leads through a process (``/proc/*/root``, ``/p*/self/c?d``)."""
    if outline[1:2] not in ("p", "d", "*", "?", "["):
        return False
    first, *rest = [part for part in outline.split("/") if part] or [""]
    if _may_be(first, ("proc",)) and len(rest) > 1:
        return _may_be(rest[1], _LINKS)
    return _may_be(first, ("dev",)) and len(rest) > 1 and _may_be(rest[0], _STREAMS) and (len(rest) > 2 or rest[0] != "fd")


def _may_be(part: str, names: tuple[str, ...]) -> bool:
    tokens = path_tokens(part)
    return any(run(tokens, name) for name in names)
