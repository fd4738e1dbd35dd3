"""The examples of docs/examples/cluster as they would be started, with names and paths that lead to this machine.

Rule 1: a command is taken from the example's own file. Only what cannot be here is replaced: host names, ports, paths.
Rule 2: what was started ends with the test, in the reverse order.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.tooling.nats import PROGRAM, until
from trunkline.agents.keeper.proc import die_with_parent

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "cluster"
COMMAND_S = 60
WITHIN_S = 120.0
"""Each look is a process of its own, on a machine that is busy with others."""
STOP_S = 30.0


class Machine:
    """One machine of an example: a root folder for its paths, a HOME, variables, and what it runs."""

    def __init__(self, root: Path, instead: Mapping[str, str], variables: Mapping[str, str] | None = None) -> None:
        self.root = root
        self.home = root / "home"
        self.home.mkdir(parents=True, exist_ok=True)
        programs = str(PROGRAM.parent)
        self._instead = {"/opt/trunkline/bin": programs, "%h/trunkline/bin": programs, "%h": str(self.home),
                         "/etc/": f"{root}/etc/", "/var/lib/": f"{root}/var/lib/", "/config/": f"{root}/config/",
                         "/data": f"{root}/data", **instead}
        self.variables = dict(variables or {})
        self._running: list[tuple[subprocess.Popen[bytes], Path]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for process, _ in reversed(self._running):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def here(self, text: str) -> str:
        """A text of the example, with names and paths of this machine. The longer one counts: one may begin with another. What is
        one of this machine's paths already stays: it has more before the name."""
        names = "|".join(map(re.escape, sorted(self._instead, key=len, reverse=True)))
        return re.sub(rf"(?<![\w-])(?:{names})", lambda found: self._instead[found[0]], text)

    def place(self, name: str, path: str) -> Path:
        """Put an example's file where the page says."""
        target = Path(self.here(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(self.here((EXAMPLES / name).read_text(encoding="utf-8")))
        return target

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """What its programs see."""
        given = {name: self.here(value) for name, value in {**self.variables, **(more or {})}.items()}
        return {"HOME": str(self.home), "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "LANG": "C.UTF-8", **given}

    def start(self, command: list[str], variables: Mapping[str, str] | None = None) -> Path:
        """Start what an example says; returns its log."""
        log = self.root / f"{len(self._running)}.log"
        words = [self.here(word) for word in command]
        with log.open("wb") as out:
            process = subprocess.Popen(words, env=self.environment(variables), cwd=self.home, stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=subprocess.STDOUT, preexec_fn=partial(die_with_parent, os.getpid()))
        self._running.append((process, log))
        return log

    def call(self, *words: str, variables: Mapping[str, str] | None = None) -> str:
        """Run a command of ``trunkline`` to its end; what it says."""
        done = subprocess.run([sys.executable, "-P", "-m", "trunkline", *map(self.here, words)], env=self.environment(variables),
                              cwd=self.home, capture_output=True, text=True, timeout=COMMAND_S, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}\n{self.logs()}"
        return done.stdout

    def call_json(self, *words: str, variables: Mapping[str, str] | None = None) -> Any:
        return json.loads(self.call(*words, variables=variables))

    def wait_for(self, log: Path, text: str) -> None:
        """Until a program has said something; it must go on meanwhile."""

        def is_said() -> bool:
            assert all(process.poll() is None for process, _ in self._running), self.logs()
            return text in log.read_text()

        until(is_said, f"{text!r} is not in {log}: {self.logs()}")

    def wait_told(self, wanted: object, *words: str, read: Callable[[Any], object], variables: Mapping[str, str] | None = None
                  ) -> None:
        """Until a command's JSON, as ``read`` reads it, is what is wanted."""
        end = time.monotonic() + WITHIN_S
        while (found := read(self.call_json(*words, variables=variables))) != wanted:
            assert time.monotonic() < end, f"{found!r} is not {wanted!r}: {self.logs()}"

    def logs(self) -> str:
        """The ends of all logs, for a failure."""
        return "\n".join(f"{path.name}: {path.read_text()[-1500:]}" for _, path in self._running)


def exec_start(unit: str) -> list[str]:
    """The command line of a unit."""
    lines = (EXAMPLES / unit).read_text(encoding="utf-8").splitlines()
    (found,) = [line.removeprefix("ExecStart=") for line in lines if line.startswith("ExecStart=")]
    return shlex.split(found)
