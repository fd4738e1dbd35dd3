"""Who gets what: the subscriptions of browsers, in ``push.json``.

Rule 1: a subscription belongs to the token that made it, one to a token, and goes with it.
Rule 2: the addresses in the file are secrets: whoever has one can fill somebody's phone. The file is private.
Rule 3: in a cluster they are in its table, for gateways alone: whichever of them sends knows all.
Rule 4: what cannot be used is refused when it is made: a key off the curve, an address without TLS or in a private network.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import SplitResult, urlsplit

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.disk.own_file import read_own
from trunkline.disk.private_file import PrivateFile
from trunkline.errors import Invalid, StorageError, TooManyRequests
from trunkline.server.http.address import Network

if TYPE_CHECKING:
    from trunkline.cluster.tables.table import Table
    from trunkline.server.delivery.push.keys import PushKey
    from trunkline.server.shared_rows import SharedRows

PushKind = Literal["approval", "question", "finished", "failed"]
KINDS: tuple[PushKind, ...] = ("approval", "question", "finished", "failed")

SUBSCRIPTIONS_FILE = "push.json"
SHARED_PREFIX = "sub."
SUBSCRIPTIONS_MOST = 256
ENDPOINT_LENGTH = 2_048


class Subscription(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One browser that wants to know. ``endpoint`` is its push service's address for it."""

    token_id: str
    endpoint: str
    p256dh: str
    auth: str
    kinds: tuple[PushKind, ...]
    created_at: int

    def __repr__(self) -> str:
        return f"Subscription({self.token_id} at {self.parts().hostname})"

    def parts(self) -> SplitResult:
        """The address taken apart."""
        return urlsplit(self.endpoint)


class _StoredSubscriptions(msgspec.Struct):
    subscriptions: list[Subscription]


class Subscriptions:
    """The subscriptions of one data folder. ``is_live`` says whether the token of an id still counts."""

    def __init__(self, folder: Path, is_live: Callable[[str], bool], *, allow: tuple[Network, ...] = (),
                 clock: Callable[[], float] = time.time) -> None:
        self._file = PrivateFile(folder / SUBSCRIPTIONS_FILE, self._content)
        self._is_live = is_live
        self._clock = clock
        self._waiting: list[asyncio.Future[None]] = []
        self.allow = allow
        self._own = _load(self._file.path)
        self._shared: SharedRows[Subscription] | None = None
        self._table: Table | None = None
        self.folder = folder
        self._key: PushKey | None = None
        self._key_lock = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._by_token)

    def join(self, table: Table) -> None:
        """Keep what is subscribed from now on in the cluster's table, and know what others have there."""
        from trunkline.server.shared_rows import SharedRows  # without a cluster nobody needs it

        self._table, self._key = table, None
        self._shared = SharedRows(table, SHARED_PREFIX, Subscription)
        self._shared.on_change = lambda name, before, row: self._wake()
        self._wake()

    async def leave(self) -> None:
        """Write to the cluster's table no more."""
        if self._shared is not None:
            await self._shared.close()

    @property
    def _by_token(self) -> dict[str, Subscription]:
        return self._own if self._shared is None else {**self._own, **self._shared.all()}

    def of_token(self, token_id: str) -> Subscription | None:
        """The subscription that a token made."""
        return self._by_token.get(token_id)

    def wanting(self, kind: PushKind) -> list[Subscription]:
        """Who wants to know of this and is still let in."""
        return [each for each in self._by_token.values() if kind in each.kinds and self._is_live(each.token_id)]

    def counts(self, subscription: Subscription) -> bool:
        """Whether it is still there, and its token too."""
        return self._by_token.get(subscription.token_id) == subscription and self._is_live(subscription.token_id)

    def keep(self, token_id: str, endpoint: str, p256dh: str, auth: str, kinds: tuple[PushKind, ...]) -> Subscription:
        """Add one, in place of what the token, or the same browser under another token, had before."""
        self.drop_dead()
        check_endpoint(endpoint, self.allow)
        check_keys(p256dh, auth)
        made = Subscription(token_id=token_id, endpoint=endpoint, p256dh=p256dh, auth=auth, kinds=kinds,
                            created_at=int(self._clock()))
        before = [own for own, each in self._by_token.items() if each.endpoint == endpoint or own == token_id]
        if len(self._by_token) - len(before) >= SUBSCRIPTIONS_MOST:
            raise TooManyRequests(f"{SUBSCRIPTIONS_MOST} devices are told already; revoke some")
        is_changed = self._shared is not None and self._shared.get(token_id) is not None
        for own in before:
            if own != token_id or not is_changed:
                self.drop(own)
        self._put(made, is_changed)
        self._wake()
        return made

    def _put(self, made: Subscription, is_changed: bool) -> None:
        if self._shared is None:
            self._own[made.token_id] = made
            self._file.save_soon()
        elif is_changed:
            self._shared.note(made.token_id, made)
        else:
            self._shared.add(made.token_id, made)

    def drop(self, token_id: str) -> None:
        """Forget what a token subscribed to."""
        if self._own.pop(token_id, None) is not None:
            self._file.save_soon()
        elif self._shared is not None and self._shared.get(token_id) is not None:
            self._shared.remove([token_id])

    def drop_ended(self, subscription: Subscription) -> None:
        """The push service says that this one has ended; a newer one of the same token stays."""
        if self._by_token.get(subscription.token_id) == subscription:
            self.drop(subscription.token_id)

    def drop_dead(self) -> None:
        """Forget those of this hub whose token no longer counts."""
        live = {own: each for own, each in self._own.items() if self._is_live(own)}
        if len(live) != len(self._own):
            self._own = live
            self._file.save_soon()

    def drop_dead_shared(self) -> None:
        """The same for those of the cluster. Only for who knows its tokens: without it they count no more, and are there."""
        if self._shared is not None:
            self._shared.remove([own for own in self._shared.all() if not self._is_live(own)])

    async def key(self) -> PushKey:
        """The hub's key pair, made once, by the first who asks."""
        from trunkline.server.delivery.push.keys import push_key  # only who subscribes pays for the cryptography

        async with self._key_lock:
            if self._key is None:
                self._key = await self._cluster_key(await asyncio.to_thread(push_key, self.folder))
        return self._key

    async def _cluster_key(self, own: PushKey) -> PushKey:
        if self._table is None:
            return own
        from trunkline.server.delivery.push.shared_keys import shared_key  # only who is in a cluster needs it

        return await shared_key(self._table, own)

    async def some(self) -> None:
        """Return when there is a subscription."""
        if not self._by_token:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    async def saved(self) -> None:
        """Wait until every change is on disk, and in the cluster where there is one; StorageError and others where that
        cannot be."""
        written = None if self._shared is None else self._shared.written()
        await self._file.saved()
        if written is not None:
            await written

    def _content(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(_StoredSubscriptions(list(self._own.values()))))


def check_endpoint(endpoint: str, allow: tuple[Network, ...]) -> None:
    """Invalid, unless this can be the address of a push service. A name is looked up, and checked, when something is sent."""
    try:
        parts = urlsplit(endpoint)
        usable = (parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
                  and parts.username is None and parts.password is None
                  and len(endpoint) <= ENDPOINT_LENGTH and all("!" <= each <= "~" for each in endpoint))
    except ValueError:
        usable = False
    if not usable:
        raise _refused("endpoint must be the https address of a push service")
    allowed = _is_allowed(parts.hostname or "", allow)
    if parts.scheme == "http" and not allowed:
        raise _refused("endpoint must be https")
    if not allowed and _is_private(parts.hostname or ""):
        raise _refused("endpoint is at an address of a private network")


def check_keys(p256dh: str, auth: str) -> None:
    """Invalid, unless a message can be encrypted for this browser."""
    from trunkline.server.delivery.push.crypt import AUTH_BYTES, check_point, unb64

    try:
        check_point(unb64(p256dh))
    except ValueError as error:
        raise Invalid(f"keys.p256dh is no key: {error}", details={"field": "keys.p256dh"}) from None
    try:
        if len(unb64(auth)) != AUTH_BYTES:
            raise ValueError(f"expected {AUTH_BYTES} bytes")
    except ValueError as error:
        raise Invalid(f"keys.auth is no secret: {error}", details={"field": "keys.auth"}) from None


def _refused(why: str) -> Invalid:
    return Invalid(why, details={"field": "endpoint"})


def _is_allowed(host: str, allow: tuple[Network, ...]) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" and any(network.is_loopback for network in allow)
    return any(address in network for network in allow if network.version == address.version)


def _is_private(host: str) -> bool:
    from trunkline.server.delivery.addresses import is_public

    try:
        return not is_public(ipaddress.ip_address(host))
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _load(path: Path) -> dict[str, Subscription]:
    if not path.exists():
        return {}
    path.chmod(0o600)
    try:
        stored = stored_subscriptions(read_own(path))
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}; mend it or take it away") from error
    except BROKEN as error:
        raise StorageError(f"{path} is not a list of subscriptions ({error}); mend it or delete it") from error
    return {each.token_id: each for each in stored}


def stored_subscriptions(content: bytes | str) -> list[Subscription]:
    """What the file has; one of BROKEN where it cannot be read."""
    return decoders.decode(content, _StoredSubscriptions).subscriptions
