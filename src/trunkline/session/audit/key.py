"""The key of the approval chains: 32 random bytes in a file of their own, outside the database.

Rule 1: it is made once and never changed by us: with another key every chain would look broken.
Rule 2: it is the owner's alone (0600). A file that is too short, or that others may write, is an error, no reason for a new key.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from trunkline.errors import NotFound, StorageError

AUDIT_KEY_FILE = "audit.key"
KEY_BYTES = 32


def audit_key(path: Path) -> bytes:
    """The key in this file, made now where there is none."""
    try:
        return read_audit_key(path)
    except NotFound:
        _make(path)
    return read_audit_key(path)


def read_audit_key(path: Path) -> bytes:
    """The key in this file; NotFound where there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise NotFound(f"there is no key {path}") from None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid not in (os.geteuid(), 0) or found.st_mode & 0o022:
            raise StorageError(f"{path} is no private file of ours, so the key in it cannot be trusted")
        if found.st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
        return _decoded(path, os.read(descriptor, 4 * KEY_BYTES).strip())
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    finally:
        os.close(descriptor)


def _decoded(path: Path, text: bytes) -> bytes:
    try:
        key = bytes.fromhex(text.decode("ascii"))
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise StorageError(f"{path} is not a key of {KEY_BYTES} bytes; put the right one back, the approvals are sealed with it")
    return key


def _make(path: Path) -> None:
    """Write the key beside its place and link it there: of two hubs that start at once one wins, and nobody sees half a key."""
    half = path.with_name(f".{path.name}.{os.urandom(8).hex()}.part")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(os.urandom(KEY_BYTES).hex().encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):  # another process was first, and its key is as good
                os.link(half, path)
        finally:
            half.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"cannot make the key {path}: {error.strerror}") from error
