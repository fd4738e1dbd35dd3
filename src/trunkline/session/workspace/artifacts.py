"""What the agent made, found by looking at the disk: files that were not there, and apps by what is in their folder.

Rule 1: the disk is the witness, not what a tool call claims.
Rule 2: a scan runs off the loop, skips what nobody calls a result (dependencies, caches, version control) and is bounded in all
that it looks at: entries, folders, bytes of a file, bytes of all files. One thing that cannot be looked at costs itself alone.
Rule 3: what another session's turn made in the same folder is not this one's (``makers``).
Rule 4: an artifact keeps its id for life; its version rises when its bytes change.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trunkline.dialects.context.envelope import iso_ms
from trunkline.dialects.outside import BROKEN
from trunkline.disk.reading import open_plain, read_whole
from trunkline.errors import Unavailable
from trunkline.session.fold import Artifact, OpenCall
from trunkline.session.workspace.makers import STILL_RUNS, Act, Acts, Claims, Makers, MakingTurn, acts_of
from trunkline.threads import Lane, check_off_loop

if TYPE_CHECKING:
    from trunkline.session.recorder import Recorder

SKIPPED = frozenset({
    ".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".next", ".cache", ".mypy_cache", ".pytest_cache",
    ".ruff_cache", ".tox", "target", ".gradle", ".idea", ".vscode", ".turbo", ".parcel-cache", ".terraform",
})
SHOWN_HIDDEN = frozenset({".github"})
"""Hidden folders in which people keep results. What agents and programs keep in others is housekeeping of their own."""

SCAN_ENTRIES = 50_000
"""Entries of folders that one scan looks at; a larger tree is watched only in part, which is better than a stalled turn."""

APP_ENTRIES = 10_000
"""The same for one app whose files are compared."""

DEPTH_MOST = 64
"""Folders within folders that are looked into; each further one makes every look at what is in it dearer."""

LOOK_S = 20.0
"""How long the end of a turn may wait for the disk; fifty thousand entries take half a second on a slow one."""

NEW_PER_TURN = 500
"""Artifacts one turn may add; an unpacked archive is not five thousand results."""

HASHED_BYTES = 8 << 20
"""Files up to this size are compared by their bytes; larger ones by size and time, so that no turn waits for a disk."""

HASHED_PER_LOOK = 128 << 20
"""The same for all files of one look."""

MANIFEST_BYTES = 256 << 10
"""A manifest up to this size is read; the largest that people write have some tens of kilobytes."""

IMAGES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".ico", ".avif"})
APPS = frozenset({"web_app", "nextjs_app"})
STATIC_OUTPUTS = ("dist", "build", "out", "public", ".")

NO_CLAIMS = Claims([], [])

log = logging.getLogger("trunkline.session")


class Found(msgspec.Struct, frozen=True):
    """A new or changed result on disk."""

    type: str
    path: str
    fingerprint: str
    written_ns: int = 0


class DiskIndex:
    """What a session's folder looked like at the last look."""

    def __init__(self, root: str, known: dict[str, int] | None = None) -> None:
        self._root = root
        self._known: dict[str, int] = dict(known or {})

    def copy(self) -> DiskIndex:
        """The same, for looks from now on."""
        return DiskIndex(self._root, self._known)

    def scan(self) -> None:
        """Take everything that is there as known."""
        self._known = dict(self._files())

    def catch_up(self, before_ns: int) -> None:
        """Take what came since the last look and before that time as known, too."""
        for path, changed_ns in self._files():
            if changed_ns < before_ns:
                self._known.setdefault(path, changed_ns)

    def know(self, path: str) -> None:
        """Take a file as known, as it is now."""
        try:
            self._known[path] = os.stat(path, follow_symlinks=False).st_ctime_ns
        except OSError:
            # Gone again already: nothing to know.
            self._known.pop(path, None)

    def news(self, since_ns: int, artifacts: dict[str, Artifact]) -> list[Found]:
        """What was created since (by change time), or changed among the artifacts; the look becomes the known state."""
        before, now = self._known, dict(self._files())
        self._known = now
        apps = _Apps(self._root, before)
        shown: dict[str, bool] = {}
        written: dict[str, int] = {}
        for path, changed_ns in now.items():
            if path not in before and changed_ns >= since_ns and not _is_housekeeping(path, self._root):
                app = apps.new_app_of(path, artifacts)
                shown[app or path] = app is not None
                written[app or path] = max(changed_ns, written.get(app or path, 0))
            elif before.get(path) != changed_ns:
                shown.update(_artifact_over(path, self._root, artifacts))
            if len(shown) >= NEW_PER_TURN:
                break
        looking = _Looking()
        looks = [looking.found(path, is_app, written.get(path, 0)) for path, is_app in shown.items()]
        return [look for look in looks if look.path not in artifacts or artifacts[look.path].fingerprint != look.fingerprint]

    def _files(self) -> Iterator[tuple[str, int]]:
        return ((path, found.st_ctime_ns) for path, found in plain_files(self._root, SCAN_ENTRIES))


class ArtifactFinder:
    """Looks at a session's folder at the end of each turn that did something, and writes what it finds."""

    def __init__(self, recorder: Recorder, root: str, lane: Lane, preview_url: Callable[[str, Artifact], str | None],
                 clock: Callable[[], int], makers: Makers) -> None:
        self._recorder = recorder
        self._root = root
        self._lane = lane
        self._preview_url = preview_url
        self._clock = clock
        self._makers = makers
        self._making: MakingTurn | None = None
        self._index = DiskIndex(root)
        self._learned: asyncio.Task[None] | None = None
        self._since_ns: int | None = None
        self._looked_ns = 0
        self._acted: Acts = []

    def learn(self) -> None:
        """Begin to take what is there as known; done once, while the agent starts."""
        if self._learned is None:
            self._looked_ns = _disk_now_ns()
            self._learned = asyncio.create_task(self._learn_by(self._index.scan))

    def turn_started(self) -> None:
        """What changes from now on is the agent's. (A turn that failed was not looked at: what it made counts with the next.)"""
        self.learn()
        if self._since_ns is None:
            self._since_ns = _disk_now_ns()
            if self._makers.others_made(self._recorder.fold.session_id, self._root, self._looked_ns):
                self._learned = asyncio.create_task(self._catch_up(self._learned, self._since_ns))
        self._acted = []
        self.turn_ended()
        self._making = MakingTurn(self._root, self._since_ns, self._acts)
        self._makers.begin(self._making)

    def turn_ended(self) -> None:
        """What changes from now on is not of this turn, whatever became of it."""
        if self._making is not None:
            self._makers.end(self._making)
            self._making = None

    def acted(self, words: Sequence[str]) -> None:
        """The agent asked, in these words, for something that can change files without a tool call to show for it."""
        now_ns = self._clock() * 1000
        self._acted.append(Act([word.encode(errors="surrogatepass") for word in words], now_ns, now_ns, False))

    def _acts(self) -> Acts:
        fold, ended = self._recorder.fold, self._recorder.at().tools.calls.ended_at
        calls = [call for call in fold.calls.values() if not call.denied]
        spans = {call.state.tool_call_id: _span(call, ended.get(call.state.tool_call_id, call.since)) for call in calls}
        told = acts_of((call.state for call in calls), lambda call: spans[call.tool_call_id])
        # How long it has us run something is told by its call. Who tells of no calls may run anything until the turn is over.
        return told + (self._acted if calls else [act._replace(until_ns=STILL_RUNS, makes_any=True) for act in self._acted])

    async def made_by_somebody_else(self, path: str) -> None:
        """A file that a person put there is not the agent's."""
        await self._lane.run(self._index.know, path)

    async def look(self) -> None:
        """Write an entry for each result that is new or changed. A turn in which the agent only talked made none."""
        fold = self._recorder.fold
        since_ns, self._since_ns = self._since_ns, None
        if self._learned is None or not (fold.calls or self._acted):
            return
        try:
            await asyncio.shield(self._learned)
            self._looked_ns = _disk_now_ns()
            claims = NO_CLAIMS if self._making is None else self._makers.claims(self._making)
            found = await self._lane.run_within(LOOK_S, _news, self._index, since_ns or 0, dict(fold.artifacts), claims)
        except (TimeoutError, Unavailable) as error:
            self._give_up_look()
            log.warning("what session %s made is not looked for: the disk does not answer (%s)", fold.session_id, error)
            return
        interpret = self._recorder.at()
        for look, can_be_shown in found:
            is_own = self._takes(look.path)
            if look.path not in fold.artifacts and not is_own:
                continue
            self._makers.made(fold.session_id, self._root, _disk_now_ns())
            artifact = self._artifact(look)
            interpret.artifact(artifact, self._preview_url(fold.session_id, artifact) if can_be_shown else None)

    def _takes(self, path: str) -> bool:
        return self._making is None or self._makers.take(self._making, path, _disk_now_ns())

    async def _catch_up(self, learned: asyncio.Task[None] | None, before_ns: int) -> None:
        if learned is not None:
            await learned
        await self._learn_by(partial(self._index.catch_up, before_ns))

    async def _learn_by(self, look: Callable[[], None]) -> None:
        try:
            await self._lane.run_within(LOOK_S, look)
        except (TimeoutError, Unavailable) as error:
            self._give_up_look()
            log.warning("%s cannot be looked at: the disk does not answer (%s)", self._root, error)

    def _give_up_look(self) -> None:
        """It may come back in the middle of another turn, and must not take what that has made as known."""
        self._index = self._index.copy()

    def _artifact(self, look: Found) -> Artifact:
        fold = self._recorder.fold
        known = fold.artifacts.get(look.path)
        now = iso_ms(self._clock())
        return Artifact(
            id=known.id if known else artifact_id(fold.session_id, look.path), type=look.type, name=os.path.basename(look.path),
            path=look.path, relative_path=os.path.relpath(look.path, self._root), version=known.version + 1 if known else 1,
            created_at=known.created_at if known else now, updated_at=now, fingerprint=look.fingerprint,
        )


def _news(index: DiskIndex, since_ns: int, artifacts: dict[str, Artifact], claims: Claims) -> list[tuple[Found, bool]]:
    """What is new and no other turn's, and whether it can be shown as it is. Blocks."""
    return [(look, _static_place(look.type, look.path) is not None) for look in index.news(since_ns, artifacts)
            if look.path in artifacts or not claims.gives_away(look.path, look.written_ns)]


def _span(call: OpenCall, ended_us: int) -> tuple[int, int]:
    return call.since * 1000, ended_us * 1000 if call.finished else STILL_RUNS


def _disk_now_ns() -> int:
    """The time of day. File systems stamp with a clock that ticks every few milliseconds, so a stamp may be that much behind:
    what was made in that moment is taken for somebody else's, never the other way round."""
    return time.time_ns()


def artifact_id(session_id: str, path: str) -> str:
    """The same path in the same session is the same artifact, also after a restart."""
    return "art_" + hashlib.sha256(f"{session_id}\0{path}".encode()).hexdigest()[:16]


def static_root(artifact: Artifact) -> str | None:
    """The folder or file that can be shown as it is; None for an app without static output (the hub never starts an app)."""
    return _static_place(artifact.type, artifact.path)


def _static_place(kind: str, path: str) -> str | None:
    check_off_loop()
    if kind in ("file", "image"):
        return path
    for folder in STATIC_OUTPUTS:
        candidate = os.path.join(path, folder)
        if _is_plain(os.path.join(candidate, "index.html")):
            return os.path.normpath(candidate)
    return None


def _is_housekeeping(path: str, root: str) -> bool:
    """Whether it lies in a hidden folder below the session's."""
    folders = os.path.relpath(path, root).split(os.sep)[:-1]
    return any(name.startswith(".") and name not in SHOWN_HIDDEN for name in folders)


def plain_files(root: str, most: int) -> Iterator[tuple[str, os.stat_result]]:
    """The plain files below a folder, as far as ``most`` entries and DEPTH_MOST folders go; links are not followed."""
    check_off_loop()
    folders, left = [(root, 0)], most
    while folders and left > 0:
        folder, depth = folders.pop()
        for entry in _entries(folder, left):
            left -= 1
            found = _stat(entry)
            if found is None:
                continue
            if stat.S_ISREG(found.st_mode):
                yield entry.path, found
            elif stat.S_ISDIR(found.st_mode) and entry.name not in SKIPPED and depth < DEPTH_MOST:
                folders.append((entry.path, depth + 1))
        left -= 1  # an empty folder is something to look at, too


def _entries(folder: str, most: int) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            # A name that is no text can be shown nowhere, and written into no JSON.
            yield from (entry for entry in islice(entries, most) if entry.name.isascii() or _is_text(entry.name))
    except OSError:
        # A folder that vanished or may not be read holds no results of ours.
        return


class _Apps:
    """Which app folder a file lies in, asked of the disk once per folder."""

    def __init__(self, root: str, before: dict[str, int]) -> None:
        self._root = root
        self._before = before
        self._is_app: dict[str, bool] = {}
        self._folders_before: set[str] | None = None

    def new_app_of(self, path: str, artifacts: dict[str, Artifact]) -> str | None:
        """The outermost app that the file lies in, the root itself first, unless that app was there before the agent came."""
        folder = self._root
        for part in ("", *Path(path).relative_to(self._root).parts[:-1]):
            folder = os.path.join(folder, part) if part else folder
            if folder not in self._is_app:
                self._is_app[folder] = _app_type(folder) is not None
            if self._is_app[folder] and (folder in artifacts or self._new(folder)):
                return folder
            if self._is_app[folder] and folder != self._root:
                return None
        return None

    def _new(self, folder: str) -> bool:
        if folder == self._root:  # which was there before; an app it is by one of these
            return not any(os.path.join(folder, name) in self._before for name in ("index.html", "package.json"))
        if self._folders_before is None:
            self._folders_before = set()
            for path in self._before:
                while (path := os.path.dirname(path)) not in self._folders_before and len(path) > len(self._root):
                    self._folders_before.add(path)
        return folder not in self._folders_before


def _artifact_over(path: str, root: str, artifacts: dict[str, Artifact]) -> dict[str, bool]:
    """The artifact that a changed file is or lies in, and whether that is an app."""
    while len(path) >= len(root):
        if path in artifacts:
            return {path: artifacts[path].type in APPS}
        if path == root:
            break
        path = os.path.dirname(path)
    return {}


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    """What an entry is; None where it is gone already."""
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None


def _is_plain(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path, follow_symlinks=False).st_mode)
    except (OSError, ValueError):
        return False


def _app_type(folder: str) -> str | None:
    manifest = os.path.join(folder, "package.json")
    if _is_plain(manifest) and _depends_on_next(manifest):
        return "nextjs_app"
    if _is_plain(os.path.join(folder, "index.html")):
        return "web_app"
    return None


def _depends_on_next(manifest: str) -> bool:
    """Whether a manifest names the framework; one that is too large, or cannot be read as one, does not."""
    try:
        declared = json.loads(read_whole(manifest, MANIFEST_BYTES))
    except (OSError, ValueError, *BROKEN):
        return False
    groups = (declared.get(key) for key in ("dependencies", "devDependencies")) if isinstance(declared, dict) else ()
    return any(isinstance(group, dict) and "next" in group for group in groups)


class _Looking:
    """Takes fingerprints of what is new, within the bytes that one look may read."""

    def __init__(self) -> None:
        self._left = HASHED_PER_LOOK

    def found(self, path: str, is_app: bool, written_ns: int = 0) -> Found:
        """What is there, with a fingerprint that changes when it does."""
        if is_app:
            return Found(_app_type(path) or "web_app", path, _folder_fingerprint(path), written_ns)
        kind = "image" if Path(path).suffix.lower() in IMAGES else "file"
        return Found(kind, path, self._file_fingerprint(path), written_ns)

    def _file_fingerprint(self, path: str) -> str:
        most = min(HASHED_BYTES, self._left)
        try:
            with open_plain(path) as file:
                found = os.fstat(file.fileno())
                content = file.read(most + 1) if found.st_size <= most else b""
        except OSError:
            return ""
        self._left -= len(content)
        if found.st_size > most or len(content) > most:
            return f"{found.st_size}-{found.st_mtime_ns}"
        return hashlib.sha256(content).hexdigest()[:32]


def _folder_fingerprint(folder: str) -> str:
    digest = hashlib.sha256()
    for path, found in sorted(plain_files(folder, APP_ENTRIES)):
        digest.update(f"{path}\0{found.st_size}\0{found.st_mtime_ns}\0".encode(errors="surrogateescape"))
    return digest.hexdigest()[:32]
