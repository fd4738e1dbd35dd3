"""The same request again, under the same id: done at most once, whatever was lost on the way.

Rule 1: a request is repeated only where its owner knows it again: it carries an id that is kept in the session's own state
(``Idempotency-Key``, a command's id). Who only reads may as well ask again by itself, when it likes.
Rule 2: it is repeated after silence, and where the session is on its way to another node. Who is away, or refuses, has said so,
and that is the answer.
Rule 3: after silence nothing but an answer is known. So what is told at the deadline is that nothing is known, also where the
owner is found to be away by then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from trunkline.cluster.tunnel.heads import RequestHead
from trunkline.errors import ClusterUnavailable, HubStopping, NodeAway, NodeSilent, NotOwner, TrunklineError
from trunkline.session.commands.refused import id_in

WITHIN_S = 30.0
"""For all tries together: an owner's hub that is started anew is back by then, and people still wait."""
PAUSE_S = 0.2
PAUSE_MOST_S = 2.0

T = TypeVar("T")


def is_repeatable(head: RequestHead) -> bool:
    """Whether it may be sent twice."""
    if head.body is None:
        return False
    if any(name == b"idempotency-key" and value for name, value in head.headers):
        return True
    return head.path.endswith("/commands") and id_in(head.body) is not None


async def repeated(ask: Callable[[], Awaitable[T]], within_s: float = WITHIN_S) -> T:
    """Ask, and ask again where nothing came; NodeSilent where nothing is known at the deadline."""
    loop = asyncio.get_running_loop()
    until, pause_s = loop.time() + within_s, PAUSE_S
    silent: TrunklineError
    try:
        return await ask()
    except (NodeSilent, NotOwner) as error:
        silent = error
    while loop.time() + pause_s < until:
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, PAUSE_MOST_S)
        try:
            async with asyncio.timeout_at(until):
                return await ask()
        except TimeoutError as error:
            silent = NodeSilent(f"no answer came in time: {error}")
            break
        except NodeSilent as error:
            silent = error
        except (NodeAway, NotOwner, HubStopping, ClusterUnavailable):
            continue
    if isinstance(silent, NotOwner):
        raise silent  # nobody was silent: nothing was done, and that is known
    raise NodeSilent(f"whether it was done is not known; ask again with the same id ({silent.message})") from silent
