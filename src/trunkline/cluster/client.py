"""The NATS client as we need it: the library's own, with some of its habits changed.

Rule 1: it never gives up. The library closes itself when the server says something that it does not know (an account that was
        changed, a limit that was reached) and forgets its subscriptions; this one connects again.
Rule 2: ``tls://`` means it. The library goes on in the clear where the server does not ask for TLS; this one refuses.
Rule 3: an answer that somebody had the server send to a subject of ours is not heard (``headers.py``).
Rule 4: keys are ours (``credentials.py``): the library would need two more packages to sign.
Rule 5: no message ends the connection. The library stops reading at the first that it cannot read (a subject or a header that is
        no text), and notices when its pings are not answered; this one drops it.
Rule 6: a server that sends is there, though its answer to a ping waits behind much else: on a thin line, or where this process
        gets little of its machine. The library would hang up in the middle of it. Not for ever: a line may be cut one way.
Rule 7: who is cancelled while sending is cancelled. The library goes on there, and whoever ended that task waits for ever.
Rule 8: there is one connection. The library keeps each that a server took and said nothing on (one that is frozen, a silent
        network): one more with each try, until no file can be opened any more.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from typing import Any

from nats import errors
from nats.aio.client import Client, Srv

from trunkline.cluster.credentials import Credentials
from trunkline.cluster.headers import is_astray

log = logging.getLogger("trunkline.cluster")

STALE = "stale connection"
DENIED = "permissions violation"
PINGS_MOST = 10
"""That are not answered while messages come: 20 s, and 2 MiB at 1 Mbit/s take 17 s."""


class NodeClient(Client):
    """A client that signs with our key, insists on TLS and goes on."""

    def __init__(self, credentials: Credentials | None, *, must_be_tls: bool) -> None:
        super().__init__()
        self._must_be_tls = must_be_tls
        self._credentials = credentials

    @property
    def server_info(self) -> dict[str, Any]:
        """What the server said when it was connected to."""
        return self._server_info

    @property
    def tls(self) -> ssl.SSLObject | None:
        """What the connection is encrypted by; None: it is not."""
        writer = getattr(self._transport, "_io_writer", None)
        return None if writer is None else writer.get_extra_info("ssl_object")

    def sign_with_key(self) -> None:
        """Called between the library's own setting up and its first connect."""
        key = self._credentials
        if key is None:
            return
        self._auth_configured = True
        self._signature_cb = key.sign
        self._public_nkey = key.public_name
        if key.jwt is not None:
            token = key.jwt.encode()
            self._user_jwt_cb = lambda: token

    async def _select_next_server(self) -> None:
        self.sign_with_key()
        await super()._select_next_server()

    async def _connect_to_server(self, s: Srv) -> None:
        if self._transport is not None:
            self._transport.close()  # type: ignore[no-untyped-call]  # the library's own
        await super()._connect_to_server(s)

    def _connect_command(self) -> bytes:
        if self._must_be_tls and not self._server_info.get("tls_required"):
            raise errors.Error("the server offers no TLS, and the address asks for it")
        return super()._connect_command()

    async def _ping_interval(self) -> None:
        quiet = 0
        while True:
            before = self.stats["in_msgs"]
            await asyncio.sleep(self.options["ping_interval"])
            quiet = 0 if self.stats["in_msgs"] > before else quiet + 1
            if self._is_given_up(quiet):
                await self._process_op_err(errors.StaleConnectionError())
                return
            if self.is_connected:
                self._pings_outstanding += 1
                await self._send_ping()

    def _is_given_up(self, quiet: int) -> bool:
        """Whether the server is taken for dead, from which nothing came ``quiet`` times between two pings."""
        missed, most = self._pings_outstanding, self.options["max_outstanding_pings"]
        return self.is_connected and ((missed >= most and quiet > most) or missed >= PINGS_MOST)

    async def _flush_pending(self, force_flush: bool = False) -> Any:
        task = asyncio.current_task()
        before = 0 if task is None else task.cancelling()
        flushed = await super()._flush_pending(force_flush)
        if task is not None and task.cancelling() > before:
            raise asyncio.CancelledError
        return flushed

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        try:
            if is_astray(subject.decode(), bytes(headers or b"")):
                log.warning("an answer to somebody's question was sent to %s; it is not heard", subject.decode())
                return
            await super()._process_msg(sid, subject, reply, data, headers)
        except Exception as error:  # whatever it is: who sent it would have this node hear nobody
            log.warning("a message at %.200r cannot be read, and was dropped: %s", bytes(subject), error)

    async def _process_err(self, err_msg: str) -> None:
        said = err_msg.lower()
        if STALE in said or DENIED in said:
            await super()._process_err(err_msg)
            return
        error = errors.Error(f"nats: {err_msg}")
        await self._error_cb(error)
        await self._process_op_err(error)
