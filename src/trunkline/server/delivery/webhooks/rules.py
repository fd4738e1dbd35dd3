"""What goes to whom: the ``[[webhooks]]`` tables of the settings file.

Rule 1: a table that cannot be used is refused when the hub starts, and the complaint never shows the secret.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import SplitResult, urlsplit

import msgspec

from trunkline import decoders
from trunkline.server.http.address import Network

Occasion = Literal["approval", "finished", "error", "cap"]
OCCASIONS: tuple[Occasion, ...] = ("approval", "finished", "error", "cap")
"""An approval or question waits, a turn is finished, a session failed, a cap is reached."""

SECRET_LEAST = 16
STANDARD_SECRET = "whsec_"
"""Secrets in the form of the Standard Webhooks begin so; what follows is base64."""

AFTER_S = 5.0
"""Long enough for a page that only reconnects."""


class Webhook(msgspec.Struct, frozen=True, kw_only=True):
    """One address that wants to know of things."""

    url: str
    secret: bytes
    events: tuple[Occasion, ...] = OCCASIONS
    agents: tuple[str, ...] = ()
    """Only sessions of these agents; of all, when empty."""
    after_s: float = AFTER_S
    """How long a thing must have gone unwatched before it is sent."""
    allow: tuple[Network, ...] = ()
    """Addresses of private networks that it may go to all the same."""

    def __repr__(self) -> str:
        return f"Webhook({self.host})"

    def parts(self) -> SplitResult:
        """The address taken apart."""
        return urlsplit(self.url)

    @property
    def host(self) -> str:
        """All of the address that a log may show: the rest of it is a secret with many services."""
        return self.parts().hostname or ""

    def wants(self, occasion: Occasion, agent: str) -> bool:
        """Whether this is to be sent here."""
        return occasion in self.events and (not self.agents or agent in self.agents)


class _WebhookTable(msgspec.Struct, forbid_unknown_fields=True):
    url: str
    secret: str
    events: list[Occasion] = msgspec.field(default_factory=lambda: list(OCCASIONS))
    agents: list[str] = msgspec.field(default_factory=list)
    after_s: float = AFTER_S
    allow: list[str] = msgspec.field(default_factory=list)


def webhooks_from(tables: Any) -> tuple[Webhook, ...]:
    """The tables as webhooks, or ValueError naming the table and the key."""
    if not isinstance(tables, Sequence) or isinstance(tables, str) or not all(isinstance(each, Mapping) for each in tables):
        raise ValueError("expected tables [[webhooks]]")
    return tuple(_webhook(number, table) for number, table in enumerate(tables, start=1))


def _webhook(number: int, table: Mapping[str, Any]) -> Webhook:
    try:
        read = decoders.convert(table, _WebhookTable)
        return Webhook(
            url=_address(read.url), secret=_secret(read.secret), events=_events(read.events), agents=tuple(read.agents),
            after_s=_seconds(read.after_s), allow=tuple(_network(each) for each in read.allow))
    except ValueError as error:  # msgspec.ValidationError is one
        raise ValueError(f"the webhook {number}: {error}") from None


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("url must look like https://host/path")
    if parts.username is not None or parts.password is not None:
        raise ValueError("url must not carry a user or password")
    if not all("!" <= character <= "~" for character in url):
        raise ValueError("url must be written in ASCII, without spaces")
    return url


def _secret(text: str) -> bytes:
    if text.startswith(STANDARD_SECRET):
        try:
            secret = base64.b64decode(text[len(STANDARD_SECRET):], validate=True)
        except binascii.Error:
            raise ValueError(f"secret begins with {STANDARD_SECRET} and what follows is not base64") from None
    else:
        secret = text.encode()
    if len(secret) < SECRET_LEAST:
        raise ValueError(f"secret must have at least {SECRET_LEAST} bytes")
    return secret


def _events(events: list[Occasion]) -> tuple[Occasion, ...]:
    if not events:
        raise ValueError("events must name at least one of " + ", ".join(OCCASIONS))
    return tuple(dict.fromkeys(events))


def _seconds(value: float) -> float:
    if not 0 <= value <= 86400:
        raise ValueError("after_s must be between 0 and 86400")
    return value


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ValueError(f"allow: {text!r} is no address and no network such as 10.0.0.0/8") from None
