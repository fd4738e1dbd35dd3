"""What a call did to files: from the diffs it showed, else from its patch, its write, its edit, its delete or its move.

Rule 1: a diff that the agent showed at any time of the call counts, also one that only the permission had.
Rule 2: a change is reported once per file and call; several pieces of one file are one change.
Rule 3: a call that says itself that it failed (``outcome.failure_of``) changed nothing, whatever its status.
Rule 4: an overwrite is reported with the text that was there, where anybody has it: the agent, or the hub, which read it to show.
Rule 5: what only the input names, and the disk does not have (``seen``), is no change.
Rule 6: a diff over DIFF_LINES lines is not in the event; its counts are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from trunkline.dialects.calls.files import ends_of_move, file_in, patch_in, replaced_in, whole_text_in
from trunkline.dialects.context.events import FileChangeBatchEvent, FileChangeEvent
from trunkline.dialects.context.types import ChangeType, FileBatchChange
from trunkline.session.fold import KEPT_FILES, FileTally, Fold
from trunkline.session.interpret.calls.facts import Facts
from trunkline.session.interpret.calls.outcome import failure_of
from trunkline.session.interpret.effects.diff import DIFF_CHARS, DIFF_LINES, Compared, compare, line_count
from trunkline.session.interpret.effects.disk import found_before, found_meta, standing_of
from trunkline.session.interpret.effects.languages import language_of
from trunkline.session.interpret.effects.patches import PatchedFile, files_of_patch
from trunkline.session.interpret.writer import Writer

FILES: Final = 500
"""Files of one call that are reported; of a call that changes more, the first."""

_KIND_OF: Final[dict[str, ChangeType]] = {
    "add": "created", "create": "created", "created": "created", "new": "created",
    "update": "modified", "modify": "modified", "modified": "modified", "edit": "modified", "move": "modified",
    "delete": "deleted", "deleted": "deleted", "remove": "deleted",
}
CHANGING: Final = frozenset({"write", "edit", "patch", "delete", "move"})
_BEFORE_KEYS: Final = ("originalFile", "originalContent", "original_content", "previousContent", "previous_content", "oldContent",
                       "old_content")
"""Members that hold all of a file as it was."""


class Change(msgspec.Struct, frozen=True):
    """What happened to one file. ``meta`` is what an event cannot say: what was assumed, and how long the diff is."""

    path: str
    kind: ChangeType
    diff: str | None = None
    added: int = 0
    removed: int = 0
    lines: int = 0
    meta: dict[str, Any] = {}


def changes_of(facts: Facts, files: Mapping[str, FileTally]) -> list[Change]:
    """The files that a completed call changed."""
    if (facts.role not in CHANGING and not facts.evidence.diffs) or failure_of(facts) is not None:
        return []
    for source in (_shown, _recorded, _patched, _written, _edited, _deleted, _moved):
        found = list(source(facts, files))
        if found:
            return list(_still_there(_by_file(found)[:FILES], facts))
    return []


def _still_there(changes: list[Change], facts: Facts) -> Iterator[Change]:
    """Those that the disk does not contradict, with what was seen there."""
    for change in changes:
        standing = standing_of(change.path, change.kind, facts)
        if standing is not None:
            meta = {**change.meta, **found_meta(change.path, facts), **standing}
            yield msgspec.structs.replace(change, meta=meta)


def emit_changes(writer: Writer, facts: Facts, changes: list[Change], shown_by: int, extra: dict[str, Any] | None = None) -> None:
    """Write the changes down: one as ``file:change``, several as ``file:batch``. ``shown_by`` is the entry with the texts."""
    if not changes:
        return
    for change in changes:
        _count(writer.fold, change)
    url = diff_url(writer.fold, shown_by)
    call_id = facts.state.tool_call_id
    if len(changes) > 1:
        _emit_batch(writer, facts, changes, url, extra or {})
        return
    change = changes[0]
    meta = {**change.meta, **(extra or {}), **diff_left_out(change, url)}
    writer.add(FileChangeEvent(
        path=change.path, change_type=change.kind, diff=change.diff if change.diff is not None else msgspec.UNSET,
        language=language_of(change.path) or msgspec.UNSET, lines_added=change.added, lines_removed=change.removed,
        tool_call_id=call_id, meta=meta or msgspec.UNSET,
    ))


def diff_url(fold: Fold, shown_by: int) -> str:
    """Where the diffs of a call's entry are, however long."""
    return f"/sessions/{fold.session_id}/diff?entry={shown_by}"


def diff_left_out(change: Change, url: str) -> dict[str, Any]:
    """What ``_meta`` says of a diff that is too long for an event; {} where it is there, or where there is none."""
    return {"diff": {"lines": change.lines, "url": url}} if change.diff is None and change.lines else {}


def _emit_batch(writer: Writer, facts: Facts, changes: list[Change], url: str, extra: dict[str, Any]) -> None:
    lines, chars = sum(change.lines for change in changes), sum(len(change.diff or "") for change in changes)
    short = lines <= DIFF_LINES and chars <= DIFF_CHARS
    listed = [
        FileBatchChange(
            path=change.path, change_type=change.kind, lines_added=change.added, lines_removed=change.removed,
            diff=change.diff if short and change.diff is not None else msgspec.UNSET,
        )
        for change in changes
    ]
    meta = dict(extra)
    if not short or any(change.diff is None and change.lines for change in changes):
        meta["diff"] = {"lines": lines, "url": url}
    writer.add(FileChangeBatchEvent(
        changes=listed, tool_call_id=facts.state.tool_call_id, description=facts.state.title or msgspec.UNSET,
        meta=meta or msgspec.UNSET,
    ))


PATH_CHARS = 4096
"""Characters of a path that is counted; no system has longer ones."""


def _count(fold: Fold, change: Change) -> None:
    """Add a change to the session's tally of files, and to the sum over all of them. All lines of a file that the session
    made are added ones, however often it was written: so many as its diff has."""
    tally = fold.files.get(change.path)
    added, removed = change.added, change.removed
    if tally is not None and tally.change_type == "created":
        added, removed = max(added - removed, -tally.lines_added), 0
    fold.changes.lines_added += added
    fold.changes.lines_removed += removed
    if tally is None:
        if len(fold.files) < KEPT_FILES and len(change.path) <= PATH_CHARS:
            fold.files[change.path] = FileTally(change.kind, change.added, change.removed)
            fold.changes.files += 1
        return
    fold.files[change.path] = tally  # it is changed in place
    tally.lines_added += added
    tally.lines_removed += removed
    if change.kind == "deleted":
        tally.change_type = "deleted"
    elif tally.change_type == "deleted":
        tally.change_type = "modified"


def _shown(facts: Facts, files: Mapping[str, FileTally]) -> Iterator[Change]:
    for diff in facts.evidence.diffs:
        path = facts.absolute(diff.path)
        declared = _KIND_OF.get(str((diff.meta or {}).get("kind")))
        old = diff.old_text if diff.old_text or declared == "modified" else _text_before(facts, path, diff.new_text)
        if declared == "deleted":
            yield _change(facts, path, "deleted", old or "", None)
        elif old or (old == "" and declared is None):  # nothing but an empty file on the disk is a text of nothing
            yield _change(facts, path, "modified", old, diff.new_text)
        elif declared != "modified" and found_before(facts, path, diff.new_text) is not None:
            yield _overwritten(path, diff.new_text)
        else:
            yield _change(facts, path, _kind_of_write(facts, path, files), None, diff.new_text)


def _text_before(facts: Facts, path: str, new: str) -> str | None:
    """The whole text before: as the agent's record of the call or its input has it, else as it was on the disk when the call was
    asked about or announced. None where nobody has it."""
    if facts.role not in CHANGING:
        return None
    keys = (*_BEFORE_KEYS, "before") if facts.role == "write" else _BEFORE_KEYS
    before = facts.look(*keys) or facts.look_in(facts.input, _BEFORE_KEYS)
    if isinstance(before, str) and before:
        return before
    found = found_before(facts, path, new)
    return facts.evidence.before.get(path) or (found.text if found is not None else None)


def _overwritten(path: str, new: str) -> Change:
    """A file was there that is too long to be kept, or no text: what of it is gone is not known."""
    return Change(path, "modified", None, line_count(new), 0, meta={"abridged": True, "counts": "upper bound"})


def _recorded(facts: Facts, files: Mapping[str, FileTally]) -> Iterator[Change]:
    """Changes as the agent lists them: by file, with the text or the diff of each."""
    listed = facts.look("files", kind=list) or []
    named_by_patch = _paths_of_patch(facts, len(listed))
    for index, item in enumerate(listed):
        if isinstance(item, dict) and (path := file_in(item) or named_by_patch.get(index, "")):
            yield from _record(facts, facts.absolute(path), item)
    named = facts.look("changes", kind=dict) or facts.input.get("changes")
    for path, item in (named.items() if isinstance(named, dict) else ()):
        if isinstance(path, str) and isinstance(item, dict):
            yield from _record(facts, facts.absolute(path), item)


def _paths_of_patch(facts: Facts, count: int) -> dict[int, str]:
    """The files of the call's patch by their place in it, for a list of as many that does not name them."""
    files = list(files_of_patch(_patch_of(facts))) if count else []
    return {index: file.path for index, file in enumerate(files)} if len(files) == count else {}


def _record(facts: Facts, path: str, item: dict[str, Any]) -> Iterator[Change]:
    kind = _KIND_OF.get(str(item.get("type") or item.get("status") or item.get("kind")))
    if kind is None:
        return
    before, after = item.get("before"), item.get("after", item.get("content"))
    if _is_abridged(item, before, after):
        yield Change(path, kind, None, item.get("additions") or 0, item.get("deletions") or 0, meta={"abridged": True})
    elif isinstance(after, str) and kind != "deleted":
        old = before if isinstance(before, str) and kind == "modified" else None
        yield _change(facts, path, kind, old, after)
    elif kind == "deleted":
        yield _change(facts, path, kind, before if isinstance(before, str) else after if isinstance(after, str) else "", None)
    elif diff := facts.look_in(item, ("unified_diff", "diff", "patch")):
        for file in files_of_patch(f"--- {path}\n+++ {path}\n{diff}"):
            yield _of_patched_file(facts, PatchedFile(path, kind, file.body))
    to = facts.look_in(item, ("move_path", "movePath", "moveTo"))
    if to:
        yield Change(facts.absolute(to), "created")


def _is_abridged(item: dict[str, Any], before: object, after: object) -> bool:
    """Whether a record counts more lines than its texts have: these were shortened, and a diff of them would be wrong."""
    counts = [(item.get("additions"), after), (item.get("deletions"), before)]
    return any(isinstance(text, str) and type(count) is int and count > line_count(text) + 1 for count, text in counts)


def _patched(facts: Facts, files: Mapping[str, FileTally]) -> Iterator[Change]:
    for file in files_of_patch(_patch_of(facts)):
        yield _of_patched_file(facts, file)


def _patch_of(facts: Facts) -> str:
    text = patch_in(facts.input)
    if not text and facts.role == "patch":
        text = facts.look_in(facts.input, ("input", "content", "command"))
    return text


def _of_patched_file(facts: Facts, file: PatchedFile) -> Change:
    path = facts.absolute(file.path)
    lines = file.body.split("\n") if file.body else []
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    name = facts.short(path)
    head = "/dev/null" if file.kind == "created" else f"a/{name}", "/dev/null" if file.kind == "deleted" else f"b/{name}"
    text = f"--- {head[0]}\n+++ {head[1]}\n{file.body}\n" if file.body else None
    short = text is not None and len(lines) <= DIFF_LINES and len(text) <= DIFF_CHARS
    if file.announced is not None:
        return Change(path, file.kind, None, file.announced, removed, meta={"abridged": True})
    return Change(path, file.kind, text if short else None, added, removed, len(lines))


def _written(facts: Facts, files: Mapping[str, FileTally]) -> Iterator[Change]:
    if facts.role not in ("write", "edit") or not facts.paths:
        return
    content = whole_text_in(facts.input)
    if content is not None:
        path = facts.paths[0]
        before = _text_before(facts, path, content)
        if before is None and _declared_kind(facts) is None and found_before(facts, path, content) is not None:
            yield _overwritten(path, content)
            return
        kind = _kind_of_write(facts, path, files)
        found = facts.evidence.found.get(path)
        is_known = before is not None or _declared_kind(facts) is not None or (found is not None and not found.exists)
        assumed = {} if is_known else {"assumed": ["changeType"]}
        is_over = before or (before == "" and _declared_kind(facts) is None)
        yield _change(facts, path, "modified" if is_over else kind, before if is_over else None, content, assumed)


def _edited(facts: Facts, files: Mapping[str, FileTally]) -> Iterator[Change]:
    if not facts.paths:
        return
    for old, new in replaced_in(facts.input):
        if old is not None and new is not None:
            # The place in the file is not known: the diff is of the piece that was replaced.
            yield _change(facts, facts.paths[0], "modified" if old else "created", old or None, new, {"fragment": True})


def _deleted(facts: Facts, files: Mapping[str, FileTally]) -> Iterator[Change]:
    if facts.role == "delete":
        for path in facts.paths:
            yield Change(path, "deleted")


def _moved(facts: Facts, files: Mapping[str, FileTally]) -> Iterator[Change]:
    if facts.role != "move":
        return
    ends = ends_of_move(facts.input) or (tuple(facts.paths) if len(facts.paths) == 2 else None)
    if ends is not None:
        source, target = ends
        yield Change(facts.absolute(source), "deleted", meta={"movedTo": facts.absolute(target)})
        yield Change(facts.absolute(target), "created", meta={"movedFrom": facts.absolute(source)})


def _kind_of_write(facts: Facts, path: str, files: Mapping[str, FileTally]) -> ChangeType:
    """Whether a write made the file: as the agent says, else by whether this session knows it already."""
    declared = _declared_kind(facts)
    if declared is not None:
        return declared
    known = files.get(path)
    return "modified" if known is not None and known.change_type != "deleted" else "created"


def _declared_kind(facts: Facts) -> ChangeType | None:
    exists = facts.look("exists", kind=bool)
    if exists is not None:
        return "modified" if exists else "created"
    return _KIND_OF.get(str(facts.look("type")))


def _change(facts: Facts, path: str, kind: ChangeType, old: str | None, new: str | None,
            meta: dict[str, Any] | None = None) -> Change:
    found = _compared(old, new, facts.short(path))
    noted = dict(meta or {})
    if not found.exact:
        noted["counts"] = "upper bound"
    return Change(path, kind, found.text, found.added, found.removed, found.lines, noted)


def _compared(old: str | None, new: str | None, name: str) -> Compared:
    """The difference; a text that is only there before or after is counted without being taken apart."""
    if old is None and new is not None and (lines := line_count(new)) > DIFF_LINES:
        return Compared(lines, 0, lines, None)
    if new is None and old is not None and (lines := line_count(old)) > DIFF_LINES:
        return Compared(0, lines, lines, None)
    return compare(old, new, name)


def _by_file(changes: list[Change]) -> list[Change]:
    """Several pieces of one file as one change."""
    joined: dict[str, Change] = {}
    for change in changes:
        before = joined.get(change.path)
        joined[change.path] = change if before is None else _join(before, change)
    return list(joined.values())


def _join(one: Change, more: Change) -> Change:
    lines = one.lines + more.lines
    diff = None
    if one.diff is not None and more.diff is not None and lines <= DIFF_LINES:
        diff = one.diff + "".join(more.diff.splitlines(keepends=True)[2:])
    kind = "deleted" if more.kind == "deleted" else one.kind
    return Change(one.path, kind, diff, one.added + more.added, one.removed + more.removed, lines, {**one.meta, **more.meta})
