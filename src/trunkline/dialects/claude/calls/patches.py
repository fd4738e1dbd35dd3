"""What a call changed in a file: the CLI's ``structuredPatch`` as diffs of the Agent Client Protocol.

Rule 1: where the CLI kept the text before, and it is not too long, the diff is of the whole file: then its lines have numbers.
Rule 2: a patch counts only where each of its lines is found in that text. The CLI writes tabs as spaces in patches: then the
replaced strings are looked for, and last each piece of the patch is a diff of its own.
"""

from __future__ import annotations

from typing import Final

from trunkline.dialects.outside import Json

WHOLE_FILE: Final = 128 << 10
"""Characters of a file up to which a change is shown within the whole of it."""

PIECES: Final = 50
"""Pieces of a patch that are shown each; the rest of a longer one is in the file."""


def done_changes(name: str, given: Json, record: Json) -> list[Json]:
    """The diffs of a call that has changed a file; none where its record does not show them."""
    path = _text(record, "filePath") or _text(record, "notebook_path") or _text(given, "file_path")
    if not path:
        return []
    match name:
        case "Write":
            return _written(path, given, record)
        case "Edit" | "MultiEdit":
            return _edited(path, given, record)
        case "NotebookEdit":
            return _notebook(path, record)
    return []


def changed_lines(record: Json) -> list[int]:
    """Where in the new file the changes begin."""
    starts = [hunk.get("newStart") for hunk in _hunks(record)]
    return [line for line in starts if type(line) is int and line >= 0]


def diff_of(path: str, old: str | None, new: str) -> Json:
    """A diff; without an old text the file is new."""
    diff: Json = {"type": "diff", "path": path, "newText": new}
    if old is not None:
        diff["oldText"] = old
    return diff


def patched(text: str, hunks: list[Json]) -> str | None:
    """A text with a patch applied; None where the patch is not of this text."""
    lines, made, at = text.split("\n"), [], 0
    for hunk in hunks:
        start, body = hunk.get("oldStart"), _body(hunk)
        begin = start - 1 if type(start) is int and start > 0 else 0
        if begin < at or begin > len(lines):
            return None
        made += lines[at:begin]
        at = begin
        for line in body:
            if line[:1] != "+":
                if at >= len(lines) or lines[at] != line[1:]:
                    return None
                at += 1
            if line[:1] != "-":
                made.append(line[1:])
    return "\n".join(made + lines[at:])


def _written(path: str, given: Json, record: Json) -> list[Json]:
    content, before = given.get("content"), record.get("originalFile")
    if not isinstance(content, str):
        content = record.get("content")
    return [diff_of(path, before if isinstance(before, str) else None, content)] if isinstance(content, str) else []


def _edited(path: str, given: Json, record: Json) -> list[Json]:
    before, hunks = record.get("originalFile"), _hunks(record)
    if isinstance(before, str) and len(before) <= WHOLE_FILE:
        after = patched(before, hunks) if hunks else None
        after = after if after is not None else _replaced(before, given)
        if after != before:
            return [diff_of(path, before, after)]
    return [diff_of(path, *_sides(hunk)) for hunk in hunks[:PIECES]]


def _notebook(path: str, record: Json) -> list[Json]:
    for old, new in (("original_file", "updated_file"), ("old_source", "new_source")):
        before, after = record.get(old), record.get(new)
        if isinstance(after, str) and (before is None or isinstance(before, str)) and len(before or "") <= WHOLE_FILE:
            return [diff_of(path, before, after)]
    return []


def _replaced(text: str, given: Json) -> str:
    edits = given.get("edits")
    for edit in edits if isinstance(edits, list) else [given]:
        old, new = (edit.get("old_string"), edit.get("new_string")) if isinstance(edit, dict) else (None, None)
        if isinstance(old, str) and isinstance(new, str) and old:
            text = text.replace(old, new) if edit.get("replace_all") is True else text.replace(old, new, 1)
    return text


def _hunks(record: Json) -> list[Json]:
    listed = record.get("structuredPatch")
    return [hunk for hunk in listed if isinstance(hunk, dict) and _body(hunk)] if isinstance(listed, list) else []


def _body(hunk: Json) -> list[str]:
    """The lines of a piece, each with its sign; remarks on a missing end of line left out."""
    lines = hunk.get("lines")
    return [line for line in lines if isinstance(line, str) and line[:1] in (" ", "+", "-")] if isinstance(lines, list) else []


def _sides(hunk: Json) -> tuple[str, str]:
    body = _body(hunk)
    old, new = (line[1:] for line in body if line[0] != "+"), (line[1:] for line in body if line[0] != "-")
    return "\n".join(old), "\n".join(new)


def _text(fields: Json, name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
