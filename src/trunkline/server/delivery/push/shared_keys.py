"""The push key of a cluster: one for all its gateways, so that a device that subscribed at one is reached by any.

Rule: the first node that is asked for a key shares its own. It is made once (``Table.create``) and never replaced: that would end
every subscription. The table that has it is for gateways alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline.errors import Conflict, StorageError
from trunkline.server.delivery.push.crypt import b64, unb64
from trunkline.server.delivery.push.keys import KEY_BYTES, PushKey

if TYPE_CHECKING:
    from trunkline.cluster.tables.table import Table

KEY = "key"


async def shared_key(table: Table, own: PushKey) -> PushKey:
    """The cluster's key; ``own`` where it has none yet."""
    try:
        await table.create(KEY, b64(own.private).encode())
    except Conflict:
        return await _stored(table)
    return own


async def _stored(table: Table) -> PushKey:
    row = await table.keys.read(KEY)
    try:
        private = unb64(row.value.decode("ascii")) if row is not None else b""
    except ValueError:
        private = b""
    if len(private) != KEY_BYTES:
        raise StorageError("the cluster's push key cannot be read; put the right one back")
    return PushKey(private)
