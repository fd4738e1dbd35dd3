"""What can be set about the HTTP side of a hub."""

from __future__ import annotations

from pathlib import Path

from trunkline.session.workspace import PLAYGROUND
from trunkline.settings import Settings

PLAIN_COMMAND = "trunkline open --print"


class ServerOptions(Settings, frozen=True, kw_only=True):
    """How the server presents itself and what it takes: the settings (``port`` is the one that was bound), and its bounds."""

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
    login_command: str = PLAIN_COMMAND
    """What makes a login link, to be typed on the hub's machine; with the path of the program where it is on nobody's PATH."""
    code_s: float = 60.0
    """How long a one-time login code is good for."""
    preview_s: float = 3600.0
    """How long a preview's address works."""

    @property
    def tls(self) -> bool:
        """Whether it serves https."""
        return self.tls_cert is not None

    @property
    def playground(self) -> Path:
        """A folder where the page can try an agent out without touching anything else."""
        return self.data / PLAYGROUND
