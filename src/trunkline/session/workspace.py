"""Files inside a session's roots, and nothing outside them.

Rule 1: every path that comes from an agent or a client passes ``resolve``: absolute after symlinks, inside a root, or Forbidden.
Rule 2: blocking file work is plain functions; callers on the loop run them in a thread.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from trunkline.errors import Forbidden, Invalid, NotFound, TooLarge

READ_LIMIT = 64 << 20
"""The most ``fs/read_text_file`` returns: one JSON-RPC line must be able to carry it."""


class Workspace:
    """The folders a session may touch; the first is its working directory."""

    def __init__(self, roots: Sequence[str]) -> None:
        self.roots = tuple(os.path.realpath(root) for root in roots)

    def resolve(self, path: str) -> Path:
        """The real path, or Forbidden when it leaves the roots (by ``..``, by a symlink, by being elsewhere)."""
        if not path or "\0" in path:
            raise Invalid(f"not a path: {path!r}")
        try:
            real = os.path.realpath(os.path.join(self.roots[0], path))
        except OSError as error:
            raise Invalid(f"not a path: {path!r} ({error.strerror})") from error
        if not any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in self.roots):
            raise Forbidden(f"{path} is outside the session's folders", details={"path": path, "roots": list(self.roots)})
        return Path(real)

    def relative(self, path: Path) -> str:
        """The path as people write it: relative to the working directory where it lies inside."""
        try:
            return path.relative_to(self.roots[0]).as_posix()
        except ValueError:
            return str(path)

    def read_text(self, path: str, *, line: int | None = None, limit: int | None = None) -> str:
        """Text of a file, or ``limit`` lines of it from ``line`` (1-based)."""
        real = self.resolve(path)
        try:
            if real.stat().st_size > READ_LIMIT and limit is None:
                raise TooLarge(f"{path} is larger than {READ_LIMIT} bytes")
            with real.open(encoding="utf-8", errors="replace", newline="") as file:
                if line is None and limit is None:
                    return file.read()
                return _lines(file.readlines(), line, limit)
        except FileNotFoundError as error:
            raise NotFound(f"no such file: {path}", details={"path": path}) from error
        except OSError as error:
            raise Invalid(f"cannot read {path}: {error.strerror}") from error

    def write_text(self, path: str, content: str) -> None:
        """Write a file whole, by a rename, so that a reader never sees half of it."""
        self.write_bytes(path, content.encode("utf-8", errors="surrogatepass"))

    def write_bytes(self, path: str, content: bytes) -> None:
        """Write a file whole, keeping the permissions of the one that it replaces."""
        real = self.resolve(path)
        half = real.with_name(f".{real.name[:200]}.{secrets.token_hex(4)}.part")
        try:
            real.parent.mkdir(parents=True, exist_ok=True)
            mode = real.stat().st_mode & 0o7777 if real.exists() else None
            half.write_bytes(content)
            if mode is not None:
                half.chmod(mode)
            half.replace(real)
        except OSError as error:
            half.unlink(missing_ok=True)
            raise Invalid(f"cannot write {path}: {error.strerror}") from error


def _lines(lines: list[str], line: int | None, limit: int | None) -> str:
    first = max((line or 1) - 1, 0)
    last = None if limit is None else first + limit
    return "".join(lines[first:last])
