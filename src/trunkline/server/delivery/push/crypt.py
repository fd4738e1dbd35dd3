"""The cryptography of Web Push: message encryption (RFC 8291 over RFC 8188), and who we are (VAPID, RFC 8292).

Rule 1: pure: salt, keys and time are passed in. The curve, the cipher and the key derivation are those of ``cryptography``.
Rule 2: a key that is no point of the curve is ValueError, before anything is made of it.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

RECORD_BYTES = 4096
PLAIN_MOST = 3_000
"""Bytes of a message; push services take about 4 KB of ciphertext."""

POINT_BYTES, AUTH_BYTES, SALT_BYTES = 65, 16, 16
_LAST_RECORD = b"\x02"


def b64(raw: bytes) -> str:
    """base64url without padding, as everything in Web Push is written."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    """The way back; ValueError where it is no base64."""
    bare = text.rstrip("=").encode("ascii")
    try:
        return base64.b64decode(bare + b"=" * (-len(bare) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError(f"not base64url: {error}") from error


def new_private_key() -> bytes:
    """A new key of the curve P-256, as its 32 bytes."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value.to_bytes(32, "big")


def public_point(private: bytes) -> bytes:
    """The public key of a private one: an uncompressed point."""
    from cryptography.hazmat.primitives import serialization

    return _private_key(private).public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def check_point(point: bytes) -> None:
    """ValueError, unless these bytes are a point of the curve."""
    from cryptography.hazmat.primitives.asymmetric import ec

    if len(point) != POINT_BYTES:
        raise ValueError(f"expected {POINT_BYTES} bytes")
    ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)


def shared_secret(private: bytes, point: bytes) -> bytes:
    """What the owners of two key pairs both can compute."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return _private_key(private).exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point))


def message_keys(secret: bytes, auth: bytes, receiver: bytes, sender: bytes, salt: bytes) -> tuple[bytes, bytes]:
    """The content key and the nonce of a message, for both sides (RFC 8291, section 3.4)."""
    material = _hkdf(auth, secret, b"WebPush: info\0" + receiver + sender, 32)
    return (_hkdf(salt, material, b"Content-Encoding: aes128gcm\0", 16), _hkdf(salt, material, b"Content-Encoding: nonce\0", 12))


def encrypt(plain: bytes, *, receiver: bytes, auth: bytes, private: bytes, salt: bytes) -> bytes:
    """A message as the push service gets it: ``private`` is a key for this one message, ``salt`` as random."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if len(plain) > PLAIN_MOST:
        raise ValueError(f"a message has at most {PLAIN_MOST} bytes, this one {len(plain)}")
    sender = public_point(private)
    key, nonce = message_keys(shared_secret(private, receiver), auth, receiver, sender, salt)
    head = salt + RECORD_BYTES.to_bytes(4, "big") + bytes([len(sender)]) + sender
    return head + AESGCM(key).encrypt(nonce, plain + _LAST_RECORD, None)


def vapid_header(private: bytes, claims: dict[str, Any]) -> str:
    """The ``Authorization`` header that says who sends: a signed token and the key that signs it."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    signed = b64(b'{"typ":"JWT","alg":"ES256"}') + "." + b64(msgspec.json.encode(claims))
    r, s = decode_dss_signature(_private_key(private).sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    token = f"{signed}.{b64(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"
    return f"vapid t={token}, k={b64(public_point(private))}"


def _private_key(private: bytes) -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.derive_private_key(int.from_bytes(private, "big"), ec.SECP256R1())


def _hkdf(salt: bytes, material: bytes, info: bytes, length: int) -> bytes:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(hashes.SHA256(), length, salt, info).derive(material)
