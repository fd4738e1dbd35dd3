"""A puppet that does to its hub what an agent should not. Runs on its own; more steps than the puppet's:

    ["escape", WAY, TOKEN]   starts what leaves it, in a way of ``escapes``
    ["kill", WHOM]           SIGKILL to its "parent", or to its "grandparent"
    ["stop", WHOM]           SIGSTOP to its "parent", or to "itself"
    ["allocate", MEBIBYTES]  holds that much memory
    ["family", COUNT]        starts that many programs that sleep
    ["share", MEBIBYTES]     holds that much memory that others could share
    ["open", COUNT]          opens that many files; says how that went
    ["trace", FILE, TOKEN]   has itself traced by a program that leaves it; FILE says how that went
    ["spare", TOKEN]         tells the nursery, in its parent's name, to spare who has TOKEN among its words; says how that went

Options: ``--stop-in METHOD FILE``: stops itself when it is asked METHOD, where FILE exists.
"""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.tooling.processes import processes_named
from tests.tooling.puppet import Puppet, options_of


class Escaper(Puppet):
    """Serves one client, badly."""

    held: bytes | mmap.mmap = b""

    def _serve(self, message: dict[str, Any]) -> None:
        method, file = self._options.get("--stop-in", ["", ""])
        if message["method"] == method and os.path.exists(file):
            os.kill(os.getpid(), signal.SIGSTOP)
        super()._serve(message)

    def _step_escape(self, way: str, token: str) -> None:
        program = str(Path(__file__).with_name("escapes.py"))
        subprocess.run([sys.executable, "-I", "-S", program, way, token], env={}, check=True, stdin=subprocess.DEVNULL)

    def _step_kill(self, whom: str) -> None:
        os.kill(_process(whom), signal.SIGKILL)

    def _step_stop(self, whom: str) -> None:
        os.kill(_process(whom), signal.SIGSTOP)

    def _step_allocate(self, mebibytes: int) -> None:
        self.held = (bytes(1) * (mebibytes << 20)).replace(b"\0", b"x")

    def _step_share(self, mebibytes: int) -> None:
        self.held = mmap.mmap(-1, mebibytes << 20)
        for _ in range(mebibytes):
            self.held.write(b"x" * (1 << 20))

    def _step_trace(self, told: str, token: str) -> None:
        program = str(Path(__file__).with_name("tracing.py"))
        subprocess.run([sys.executable, "-I", "-S", program, str(os.getpid()), told, token], env={}, check=True,
                       stdin=subprocess.DEVNULL)

    def _step_spare(self, token: str) -> None:
        keeper, written = Path(f"/proc/{os.getppid()}/fd"), 0
        try:
            for handle in keeper.iterdir():
                if os.readlink(handle).startswith("pipe:"):
                    written += _write_pids(handle, token)
        except OSError as error:
            self._step_say(f"refused: {error.strerror}")
            return
        self._step_say(f"written: {written}")

    def _step_family(self, count: int) -> None:
        for _ in range(count):
            subprocess.Popen(["sleep", "180"], stdin=subprocess.DEVNULL)

    def _step_open(self, count: int) -> None:
        opened: list[int] = []
        try:
            for _ in range(count):
                opened.append(os.open(os.devnull, os.O_RDONLY))
            said = f"opened {count}"
        except OSError as error:
            said = f"refused: {error.strerror}"
        for handle in opened:
            os.close(handle)
        self._step_say(said)


def _write_pids(handle: Path, token: str) -> int:
    """Write who has the token among its arguments into another process's pipe; how many there were."""
    pids = [process.pid for process in processes_named(token)]
    try:
        pipe = os.open(handle, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:  # its reading end, which nobody may write
        return 0
    os.write(pipe, "".join(f"{pid}\n" for pid in pids).encode())
    os.close(pipe)
    return len(pids)


def _process(whom: str) -> int:
    if whom == "itself":
        return os.getpid()
    if whom == "parent":
        return os.getppid()
    stat = Path(f"/proc/{os.getppid()}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])


if __name__ == "__main__":
    Escaper(options_of(sys.argv[1:])).serve()
    os._exit(0)
