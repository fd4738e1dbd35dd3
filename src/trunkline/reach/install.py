"""Hooks put into a program's own settings, and taken out again: by the person's word, for this user, in one step.

Rule 1: nothing is written that was not shown before: a change is planned, shown as a diff, and written as it was shown, or not
at all where somebody else was at the file meanwhile.
Rule 2: user level only. A link is followed, the file's mode stays, and nobody reads half a file.
Rule 3: what is taken out leaves the file byte for byte as it was, where nobody changed it since; else exactly our entries go.
Rule 4: the command stays the same from one version to the next, as long as the program and the data folder are where they were.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from trunkline import decoders
from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.dialects.elsewhere.hooks import HookDialect, HookKind, InPlugin, hook_dialect
from trunkline.dialects.elsewhere.plugins import PluginDialect, plugin_dialect
from trunkline.dialects.outside import BROKEN
from trunkline.disk.own_file import read_own
from trunkline.disk.private_file import write_private
from trunkline.disk.reading import read_beginning
from trunkline.errors import Conflict, Invalid, StorageError, Unsupported
from trunkline.reach import trunkline_hook
from trunkline.reach.shapes import HookCommands, NamedPlugin, Shape, State
from trunkline.reach.socket import SOCKET_FILE

RECORDS: Final = "hooks"
"""The folder, in the data folder, with what was in each file before."""
FILE_MOST: Final = 4 << 20


class Record(msgspec.Struct, kw_only=True):
    """What was done to a file."""

    path: str
    before: bytes | None
    """What was in it; None where it was not there."""
    after: str
    """The digest of what was written."""
    made: list[str]
    """Lists that came with our entries."""
    made_folder: bool = False
    """Whether the file's folder came with it."""


class Change(NamedTuple):
    """A file as it is and as it is to be; ``after`` None: it goes."""

    path: str
    real: str
    before: bytes | None
    after: bytes | None
    beside: tuple[Change, ...] = ()
    """Further files that change with it."""

    @property
    def diff(self) -> str:
        """What changes, for people."""
        return "".join(each._own_diff() for each in (*self.beside, self))

    def _own_diff(self) -> str:
        old, new = (_lines(text) for text in (self.before, self.after))
        was, will = (self.path if text is not None else "/dev/null" for text in (self.before, self.after))
        return "".join(difflib.unified_diff(old, new, was, will))


class Hooks:
    """The hooks of one agent on this machine."""

    def __init__(self, spec: AgentSpec, data: Path, environ: Mapping[str, str]) -> None:
        hooks, plugin = hook_dialect(spec.hooks), plugin_dialect(spec.hooks)
        self._plugin: InPlugin | None = hooks if isinstance(hooks, InPlugin) else None
        folder = catalog.expand(self._plugin.folder if self._plugin is not None else spec.paths.config, environ)
        dialect = hooks or plugin
        if dialect is None or folder is None:
            raise Unsupported(f"{spec.display_name} has no hooks that Trunkline knows")
        self.spec = spec
        self.path = os.path.join(folder, dialect.settings)
        self.is_program = hooks is not None
        """Whether a program of ours is started for each call; a plugin runs in the agent's own."""
        self.reloads = hooks is not None and hooks.reloads
        """Whether sessions that run already take it up."""
        self.waits_for_away = hooks is not None and not hooks.races and hooks.limit_s > 0
        """Whether the hub is asked only while the person is away."""
        self._folder = folder
        self._variable = hooks.variable if hooks is not None else ""
        self._data = data
        self._record_path = data / RECORDS / f"{spec.name}.json"
        self._shape = self._shape_of(hooks, plugin)

    @property
    def command(self) -> tuple[str, ...]:
        """What its program runs, without the words behind."""
        return getattr(sys, "_base_executable", None) or sys.executable, "-I", "-S", trunkline_hook.__file__

    def words(self, kind: HookKind | Literal["ping"]) -> list[str]:
        """The whole command, for one kind of call."""
        return [*self.command, self.spec.name, kind, self._socket, *([self._variable] if self._variable else [])]

    def installing(self) -> Change:
        """What installing changes; nothing, where it is installed."""
        real, before = self._read()
        after = before if self._state(before) == "installed" else self._shape.put(self._clean(before)).encode()
        return Change(self.path, real, before, after, self._beside(there=True))

    def removing(self) -> Change:
        """What removing changes; nothing, where nothing is installed."""
        real, before = self._read()
        record = self._record()
        beside = self._beside(there=False)
        if record is not None and before is not None and record.path == real and digest(before) == record.after:
            return Change(self.path, real, before, record.before, beside)
        made = record.made if record is not None and record.path == real else None
        after = self._shape.cut(_text(before), made).encode() if self._state(before) != "absent" else before
        return Change(self.path, real, before, after, beside)

    def _beside(self, *, there: bool) -> tuple[Change, ...]:
        """The plugin's other files, as far as they change: put there, or taken away where they are still ours."""
        changes = []
        files: Mapping[str, str] = self._plugin.files if self._plugin is not None else {}
        for name, text in files.items():
            path = os.path.join(self._folder, name)
            real = os.path.realpath(path)
            before, ours = _content(real), text.encode()
            if there and before != ours:
                changes.append(Change(path, real, before, ours))
            elif not there and before == ours:
                changes.append(Change(path, real, before, None))
        return tuple(changes)

    def install(self, change: Change) -> None:
        """Write it, as it was shown."""
        assert change.after is not None
        record = self._record()
        if record is None or record.path != change.real or change.before is None or digest(change.before) != record.after:
            clean = self._clean(change.before)
            before = change.before if clean == _text(change.before) else clean.encode()
            record = Record(path=change.real, before=before, after="", made=self._shape.missing(clean),
                            made_folder=not os.path.exists(os.path.dirname(change.real)))
        record.after = digest(change.after)
        try:
            self._record_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(self._record_path, msgspec.json.encode(record))
        except OSError as error:
            raise StorageError(f"cannot write {self._record_path}: {error.strerror}") from error
        _write_all(change)

    def remove(self, change: Change) -> None:
        """Write it, as it was shown. Folders that came with it go with it, where nothing else is in them."""
        record = self._record()
        _write_all(change)
        self._record_path.unlink(missing_ok=True)
        for folder in self._made_folders(record, change):
            with suppress(OSError):  # somebody put something else there
                os.rmdir(folder)

    def _made_folders(self, record: Record | None, change: Change) -> list[str]:
        if self._plugin is not None:
            return [os.path.dirname(self.path), self._folder]
        is_made = record is not None and record.made_folder and change.after is None
        return [os.path.dirname(change.real)] if is_made else []

    def state(self) -> State:
        """Whether our entries are in the file, and the hub knows of them: it answers no others."""
        state = self._state(self._read()[1])
        return "partly" if state == "installed" and not is_installed(self._data, self.spec.name) else state

    @property
    def _socket(self) -> str:
        return str(self._data / SOCKET_FILE)

    def _shape_of(self, hooks: HookDialect | None, plugin: PluginDialect | None) -> Shape:
        if hooks is not None:
            return HookCommands(hooks, self.words)
        assert plugin is not None
        return NamedPlugin(plugin, {"agent": self.spec.name, "socket": self._socket})

    def _state(self, before: bytes | None) -> State:
        return self._shape.state(_text(before)) if before else "absent"

    def _clean(self, before: bytes | None) -> str:
        """What is there of others."""
        return self._shape.cut(_text(before)) if self._state(before) != "absent" else _text(before)

    def _read(self) -> tuple[str, bytes | None]:
        real = os.path.realpath(self.path)
        return real, _content(real)

    def _record(self) -> Record | None:
        try:
            return decoders.decode(read_own(self._record_path), Record)
        except (OSError, *BROKEN):
            return None


def is_installed(data: Path, agent: str) -> bool:
    """Whether the person had hooks of this agent installed for this hub, and not taken out since."""
    return (data / RECORDS / f"{agent}.json").exists()


def digest(content: bytes) -> str:
    """By which a file is known again."""
    return hashlib.sha256(content).hexdigest()


def _content(path: str) -> bytes | None:
    try:
        content = read_beginning(path, FILE_MOST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Invalid(f"cannot read {path}: {error.strerror}") from error
    if len(content) > FILE_MOST:
        raise Invalid(f"{path} is longer than {FILE_MOST >> 20} MiB: it is left as it is")
    return content


def _text(content: bytes | None) -> str:
    try:
        return (content or b"").decode()
    except UnicodeDecodeError as error:
        raise Invalid(f"the settings are no UTF-8 text: {error.reason}") from None


def _lines(content: bytes | None) -> list[str]:
    lines = (content or b"").decode("utf-8", "replace").splitlines(keepends=True)
    return [line if line.endswith("\n") else f"{line}\n" for line in lines]


def _write_all(change: Change) -> None:
    for each in (*change.beside, change):
        if each.after != each.before:
            _write(each)


def _write(change: Change) -> None:
    """Put the file in place in one step, with the mode that it had."""
    if _content(change.real) != change.before:
        raise Conflict(f"{change.path} was changed by somebody else meanwhile; nothing was written")
    try:
        if change.after is None:
            os.unlink(change.real)
            return
        _replace(change.real, change.after)
    except OSError as error:
        raise StorageError(f"cannot write {change.path}: {error.strerror}") from error


def _replace(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    half = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{secrets.token_hex(6)}.part")
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            if os.path.exists(path):
                os.fchmod(file.fileno(), os.stat(path).st_mode & 0o7777)
            file.flush()
            os.fsync(file.fileno())
        os.replace(half, path)
    except BaseException:
        os.unlink(half)
        raise
