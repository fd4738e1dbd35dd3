"""What changed in a session's folder: by git where there is a repository, else by what the journal saw.

Rule 1: git (``git.py``) says which files may differ, and what was committed. What is in the folder is read through the session's
workspace, by descriptor and through no link, and compared here: git follows paths, which may be swapped meanwhile.
Rule 2: what is compared is bounded, in bytes, in lines and in work, and so is how much is at once (``comparing.py``); the rest is
named.
Rule 3: where nothing can be compared, the answer gives the reason.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Forbidden, Invalid, NotFound, Unsupported
from trunkline.feeds.session import Feed
from trunkline.server.call import HttpCall, Reply, reply
from trunkline.server.files.content import open_inside, resolve
from trunkline.server.files.git import GIT_S, Base, Git, Tracked
from trunkline.session.workspace.artifacts import SCAN_ENTRIES, plain_files
from trunkline.session.workspace.files import Workspace

DIFF_BYTES = 8 << 20
FILE_BYTES = 1 << 20
"""A file larger than this is named, not shown."""
FILE_LINES = 50_000
"""The same for one of more lines: to compare them takes some hundred bytes for each, also where the line is one character."""
RECORDED_BYTES = 32 << 20
"""Texts of changes that a session recorded; what it recorded after so many is left out."""
NEW_FILES = 200
CHANGED_FILES = 1_000
"""Files that git names and that are compared; further ones are left out."""
CLOCK_MS = 20
"""By so much the clock that a file is stamped with may be behind: a tick of the kernel, at most 10 ms."""
LINK, SUBMODULE, NOTHING = "120000", "160000", "000000"
"""Modes as git writes them."""

Status = Literal["added", "modified", "deleted"]


class FileDiff(msgspec.Struct):
    """One changed file."""

    path: str
    status: Status
    additions: int
    deletions: int


class Diff(msgspec.Struct):
    """All changes as one unified diff; ``base`` is what they are measured against, null where there is nothing to compare."""

    base: Literal["HEAD", "empty", "session", "call"] | None
    files: list[FileDiff]
    diff: str
    truncated: bool = False
    reason: str | None = None


async def diff(call: HttpCall) -> Reply:
    """Changes in the session's folder, or those that one entry is about."""
    session = await call.session()
    entry = call.integer("entry", least=1)
    async with call.parts.comparing.room(session.id):
        if entry is not None:
            return reply(await _of_entry(session.feed, session.workspace, entry))
        git = Git(session.workspace, session.confine)
        return reply(await _of_folder(session.feed, session.workspace, git, session.fold.created_at))


async def _of_folder(feed: Feed, space: Workspace, git: Git, began_us: int) -> Diff:
    try:
        base = await git.base()
        if base is not None:
            await git.switch_filters_off()
            return await _since_commit(git, base, space, feed, began_us)
    except Unsupported as error:
        return Diff(None, [], "", reason=error.message)
    except TimeoutError:
        return Diff(None, [], "", reason=f"git took longer than {GIT_S:g} s")
    return await _since_session_began(feed, space)


async def _since_commit(git: Git, base: Base, space: Workspace, feed: Feed, began_us: int) -> Diff:
    changed = await git.changes(base)
    committed = await _committed(git, changed[:CHANGED_FILES])
    new, touched = await space.lane.run(_with_inner, space, await git.new_files(), began_us)
    compared = await space.lane.run(_compare_all, space, changed[:CHANGED_FILES], committed, new[:NEW_FILES])
    await _add_touched(compared, touched[:NEW_FILES], space, feed)
    compared.base = base
    compared.truncated |= git.truncated or max(len(new), len(touched)) > NEW_FILES or len(changed) > CHANGED_FILES
    return compared


async def _committed(git: Git, changed: list[Tracked]) -> dict[str, bytes]:
    """What was committed of these files, as far as that is not too long; the first ones first."""
    blobs = dict.fromkeys(each.old_blob for each in changed if each.old_mode not in (NOTHING, SUBMODULE))
    left, wanted = DIFF_BYTES, []
    for blob, size in (await git.sizes(list(blobs))).items():
        if size <= min(FILE_BYTES, left):
            left -= size
            wanted.append(blob)
    return await git.contents(wanted)


def _compare_all(space: Workspace, changed: list[Tracked], committed: dict[str, bytes], new: list[str]) -> Diff:
    """Tracked files and those that git does not know, as far as all of it is not too much; the rest is named only. Blocks."""
    made, texts, size = Diff(None, [], ""), list[str](), 0
    for files, text in _each_compared(space, changed, committed, new):
        made.files += files
        if size + len(text) > DIFF_BYTES:
            made.truncated = True
            continue
        texts.append(text)
        size += len(text)
    made.diff = "".join(texts)
    return made


def _each_compared(space: Workspace, changed: list[Tracked], committed: dict[str, bytes],
                   new: list[str]) -> Iterator[tuple[list[FileDiff], str]]:
    for each in changed:
        text = _tracked_file(space, each, committed)
        yield sections(text), text
    from trunkline.session.interpret.effects.diff import line_count  # with all of the fold: a hub starts without it

    for name in new:
        if (now := _now(space, name)) is not None:
            shown = unified(_printable(name), None, now.text) if now.text is not None and now.mode != LINK else ""
            yield [FileDiff(_printable(name), "added", line_count(now.text or "") if shown else 0, 0)], shown


# Repositories within the folder, which git names as folders. Nothing is asked of them: an agent may have made them. The disk says
# which files are in them, and when each was written last, which nobody can set back.


def _with_inner(space: Workspace, new: list[str], began_us: int) -> tuple[list[str], list[str]]:
    """New names, with the files of a repository that was made since the session began; and those that were written since then in
    one that was there before. Blocks."""
    root, names, touched = str(space.roots[0]), list[str](), list[str]()
    began_ns = began_us * 1_000 - CLOCK_MS * 1_000_000
    for name in new:
        if not name.endswith("/"):
            names.append(name)
            continue
        inner = os.path.join(root, name.rstrip("/"))
        found = touched if _was_there(inner, began_ns) else names
        if len(found) <= NEW_FILES:
            written = (path for path, seen in plain_files(inner, SCAN_ENTRIES) if seen.st_ctime_ns >= began_ns)
            found += sorted(os.path.relpath(path, root) for path in islice(written, NEW_FILES + 1))
    return names, touched


def _was_there(inner: str, began_ns: int) -> bool:
    """Whether a repository has something in its store that is older than the session."""
    store = os.path.join(inner, ".git")
    try:
        with os.scandir(store) as entries:
            return any(entry.stat(follow_symlinks=False).st_ctime_ns < began_ns for entry in entries)
    except NotADirectoryError:
        return os.lstat(store).st_ctime_ns < began_ns
    except OSError:  # it went away, or cannot be read
        return True


async def _add_touched(made: Diff, names: list[str], space: Workspace, feed: Feed) -> None:
    """Files of repositories that were there before: what was recorded of them is shown, of others only that they changed."""
    if not names:
        return
    recorded, is_cut = await _recorded_changes(feed)
    by_name = await space.lane.run(_by_name, space, recorded)
    for name in names:
        try:
            path = by_name[name]
            text = await space.lane.run(_compared, space, path, recorded[path])
        except (KeyError, Forbidden, Invalid, NotFound):
            made.files.append(FileDiff(_printable(name), "modified", 0, 0))
            continue
        made.files += sections(text)
        is_cut |= len(made.diff) + len(text) > DIFF_BYTES
        made.diff += text if len(made.diff) + len(text) <= DIFF_BYTES else ""
    made.truncated |= is_cut


def _by_name(space: Workspace, recorded: dict[str, list[_FileChange]]) -> dict[str, str]:
    """The paths that were recorded, by their names below the folder."""
    found = {}
    for path in recorded:
        with suppress(Forbidden, Invalid, NotFound):  # not the session's own
            found[space.relative(resolve(space, path))] = path
    return found


class _Now(NamedTuple):
    """What stands in the folder: its mode as git writes them, and its text, None where that is too long or none."""

    mode: str
    text: str | None


def _now(space: Workspace, name: str) -> _Now | None:
    """What stands at a name that git gave; None where nothing does that is the session's own, through no link."""
    real = Path(space.roots[0], name)
    try:
        found = space.look(real)
        if stat.S_ISLNK(found.st_mode):
            return _Now(LINK, _printable(space.target(real)))
        if stat.S_ISDIR(found.st_mode):
            return _Now(SUBMODULE, None)
        if not stat.S_ISREG(found.st_mode):
            return None
        return _Now("100755" if found.st_mode & stat.S_IXUSR else "100644", _own_text(space, real))
    except (OSError, ValueError, Forbidden):
        return None


def _own_text(space: Workspace, real: Path) -> str | None:
    try:
        with space.open(real) as file:
            return _as_text(file.read(FILE_BYTES + 1))
    except PermissionError:
        return None


def _as_text(content: bytes | None) -> str | None:
    """A text to be shown; None for what is none, or too long."""
    if content is None or len(content) > FILE_BYTES or b"\0" in content or content.count(b"\n") > FILE_LINES:
        return None
    return content.decode("utf-8", "replace")


def _is_short(text: str | None) -> bool:
    """Whether a text of an entry can be compared."""
    return text is None or (len(text) <= FILE_BYTES and text.count("\n") <= FILE_LINES)


def _tracked_file(space: Workspace, file: Tracked, committed: dict[str, bytes]) -> str:
    """The difference of one file that git keeps; nothing where there is none."""
    name, now = _printable(file.path), _now(space, file.path)
    if SUBMODULE in (file.old_mode, file.new_mode):
        return _submodule(name, file, now is not None and now.mode == SUBMODULE)
    is_old, is_now = file.old_mode != NOTHING, now is not None and now.mode != SUBMODULE
    if now is None or not is_now:
        return _section(name, file.old_mode, None, _as_text(committed.get(file.old_blob)), None) if is_old else ""
    if not is_old:
        return _section(name, None, now.mode, None, now.text)
    old = _as_text(committed.get(file.old_blob))
    if (file.old_mode == LINK) != (now.mode == LINK):  # as git shows it
        return _section(name, file.old_mode, None, old, None) + _section(name, None, now.mode, None, now.text)
    # Whether it can be run: git says so, since not every file system can.
    mode = file.new_mode if LINK not in (now.mode, file.new_mode) and file.new_mode != NOTHING else file.old_mode
    is_same = old is not None and old == now.text and mode == file.old_mode
    return "" if is_same else _section(name, file.old_mode, mode, old, now.text)


def _submodule(name: str, file: Tracked, is_there: bool) -> str:
    """By the names of its commits; what is in it is not ours."""
    old = f"Subproject commit {file.old_blob}\n" if file.old_mode == SUBMODULE else None
    new = f"Subproject commit {file.new_blob}\n" if file.new_mode == SUBMODULE and is_there else None
    return unified(name, old, new) if old != new else ""


def _section(name: str, old_mode: str | None, new_mode: str | None, old: str | None, new: str | None) -> str:
    """A git-style diff of one file: a mode of None is a file that does not exist, a text of None one that is not shown."""
    lines = [f"diff --git a/{name} b/{name}\n"]
    if old_mode is None:
        lines.append(f"new file mode {new_mode}\n")
    elif new_mode is None:
        lines.append(f"deleted file mode {old_mode}\n")
    elif old_mode != new_mode:
        lines.append(f"old mode {old_mode}\nnew mode {new_mode}\n")
    if (old_mode is not None and old is None) or (new_mode is not None and new is None):
        source, target = "/dev/null" if old_mode is None else f"a/{name}", "/dev/null" if new_mode is None else f"b/{name}"
        return "".join([*lines, f"Binary files {source} and {target} differ\n"])
    from trunkline.session.interpret.effects.diff import whole  # with all of the fold: a hub starts without it

    return "".join([*lines, whole(old, new, name)])


def unified(name: str, old: str | None, new: str | None) -> str:
    """The same for a plain file; None is a file that does not exist."""
    return _section(name, None if old is None else "100644", None if new is None else "100644", old, new)


def _printable(name: str) -> str:
    """A name that JSON can carry."""
    return os.fsencode(name).decode("utf-8", "replace")


def sections(text: str) -> list[FileDiff]:
    """The files of a git diff (made without renames), counted."""
    found: list[FileDiff] = []
    in_hunk = False
    for line in text.split("\n"):
        if line.startswith("diff --git "):
            found.append(FileDiff(_path_of(line.removeprefix("diff --git ")), "modified", 0, 0))
            in_hunk = False
        elif not found:
            continue
        elif line.startswith("@@"):
            in_hunk = True
        elif in_hunk:
            found[-1].additions += line.startswith("+")
            found[-1].deletions += line.startswith("-")
        elif line.startswith("new file mode"):
            found[-1].status = "added"
        elif line.startswith("deleted file mode"):
            found[-1].status = "deleted"
    return found


def _path_of(names: str) -> str:
    """``a/X b/X``: without renames both halves are the same."""
    return names[2:2 + (len(names) - 5) // 2]


def _text(space: Workspace, name: str) -> str:
    opened = open_inside(name, space)
    with opened.file:
        if opened.size > FILE_BYTES:
            raise Invalid(f"{name} is too large to compare")
        raw = opened.piece(0, FILE_BYTES)
    if b"\0" in raw:
        raise Invalid(f"{name} is not text")
    return raw.decode("utf-8", "replace")


# Without git


class _FileChange(msgspec.Struct, rename="camel"):
    type: str
    path: str | None = None
    old_text: str | None = None
    new_text: str | None = None


class _Packet(msgspec.Struct, rename="camel"):
    status: str | None = None
    content: list[_FileChange] | None = None
    raw_input: _Written | None = None


class _Written(msgspec.Struct, rename="camel"):
    """A write as its input has it."""

    file_path: str | None = None
    path: str | None = None
    content: str | None = None
    snake_path: str | None = msgspec.field(default=None, name="file_path")

    def change(self) -> _FileChange:
        """The same as a change: of what was there before nothing is known."""
        return _FileChange("diff", self.file_path or self.snake_path or self.path, None, self.content)


_packet = decoders.of(_Packet)


async def _since_session_began(feed: Feed, space: Workspace) -> Diff:
    changes, is_cut = await _recorded_changes(feed)
    files: list[FileDiff] = []
    texts: list[str] = []
    unclear = size = 0
    for path, steps in changes.items():
        if size > DIFF_BYTES:
            return Diff("session", files, "".join(texts), truncated=True)
        try:
            shown = await space.lane.run(_compared, space, path, steps)
        except (Forbidden, Invalid, NotFound):
            unclear += 1
            continue
        texts.append(shown)
        size += len(shown)
        files += sections(shown)
    if files:
        reason = f"{unclear} more changed files cannot be compared" if unclear else None
        return Diff("session", files, "".join(texts), truncated=is_cut, reason=reason)
    return Diff(None, [], "", reason="not a git repository, and the session recorded no file changes that can be compared")


async def _of_entry(feed: Feed, space: Workspace, seq: int) -> Diff:
    """What one tool call's entry says of files; long diffs are not in its event."""
    entries = await feed.read(after=seq - 1, before=seq + 1)
    if not entries:
        raise NotFound(f"no entry {seq} in this session")
    try:
        packet = _packet.decode(entries[0].packet or b"{}")
    except BROKEN:
        packet = _Packet()
    changes = [change for change in packet.content or () if change.type == "diff"]
    changes = changes or ([packet.raw_input.change()] if packet.raw_input is not None else [])
    changes = [change for change in changes if change.path and change.new_text is not None]
    if not changes:
        return Diff(None, [], "", reason=f"entry {seq} shows no change to a file")
    texts = await space.lane.run(lambda: [_shown(space, change) for change in changes])
    return Diff("call", [file for text in texts for file in sections(text)], "".join(texts))


def _shown(space: Workspace, change: _FileChange) -> str:
    path = change.path or ""
    try:
        name = space.relative(resolve(space, path))
    except (Forbidden, Invalid, NotFound):
        name = path.lstrip("/")
    return _difference(name, change.old_text or None, change.new_text)


def _difference(name: str, old: str | None, new: str | None) -> str:
    """The difference of two texts, as far as they are short enough; else only that there is one."""
    if _is_short(old) and _is_short(new):
        return unified(name, old, new)
    return _section(name, None if old is None else "100644", None if new is None else "100644", None, None)


async def _recorded_changes(feed: Feed) -> tuple[dict[str, list[_FileChange]], bool]:
    """The finished changes to files that tool calls reported, by path, in order, and whether there are more than are kept."""
    found: dict[str, list[_FileChange]] = {}
    position, left = 0, RECORDED_BYTES
    while entries := await feed.read(after=position):
        position = entries[-1].seq
        for entry in entries:
            if entry.packet is None or b'"type":"diff"' not in entry.packet:
                continue
            packet = _packet.decode(entry.packet)
            for change in packet.content or () if packet.status == "completed" else ():
                if change.type == "diff" and change.path and change.new_text is not None:
                    left -= len(change.new_text) + len(change.old_text or "")
                    if left < 0:
                        return found, True
                    found.setdefault(change.path, []).append(change)
    return found, False


def _compared(space: Workspace, path: str, steps: list[_FileChange]) -> str:
    """The diff of a file with what it was before its recorded changes; nothing where it is the same again."""
    name, old, new = _before_and_after(space, path, steps)
    return _difference(name, old, new) if old != new else ""


def _before_and_after(space: Workspace, path: str, steps: list[_FileChange]) -> tuple[str, str | None, str | None]:
    """The file as it was first seen and as it is: the changes are taken back one by one, or Invalid."""
    real = resolve(space, path)
    now = _text(space, path) if real.exists() else None
    before = now
    for step in reversed(steps):
        before = _taken_back(before, step)
    return space.relative(real), before, now


def _taken_back(text: str | None, step: _FileChange) -> str | None:
    new, old = step.new_text or "", step.old_text
    if text == new:
        return old or None
    if text is None or not new or text.count(new) != 1:
        raise Invalid("the change cannot be found in the file")
    return text.replace(new, old or "")
