"""What can be set about the HTTP side of a hub."""

from __future__ import annotations

from pathlib import Path

import msgspec

from trunkline.server.delivery.webhooks.rules import Webhook
from trunkline.server.http.address import Network
from trunkline.session.workspace.files import PLAYGROUND


class ServerOptions(msgspec.Struct, kw_only=True, frozen=True):
    """How the server presents itself and what it takes."""

    data_dir: Path
    """Where ``token`` and ``tokens.json`` live."""
    port: int
    """The port that was bound."""
    host: str = "127.0.0.1"
    token: str | None = None
    """Takes the place of the generated token (``TRUNKLINE_TOKEN``)."""
    allow_hosts: tuple[str, ...] = ()
    """Names under which the hub may be asked besides loopback: ``name`` for any port, or ``name:port``."""
    tls: bool = False
    keepalive_s: float = 15.0
    json_limit: int = 32 << 20
    upload_limit: int = 50 << 20
    """Bytes of one uploaded file."""
    upload_total_limit: int = 200 << 20
    """Bytes of one upload request."""
    login_s: float = 30 * 86400.0
    """How long a browser stays logged in."""
    device_s: float = 365 * 86400.0
    """How long a paired device may come back."""
    code_s: float = 60.0
    """How long a one-time login code is good for."""
    preview_s: float = 3600.0
    """How long a preview's address works."""
    trusted_proxies: tuple[Network, ...] = ()
    """Proxies before the hub: what they say about where a request comes from is believed."""
    public_url: str = ""
    """Where people reach the page; webhooks link to it."""
    push_allow: tuple[Network, ...] = ()
    """Networks in which a push service may be though they are private."""
    webhooks: tuple[Webhook, ...] = ()
    """Who gets what nobody watches."""

    @property
    def playground(self) -> Path:
        """A folder where the page can try an agent out without touching anything else."""
        return self.data_dir / PLAYGROUND
