"""What a served hub does besides answering: it sends to webhooks and devices, ends what an expired token has open, and
keeps the search index up while little else is going on.

Rule 1: the log says which chore failed. It ends neither the hub nor another chore.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from trunkline.errors import TrunklineError
from trunkline.hub import Hub
from trunkline.server.call import Parts

if TYPE_CHECKING:
    from trunkline.server.delivery.once import SentOnce

log = logging.getLogger("trunkline.server")

INDEX_S = 60.0
"""How often the search index reads up."""

EXPIRED_S = 30.0
"""How often it is looked for tokens whose time is up."""


async def chores(parts: Parts, once: SentOnce | None = None) -> None:
    """Do all of them, until cancelled; with ``once``, send for the cluster what is else sent for the hub alone."""
    work = [_minded("the search index", _keep_index(parts.hub, INDEX_S)), _minded("tokens", _end_expired(parts, EXPIRED_S))]
    work += _deliveries(parts) if once is None else [_minded("the cluster's webhooks and pushes", once.run())]
    await asyncio.gather(*work)


def _deliveries(parts: Parts) -> list[Coroutine[Any, Any, None]]:
    work = [_minded("pushes", _push(parts))]
    if parts.options.webhooks:
        from trunkline.server.delivery.webhooks.ledger import LEDGER_FILE, Ledger  # only who has webhooks pays for them
        from trunkline.server.delivery.webhooks.notifier import Notifier

        ledger = Ledger(parts.hub.options.file(LEDGER_FILE))
        notifier = Notifier(parts.hub, parts.streams.watching, parts.options.webhooks, parts.options.public_url, ledger=ledger)
        work.append(_minded("webhooks", notifier.run()))
    return work


async def _push(parts: Parts) -> None:
    await parts.subscriptions.some()
    from trunkline.server.delivery.push.pusher import Pusher  # only a hub that somebody wants pushes from pays for them

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


async def _end_expired(parts: Parts, every_s: float) -> None:
    """Nothing happens when a token expires, and what was opened with it must end as well."""
    while True:
        await asyncio.sleep(every_s)
        try:
            parts.tokens.on_ended()
        except TrunklineError as error:
            log.warning("what belonged to a token that has expired is not forgotten: %s", error.message)


async def _minded(name: str, work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:  # a task's boundary: the hub goes on without it
        log.exception("%s: stopped by a failure", name)
