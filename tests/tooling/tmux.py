"""A real terminal for real programs: one pane of a tmux server of its own, read and typed into as a person would.

Rule: the server, and all that runs in it, is gone when the test is over.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.tooling.processes import eventually

PASTE_S = 0.5
"""What comes sooner behind a text than this is taken for a part of it by several programs."""


SEES_S = 60.0
START_S = 180.0
"""How long a program may take to show something, and to start, on a machine that is busy."""


class Terminal:
    """A program in a pane; a context manager."""

    def __init__(self, folder: Path, words: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        if shutil.which("tmux") is None:
            pytest.skip("no tmux is on this machine")
        self._socket = folder / "tmux.sock"
        self.env = dict(env)
        self._start = ["new-session", "-d", "-x", "160", "-y", "50", "-c", str(cwd), shlex.join(words)]

    def __enter__(self) -> Self:
        self._tmux("-f", "/dev/null", *self._start)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close it: its program is hung up on."""
        self._tmux("kill-server", check=False)

    @property
    def screen(self) -> str:
        """What a person sees."""
        return self._tmux("capture-pane", "-p", check=False)

    def sees(self, words: str, wait_s: float = SEES_S) -> None:
        """Wait until these words are on the screen."""
        try:
            eventually(lambda: words in self.screen, f"{words!r} is on the screen", wait_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.screen}") from None

    def unsees(self, words: str, wait_s: float = SEES_S) -> None:
        """Wait until these words are gone."""
        try:
            eventually(lambda: words not in self.screen, f"{words!r} is gone from the screen", wait_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.screen}") from None

    def key(self, name: str) -> None:
        """Press one key."""
        self._tmux("send-keys", name)

    def type(self, text: str) -> None:
        """Type a line."""
        self._tmux("send-keys", "-l", text)
        time.sleep(PASTE_S)  # the program's own clock: it tells a line from a paste by it
        self._tmux("send-keys", "Enter")

    def _tmux(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(["tmux", "-S", str(self._socket), *words], env=self.env, capture_output=True, text=True,
                              timeout=20, check=False)
        assert not check or done.returncode == 0, f"tmux {words[0]}: {done.stderr}"
        return done.stdout
