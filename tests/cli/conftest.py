"""A place for hubs that commands start, and the promise that none of them outlives its test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, suppress
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import CliRunner

from trunkline.cli.commands.stop import end
from trunkline.cli.hosting.datadir import DataDir
from trunkline.cli.main import main
from trunkline.cli.read_settings import load
from trunkline.settings import Settings

COMMAND_S = 60


class Place:
    """A data folder, a working folder, and ``trunkline`` run against them."""

    def __init__(self, root: Path) -> None:
        self.data = DataDir(root / "data")
        self.work = root / "work"
        self.work.mkdir()
        self._children: list[subprocess.Popen[bytes]] = []

    def settings(self) -> Settings:
        """The settings of a command run here."""
        return load({"data": str(self.data.path)})

    def command(self, *words: str) -> list[str]:
        """A command line."""
        return [sys.executable, "-P", "-m", "trunkline", *words, "--data", str(self.data.path)]

    def call(self, *words: str, env: Mapping[str, str] | None = None, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a command to its end."""
        return subprocess.run(self.command(*words), cwd=self.work, env={**os.environ, **(env or {})}, input=stdin,
                              capture_output=True, timeout=COMMAND_S, check=False)

    def call_here(self, *words: str, env: Mapping[str, str] | None = None, stdin: bytes = b"", data_first: bool = False
                  ) -> subprocess.CompletedProcess[bytes]:
        """As ``call``, but in this process: for tests of what a command says, not of how a process begins and ends.
        ``data_first``: where what stands last is another program's."""
        data = ["--data", str(self.data.path)]
        command = [words[0], *data, *words[1:]] if data_first else [*words, *data]
        with (chdir(self.work), CliRunner().isolation(stdin, env) as (out, err, _), patch("sys.argv", ["trunkline", *command]),
              patch("trunkline.cli.main.leave_on_interrupt")):
            with pytest.raises(SystemExit) as ended:
                main()
            sys.stdout.flush()
            sys.stderr.flush()
            return subprocess.CompletedProcess(command, int(ended.value.code or 0), out.getvalue(), err.getvalue())

    def start(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a command; it ends with the test at the latest."""
        child = subprocess.Popen(self.command(*words), cwd=self.work, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.watch(child)
        return child

    def watch(self, child: subprocess.Popen[bytes]) -> None:
        """A process that must not outlive the test."""
        self._children.append(child)

    def serve(self, *words: str, env: Mapping[str, str] | None = None) -> tuple[subprocess.Popen[bytes], str]:
        """Start a hub and wait until it listens; returns its process and address."""
        child = self.start("serve", "--no-open", "--port", "0", *words, env=env)
        assert child.stdout is not None
        line = child.stdout.readline().decode()
        if not line.startswith("trunkline is listening on "):
            raise AssertionError(f"no hub: {line!r} {child.communicate(timeout=COMMAND_S)[1].decode()}")
        return child, line.removeprefix("trunkline is listening on ").strip()

    def clear(self) -> None:
        """End whatever is left."""
        for child in self._children:
            if child.poll() is None:
                child.kill()
            child.communicate(timeout=COMMAND_S)
        pid = self.data.holder()
        if pid:
            with suppress(ProcessLookupError):  # it was just ending by itself
                os.kill(pid, signal.SIGCONT)
            end(self.data, pid)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Where a test's hub lives."""
    made = Place(tmp_path)
    yield made
    made.clear()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A place whose hub already runs, for the tests of one module that only need some hub."""
    with serving(tmp_path_factory.mktemp("shared")) as made:
        yield made


@contextmanager
def serving(root: Path, *words: str) -> Iterator[Place]:
    """A place whose hub already runs, with these flags."""
    made = Place(root)
    try:
        made.serve(*words)
        yield made
    finally:
        made.clear()
