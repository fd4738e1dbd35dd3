"""A program that tries to learn a hub's token from outside, as any program of the same user could: says as JSON what it got.

    prying.py PID SECRET_FILE

It only reads. ``got`` names the ways that were open, ``found`` those that led to the secret. Stdlib only; runs on its own.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Callable

PTRACE_SEIZE = 0x4206
PTRACE_DETACH = 17
PIDFD_GETFD = 438
LARGEST_MAP = 64 << 20


def environ(pid: int) -> bytes:
    """The variables that it was started with."""
    with open(f"/proc/{pid}/environ", "rb") as file:
        return file.read()


def cmdline(pid: int) -> bytes:
    """Its command line, which everybody may read."""
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read()


def memory(pid: int) -> bytes:
    """All of its memory that can be written, which is where a secret would be."""
    found = bytearray()
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as mem:
        for line in maps:
            span, rights, *_ = line.split()
            start, end = (int(part, 16) for part in span.split("-"))
            if rights.startswith("rw") and end - start <= LARGEST_MAP:
                mem.seek(start)
                found += mem.read(end - start)
    return bytes(found)


def descriptors(pid: int) -> bytes:
    """What its open files are."""
    folder = f"/proc/{pid}/fd"
    return "\n".join(os.readlink(f"{folder}/{name}") for name in os.listdir(folder)).encode()


def attach(pid: int) -> bytes:
    """The place of a debugger."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(PTRACE_SEIZE, pid, None, None) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    return b""


def copy_descriptor(pid: int) -> bytes:
    """One of its descriptors as our own."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = os.pidfd_open(pid)
    try:
        copied = libc.syscall(PIDFD_GETFD, handle, 0, 0)
        if copied < 0:
            raise OSError(ctypes.get_errno(), "pidfd_getfd")
        os.close(copied)
    finally:
        os.close(handle)
    return b""


WAYS: tuple[Callable[[int], bytes], ...] = (environ, cmdline, memory, descriptors, attach, copy_descriptor)


def main(pid: int, secret: bytes) -> None:
    """Try every way."""
    got, found = [], []
    for way in WAYS:
        try:
            text = way(pid)
        except OSError:
            continue
        got.append(way.__name__)
        if secret in text:
            found.append(way.__name__)
    print(json.dumps({"got": got, "found": found}))


if __name__ == "__main__":
    with open(sys.argv[2], "rb") as file:
        main(int(sys.argv[1]), file.read().strip())
