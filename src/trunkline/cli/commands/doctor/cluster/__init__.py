"""The cluster of the hub: how it is reached, how its streams are, and how this node is in it.

    way.py      the server, what protects the way to it, this node's key
    stored.py   the streams and buckets: whether they are there, as they should be, and with room
    member.py   this node's lease and name, the clocks, who sees what late

Rule 1: nothing is written there either: no lease is taken and no row put. So what a key may write is not tried; what it reads is.
Rule 2: where the settings name no cluster nothing is said, and nothing of it is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline.cli.commands.cluster.reaching import reached
from trunkline.cli.commands.doctor.cluster import member, stored, way
from trunkline.cli.commands.doctor.finding import Finding, Scene, bad
from trunkline.errors import ClusterUnavailable, Invalid, TrunklineError, Unavailable

if TYPE_CHECKING:
    from trunkline.cluster.connection import Connection

CONNECT_S = 6.0
"""Two tries, of which each may take two seconds; all checks together have fifteen."""


async def cluster(scene: Scene) -> list[Finding]:
    """All of it, over one connection."""
    settings = scene.settings
    if not settings.cluster:
        return []
    if wrong := await scene.off_loop(way.file_trouble, settings):
        return wrong
    try:
        async with reached(settings, within_s=CONNECT_S) as connection:
            return await _looked_at(scene, connection)
    except Invalid as error:
        return [bad("cluster", error.message, way.SETTINGS_FIX)]
    except ClusterUnavailable as error:
        return [way.not_reached(error.message)]
    except Unavailable as error:
        return [bad("cluster", error.message, "pip install 'trunkline[cluster]'")]


async def _looked_at(scene: Scene, connection: Connection) -> list[Finding]:
    """Each part needs the one before it."""
    from trunkline.cluster.survey.server import server_of
    from trunkline.cluster.survey.streams import read_streams

    told = way.told_of(connection, scene.settings)
    if any(finding.state == "bad" for finding in told if finding.check == "cluster"):
        return told
    try:
        streams = await read_streams(connection)
        told += stored.of_streams(streams, server_of(connection).cluster) + stored.of_room(streams)
        if all(each.state != "missing" for each in streams):
            told += await member.node(scene, connection)
    except TrunklineError as error:
        wrong = way.not_answered(error, scene.settings)
        return [*(finding for finding in told if finding.check != wrong.check), wrong]
    return told
