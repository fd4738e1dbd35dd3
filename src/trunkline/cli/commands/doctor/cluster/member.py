"""How this node is in its cluster: its lease and its name, its clock, and what others see late of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from trunkline import __version__
from trunkline.cli.commands.doctor.finding import Finding, Scene, bad, note, ok
from trunkline.cli.common import counted
from trunkline.cli.hosting.clustered import own_name
from trunkline.disk.private_file import read_private

if TYPE_CHECKING:
    from trunkline.cluster.connection import Connection
    from trunkline.cluster.nodes import NodeRow
    from trunkline.cluster.survey.server import Clock

DRIFT_S: Final = 2.0
"""What people see: lists of two nodes are in another order, and times jump."""
DRIFT_MOST_S: Final = 30.0
"""As long as a lease: tokens end at the wrong time, and logs tell nothing any more."""


async def node(scene: Scene, connection: Connection) -> list[Finding]:
    """The lease, the clocks, the lag."""
    from trunkline.cluster.survey.members import heard_ago_s, read_nodes
    from trunkline.cluster.survey.server import clock_of

    name, clock = own_name(scene.settings), await clock_of(connection)
    rows = await read_nodes(connection)
    heard = await heard_ago_s(connection, name, clock.ahead_s if clock is not None else 0.0)
    home = await scene.off_loop(_home, scene.settings.data)
    told = [of_lease(name, rows.get(name), home, is_running=scene.endpoint is not None, heard_s=heard), of_clock(clock)]
    if (row := rows.get(name)) is not None and row.home == home:
        told.append(of_lag(row))
    return [*told, *of_versions(rows)]


def of_lease(name: str, row: NodeRow | None, home: str, *, is_running: bool, heard_s: float | None) -> Finding:
    """Whether this hub has its name, and is seen. ``home`` is the word of the data folder here."""
    if row is None:
        if is_running:
            return bad("node", f"the hub runs, and the cluster does not see {name}",
                       "was it started with --cluster, and as this node? hub.log in the data folder says why it has no lease")
        return ok("node", f"no hub runs here; the name {name} is free")
    if row.home != home:
        return bad("node", f"another hub is called {name}, in pool {row.pool}", "give this one a name with --node")
    if not is_running:
        return note("node", f"{name} has a lease, and no hub answers here", "it ends by itself within half a minute")
    heard = f", renewed {heard_s:.0f} s ago" if heard_s is not None else ""
    return ok("node", f"{name} is seen by the others: {row.role}, pool {row.pool}{heard}")


def of_clock(clock: Clock | None) -> Finding:
    """Whether this machine and the servers agree on the time."""
    if clock is None:
        return note("drift", "the server does not tell its time")
    least = max(abs(clock.ahead_s) - clock.round_trip_s / 2, 0.0)  # what the way there takes is nobody's fault
    side = "behind" if clock.ahead_s > 0 else "before"
    if least < DRIFT_S:
        return ok("drift", f"this clock and the server's differ by less than {max(least, 0.1):.1f} s")
    what, fix = f"this clock is {least:.0f} s {side} the server's", "on both machines: timedatectl set-ntp true"
    return bad("drift", what, fix) if least >= DRIFT_MOST_S else note("drift", what, fix)


def of_lag(row: NodeRow) -> Finding:
    """Whether what this node does is seen elsewhere."""
    if row.lag:
        return bad("lag", f"others see {counted(len(row.lag), 'session')} of this node late, by {max(row.lag.values()):.0f} s",
                   "room and the way to the server are above; hub.log in the data folder says what was refused")
    if row.taken:
        return note("lag", f"other nodes took over {counted(row.taken, 'session')} of this one; what only it had was put aside",
                    "quarantine/ in the data folder has it, a line of JSON per entry")
    return ok("lag", "none: others see all of it")


def of_versions(rows: dict[str, NodeRow]) -> list[Finding]:
    """Whether all nodes are of one kind."""
    others = {row.version: row.node for row in rows.values() if row.version != __version__}
    told = ", ".join(f"{node} has {version}" for version, node in sorted(others.items()))
    return [note("node", f"this is {__version__}; {told}", "install one version everywhere")] if told else []


def _home(data: Path) -> str:
    from trunkline.cluster.node import HOME_FILE

    return (read_private(data / HOME_FILE, 64, close=False) or "").strip()
