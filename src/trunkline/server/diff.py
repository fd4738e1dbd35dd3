"""What changed in a session's folder: by git where there is a repository, else by what the journal saw.

Rule 1: git is only asked. No lock is taken, and nothing that the repository's config or attributes name is run: no hook, pager,
filter, external differ, text converter or remote, and no git inside of a submodule (which has a config of its own).
A session's git runs in the session's sandbox: whatever an agent planted for it stays in there.
Rule 2: where nothing can be said, the answer says why.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import re
from typing import Literal

import msgspec

from trunkline.agents.environment import clean_env
from trunkline.agents.process import ChildCommand
from trunkline.agents.sandbox import Confine, as_is
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Forbidden, Invalid, NotFound, Unsupported
from trunkline.server.call import Call, Reply, reply
from trunkline.server.content import open_inside, resolve
from trunkline.session.feed import Feed
from trunkline.session.workspace import Workspace

GIT_S = 15.0
DIFF_BYTES = 8 << 20
FILE_BYTES = 1 << 20
"""A new file larger than this is named, not shown."""
NEW_FILES = 200
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
FILTERS = 100
"""Filters that can be switched off; a repository with more of them is not compared."""
QUIETLY = 'exec "$@" 2>/dev/null'
"""Git's warnings are not part of a diff."""

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


async def diff(call: Call) -> Reply:
    """Changes in the session's folder, or those that one entry tells of."""
    session = await call.session()
    space = session.workspace
    entry = call.integer("entry", least=1)
    if entry is not None:
        return reply(await _of_entry(session.feed, space, entry))
    git = Git(space.roots[0], session.confine)
    try:
        base = await git.base()
        if base is not None:
            await git.switch_filters_off()
            return reply(await _since_commit(git, base, space))
    except Unsupported as error:
        return reply(Diff(None, [], "", reason=error.message))
    except TimeoutError:
        return reply(Diff(None, [], "", reason=f"git took longer than {GIT_S:g} s"))
    return reply(await _since_session_began(session.feed, space))


class Git:
    """Questions to git about one folder."""

    def __init__(self, folder: str, confine: Confine = as_is) -> None:
        self._confine = confine
        self._folder = folder
        # A partial clone fetches what it lacks, by commands from its config: no protocol is allowed, so it cannot.
        self._env = clean_env((), os.environ, {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1",
                                               "GIT_ALLOW_PROTOCOL": "none", "LC_ALL": "C.UTF-8"})
        self.truncated = False

    async def base(self) -> Literal["HEAD", "empty"] | None:
        """What to compare with; None outside of any repository."""
        if (await self._ask("rev-parse", "--is-inside-work-tree"))[1].strip() != "true":
            return None
        code, _ = await self._ask("rev-parse", "--verify", "--quiet", "HEAD")
        return "HEAD" if code == 0 else "empty"

    async def switch_filters_off(self) -> None:
        """Compare files as they are from here on: a filter is a command. Unsupported where that cannot be had."""
        code, text = await self._ask("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
        names = {name for key in text.split("\0") if (name := _filter_name(key)) is not None}
        # U+FFFD: a name that is not UTF-8, which we could not name to git.
        if code not in (0, 1) or self.truncated or len(names) > FILTERS or "\ufffd" in text:
            raise Unsupported("the repository's config has filters that cannot be switched off")
        off = [(f"filter.{name}.{key}", value) for name in names for key, value in FILTER_OFF]
        self._env["GIT_CONFIG_COUNT"] = str(len(off))
        for number, (key, value) in enumerate(off):
            self._env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}

    async def changes(self, base: Literal["HEAD", "empty"]) -> str:
        """The diff of tracked files below the folder."""
        tree = "HEAD" if base == "HEAD" else EMPTY_TREE
        _, text = await self._ask(
            "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--relative", "--src-prefix=a/",
            "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=dirty", tree, "--", ".",
        )
        return text

    async def new_files(self) -> list[str]:
        """Files that are neither tracked nor ignored."""
        _, text = await self._ask("ls-files", "--others", "--exclude-standard", "-z")
        return [name for name in text.split("\0") if name]

    async def _ask(self, *args: str) -> tuple[int | None, str]:
        command = ["git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "core.pager=cat", *args]
        program, *words = await self._confine(["sh", "-c", QUIETLY, "sh", *command], cwd=self._folder)
        child = await ChildCommand.spawn(program, words, cwd=self._folder, env=self._env, output_byte_limit=DIFF_BYTES)
        try:
            async with asyncio.timeout(GIT_S):
                ended = await child.wait()
            self.truncated = self.truncated or child.truncated
            return ended.code, child.output()
        finally:
            await child.release()


FILTER_OFF = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))


def _filter_name(key: str) -> str | None:
    """``lfs`` of ``filter.lfs.clean``; None for a key that names no filter."""
    name, dot, _ = key.removeprefix("filter.").rpartition(".")
    return name if dot else None


async def _since_commit(git: Git, base: Literal["HEAD", "empty"], space: Workspace) -> Diff:
    text = await git.changes(base)
    if git.truncated:
        # The end of the output was kept: begin with a whole file.
        text = text[text.find("\ndiff --git ") + 1:]
    new = await git.new_files()
    files, text = await space.lane.run(_with_new_files, space, text, new[:NEW_FILES])
    return Diff(base, files, text, truncated=git.truncated or len(new) > NEW_FILES)


def _with_new_files(space: Workspace, text: str, new: list[str]) -> tuple[list[FileDiff], str]:
    """The files of a diff and those that git does not know, as far as all of it is not too much; the rest is named only."""
    files, texts, size = sections(text), [text], len(text)
    for name in new:
        shown, added = _new_file(space, name) if size < DIFF_BYTES else ("", 0)
        files.append(FileDiff(name, "added", added, 0))
        texts.append(shown)
        size += len(shown)
    return files, "".join(texts)


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


def _new_file(space: Workspace, name: str) -> tuple[str, int]:
    """A diff that adds the file, and its lines; nothing is shown of what cannot or should not be read."""
    try:
        text = _text(space, name)
    except (Forbidden, Invalid, NotFound):
        return "", 0
    return unified(name, None, text), len(text.splitlines())


def _text(space: Workspace, name: str) -> str:
    opened = open_inside(name, space)
    with opened.file:
        if opened.size > FILE_BYTES:
            raise Invalid(f"{name} is too large to compare")
        raw = opened.piece(0, FILE_BYTES)
    if b"\0" in raw:
        raise Invalid(f"{name} is not text")
    return raw.decode("utf-8", "replace")


def unified(name: str, old: str | None, new: str | None) -> str:
    """A git-style diff of one file; None is a file that does not exist."""
    lines = [f"diff --git a/{name} b/{name}\n"]
    lines += ["new file mode 100644\n"] if old is None else []
    lines += ["deleted file mode 100644\n"] if new is None else []
    source, target = "/dev/null" if old is None else f"a/{name}", "/dev/null" if new is None else f"b/{name}"
    for line in difflib.unified_diff(_lines(old), _lines(new), source, target):
        lines.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(lines)


def _lines(text: str | None) -> list[str]:
    """Lines as git counts them: only a newline ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text or "")


# Without git


class _Change(msgspec.Struct, rename="camel"):
    type: str
    path: str | None = None
    old_text: str | None = None
    new_text: str | None = None


class _Packet(msgspec.Struct, rename="camel"):
    status: str | None = None
    content: list[_Change] | None = None
    raw_input: _Written | None = None


class _Written(msgspec.Struct, rename="camel"):
    """A write as its input tells it."""

    file_path: str | None = None
    path: str | None = None
    content: str | None = None
    snake_path: str | None = msgspec.field(default=None, name="file_path")

    def change(self) -> _Change:
        """The same as a change: of what was there before nothing is known."""
        return _Change("diff", self.file_path or self.snake_path or self.path, None, self.content)


_packet = msgspec.json.Decoder(_Packet)


async def _since_session_began(feed: Feed, space: Workspace) -> Diff:
    changes = await _recorded_changes(feed)
    files: list[FileDiff] = []
    texts: list[str] = []
    unclear = 0
    for path, steps in changes.items():
        try:
            shown = await space.lane.run(_compared, space, path, steps)
        except (Forbidden, Invalid, NotFound):
            unclear += 1
            continue
        texts.append(shown)
        files += sections(shown)
    if files:
        reason = f"{unclear} more changed files cannot be compared" if unclear else None
        return Diff("session", files, "".join(texts), reason=reason)
    return Diff(None, [], "", reason="not a git repository, and the session recorded no file changes that can be compared")


async def _of_entry(feed: Feed, space: Workspace, seq: int) -> Diff:
    """What one tool call's entry tells of files; long diffs are not in its event."""
    entries = await feed.read(after=seq - 1, before=seq + 1)
    if not entries:
        raise NotFound(f"no entry {seq} in this session")
    try:
        packet = _packet.decode(entries[0].packet or b"{}")
    except BROKEN:
        packet = _Packet()
    told = [change for change in packet.content or () if change.type == "diff"]
    told = told or ([packet.raw_input.change()] if packet.raw_input is not None else [])
    told = [change for change in told if change.path and change.new_text is not None]
    if not told:
        return Diff(None, [], "", reason=f"entry {seq} shows no change to a file")
    texts = await space.lane.run(lambda: [_shown(space, change) for change in told])
    return Diff("call", [file for text in texts for file in sections(text)], "".join(texts))


def _shown(space: Workspace, change: _Change) -> str:
    path = change.path or ""
    try:
        name = space.relative(resolve(space, path))
    except (Forbidden, Invalid, NotFound):
        name = path.lstrip("/")
    return unified(name, change.old_text or None, change.new_text)


async def _recorded_changes(feed: Feed) -> dict[str, list[_Change]]:
    """Every finished change to a file that a tool call told of, by path, in order."""
    found: dict[str, list[_Change]] = {}
    position = 0
    while entries := await feed.read(after=position):
        position = entries[-1].seq
        for entry in entries:
            if entry.packet is None or b'"type":"diff"' not in entry.packet:
                continue
            packet = _packet.decode(entry.packet)
            for change in packet.content or () if packet.status == "completed" else ():
                if change.type == "diff" and change.path and change.new_text is not None:
                    found.setdefault(change.path, []).append(change)
    return found


def _compared(space: Workspace, path: str, steps: list[_Change]) -> str:
    """The diff of a file with what it was before its recorded changes; nothing where it is the same again."""
    name, old, new = _before_and_after(space, path, steps)
    return unified(name, old, new) if old != new else ""


def _before_and_after(space: Workspace, path: str, steps: list[_Change]) -> tuple[str, str | None, str | None]:
    """The file as it was first seen and as it is: the changes are taken back one by one, or Invalid."""
    real = resolve(space, path)
    now = _text(space, path) if real.exists() else None
    before = now
    for step in reversed(steps):
        before = _taken_back(before, step)
    return space.relative(real), before, now


def _taken_back(text: str | None, step: _Change) -> str | None:
    new, old = step.new_text or "", step.old_text
    if text == new:
        return old or None
    if text is None or not new or text.count(new) != 1:
        raise Invalid("the change cannot be found in the file")
    return text.replace(new, old or "")
