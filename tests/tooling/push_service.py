"""A push service on loopback and the browser that subscribed there: it checks who sends, and decrypts what it gets.

Rule 1: nothing here imports the project: the cryptography of RFC 8291 and 8292 is written from the receiver's side.
Rule 2: what the service answers is scripted: ``answers`` are used up one by one, then everything is taken (201).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

WAIT_S = 60.0


def b64(raw: bytes) -> str:
    """base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    """The way back."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Pushed(NamedTuple):
    """What came: where to, its headers with lower-case names, its body."""

    path: str
    headers: dict[str, str]
    body: bytes


class PushService:
    """Takes what is pushed, until it is told to answer otherwise."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self._arrived: queue.Queue[Pushed] = queue.Queue()
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service._arrived.put(Pushed(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(service.answers.pop(0) if service.answers else 201)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def next(self, wait_s: float = WAIT_S) -> Pushed:
        """What came next."""
        return self._arrived.get(timeout=wait_s)

    def is_quiet(self) -> bool:
        """Whether nothing came that nobody has looked at."""
        return self._arrived.empty()


class Browser:
    """A browser that subscribed to a service."""

    def __init__(self, service: PushService, name: str = "browser") -> None:
        self._private = ec.generate_private_key(ec.SECP256R1())
        self._point = self._private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self._auth = os.urandom(16)
        self._service = service
        self.path = f"/push/{name}"

    def subscription(self) -> dict[str, Any]:
        """What ``PushSubscription.toJSON()`` says."""
        return {"endpoint": self._service.url + self.path, "expirationTime": None,
                "keys": {"p256dh": b64(self._point), "auth": b64(self._auth)}}

    def read(self, pushed: Pushed, application_key: str) -> dict[str, Any]:
        """What a push says, if it is for this browser and comes from the application that it subscribed to."""
        assert pushed.path == self.path
        assert pushed.headers["content-encoding"] == "aes128gcm"
        check_sender(pushed, self._service.url, application_key)
        told: dict[str, Any] = json.loads(self.decrypt(pushed.body))
        return told

    def decrypt(self, body: bytes) -> bytes:
        """The text of a message of one record (RFC 8188, RFC 8291)."""
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, sealed = body[21:21 + length], body[21 + length:]
        assert length == 65 and len(sealed) <= size
        secret = self._private.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        material = _hkdf(self._auth, secret, b"WebPush: info\0" + self._point + sender, 32)
        key = _hkdf(salt, material, b"Content-Encoding: aes128gcm\0", 16)
        plain = AESGCM(key).decrypt(_hkdf(salt, material, b"Content-Encoding: nonce\0", 12), sealed, None)
        text, delimiter, padding = plain.rpartition(b"\x02")
        assert delimiter and not padding.strip(b"\0")
        return text


def check_sender(pushed: Pushed, audience: str, application_key: str) -> None:
    """Whether the sender's token is signed by the application's key and meant for this service (RFC 8292)."""
    kind, _, rest = pushed.headers["authorization"].partition(" ")
    said = dict(part.strip().split("=", 1) for part in rest.split(","))
    assert kind == "vapid" and said["k"] == application_key
    head, claims, signature = said["t"].split(".")
    assert json.loads(unb64(head))["alg"] == "ES256"
    raw = unb64(signature)
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), unb64(application_key))
    key.verify(encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")),
               f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
    told = json.loads(unb64(claims))
    assert told["aud"] == audience and told["sub"].startswith(("mailto:", "https://"))


def _hkdf(salt: bytes, material: bytes, info: bytes, length: int) -> bytes:
    key = hmac.new(salt, material, hashlib.sha256).digest()
    return hmac.new(key, info + b"\x01", hashlib.sha256).digest()[:length]
