"""Connections for tests: open while the test runs, closed behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from trunkline.cluster.connection import Address, Connection

WITHIN_S = 30.0


@asynccontextmanager
async def connected(*servers: str, node: str = "tests", credentials: Path | None = None, ca: Path | None = None
                    ) -> AsyncIterator[Connection]:
    """A node's connection, up."""
    connection = Connection(Address(servers=servers, node=node, credentials=credentials, ca=ca))
    await connection.start()
    try:
        await connection.wait_up(WITHIN_S)
        yield connection
    finally:
        await connection.close()
