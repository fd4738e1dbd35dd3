"""What an input says of files, for who reports what became of them: which file, from where to where, which text, which patch.

Rule 1: pure. The most telling member counts, in every spelling in circulation.
Rule 2: this is about what was done. What may be done is judged by every path in an input (``inputs``), not by the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_FILE_KEYS = ("file_path", "filePath", "path", "filepath", "filename", "file", "absolute_path", "absolutePath", "target_file",
              "notebook_path")
"""Where an input names the one file that it is about, the most telling first."""
_FROM_KEYS = ("source", "from", "src", "old_path", "oldPath", "source_path", "sourcePath")
_TO_KEYS = ("destination", "to", "dest", "dst", "new_path", "newPath", "destination_path", "destinationPath", "target")
_OLD_TEXT_KEYS = ("old_string", "oldString", "old_text", "oldText", "old_str")
_NEW_TEXT_KEYS = ("new_string", "newString", "new_text", "newText", "new_str")
_WHOLE_TEXT_KEYS = ("content", "contents", "file_text")
_PATCH_KEYS = ("patchText", "patch_text", "patch", "diff", "unified_diff")


class Replaced(NamedTuple):
    """A piece of a file: the text that is to go, and the one in its place. None: it is not given."""

    old: str | None
    new: str | None


def file_in(record: Mapping[str, Any]) -> str:
    """The file that a record is about, else ""."""
    return _first_text(record, _FILE_KEYS) or ""


def files_in(record: Mapping[str, Any]) -> list[str]:
    """The files that an input is about: a list of them, else the one that it names."""
    named = record.get("paths") or record.get("files")
    listed = [path for path in named if isinstance(path, str) and path] if isinstance(named, list) else []
    return listed or [path for path in [file_in(record)] if path]


def ends_of_move(record: Mapping[str, Any]) -> tuple[str, str] | None:
    """Where a move goes from and to; None where that is not given. The file that it is about is where it goes from."""
    source, target = _first_text(record, (*_FROM_KEYS, *_FILE_KEYS)), _first_text(record, _TO_KEYS)
    return (source, target) if source and target else None


def replaced_in(record: Mapping[str, Any]) -> Iterator[Replaced]:
    """The pieces that an edit replaces: those of its list, else its own. A whole text is one without an old one."""
    edits = record.get("edits")
    for step in [step for step in edits if isinstance(step, Mapping)] if isinstance(edits, list) else [record]:
        yield Replaced(_any_text(step, _OLD_TEXT_KEYS), _any_text(step, (*_NEW_TEXT_KEYS, *_WHOLE_TEXT_KEYS)))


def is_result(edits: Sequence[Replaced], before: str | None, after: str) -> bool:
    """Whether these edits of the text before make the one after, but for line ends at its end. An edit without an old text is the
    whole of the new one."""
    return any(_applied(edits, before or "", count) == after.rstrip("\n") for count in (1, -1))


def _applied(edits: Sequence[Replaced], text: str, count: int) -> str | None:
    for old, new in edits:
        if new is None or (old and old not in f"{text}\n"):
            return None
        text = f"{text}\n".replace(old, new, count) if old else new
    return text.rstrip("\n")


def whole_text_in(record: Mapping[str, Any]) -> str | None:
    """All that is to be in a file, where an input brings that."""
    return _any_text(record, _WHOLE_TEXT_KEYS)


def patch_in(record: Mapping[str, Any]) -> str:
    """A patch under one of its own names, else ""."""
    return _first_text(record, _PATCH_KEYS) or ""


def is_file_key(key: str) -> bool:
    """Whether what stands under a name is the file that an input is about."""
    return key in _FILE_KEYS


def is_text_key(key: str) -> bool:
    """Whether what stands under a name is a text of a file, old or new."""
    return key in _OLD_TEXT_KEYS or key in _NEW_TEXT_KEYS or key in _WHOLE_TEXT_KEYS


def is_patch_key(key: str) -> bool:
    """Whether what stands under a name is a patch."""
    return key in _PATCH_KEYS


def _first_text(record: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    return next((value for key in keys if isinstance(value := record.get(key), str) and value), None)


def _any_text(record: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    return next((value for key in keys if isinstance(value := record.get(key), str)), None)
