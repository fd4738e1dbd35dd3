"""A connection to the cluster for the time of one command.

Rule: a command waits a few seconds for it, and says why there is none; it never hangs.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from trunkline.cli.hosting.clustered import check_installed, own_name
from trunkline.errors import Invalid
from trunkline.settings import Settings

if TYPE_CHECKING:
    from trunkline.cluster.connection import Connection

WITHIN_S = 10.0


@asynccontextmanager
async def reached(settings: Settings, *, within_s: float = WITHIN_S) -> AsyncIterator[Connection]:
    """A connection that is up; ClusterUnavailable with the reason where there is none in time."""
    if not settings.cluster:
        raise Invalid("cluster: name a server of it, as --cluster nats://127.0.0.1:4222")
    check_installed()
    from trunkline.cluster.connection import Address, Connection

    connection = Connection(Address(servers=settings.cluster, node=_name(settings), credentials=settings.cluster_credentials,
                                    ca=settings.cluster_ca))
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns of each TLS connection that ends
    logging.getLogger("trunkline.cluster").setLevel(logging.ERROR)  # why there is none is the command's own word
    await connection.start()
    try:
        await connection.wait_up(within_s)
        yield connection
    finally:
        await connection.close()


def _name(settings: Settings) -> str:
    """A key is one node's, whose name is then needed for the answers to come back; without one any name will do."""
    return own_name(settings) if settings.node or settings.cluster_credentials else f"cli-{os.getpid()}"
