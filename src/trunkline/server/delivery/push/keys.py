"""The hub's own key pair for Web Push: made once, kept in ``push.key``, which only its owner may read.

Rule: browsers bind a subscription to this key. A key that is lost or replaced ends every subscription, so a file that cannot be
read is an error and never a reason to make another.
"""

from __future__ import annotations

from pathlib import Path

from trunkline.disk.own_file import read_own
from trunkline.disk.private_file import write_private
from trunkline.errors import StorageError
from trunkline.server.delivery.push.crypt import b64, new_private_key, public_point, unb64

KEY_FILE = "push.key"
KEY_BYTES = 32


class PushKey:
    """The private key and what others may know of it."""

    def __init__(self, private: bytes) -> None:
        self.private = private
        self.public = b64(public_point(private))

    def __repr__(self) -> str:
        return f"PushKey({self.public[:8]}…)"


def push_key(folder: Path) -> PushKey:
    """The hub's key; it is made where there is none."""
    path = folder / KEY_FILE
    try:
        if path.exists():
            path.chmod(0o600)
            return PushKey(_read(path))
        private = new_private_key()
        write_private(path, b64(private).encode() + b"\n")
        return PushKey(private)
    except OSError as error:
        raise StorageError(f"cannot keep the key for pushes in {path}: {error.strerror}") from error


def _read(path: Path) -> bytes:
    try:
        private = unb64(read_own(path).decode("ascii").strip())
        if len(private) != KEY_BYTES:
            raise ValueError(f"expected {KEY_BYTES} bytes")
        public_point(private)
    except ValueError as error:  # UnicodeDecodeError is one
        raise StorageError(f"{path} is no key ({error}); put the right one back, or delete it: then devices have to subscribe "
                           "again") from None
    return private
