"""What the agent made, found by looking at the disk: files that were not there, and apps by what is in their folder.

Rule 1: the disk is the witness, not what a tool call claims.
Rule 2: a scan runs in a thread, skips what nobody calls a result (dependencies, caches, version control) and is bounded.
Rule 3: an artifact keeps its id for life; its version rises when its bytes change.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trunkline.dialects.context import iso_ms
from trunkline.session.fold import Artifact

if TYPE_CHECKING:
    from trunkline.session.pen import Pen

SKIPPED = frozenset({
    ".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".next", ".cache", ".mypy_cache", ".pytest_cache",
    ".ruff_cache", ".tox", "target", ".gradle", ".idea", ".vscode", ".turbo", ".parcel-cache", ".terraform",
})
SCAN_FILES = 50_000
"""Files one scan looks at; a larger tree is watched only in part, which is better than a stalled turn."""

NEW_PER_TURN = 500
"""Artifacts one turn may add; an unpacked archive is not five thousand results."""

HASHED_BYTES = 8 << 20
"""Files up to this size are compared by their bytes; larger ones by size and time, so that no turn waits for a disk."""

IMAGES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".ico", ".avif"})
APPS = frozenset({"web_app", "nextjs_app"})
STATIC_OUTPUTS = ("dist", "build", "out", "public", ".")


class Found(msgspec.Struct, frozen=True):
    """A new or changed result on disk."""

    type: str
    path: str
    fingerprint: str


class DiskIndex:
    """What a session's folder looked like at the last look."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._known: dict[str, int] = {}

    def scan(self) -> None:
        """Take everything that is there as known."""
        self._known = dict(self._files())

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
        for path, changed_ns in now.items():
            if path not in before and changed_ns >= since_ns:
                app = apps.new_app_of(path, artifacts)
                shown[app or path] = app is not None
            elif before.get(path) != changed_ns:
                shown.update(_artifact_over(path, self._root, artifacts))
            if len(shown) >= NEW_PER_TURN:
                break
        looks = [_found(path, is_app) for path, is_app in shown.items()]
        return [look for look in looks if look.path not in artifacts or artifacts[look.path].fingerprint != look.fingerprint]

    def _files(self) -> Iterator[tuple[str, int]]:
        seen = 0
        folders = [self._root]
        while folders:
            for entry in _entries(folders.pop()):
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED:
                        folders.append(entry.path)
                    continue
                changed_ns = _changed_ns(entry)
                if changed_ns is None:
                    continue
                seen += 1
                if seen > SCAN_FILES:
                    return
                yield entry.path, changed_ns


class ArtifactFinder:
    """Looks at a session's folder at the end of each turn that did something, and writes what it finds."""

    def __init__(self, pen: Pen, root: str, preview_url: Callable[[str, Artifact], str | None], clock: Callable[[], int]) -> None:
        self._pen = pen
        self._root = root
        self._preview_url = preview_url
        self._clock = clock
        self._index = DiskIndex(root)
        self._learned: asyncio.Task[None] | None = None
        self._since_ns: int | None = None
        self._acted = False

    def learn(self) -> None:
        """Begin to take what is there as known; done once, while the agent starts."""
        if self._learned is None:
            self._learned = asyncio.create_task(asyncio.to_thread(self._index.scan))

    def turn_started(self) -> None:
        """What changes from now on is the agent's. (A turn that failed was not looked at: what it made counts with the next.)"""
        self.learn()
        if self._since_ns is None:
            self._since_ns = _disk_now_ns()
        self._acted = False

    def acted(self) -> None:
        """The agent asked for something that can change files without a tool call to show for it."""
        self._acted = True

    def made_by_somebody_else(self, path: str) -> None:
        """A file that a person put there is not the agent's."""
        self._index.know(path)

    async def look(self) -> None:
        """Write an entry for each result that is new or changed. A turn in which the agent only talked made none."""
        fold = self._pen.fold
        since_ns, self._since_ns = self._since_ns, None
        if self._learned is None or not (fold.calls or self._acted):
            return
        await self._learned
        found = await asyncio.to_thread(self._index.news, since_ns or 0, dict(fold.artifacts))
        interpret = self._pen.at()
        for look in found:
            artifact = self._artifact(look)
            interpret.artifact(artifact, self._preview_url(fold.session_id, artifact) if static_root(artifact) else None)

    def _artifact(self, look: Found) -> Artifact:
        fold = self._pen.fold
        known = fold.artifacts.get(look.path)
        now = iso_ms(self._clock())
        return Artifact(
            id=known.id if known else artifact_id(fold.session_id, look.path), type=look.type, name=os.path.basename(look.path),
            path=look.path, relative_path=os.path.relpath(look.path, self._root), version=known.version + 1 if known else 1,
            created_at=known.created_at if known else now, updated_at=now, fingerprint=look.fingerprint,
        )


def _disk_now_ns() -> int:
    """The time as file systems stamp it: their clock ticks every few milliseconds, and must not be behind ours."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_REALTIME_COARSE", time.CLOCK_REALTIME))


def artifact_id(session_id: str, path: str) -> str:
    """The same path in the same session is the same artifact, also after a restart."""
    return "art_" + hashlib.sha256(f"{session_id}\0{path}".encode()).hexdigest()[:16]


def static_root(artifact: Artifact) -> str | None:
    """The folder or file that can be shown as it is; None for an app without static output (the hub never starts an app)."""
    if artifact.type in ("file", "image"):
        return artifact.path
    for folder in STATIC_OUTPUTS:
        candidate = os.path.join(artifact.path, folder)
        if os.path.isfile(os.path.join(candidate, "index.html")):
            return os.path.normpath(candidate)
    return None


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            # A name that is no text can be shown nowhere, and written into no JSON.
            return [entry for entry in entries if entry.name.isascii() or _is_text(entry.name)]
    except OSError:
        # A folder that vanished or may not be read holds no results of ours.
        return []


class _Apps:
    """Which app folder a file lies in, asked of the disk once per folder."""

    def __init__(self, root: str, before: dict[str, int]) -> None:
        self._root = root
        self._before = before
        self._is_app: dict[str, bool] = {}
        self._is_new: dict[str, bool] = {}

    def new_app_of(self, path: str, artifacts: dict[str, Artifact]) -> str | None:
        """The outermost app below the root that the file lies in, unless that app was there before the agent came."""
        folder = self._root
        for part in Path(path).relative_to(self._root).parts[:-1]:
            folder = os.path.join(folder, part)
            if self._is_app.setdefault(folder, _app_type(folder) is not None):
                return folder if folder in artifacts or self._new(folder) else None
        return None

    def _new(self, folder: str) -> bool:
        if folder not in self._is_new:
            prefix = folder + os.sep
            self._is_new[folder] = not any(path.startswith(prefix) for path in self._before)
        return self._is_new[folder]


def _artifact_over(path: str, root: str, artifacts: dict[str, Artifact]) -> dict[str, bool]:
    """The artifact that a changed file is or lies in, and whether that is an app."""
    while path != root and len(path) > len(root):
        if path in artifacts:
            return {path: artifacts[path].type in APPS}
        path = os.path.dirname(path)
    return {}


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _changed_ns(entry: os.DirEntry[str]) -> int | None:
    """When a plain file last changed; None for anything else, and for a file that is gone already."""
    try:
        return entry.stat(follow_symlinks=False).st_ctime_ns if entry.is_file(follow_symlinks=False) else None
    except OSError:
        return None


def _app_type(folder: str) -> str | None:
    manifest = os.path.join(folder, "package.json")
    if os.path.isfile(manifest) and _depends_on_next(manifest):
        return "nextjs_app"
    if os.path.isfile(os.path.join(folder, "index.html")):
        return "web_app"
    return None


def _depends_on_next(manifest: str) -> bool:
    try:
        declared = json.loads(Path(manifest).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    groups = (declared.get(key) for key in ("dependencies", "devDependencies")) if isinstance(declared, dict) else ()
    return any(isinstance(group, dict) and "next" in group for group in groups)


def _found(path: str, is_app: bool) -> Found:
    if is_app:
        return Found(_app_type(path) or "web_app", path, _folder_fingerprint(path))
    kind = "image" if Path(path).suffix.lower() in IMAGES else "file"
    return Found(kind, path, _file_fingerprint(path))


def _file_fingerprint(path: str) -> str:
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            if found.st_size > HASHED_BYTES:
                return f"{found.st_size}-{found.st_mtime_ns}"
            return hashlib.file_digest(file, "sha256").hexdigest()[:32]
    except OSError:
        return ""


def _folder_fingerprint(folder: str) -> str:
    digest = hashlib.sha256()
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(files):
            path = os.path.join(where, name)
            try:
                stat = os.stat(path, follow_symlinks=False)
            except OSError:
                continue
            digest.update(f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode(errors="surrogateescape"))
    return digest.hexdigest()[:32]
