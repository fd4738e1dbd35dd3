"""What git knows of a session's folder: which files changed, which are new, and what was committed.

Rule 1: git only reads. No lock is taken, and nothing that the repository's config or attributes name is run: no hook, pager,
filter, external differ, text converter or remote, and no git inside of a submodule (which has a config of its own).
A session's git runs in the session's sandbox: whatever an agent planted for it stays in there.
Rule 2: git gives names and what is in its own store, never what is in the folder: it follows paths, and a folder may be swapped
for a link while it does. Whoever shows a file reads it through the workspace, and shows no name that does not stand there.
Rule 3: the store is the folder's own: inside the session's folders, beside a folder that they are in, or one that names this
folder as its worktree. A ``.git`` that points at somebody else's repository is not followed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Literal, NamedTuple

from trunkline.agents.environment import clean_env
from trunkline.agents.process import ChildCommand
from trunkline.agents.sandbox import Confine, as_is
from trunkline.dialects.outside import is_whole_number
from trunkline.disk.reading import read_whole
from trunkline.errors import Forbidden, Unsupported
from trunkline.session.workspace.files import Workspace

GIT_S = 15.0
OUTPUT_BYTES = 16 << 20
"""What is kept of one answer: names of some hundred thousand files, or the texts of one diff."""
FILTERS = 100
"""Filters that can be switched off; a repository with more of them is not compared."""
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
QUIETLY = 'exec "$@" 2>/dev/null'
"""Git's warnings are not part of an answer."""
LOOK_UP_SCRIPT = 'while [ "$1" != -- ]; do echo "$1"; shift; done | { shift "$(($# - $0))"; "$@" 2>/dev/null; }'
"""Hands the words before ``--`` to the command that is the last so many words ($0), a line each."""
POINTER_BYTES = 4096
"""Of a file that names one folder."""
FILTER_OFF = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))

Base = Literal["HEAD", "empty"]


class Tracked(NamedTuple):
    """A file of which git says that it differs: its name below the folder (as ``os.fsdecode`` writes it), and what was committed
    and is there now: modes (``000000``: nothing) and names of contents in git's store."""

    path: str
    old_mode: str
    new_mode: str
    old_blob: str
    new_blob: str


class Git:
    """Questions to git about one session's folder."""

    def __init__(self, space: Workspace, confine: Confine = as_is) -> None:
        self._confine = confine
        self._space = space
        # A partial clone fetches what it lacks, by commands from its config: no protocol is allowed, so it cannot.
        self._env = clean_env((), os.environ, {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1",
                                               "GIT_ALLOW_PROTOCOL": "none", "LC_ALL": "C.UTF-8"})
        self.truncated = False

    async def base(self) -> Base | None:
        """What to compare with; None outside of any repository, Unsupported where that is somebody else's."""
        await self._space.lane.run(self._space.settle)
        _, output = await self._ask("rev-parse", "--is-inside-work-tree", "--show-toplevel", "--absolute-git-dir",
                                  "--git-common-dir")
        is_inside, *paths = os.fsdecode(output).rstrip("\n").split("\n")
        if is_inside != "true":
            return None
        await self._space.lane.run(_check_store, self._space, paths)
        code, _ = await self._ask("rev-parse", "--verify", "--quiet", "HEAD")
        return "HEAD" if code == 0 else "empty"

    async def switch_filters_off(self) -> None:
        """Compare files as they are from here on: a filter is a command. Unsupported where that cannot be had."""
        code, output = await self._ask("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
        text = output.decode("utf-8", "replace")
        names = {name for key in text.split("\0") if (name := _filter_name(key)) is not None}
        # U+FFFD: a name that is not UTF-8, which we could not name to git.
        if code not in (0, 1) or self.truncated or len(names) > FILTERS or "\ufffd" in text:
            raise Unsupported("the repository's config has filters that cannot be switched off")
        off = [(f"filter.{name}.{key}", value) for name in names for key, value in FILTER_OFF]
        self._env["GIT_CONFIG_COUNT"] = str(len(off))
        for number, (key, value) in enumerate(off):
            self._env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}

    async def changes(self, base: Base) -> list[Tracked]:
        """The tracked files below the folder that may differ."""
        _, output = await self._ask(
            "diff", "--raw", "-z", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--no-renames", "--relative",
            "--ignore-submodules=dirty", "HEAD" if base == "HEAD" else EMPTY_TREE, "--", ".")
        words = os.fsdecode(output).split("\0")
        return [Tracked(path, *head[1:].split(" ")[:4]) for head, path in zip(words[:-1:2], words[1::2], strict=False)
                if head.startswith(":") and head.count(" ") == 4]

    async def new_files(self) -> list[str]:
        """Files that are neither tracked nor ignored, as ``os.fsdecode`` writes their names."""
        _, output = await self._ask("ls-files", "--others", "--exclude-standard", "-z")
        return [name for name in os.fsdecode(output).split("\0") if name]

    async def sizes(self, blobs: Sequence[str]) -> dict[str, int]:
        """How long contents are in git's store; those that are not there are left out."""
        output = await self._look_up(blobs, "--batch-check")
        words = [line.split(b" ") for line in output.split(b"\n")]
        return {each[0].decode(): int(each[2]) for each in words
                if len(each) == 3 and each[1] == b"blob" and is_whole_number(each[2])}

    async def contents(self, blobs: Sequence[str]) -> dict[str, bytes]:
        """Contents from git's store; together they must fit into one answer."""
        output, found, at = await self._look_up(blobs, "--batch"), {}, 0
        while (end := output.find(b"\n", at)) >= 0:
            words = output[at:end].split(b" ")
            at = end + 1
            if len(words) == 3 and words[1] == b"blob" and is_whole_number(words[2]):
                found[words[0].decode()] = output[at:at + int(words[2])]
                at += int(words[2]) + 1
        return found

    async def _look_up(self, blobs: Sequence[str], how: str) -> bytes:
        if not blobs:
            return b""
        words = _git_words("cat-file", how)
        return (await self._run(["sh", "-c", LOOK_UP_SCRIPT, str(len(words)), *blobs, "--", *words]))[1]

    async def _ask(self, *args: str) -> tuple[int | None, bytes]:
        return await self._run(["sh", "-c", QUIETLY, "sh", *_git_words(*args)])

    async def _run(self, command: Sequence[str]) -> tuple[int | None, bytes]:
        folder = self._space.roots[0]
        program, *words = await self._confine(command, cwd=folder)
        child = await ChildCommand.spawn(program, words, cwd=folder, env=self._env, output_byte_limit=OUTPUT_BYTES,
                                         cwd_is_real=True)
        try:
            async with asyncio.timeout(GIT_S):
                ended = await child.wait()
            self.truncated = self.truncated or child.truncated
            # Of too long an answer the end was kept, which begins anywhere.
            return ended.code, b"" if child.truncated else child.output_bytes()
        finally:
            await child.release()


def _git_words(*args: str) -> list[str]:
    return ["git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "core.pager=cat", *args]


def _filter_name(key: str) -> str | None:
    """``lfs`` of ``filter.lfs.clean``; None for a key that names no filter."""
    name, dot, _ = key.removeprefix("filter.").rpartition(".")
    return name if dot else None


# Whose repository it is


def _check_store(space: Workspace, paths: Sequence[str]) -> None:
    """Unsupported where git's store is not this folder's own. ``paths``: top of the worktree, git's folder, the common one."""
    if len(paths) != 3:
        raise Unsupported("the repository's paths cannot be read")
    try:
        top, git_dir, common = (os.path.realpath(os.path.join(space.roots[0], path)) for path in paths)
    except OSError as error:  # a link was swapped in the middle of our look
        raise Unsupported(f"the repository's paths cannot be read: {error.strerror}") from error
    is_linked = _points_back(git_dir, top)
    is_own = _is_inside(space, git_dir) or git_dir == os.path.join(top, ".git") or is_linked
    is_common_own = common == git_dir or _is_inside(space, common) or (is_linked and common == _two_above(git_dir))
    if not is_own or not is_common_own:
        raise Unsupported("the folder's .git points at a repository elsewhere that does not know of this folder")


def _two_above(path: str) -> str:
    """``.git`` of ``.git/worktrees/name``."""
    return os.path.dirname(os.path.dirname(path))


def _is_inside(space: Workspace, real: str) -> bool:
    try:
        space.check(real, real)
    except Forbidden:
        return False
    return True


def _points_back(git_dir: str, top: str) -> bool:
    """Whether a worktree's or a submodule's part of a store says that this is its folder."""
    try:
        output = read_whole(os.path.join(git_dir, "gitdir"), POINTER_BYTES)
        return os.path.realpath(os.path.join(git_dir, os.fsdecode(output).rstrip("\n"))) == os.path.join(top, ".git")
    except (OSError, ValueError):
        return _is_submodule(git_dir, top)


def _is_submodule(git_dir: str, top: str) -> bool:
    try:
        lines = os.fsdecode(read_whole(os.path.join(git_dir, "config"), POINTER_BYTES)).split("\n")
        named = [value.strip() for key, _, value in (line.partition("=") for line in lines) if key.strip().lower() == "worktree"]
        return len(named) == 1 and os.path.realpath(os.path.join(git_dir, named[0])) == top
    except (OSError, ValueError):
        return False
