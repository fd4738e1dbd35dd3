"""Tokens: who may do what, stored as hashes.

Rule 1: a secret is shown once, when it is made. On disk there are only hashes, except for the first-run token, which the
command line must be able to read (``token``, 0600).
Rule 2: secrets are compared in constant time, against every token.
Rule 3: a token dies with the one that let it in or made it. What was let in or made from a browser belongs to whoever let that
browser in: logging out unpairs nothing.
Rule 4: of a browser or a device that was turned out the hash is kept for a while: it alone can be told so.
Rule 5: a change counts at once. It is written off the loop: who answers for it waits for ``saved`` first.
Rule 6: in a cluster what is made here counts at every node (``shared_tokens.py``). The main token, and what was made before or
without the cluster, counts here alone; so does a browser that one of these lets in while the cluster is away.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.disk.own_file import read_own
from trunkline.disk.private_file import PrivateFile, write_private
from trunkline.errors import Invalid, NotFound, StorageError, Unauthorized

if TYPE_CHECKING:
    from trunkline.server.auth.shared_tokens import SharedTokens

TokenScope = Literal["view", "approve", "control", "admin"]
SCOPES: tuple[TokenScope, ...] = ("view", "approve", "control", "admin")
"""Each scope includes those before it."""

TokenKind = Literal["bearer", "browser", "device"]
KEPT_BROWSERS = 64
"""Logins remembered; beyond that the oldest browser has to log in again."""

REVOKED_MOST = 64
"""Browsers and devices that are remembered after they were turned out, so that they can be told."""

SEEN_STEP_S = 300
"""When a device was last seen is kept on disk to this many seconds."""

LEFT_STEP_S = 10
"""The same of one that leaves: of a phone that was lost, that is what people want to know."""

NAME_LENGTH = 64
GUESTS = "guest:"
"""What the ids of guests begin with (``guests.py``); no token's does. They count while they are here."""


def allows(scope: TokenScope, needed: TokenScope) -> bool:
    """Whether a token with ``scope`` may do what ``needed`` asks for."""
    return SCOPES.index(scope) >= SCOPES.index(needed)


class Token(msgspec.Struct, kw_only=True, frozen=True, rename="camel", omit_defaults=True):
    """A token as it is stored; times are seconds since the epoch."""

    id: str
    name: str
    scope: TokenScope
    hash: str
    created_at: int
    kind: TokenKind = "bearer"
    parent: str | None = None
    expires_at: int | None = None
    seen_at: int | None = None
    """When it was last used, of a device."""
    base: str | None = None
    """Of a browser or device: a hash of the path that its cookie counts under."""
    node: str | None = None
    """In a cluster: the node whose own token ``parent`` is. It alone knows how long that counts, and takes this one away then."""


class _StoredTokens(msgspec.Struct):
    tokens: list[Token]
    hub: str = ""
    """The hub's name in cookies."""
    revoked: list[str] = []
    """Hashes of what browsers and devices came with that were turned out, the newest last."""
    owed: list[str] = []
    """Ids of the cluster's tokens that were revoked here while it was away."""


class Tokens:
    """The tokens of one data directory. The main token has every right and is never in ``tokens.json``."""

    def __init__(self, folder: Path, main: str, clock: Callable[[], float] = time.time, *, chosen: bool = True) -> None:
        self._chosen = chosen
        self._file = PrivateFile(folder / "tokens.json", self._content)
        self._clock = clock
        self.on_ended: Callable[[], None] = lambda: None
        """Called when tokens have ended, so that what was opened with them can end too."""
        self.main = self._main_token(main)
        stored = _load(self._file.path)
        self._tokens = {token.id: token for token in stored.tokens}
        self.hub_name = stored.hub or secrets.token_hex(4)
        """Tells the cookies of this hub from those of others on the same host. It is kept as soon as there is a cookie."""
        self._revoked = stored.revoked[-REVOKED_MOST:]
        self.owed = stored.owed
        """Ids of the cluster's tokens that were revoked here, and that it may still have."""
        self._shared: SharedTokens | None = None
        self._counted = set(self._tokens)
        """Those that counted when it was last looked."""

    @classmethod
    def open(cls, folder: Path, override: str | None = None, clock: Callable[[], float] = time.time) -> Tokens:
        """The tokens in ``folder``; without an override the first-run token is read, or made and written, there."""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            chosen = (override or "").strip()
            return cls(folder, chosen or _first_run_token(folder / "token"), clock, chosen=bool(chosen))
        except OSError as error:
            raise StorageError(f"cannot keep tokens in {folder}: {error.filename or folder}: {error.strerror}") from error

    def join(self, shared: SharedTokens) -> None:
        """Take the cluster's tokens as well, and make those that are made from now on count there."""
        self._shared = shared
        shared.on_gone = self._on_gone
        shared.on_alone = lambda: self.on_ended()
        shared.on_whole = self._end_orphans

    def node_of(self, token_id: str) -> str | None:
        """In a cluster: this node, where the token is its own and no other node knows it."""
        is_own = token_id == self.main.id or token_id in self._tokens
        return self._shared.node if self._shared is not None and is_own else None

    def find(self, secret: str, *kinds: TokenKind, base: str = "") -> Token:
        """The token that this secret belongs to, or Unauthorized; a browser's and a device's only below its own path."""
        presented = _hash(secret)
        found: Token | None = None
        for token in (self.main, *self._tokens.values()):
            if hmac.compare_digest(token.hash, presented):
                found = token
        if found is None and self._shared is not None:
            found = self._shared.with_hash(presented)
        if found is None or found.kind not in kinds or not self._is_live(found):
            raise Unauthorized("the token is unknown, expired or revoked")
        if found.kind != "bearer" and not hmac.compare_digest(found.base or "", _hash(base)):
            raise Unauthorized("a cookie counts only below the path that it was given for; log in once more")
        if found.kind == "device":
            self.seen(found.id)
        return found

    def is_chosen(self, token_id: str) -> bool:
        """Whether somebody chose this token's secret, and so could guess it. All others were made here."""
        return self._chosen and token_id == self.main.id

    def seen(self, token_id: str, step_s: int = SEEN_STEP_S) -> None:
        """A device is here now."""
        token, now = self._get(token_id), int(self._clock())
        if token is None or token.kind != "device" or now - (token.seen_at or 0) < step_s:
            return
        seen = msgspec.structs.replace(token, seen_at=now)
        if self._shared is not None and token_id not in self._tokens:
            self._shared.note(seen)
            return
        self._tokens[token_id] = seen
        self._changed()  # nobody waits for it: that it cannot be kept is no reason to turn the device away

    def left(self, token_id: str) -> None:
        """A device was here until now."""
        self.seen(token_id, LEFT_STEP_S)

    def keeper(self, token_id: str) -> str:
        """The token on which what ``token_id`` lets in or makes depends: itself, or of a browser the one that let that in."""
        token = self._get(token_id)
        while token is not None and token.kind == "browser" and token.parent is not None:
            token_id, token = token.parent, self._get(token.parent)
        return token_id

    def scope_of(self, token_id: str) -> TokenScope | None:
        """How far a token goes; None where it does not count."""
        token = self._get(token_id)
        return token.scope if token is not None and self._is_live(token) else None

    def check_live(self, token_id: str) -> None:
        """Unauthorized, where this token has expired or was revoked since it was found."""
        if not self.is_live(token_id):
            raise Unauthorized("the token has expired or was revoked")

    def check_maker(self, token_id: str, node: str | None) -> None:
        """The same for who made a code: where that is another node's own token, that node took the code away if it had ended."""
        if node is None or self._shared is None or node == self._shared.node:
            self.check_live(token_id)

    def is_live(self, token_id: str) -> bool:
        """Whether the token of this id counts."""
        if token_id.startswith(GUESTS):
            return True
        token = self._get(token_id)
        return token is not None and self._is_live(token)

    def owner(self, token_id: str) -> str:
        """The id of the token that let this one's browser in, and so on up; its own where it stands for itself."""
        token = self._get(token_id)
        return token_id if token is None or token.parent is None else self.owner(token.parent)

    def left_s(self, token_id: str) -> float | None:
        """How long a token still counts, in seconds; None: until it is revoked."""
        if token_id.startswith(GUESTS):
            return None
        token = self._get(token_id)
        if token is None:
            return 0.0
        if self._is_elsewhere(token):
            return None if token.expires_at is None else max(0.0, token.expires_at - self._clock())
        own = None if token.expires_at is None else max(0.0, token.expires_at - self._clock())
        above = None if token.parent is None else self.left_s(token.parent)
        return own if above is None else above if own is None else min(own, above)

    def listed(self) -> list[Token]:
        """Every live token, the main one first."""
        shared = [] if self._shared is None else self._shared.all()
        return [self.main, *(token for token in (*self._tokens.values(), *shared) if self._is_live(token))]

    def mint(self, name: str, scope: TokenScope, *, kind: TokenKind = "bearer", parent: str | None = None,
             lifetime_s: float | None = None, base: str = "", node: str | None = None) -> tuple[Token, str]:
        """Make a token; the secret is in the answer and nowhere else. ``node``: whose own token ``parent`` is, if not ours."""
        secret = "tl_" + secrets.token_urlsafe(32)
        now = int(self._clock())
        token = Token(
            id=secrets.token_hex(6), name=name, scope=scope, hash=_hash(secret), created_at=now, kind=kind, parent=parent,
            expires_at=None if lifetime_s is None else int(now + lifetime_s), base=_hash(base) if base else None, node=node,
        )
        if self._shared is not None and not (kind == "browser" and self._is_ours_alone(parent)):
            self._shared.add(self._bound(token))
        else:
            self._tokens[token.id] = token
            self._changed()
        return token, secret

    def revoke(self, token_id: str) -> None:
        """Forget a token and everything that it let in or made."""
        if token_id == self.main.id:
            raise Invalid("the main token cannot be revoked; delete the file `token` and restart to change it")
        if self._get(token_id) is None:
            raise NotFound(f"no token has the id {token_id}")
        live = [token for token in self.listed() if token.id != self.main.id]
        if self._tokens.pop(token_id, None) is None and self._shared is not None:
            self._shared.remove([token_id])
        self._turn_out([token for token in live if token.id == token_id or not self._is_live(token)])

    def was_revoked(self, secret: str) -> bool:
        """Whether a browser or a device that comes with this was turned out; nobody learns it who does not have its secret."""
        presented = _hash(secret)
        return any([hmac.compare_digest(known, presented) for known in self._revoked])

    async def saved(self) -> None:
        """Wait until every change is on disk, and in the cluster where there is one; StorageError and others where that
        cannot be."""
        written = None if self._shared is None else self._shared.written()  # all that was begun before this waits for anything
        await self._file.saved()
        if written is not None:
            await written

    def _get(self, token_id: str) -> Token | None:
        if token_id == self.main.id:
            return self.main
        own = self._tokens.get(token_id)
        return self._shared.get(token_id) if own is None and self._shared is not None else own

    def _is_ours_alone(self, parent: str | None) -> bool:
        """Whether a browser is let in by a token of this node's own while the cluster is away."""
        return (self._shared is not None and not self._shared.can_write() and parent is not None
                and self.node_of(parent) is not None)

    def _bound(self, token: Token) -> Token:
        """A token for the cluster: bound to this node where its parent is, and no longer than that counts."""
        if token.parent is None or token.node is not None or self.node_of(token.parent) is None:
            return token
        left_s = self.left_s(token.parent)
        ends = [at for at in (token.expires_at, None if left_s is None else int(self._clock() + left_s)) if at is not None]
        return msgspec.structs.replace(token, node=self.node_of(token.parent), expires_at=min(ends, default=None))

    def _is_elsewhere(self, token: Token) -> bool:
        """Whether another node has the token on which this one of the cluster's depends."""
        return token.node is not None and self._shared is not None and token.node != self._shared.node

    def _turn_out(self, ended: list[Token]) -> None:
        """Remember who can be told, and forget what depended on what has ended."""
        if self._shared is not None:
            self._shared.remove([token.id for token in ended if self._shared.get(token.id) is not None])
        self._revoked = [*self._revoked, *(token.hash for token in ended if token.kind != "bearer")][-REVOKED_MOST:]
        self._changed()
        if ended and self._shared is not None:
            self.on_ended()

    def _on_gone(self, token: Token) -> None:
        """Another node revoked one of the cluster's tokens, or its time is over."""
        was_revoked = token.expires_at is None or token.expires_at > self._clock()
        shared = [] if self._shared is None else self._shared.all()
        self._turn_out([token] * was_revoked + [each for each in shared if each.parent == token.id and not self._is_live(each)])

    def _end_orphans(self) -> None:
        """End what depended on a token of this node that counts no more: the main token was replaced, or one has expired."""
        shared = [] if self._shared is None else self._shared.all()
        self._turn_out([token for token in shared if self._shared is not None and token.node == self._shared.node
                        and not self._is_live(token)])

    def _main_token(self, secret: str) -> Token:
        digest = _hash(secret)
        # The id follows the secret: with another main token, browsers let in by the old one are out.
        return Token(id=f"main-{digest[:12]}", name="main", scope="admin", hash=digest, created_at=0)

    def _is_live(self, token: Token) -> bool:
        if token.expires_at is not None and token.expires_at <= self._clock():
            return False
        if self._shared is not None and self._shared.get(token.id) is not None and not self._shared.counts():
            return False
        if token.parent is None or token.parent == self.main.id or self._is_elsewhere(token):
            return True
        parent = self._get(token.parent)
        return parent is not None and self._is_live(parent)

    def _changed(self) -> None:
        live = [token for token in self._tokens.values() if self._is_live(token)]
        browsers = [token.id for token in live if token.kind == "browser"]
        surplus = set(browsers[:-KEPT_BROWSERS])
        self._tokens = {token.id: token for token in live if token.id not in surplus}
        has_ended, self._counted = not self._counted <= self._tokens.keys(), set(self._tokens)
        if has_ended:
            self.on_ended()
        self._file.save_soon()

    def _content(self) -> bytes:
        self.owed = self.owed if self._shared is None else self._shared.owed
        stored = _StoredTokens(list(self._tokens.values()), self.hub_name, self._revoked, self.owed)
        return msgspec.json.format(msgspec.json.encode(stored))


def token_name(given: str) -> str:
    """The name as it is kept, or Invalid: people tell tokens, and who did what, by it."""
    name = given.strip()
    if not name or len(name) > NAME_LENGTH:
        raise Invalid(f"name must have 1 to {NAME_LENGTH} characters", details={"field": "name"})
    if not name.isprintable():
        raise Invalid("name must not have control or invisible characters", details={"field": "name"})
    # Neither may it look like the main token's: "MAIN", "m ain" and full-width letters do.
    if "".join(unicodedata.normalize("NFKC", name).split()).casefold() == "main":
        raise Invalid("name must not be 'main': that is the main token's", details={"field": "name"})
    return name


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _first_run_token(path: Path) -> str:
    if path.exists():
        path.chmod(0o600)
        try:
            stored = read_own(path).decode().strip()
        except UnicodeDecodeError as error:
            raise StorageError(f"{path} holds no token (it is no UTF-8); mend it, or delete it and a new one is made") from error
        if stored:
            return stored
    secret = "tl_" + secrets.token_urlsafe(32)
    write_private(path, secret.encode() + b"\n")
    return secret


def _load(path: Path) -> _StoredTokens:
    if not path.exists():
        return _StoredTokens([])
    path.chmod(0o600)
    try:
        return decoders.decode(read_own(path), _StoredTokens)
    except BROKEN as error:
        raise StorageError(f"{path} is not a list of tokens ({error}); mend it or delete it") from error
