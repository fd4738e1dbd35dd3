"""The agents that a person added: one file each in the folder ``catalog`` of the data folder, with the keys of ``entry``.

Rule 1: the folder is the hub's own: closed to others, and to agents, as everything in the data folder is. What an agent could
write here would be run by the hub, outside of every sandbox.
Rule 2: it is looked at each time, so that a running hub knows of an agent as soon as it was added. A file is read again when it
changed.
Rule 3: a file that is bad costs only its own agent; ``problems`` says what is wrong with it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from trunkline.agents.catalog import AgentSpec, spec_from_table, spec_from_text
from trunkline.dialects.toml_text import toml_key, toml_value
from trunkline.disk.private_file import read_private, replace_private
from trunkline.errors import Invalid, NotFound, StorageError, TrunklineError

FOLDER: Final = "catalog"
"""Its name in the data folder. (``agents`` has the processes of the agents that run.)"""

ENTRY_BYTES: Final = 1 << 18
"""The longest entry we ship has 3 KiB."""

OWN_MOST: Final = 1000
"""Files that are looked at: the whole public registry has a few dozen agents."""

SETTLED_NS: Final = 100_000_000
"""A file that changed this short a time before it was read may change again without a new time stamp."""

Stamp = tuple[int, int, int, int]


class _Read(NamedTuple):
    """What a file said when it was read."""

    stamp: Stamp
    settled: bool
    spec: AgentSpec | None
    problem: str


class OwnFolder:
    """The agents of one data folder. ``None``: of a hub that keeps no files."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._known: dict[str, _Read] = {}

    def specs(self) -> Mapping[str, AgentSpec]:
        """Those that can be read now, by name."""
        return {name: read.spec for name, read in self._look().items() if read.spec is not None}

    def problems(self) -> Mapping[str, str]:
        """What is wrong with the others, by name; StorageError where the folder cannot be looked into."""
        if self.folder is not None:
            _check_folder(self.folder)
        return {name: read.problem for name, read in self._look().items() if read.problem}

    def file(self, name: str) -> Path:
        """Where the entry of that name is, or would be."""
        if self.folder is None:
            raise Invalid("this hub keeps no files")
        return self.folder / f"{name}.toml"

    def has(self, name: str) -> bool:
        """Whether there is an entry of that name, good or bad."""
        return self.folder is not None and os.path.lexists(self.file(name))

    def add(self, name: str, table: Mapping[str, Any]) -> AgentSpec:
        """Write an entry; Invalid where it could not be used. One of the same name is replaced."""
        spec = spec_from_table(name, table, source=name)
        file, text = self.file(name), entry_text(table)
        _check_length(file, text)
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"cannot make {file.parent}: {error.strerror}") from error
        replace_private(file, text.encode())
        return spec

    def remove(self, name: str) -> None:
        """Take an entry away; NotFound where there is none."""
        try:
            self.file(name).unlink()
        except FileNotFoundError:
            raise NotFound(f"no agent {name!r} was added here", details={"agent": name}) from None
        except OSError as error:
            raise StorageError(f"cannot remove {self.file(name)}: {error.strerror}") from error

    def _look(self) -> Mapping[str, _Read]:
        known = {}
        for file in _files(self.folder):
            before = self._known.get(file.stem)
            stamp = _stamp(file)
            if stamp is not None:
                is_known = before is not None and before.settled and before.stamp == stamp
                known[file.stem] = before if is_known and before is not None else _read(file, stamp)
        self._known = known
        return known


def entry_text(table: Mapping[str, Any]) -> str:
    """An entry as the text of a file, as tomllib reads it: values first, tables behind them."""
    plain = [f"{toml_key(key)} = {toml_value(value)}" for key, value in table.items() if not isinstance(value, Mapping)]
    tables = [f"\n[{toml_key(key)}]\n" + "\n".join(f"{toml_key(name)} = {toml_value(each)}" for name, each in value.items())
              for key, value in table.items() if isinstance(value, Mapping)]
    return "\n".join([*plain, *tables]) + "\n"


def _files(folder: Path | None) -> Iterator[Path]:
    try:
        names = sorted(os.listdir(folder)) if folder is not None else []
    except OSError:  # none was ever added; what else may be is told by ``problems``
        return
    for name in names[:OWN_MOST]:
        if name.endswith(".toml") and not name.startswith("."):
            assert folder is not None
            yield folder / name


def _check_folder(folder: Path) -> None:
    try:
        os.listdir(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"cannot read {folder}: {error.strerror}") from error


def _check_length(file: Path, text: str) -> None:
    if len(text.encode()) > ENTRY_BYTES:
        raise Invalid(f"{file} is longer than {ENTRY_BYTES} bytes")


def _stamp(file: Path) -> Stamp | None:
    try:
        found = file.stat()
    except OSError:  # gone meanwhile, or a link to nothing
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _read(file: Path, stamp: Stamp) -> _Read:
    settled = max(stamp[:2]) < time.time_ns() - SETTLED_NS
    try:
        text = read_private(file, ENTRY_BYTES + 1, close=False) or ""
        _check_length(file, text)
        return _Read(stamp, settled, spec_from_text(file.stem, text, source=str(file)), "")
    except TrunklineError as error:
        return _Read(stamp, settled, None, error.message)
