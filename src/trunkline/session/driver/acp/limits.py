"""How much an agent may have the hub do at once (files, terminals): so many requests, which carry so many bytes together.

Rule: a request is looked at by its size before it is read. What is beyond a bound is answered with an error at once; what is
within counts until it is answered, for its line is kept until then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from trunkline.dialects.acp.methods import FS_WRITE_TEXT_FILE
from trunkline.errors import Invalid

SERVED_AT_ONCE: Final = 256
"""What an agent may have the hub do at once; no agent was seen to have more than a dozen."""

SERVED_BYTES: Final = 64 << 20
"""What all of that may carry together: one longest line, or many files of a usual size."""

REQUEST_BYTES: Final = 1 << 20
"""What one request may carry that brings no file's text: a command with its words and variables is the longest."""

PATH_BYTES: Final = 4096
"""Bytes of a path: Linux takes no longer one (PATH_MAX)."""

COMMAND_BYTES: Final = 128 << 10
"""A command with its words and variables. Linux takes no longer word (MAX_ARG_STRLEN), and people and rules look at all of it."""


class Served:
    """What is being done for one agent."""

    def __init__(self) -> None:
        self._count = 0
        self._bytes = 0

    def refusal(self, method: str, size: int) -> str | None:
        """Why a request with params of that size is not served now; None where it is."""
        if method != FS_WRITE_TEXT_FILE and size > REQUEST_BYTES:
            return f"{method} takes at most {REQUEST_BYTES >> 20} MiB of params, and these have {size} bytes"
        if self._count >= SERVED_AT_ONCE:
            return f"{SERVED_AT_ONCE} requests wait for their end already"
        if self._bytes + size > SERVED_BYTES:
            return f"the requests that wait for their end would carry more than {SERVED_BYTES >> 20} MiB together"
        return None

    def begin(self, size: int) -> None:
        """A request is being served."""
        self._count += 1
        self._bytes += size

    def end(self, size: int) -> None:
        """It was answered, or nobody waits for it any more."""
        self._count -= 1
        self._bytes -= size


def check_path(path: str) -> None:
    """Raise Invalid for a path that no file can have."""
    if len(path) > PATH_BYTES or len(path.encode("utf-8", "surrogatepass")) > PATH_BYTES:
        raise Invalid(f"a path has at most {PATH_BYTES} bytes")


def check_command(command: str, args: Sequence[str], env: Mapping[str, str]) -> None:
    """Raise Invalid for a command that is more than can be looked at."""
    size = len(command) + sum(map(len, args)) + sum(len(name) + len(value) for name, value in env.items())
    if size > COMMAND_BYTES:
        raise Invalid(f"a command has at most {COMMAND_BYTES >> 10} KiB with its words and variables, and this one {size} bytes")
