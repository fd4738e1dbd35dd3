"""What a served hub does besides answering: it tells webhooks and devices, and keeps the search index up while little
else is going on.

Rule 1: a chore that fails is told in the log. It ends neither the hub nor another chore.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from trunkline.errors import TrunklineError
from trunkline.hub import Hub
from trunkline.server.call import Parts

log = logging.getLogger("trunkline.server")

INDEX_S = 60.0
"""How often the search index reads up."""


async def chores(parts: Parts) -> None:
    """Do all of them, until cancelled."""
    work = [_minded("the search index", _keep_index(parts.hub, INDEX_S))]
    if parts.options.webhooks:
        from trunkline.server.notify.notifier import Notifier  # only who has webhooks pays for them

        notifier = Notifier(parts.hub, parts.streams.watching, parts.options.webhooks, parts.options.public_url)
        work.append(_minded("webhooks", notifier.run()))
    work.append(_minded("pushes", _push(parts)))
    await asyncio.gather(*work)


async def _push(parts: Parts) -> None:
    await parts.subscriptions.some()
    from trunkline.server.push.pusher import Pusher  # only a hub that somebody wants pushes from pays for them

    await Pusher(parts.hub, parts.subscriptions, parts.tokens.scope_of, parts.options.public_url).run()


async def _keep_index(hub: Hub, every_s: float) -> None:
    while True:
        await asyncio.sleep(every_s)
        if hub.busy():
            continue
        try:
            await hub.index.keep_up()
        except TrunklineError as error:
            log.warning("the search index is behind: %s", error.message)


async def _minded(name: str, work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:  # a task's boundary: the hub goes on without it
        log.exception("%s: stopped by a failure", name)
