"""A node's key: read from a file, its public name, its signatures. Two kinds of file are known.

- a credentials file, as account tools write it: a token of the account (``BEGIN NATS USER JWT``) and a seed;
- a file with a seed alone (``SU…``), for servers that list the public keys of their users.

Rule 1: the file is its owner's alone; one that others may write is refused.
Rule 2: a message about a key never has the key in it.
"""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from typing import TYPE_CHECKING

from trunkline.disk.private_file import read_private
from trunkline.errors import Invalid

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

LARGEST_FILE = 64 << 10
"""A credentials file has some 2 KiB."""

SEED_PREFIX = 18 << 3
USER_PREFIX = 20 << 3
"""What keys begin with, so that people see ``S`` and ``U``."""

_JWT = re.compile(r"BEGIN NATS USER JWT-+\s+([\w.-]+)\s")
_SEED = re.compile(r"(?:^|\s)(SU[A-Z2-7]{56})(?:\s|$)")


class Credentials:
    """One node's key, and the account's token for it where there is one."""

    def __init__(self, seed: str, jwt: str | None = None) -> None:
        self._raw = _seed_bytes(seed)
        self.jwt = jwt
        self.public_name = public_name(_public_bytes(_private_key(self._raw)))
        """By which a server knows the key."""

    def sign(self, nonce: str) -> bytes:
        """The signature that a server asks for, in base64."""
        return base64.b64encode(_private_key(self._raw).sign(nonce.encode()))


def read_credentials(path: Path) -> Credentials:
    """What is in the file; Invalid where that is no key. It blocks."""
    text = read_private(path, LARGEST_FILE)
    if text is None:
        raise Invalid(f"the credentials file {path} is not there")
    seed, jwt = _SEED.search(text), _JWT.search(text)
    if seed is None:
        raise Invalid(f"{path} has no user's seed in it")
    try:
        return Credentials(seed[1], jwt[1] if jwt else None)
    except ValueError as error:
        raise Invalid(f"the seed in {path} is damaged: {error}") from None


def public_name(raw: bytes) -> str:
    """A user's public key as servers write it."""
    return _with_check(bytes([USER_PREFIX]) + raw)


def new_seed(random: bytes) -> str:
    """The seed of a user's key, from 32 random bytes."""
    return _with_check(bytes([SEED_PREFIX | USER_PREFIX >> 5, (USER_PREFIX & 31) << 3]) + random)


def _with_check(body: bytes) -> str:
    check = binascii.crc_hqx(body, 0).to_bytes(2, "little")
    return base64.b32encode(body + check).decode().rstrip("=")


def _seed_bytes(seed: str) -> bytes:
    body = base64.b32decode(seed + "=" * (-len(seed) % 8))
    if _with_check(body[:-2]) != seed:
        raise ValueError("its check does not fit")
    return body[2:-2]


def _private_key(raw: bytes) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(raw)


def _public_bytes(key: Ed25519PrivateKey) -> bytes:
    from cryptography.hazmat.primitives import serialization

    return key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
