"""A hub in its cluster: its connection, its lease, its sessions on their way to the stream, and all sessions in sight.

Rule 1: wiring only. A hub with a cluster that is away starts and goes on (``--commit all`` waits for it).
Rule 2: at the start every session of the hub is brought to the stream, the newest first, one after the other; those that go on
        meanwhile do not wait for that.
Rule 3: a session that another node took over is put aside and forgotten here (``moving/giving_up.py``).
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from trunkline import __version__
from trunkline.cluster import subjects
from trunkline.cluster.connection import Address, Connection, check_name
from trunkline.cluster.directory import Directory, SessionPlace
from trunkline.cluster.jetstream import Refusal
from trunkline.cluster.members.marks import Marks
from trunkline.cluster.members.placement import Placement
from trunkline.cluster.members.standing import Standing
from trunkline.cluster.members.start_places import StartPlaces
from trunkline.cluster.moving.giving_up import GivingUp
from trunkline.cluster.nodes import NodeRow, Nodes
from trunkline.cluster.quiet import Quiet
from trunkline.cluster.reading.reader import StreamReader
from trunkline.cluster.shipping.commit_all import CommitAll
from trunkline.cluster.shipping.ending import remove_session
from trunkline.cluster.shipping.ledger import Ledger, ShippedRow
from trunkline.cluster.shipping.recheck import Recheck
from trunkline.cluster.shipping.shipper import Shipper
from trunkline.cluster.table import Table
from trunkline.cluster.tunnel.gateway import Owner
from trunkline.dialects.outside import is_whole_number
from trunkline.disk.private_file import read_private, replace_private
from trunkline.errors import ClusterDenied, NodeAway, NodeDraining, NotOwner, TrunklineError
from trunkline.hub.shapes import ClusterView, Removed
from trunkline.journal.base import Entry, Journal, RowFilter, SessionRow
from trunkline.threads import Lane

log = logging.getLogger("trunkline.cluster")

ROWS_AT_ONCE: Final = 200
LEDGER_FILE: Final = "cluster.db"
HOME_FILE: Final = "cluster.id"
NAME_WITHIN_S: Final = 2.0
"""How long a start waits for the cluster to say whether the name is free."""
REMOVE_AGAIN_S: Final = 5.0
STOP_AFTER_S: Final = 10.0
"""How long a hub that stops waits for the stream; an election takes up to 7 s."""
SHOWN_WITHIN_S: Final = 10.0
"""How long who looks at a session waits for the stream (``--commit all``): the same."""
RAISE_AFTER_S: Final = 1.0
"""What is found lost together raises the generation once."""


class NodeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a node is in its cluster."""

    address: Address
    role: str = "hub"
    pool: str
    pool_shared: bool = False
    labels: dict[str, str] = {}
    commit: str = "local"
    folder: Path | None = None
    """Where it keeps what outlives it; None: nothing does."""

    def __post_init__(self) -> None:
        check_name("pool", self.pool)

    @property
    def ships(self) -> bool:
        """Whether it has sessions of its own."""
        return self.role != "gateway"

    @property
    def asks_nobody(self) -> str:
        """Why it can ask no other node; empty where it can."""
        if self.role != "runner" or self.address.credentials is None:
            return ""
        return f"{self.address.node} is a runner, whose key asks no other node: ask at a gateway"


class Load(msgspec.Struct, frozen=True):
    """What a hub is doing."""

    sessions: int = 0
    running: int = 0


class ClusterNode:
    """One start of a node: the hub's ``Replica``, and what its faces know of the cluster."""

    def __init__(self, options: NodeOptions) -> None:
        self.options = options
        self.incarnation = secrets.token_hex(8)
        self._home = ""
        self.connection = Connection(options.address)
        self.load: Callable[[], Load] = Load
        """Set by whoever has the hub."""
        self.nodes = Nodes(self.connection, self._row, self._on_node)
        self.directory = Directory(self.connection, pool=options.pool, owner=self.connection.node, epoch_of=self._epoch_of,
                                   on_change=self._on_place)
        self.giving_up = GivingUp(self.connection.node, options.folder, self.directory)
        self._removing: set[asyncio.Task[None]] = set()
        """Deleted sessions that the cluster still has."""
        self.taking_in: set[str] = set()
        """Sessions that are on their way here."""
        self.state = Table(self.connection, subjects.STATE)
        self.marks = Marks(self.state)
        self.standing = Standing(self.nodes, self.directory, self.marks)
        self.placement = Placement(self._row(), self.nodes, self.marks, self.standing, options.asks_nobody)
        self.start_places: StartPlaces | None = None
        """Set by whoever has the cluster's table of tokens."""
        self.reader = StreamReader(self.connection, self.directory.pool_of)
        self.shipper: Shipper
        self.on_local: Callable[[dict[str, list[Entry]]], None] | None = None
        """Set by whoever shows what happens here, while that is told without the cluster."""
        self.on_local_deleted: Callable[[str], None] | None = None
        self.journal: Journal
        """The hub's own."""
        self._bringing: asyncio.Task[None] | None = None
        self._raising: asyncio.Task[None] | None = None
        self._showing: asyncio.Task[None] | None = None
        self._recheck: Recheck | None = None
        self._quiet = Quiet()

    async def connect(self) -> None:
        """Begin; Invalid where the key cannot be read, Conflict where another hub has the name."""
        self._home = await Lane(1).run(_home_id, self.options.folder)
        log.addFilter(self._quiet)
        await self.connection.start()
        self.nodes.start()
        self.directory.start()
        self.state.start()
        try:
            await self.nodes.check_name(NAME_WITHIN_S)
        except BaseException:
            await self.disconnect()
            raise
        self._showing = asyncio.create_task(self._show_itself())

    async def disconnect(self) -> None:
        """The hub is closed: leave."""
        for task in (self._bringing, self._raising, self._showing, *self._removing):
            if task is not None:
                task.cancel()
                await asyncio.wait((task,))
        for part in (self.giving_up, self.directory, self.nodes, self.state):
            await part.close()
        await self.connection.close()
        log.removeFilter(self._quiet)

    # What the hub calls.

    @property
    def node(self) -> str:
        """What it is called."""
        return self.connection.node

    @property
    def stored_within_s(self) -> float | None:
        """As ``Replica.stored_within_s``."""
        return SHOWN_WITHIN_S if self.options.commit == "all" else None

    def wrap(self, journal: Journal, hold: Callable[[bool], None]) -> Journal:
        """The hub's journal: its own, or with ``--commit all`` one that waits for the stream."""
        folder = self.options.folder
        ledger = Ledger(folder / LEDGER_FILE if folder is not None else None)
        self.journal = journal
        self.shipper = Shipper(self.connection, journal, ledger, pool=self.options.pool, incarnation=self.incarnation,
                               on_full=hold)
        self.shipper.on_taken = self.giving_up.on_taken
        self.giving_up.use(self.shipper, journal)
        self.shipper.on_went_back = self._on_went_back
        return CommitAll(journal, self.shipper) if self.options.commit == "all" else journal

    async def open(self) -> None:
        """Go on where the last start ended."""
        await self.shipper.open()
        await self.giving_up.open()
        self._recheck = Recheck(self.connection, self.shipper, lambda: self.generation)
        self._recheck.start()
        if self.options.commit == "all":
            await self.connection.wait_until_up()
            await self._bring_all()
        elif self.options.ships:
            self._bringing = asyncio.create_task(self._bring_all())

    def committed(self, parts: dict[str, list[Entry]]) -> None:
        """What was stored goes to the stream; with ``--commit all`` it is there."""
        if self.on_local is not None:
            self.on_local(parts)
        if self.options.commit != "all":
            self.shipper.committed(parts)

    def rows(self, rows: dict[str, SessionRow]) -> None:
        """What lists show of these has changed."""
        for session_id, row in rows.items():
            if not self.shipper.row(session_id).over:
                self.directory.put(row)

    async def deleted(self, session_id: str) -> Removed | None:
        """Take a deleted session out of the cluster, unless it is another node's by now."""
        if self.on_local_deleted is not None:
            self.on_local_deleted(session_id)
        row = self.shipper.row(session_id)
        if row.over:
            return None
        await self.shipper.forget(session_id)
        self.directory.remove(session_id)
        if not row.seq:
            return None
        try:
            removed = await self._remove(row)
            await self.directory.write_now()
            return removed
        except TrunklineError as error:
            log.warning("session %s is deleted, and still in the cluster's stream: %s", session_id, error.message)
            task = asyncio.create_task(self._remove_later(row))
            self._removing.add(task)
            task.add_done_callback(self._removing.discard)
            return Removed(why=f"it is still in the cluster, and is taken out when that can be reached: {error.message}")

    async def _remove(self, row: ShippedRow) -> Removed:
        # Keys as ``cluster init --print-config`` makes them may not erase, and each try would be a line in the servers' logs.
        return await remove_session(self.connection, self.options.pool, row,
                                    may_erase=self.options.address.credentials is None)

    async def _remove_later(self, row: ShippedRow) -> None:
        """Take a session out that was deleted while the cluster was away."""
        while True:
            await self.connection.wait_until_up()
            try:
                await self._remove(row)
                return
            except TrunklineError as error:
                log.warning("session %s is still in the cluster's stream: %s", row.session, error.message)
                await asyncio.sleep(REMOVE_AGAIN_S)

    def stopping(self) -> None:
        """What waits for the stream (``--commit all``) waits for a moment more: the next start brings it."""
        asyncio.get_running_loop().call_later(STOP_AFTER_S, self.shipper.wait_no_more)

    async def close(self) -> None:
        """The last entries go to the stream, where that takes a moment only."""
        if self._bringing is not None:
            self._bringing.cancel()
            await asyncio.wait((self._bringing,))
        if self._recheck is not None:
            await self._recheck.close()
        await self.shipper.close()

    # What the tunnel asks.

    async def owner_of(self, session_id: str) -> Owner | None:
        """The node that has a session, and in which epoch; None where the directory knows of none."""
        place = self.directory.places.get(session_id)
        return None if place is None else Owner(place.owner, place.epoch)

    def check_owner(self, session_id: str, epoch: int) -> None:
        """NotOwner, where a session is another node's by now, or was not this node's yet in that epoch. NodeAway, where this node
        was gone for so long that others may have gone on with it: what was asked then waits in its connection still."""
        if epoch and not self.nodes.holds_lease:
            raise NodeAway(f"{self.node} was away itself, and does not know yet what became of its sessions; nothing was done",
                           details={"node": self.node})
        row = self.shipper.row(session_id)
        if epoch and (row.over or row.epoch != epoch):
            raise NotOwner(f"{self.connection.node} does not own session {session_id} in epoch {epoch}",
                           details={"sessionId": session_id, "epoch": row.epoch})

    def last_seq(self, session_id: str) -> int:
        """The last entry of a session of this node's."""
        return self.shipper.newest(session_id)

    # What its faces show.

    def view(self) -> ClusterView:
        """The cluster as this node sees it."""
        return ClusterView(node=self.node, role=self.options.role, commit=self.options.commit, generation=self.generation,
                           connected=self.connection.up, nodes=self.standing.views())

    def check_takes_new(self) -> None:
        """NodeDraining, where no session is to begin here."""
        if self.marks.is_draining(self.node):
            raise NodeDraining(f"{self.node} takes no new sessions: it is being drained", details={"node": self.node})

    # The rest.

    @property
    def generation(self) -> int:
        """How often the stream was found to have gone back."""
        value = self.state.rows.get(subjects.GENERATION, b"0")
        return int(value) if is_whole_number(value) else 0

    async def _bring_all(self) -> None:
        """Every session of this hub: its row, and what the stream does not have of it."""
        before: tuple[int, str] | None = None
        while rows := await self.journal.rows(RowFilter(before=before, limit=ROWS_AT_ONCE)):
            for row in rows:
                await self._bring(row)
            before = (rows[-1].updated_at, rows[-1].id)

    async def _bring(self, row: SessionRow) -> None:
        known = self.shipper.row(row.id)
        if known.over:
            return
        self.directory.put(row)
        if known.seq < row.last_seq:
            try:
                self.shipper.resume(row.id, row.last_seq)
                await self.shipper.shipped(row.id, row.last_seq)
            except TrunklineError as error:
                log.warning("session %s: %s", row.id, error.message)

    def _on_went_back(self) -> None:
        if self._recheck is not None:
            self._recheck.soon()
        if self._raising is None or self._raising.done():
            self._raising = asyncio.create_task(self._raise_generation())

    async def _raise_generation(self) -> None:
        """Places in the stream are given out a second time: who reads by them has to begin anew."""
        await asyncio.sleep(RAISE_AFTER_S)
        fence = self.state.revisions.get(subjects.GENERATION)
        try:
            answer = await self.state.put(subjects.GENERATION, str(self.generation + 1).encode(), fence=fence)
            if isinstance(answer, Refusal):
                log.info("another node has raised the generation already")
        except TrunklineError as error:
            log.error("the generation of the stream could not be raised: %s", error.message)

    async def _show_itself(self) -> None:
        """Leave a mark that outlives this node's lease."""
        while True:
            await self.connection.wait_until_up()
            await self.state.loaded.wait()
            try:
                await self.marks.saw(self._row())
                await self.marks.is_back(self.node)
                return
            except ClusterDenied as error:  # a runner may not say that it is back; that it is there says as much
                log.info("%s", error.message)
                return
            except TrunklineError as error:
                log.info("what this node is could not be written down: %s", error.message)
                await asyncio.sleep(RAISE_AFTER_S)

    def _on_place(self, session_id: str, place: SessionPlace | None) -> None:
        self.giving_up.on_place(session_id, place)

    def _on_node(self, name: str, row: NodeRow | None) -> None:
        self.giving_up.on_node(name, row)

    def _epoch_of(self, session_id: str) -> int:
        return self.shipper.row(session_id).epoch

    def _row(self) -> NodeRow:
        load, options = self.load(), self.options
        shipper = getattr(self, "shipper", None)
        return NodeRow(node=self.connection.node, home=self._home, incarnation=self.incarnation, role=options.role,
                       pool=options.pool, labels=options.labels, version=__version__, sessions=load.sessions,
                       running=load.running, lag=shipper.lags() if shipper else {}, behind=shipper.behind if shipper else 0,
                       taken=shipper.counts.taken if shipper else 0, draining=self.marks.is_draining(self.node),
                       shared=options.pool_shared, aside=dict(self.giving_up.aside))


def _home_id(folder: Path | None) -> str:
    """Which data folder this is, by a word of its own; a new one where nothing is kept."""
    if folder is None:
        return secrets.token_hex(8)
    path = folder / HOME_FILE
    known = read_private(path, 64)
    if known is None:
        known = secrets.token_hex(8)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_private(path, known.encode())
    return known.strip()
