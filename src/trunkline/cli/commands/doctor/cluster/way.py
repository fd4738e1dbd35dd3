"""The way to a cluster: the server that answers, what encrypts it, and whether this node's key opens it."""

from __future__ import annotations

import ipaddress
import re
import time
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from trunkline.cli.commands.doctor.finding import Finding, bad, note, ok
from trunkline.cli.hosting.clustered import own_name
from trunkline.errors import ClusterDenied, NodeAway, NodeSilent, TrunklineError
from trunkline.settings import Settings

if TYPE_CHECKING:
    from trunkline.cluster.connection import Connection
    from trunkline.cluster.survey.server import Certificate, Server

DAY_S: Final = 86_400.0
EXPIRES_SOON_S: Final = 14 * DAY_S
"""Certificates that are renewed by themselves have 30 days left then: with fewer than these nobody renews this one."""
SETTINGS_FIX: Final = "mend that setting: docs/howto/cluster.md has examples"
NO_KEY_FIX: Final = ("trunkline cluster init --print-config --member NODE=ROLE makes keys and what the servers are to be told; "
                     "--cluster-credentials names this node's")

REASONS: Final = (
    ("offers no tls", "give the server a certificate (tls { … } in its configuration), or write nats:// in a network of yours"),
    ("hostname mismatch|not valid for", "write the name that is in the server's certificate, or give it one with this name"),
    ("expired", "renew the server's certificate, and have it read: nats-server --signal reload"),
    ("certificate|ssl|tls", "--cluster-ca FILE names the authority that signed the server's certificate; a server with TLS "
                            "wants tls:// in its address"),
    ("authorization", "this key is not in the server's configuration, or none was given: trunkline cluster init --print-config "
                      "with this node as --member, into the server's file, then nats-server --signal reload"),
    ("name or service|getaddrinfo|resolve|nodename", "the host's name leads nowhere: look at it once more, and at DNS"),
    ("refused|connect call failed", "start the server there (nats-server -c nats.conf), or mend the port in the address"),
    ("", "look whether a firewall is between: nc -vz HOST PORT"),
)
"""What a reason is known by, and what mends it."""


def file_trouble(settings: Settings) -> list[Finding]:
    """A key that others may read; connecting would close it without a word, and here nothing is changed."""
    path = settings.cluster_credentials
    try:
        mode = 0o600 if path is None else path.stat().st_mode
    except FileNotFoundError:
        return [bad("key", f"the credentials file {path} is not there",
                    "bring it from where trunkline cluster init --print-config put it")]
    except OSError as error:
        return [bad("key", f"{path} cannot be read: {error.strerror}", "run as its owner")]
    return [bad("key", f"others may read {path}, and with it be this node", f"chmod 600 {path}")] if mode & 0o077 else []


def not_reached(why: str) -> Finding:
    """What mends a connection that does not come to be."""
    said = re.sub(r"\w+://\S+", "", why)  # an address is no reason
    fix = next(fix for known, fix in REASONS if re.search(known, said, re.IGNORECASE))
    return bad("cluster", why, fix)


def not_answered(error: TrunklineError, settings: Settings) -> Finding:
    """Connected, and a question was not answered."""
    name = own_name(settings)
    if isinstance(error, ClusterDenied | NodeSilent):
        return bad("key", f"{error.message}: the key is another node's or role's, and not {name}'s",
                   f"--node names the node that the key was made for; else add --member {name}=ROLE to what the servers are told")
    if isinstance(error, NodeAway):
        return bad("streams", f"nobody answers for them: {error.message}",
                   "wait for the servers to find their leader; of three, two have to run")
    return bad("streams", error.message, "trunkline cluster init makes what is missing")


def told_of(connection: Connection, settings: Settings) -> list[Finding]:
    """The server, the encryption and the key."""
    from trunkline.cluster.survey.server import certificate_of, server_of

    server = server_of(connection)
    return [of_server(server), of_tls(server, certificate_of(connection), time.time()), of_key(server, settings)]


def of_server(server: Server) -> Finding:
    """Whether it can do what we need."""
    from trunkline.cluster.survey.server import PAYLOAD_LEAST, VERSION_LEAST

    name = f"{server.url} answers: {server.name}, NATS {server.version}"
    if not server.is_new_enough:
        return bad("cluster", f"{name} is too old", f"install nats-server {'.'.join(map(str, VERSION_LEAST))} or newer")
    if not server.has_jetstream:
        return bad("cluster", f"{name}, without JetStream", 'add jetstream { store_dir: "/var/lib/nats" } to its configuration')
    if server.max_payload < PAYLOAD_LEAST:
        return bad("cluster", f"{name}, takes nothing over {server.max_payload} bytes", "max_payload: 8MB in its configuration")
    return ok("cluster", name)


def of_tls(server: Server, certificate: Certificate | None, now: float) -> Finding:
    """Whether others on the way can read along."""
    if certificate is None:
        if _is_here(server.url):
            return ok("tls", "none is needed: the server is on this machine")
        return note("tls", f"whoever is on the way to {server.url} reads and changes what goes by",
                    "a certificate for the server, and tls:// in the address")
    until = time.strftime("%Y-%m-%d", time.gmtime(certificate.until))
    if certificate.until - now < EXPIRES_SOON_S:
        return note("tls", f"{certificate.protocol}; the server's certificate ends on {until}",
                    "renew it, and have it read: nats-server --signal reload")
    return ok("tls", f"{certificate.protocol}, the server's certificate lasts until {until}")


def of_key(server: Server, settings: Settings) -> Finding:
    """Whether only members get in, and whether this one's key did."""
    if not server.asks_for_key:
        if _is_here(server.url):
            return note("key", "the server asks for none: every program of this machine may be a node", NO_KEY_FIX)
        return bad("key", "the server asks for none: whoever reaches it may be a node, and read and steer all", NO_KEY_FIX)
    return ok("key", f"{settings.cluster_credentials or 'in the address'} was taken, for {own_name(settings)}")


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
