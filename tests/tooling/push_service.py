"""A push service and the browser behind it, on loopback: takes what a hub sends by Web Push, and reads it (RFC 8291, RFC 8292).

Rule 1: nothing here imports the project: what is read is what any browser would read.
Rule 2: every wait has a deadline.
"""

from __future__ import annotations

import base64
import json
import os
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hmac import HMAC

WAIT_S = 20.0


class Pushed(NamedTuple):
    """One message that the hub sent."""

    path: str
    headers: dict[str, str]
    body: bytes


class PushService:
    """Listens on loopback; has one browser subscribed."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._secret = os.urandom(16)
        self._arrived = threading.Condition()
        self.pushed: list[Pushed] = []
        self.status = 201
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.origin = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.endpoint = f"{self.origin}/push/a-browser"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def subscription(self) -> dict[str, Any]:
        """What the browser's ``PushManager.subscribe`` gives: the endpoint, and the keys to encrypt for it."""
        return {"endpoint": self.endpoint, "expirationTime": None,
                "keys": {"p256dh": to_url64(_point(self._key.public_key())), "auth": to_url64(self._secret)}}

    def wait(self, count: int = 1, within_s: float = WAIT_S) -> list[Pushed]:
        """The messages so far, once there are this many."""
        with self._arrived:
            in_time = self._arrived.wait_for(lambda: len(self.pushed) >= count, within_s)
            assert in_time, f"{len(self.pushed)} of {count} messages were pushed within {within_s:g} s"
            return list(self.pushed)

    def read(self, message: Pushed) -> dict[str, Any]:
        """What a message says, to the browser that has the key."""
        salt, size = message.body[:16], message.body[20]
        sender = message.body[21:21 + size]
        shared = self._key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        info = b"WebPush: info\0" + _point(self._key.public_key()) + sender
        seed = _hmac(salt, _hmac(_hmac(self._secret, shared), info + b"\1"))
        key, nonce = (_hmac(seed, f"Content-Encoding: {name}\0".encode() + b"\1") for name in ("aes128gcm", "nonce"))
        plain = AESGCM(key[:16]).decrypt(nonce[:12], message.body[21 + size:], None)
        told: dict[str, Any] = json.loads(plain.rstrip(b"\0")[:-1])
        return told

    def check_sender(self, message: Pushed, public_key: str) -> dict[str, Any]:
        """The claims of the sender's token, which must be signed by this key, for this service, and not be old."""
        scheme, _, parameters = message.headers["authorization"].partition(" ")
        given = dict(part.strip().split("=", 1) for part in parameters.split(","))
        assert scheme == "vapid" and given["k"].rstrip("=") == public_key.rstrip("=")
        head, claims, signature = given["t"].split(".")
        assert json.loads(from_url64(head))["alg"] == "ES256"
        r, s = (int.from_bytes(part, "big") for part in (from_url64(signature)[:32], from_url64(signature)[32:]))
        known = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), from_url64(public_key))
        known.verify(encode_dss_signature(r, s), f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
        told: dict[str, Any] = json.loads(from_url64(claims))
        assert told["aud"] == self.origin and time.time() < told["exp"] <= time.time() + 24 * 3600 and told["sub"]
        return told

    def _take(self, message: Pushed) -> int:
        with self._arrived:
            self.pushed.append(message)
            self._arrived.notify_all()
            return self.status

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        take = self._take

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                self.send_response(take(Pushed(self.path, headers, body)))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing: the tests look at what came."""

        return Handler


def to_url64(data: bytes) -> str:
    """base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_url64(text: str) -> bytes:
    """The bytes of base64url, padded or not."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def record_size(message: Pushed) -> int:
    """The record size that a message's header names."""
    return int(struct.unpack("!I", message.body[16:20])[0])


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def _hmac(key: bytes, data: bytes) -> bytes:
    digest = HMAC(key, hashes.SHA256())
    digest.update(data)
    return digest.finalize()
