"""What a search looks for: files, by a glob, or text, by an expression. Both are called ``pattern`` by agents.

Rule 1: pure. A glob is a path: it says which files are looked at, so it must lie inside and rules are about it.
Rule 2: an expression is no path. Which of the two a text is, the tool's own name says, else the shape of the input.
Rule 3: where it is not clear, nothing is allowed that as a glob would leave the root, and a rule that restricts may be about it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from trunkline.dialects import late_re as re
from trunkline.dialects.glob_climbs import ANYWHERE, climbing
from trunkline.dialects.glob_tokens import PATTERN_CHARS, alternatives, remembered

Reading = Literal["glob", "expression", "unclear"]
"""What the ``pattern`` of a call is."""

_NAMES_OF_GLOBS = frozenset({"find", "findfiles", "fd", "ls", "list", "listfiles", "listdir", "listdirectory", "filesearch",
                             "tree"})
_NAMES_OF_GREPS = frozenset({"rg", "ripgrep", "searchtext", "searchcontent", "searchfilecontent", "searchcode", "searchcodebase",
                             "codesearch", "codebasesearch"})
_KINDS_OF_NO_EDITOR = frozenset({"delete", "move", "read", "search"})
"""Tools that name the files they are about. What an editor calls a pattern is the text that it replaces."""
_FOLDERS = frozenset((word,) for word in ("path", "paths", "dir", "dirs", "directory", "directories", "folder", "folders",
                                          "root", "roots", "cwd"))
_SIGNS_OF_EXPRESSIONS = re.compile(r"[\\()|^$+]|\.\*")
_FULL = re.compile(r"[/~]|[A-Za-z][A-Za-z0-9+.-]*:")
"""How a text begins that is not relative to the folder beside it."""
_LEAVES = re.compile(r"(?:^|[{,])[/~]|^[A-Za-z][A-Za-z0-9+.-]*:/|(?:^|[/\\{,])\.\.(?:$|[/\\},])")
"""What as a glob is not inside the folder that it is looked for in, in one of its alternatives at least."""


@remembered
def words_of(key: str) -> tuple[str, ...]:
    """The words that the name of a member is made of: ``filePath`` and ``file_path`` are file and path."""
    return tuple(word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", key))


def reading_of(tool: str, kind: str | None, *, writes: bool) -> Reading:
    """What the tool says that its patterns are; ``tool`` is empty where only the input says which tool it may be."""
    bare = re.sub(r"[^a-z]", "", tool.lower().rpartition("__")[2])
    if "glob" in bare or bare in _NAMES_OF_GLOBS:
        return "glob"
    if "grep" in bare or bare in _NAMES_OF_GREPS or (writes and kind not in _KINDS_OF_NO_EDITOR):
        return "expression"
    return "unclear"


def is_glob(text: str, kind: str | None, folders: Sequence[str]) -> bool:
    """Whether a pattern of an unclear tool counts as a glob: alone it says where to look, beside a folder what to look for.
    A read must name its file, so a pattern is none; but nothing that leaves the root goes by unseen."""
    if _LEAVES.search(text):
        return True
    return not folders and kind != "read" and not _SIGNS_OF_EXPRESSIONS.search(text)


def folders_in(members: Mapping[str, Any]) -> list[str]:
    """The folders that a record says to look in."""
    found: list[str] = []
    for key, value in members.items():
        if words_of(str(key))[-1:] in _FOLDERS:
            found += [one for one in (value if isinstance(value, list | tuple) else (value,)) if isinstance(one, str) and one]
    return found


def _left_by(text: str) -> list[str]:
    """What a glob finds in folders above; that it may find the folder above itself is of no use to anybody."""
    return [above for above in climbing(text) if not above.endswith("..") or above == ANYWHERE]


def spelled_out(text: str, folders: Sequence[str]) -> Iterator[str]:
    """A glob as paths: each of its alternatives, in each of the folders, also where it climbs on its way. None where it is too
    much to look at."""
    if len(text) > PATTERN_CHARS:
        return
    for one in (each for spelled in alternatives(text) for each in (spelled, *_left_by(spelled))):
        yield from [one] if _FULL.match(one) or not folders else (posixpath.join(folder, one) for folder in folders)

