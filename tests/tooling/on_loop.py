"""Tells which calls to the system that may wait for a disk or a name are made on a thread that runs an event loop.

Opening, listing, making, renaming, removing, starting programs and looking up names are heard by an audit hook; looks (``stat``
and its kin) have none, so the functions themselves are listened at while it lasts.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import trunkline

EVENTS = frozenset({"open", "os.scandir", "os.listdir", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.link",
                    "os.symlink", "os.truncate", "os.utime", "subprocess.Popen", "socket.getaddrinfo", "shutil.copyfile"})
LOOKS = ("stat", "lstat", "readlink", "access", "statvfs")
OURS = os.path.dirname(trunkline.__file__) + os.sep

_heard: list[list[str]] = []
"""Who listens: lists that are added to."""


@contextmanager
def calls_on_loop() -> Iterator[list[str]]:
    """While it lasts, each such call from our sources on a loop's thread is added: what, of which path, from where."""
    _hook()
    found: list[str] = []
    looks = {name: getattr(os, name) for name in LOOKS}
    for name, look in looks.items():
        setattr(os, name, _told(name, look))
    _heard.append(found)
    try:
        yield found
    finally:
        _heard.remove(found)
        for name, look in looks.items():
            setattr(os, name, look)


def _told(name: str, look: Callable[..., Any]) -> Callable[..., Any]:
    def looked(path: Any, *args: Any, **how: Any) -> Any:
        _note(f"os.{name}", path)
        return look(path, *args, **how)

    return looked


def _note(event: str, path: object) -> None:
    if not _heard or isinstance(path, int) or str(path).startswith("/proc/"):
        return
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    where = _where()
    if where:
        for found in _heard:
            found.append(f"{event} {path} {where}")


def _where() -> str:
    """The innermost frame of ours; none where a module is being loaded: what is loaded when has tests of its own."""
    frame: FrameType | None = sys._getframe(2)
    where = ""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib"):
            return ""
        if not where and name.startswith(OURS):
            where = f"{name.removeprefix(OURS)}:{frame.f_lineno} {frame.f_code.co_name}"
        frame = frame.f_back
    return where


_is_hooked = False


def _hook() -> None:
    """A hook stays for as long as the program runs; without a listener it does nothing."""
    global _is_hooked
    if not _is_hooked:
        _is_hooked = True
        sys.addaudithook(lambda event, args: _note(event, args[0] if args else "") if _heard and event in EVENTS else None)
