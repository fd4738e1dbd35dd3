"""What waits for somebody in the hub, as ``approve``, ``deny`` and ``answer`` name it.

Rule 1: without a name something is only answered where it is the only one that waits; where several do, they are listed and
nothing is done. An empty name is none of anything's: it is what a script has that did not find an id.
Rule 2: an ask whose call changed while it waited has the earlier id with a number behind it (``…-2``). Whoever names the
beginning of it, or nothing, may have seen what it was before: only its whole id approves it (``check_was_seen``).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Final, Literal

from trunkline.cli.hosting.locate import connected, find
from trunkline.cli.naming import SESSION, meant
from trunkline.client import Client, PendingAsk
from trunkline.dialects.calls.describe import told_alone
from trunkline.dialects.visible import one_revealed_line
from trunkline.errors import Invalid, NotFound, Unavailable
from trunkline.settings import Settings

Kind = Literal["approval", "question"]
WITHOUT_ID: Final[dict[Kind, str]] = {"approval": "none", "question": "-"}
ANOTHER: Final[dict[Kind, str]] = {
    "approval": "; a question does: trunkline answer", "question": "; an approval does: trunkline approve, trunkline deny"}
LISTED = 20
LINE_CHARS = 100
_ANEW = re.compile(r"-\d+\Z")


async def with_ask(settings: Settings, kind: Kind, name: str | None,
                   work: Callable[[Client, PendingAsk], Awaitable[None]]) -> None:
    """Do something with what waits under that name."""
    endpoint = await find(settings)
    if endpoint is None:
        raise Unavailable(f"no hub is running on {settings.data}, so nothing waits")
    async with connected(endpoint, settings) as hub:
        await work(hub, the_one(await hub.approvals(), kind, name))


def the_one(asks: list[PendingAsk], kind: Kind, name: str | None) -> PendingAsk:
    """The ask with that id, or the only one of that session; without a name, the only one."""
    if name == "":
        raise Invalid(f"the id is empty: give the beginning of one, or {WITHOUT_ID[kind]} for the only {kind} that waits")
    waiting = [ask for ask in asks if getattr(ask, kind) is not None]
    found = [ask for ask in waiting if name is None or is_named(ask, name)]
    if len(found) == 1:
        return found[0]
    if not waiting:
        raise NotFound(f"no {kind} waits for anybody{ANOTHER[kind] if asks else ''}")
    if not found:
        known = [each for ask in waiting for each in (id_of(ask), ask.session_id)]
        raise NotFound(f"no {kind} that waits has an id, or a session, that begins with {name!r}{meant(name or '', known)}")
    lines = "\n".join(f"  {line_of(ask)}" for ask in found[:LISTED])
    raise Invalid(f"{len(found)} wait; name one of them:\n{lines}")


def is_named(ask: PendingAsk, name: str) -> bool:
    """Whether the name is the beginning of its id or of its session's."""
    return id_of(ask).startswith(name) or ask.session_id.startswith((name, SESSION + name))


def check_was_seen(ask: PendingAsk, name: str | None) -> None:
    """Invalid where the ask was asked anew, and is not named by the id that it has since."""
    if _ANEW.search(id_of(ask)) and name != id_of(ask):
        raise Invalid(f"what this would do changed while it waited, so only its whole id approves it:\n  {line_of(ask)}")


def id_of(ask: PendingAsk) -> str:
    """The id that an answer needs."""
    if ask.approval is not None:
        return ask.approval.request_id
    return ask.question.question_id if ask.question is not None else ""


def line_of(ask: PendingAsk) -> str:
    """What waits, in a line."""
    about = ask.question.question if ask.question else ""
    if ask.approval is not None:
        described = ask.approval.description or ask.approval.title
        about = told_alone(ask.approval.tool_name, described, ask.approval.doubts)
    line = one_revealed_line(about)
    return f"{id_of(ask)}  {ask.session_id}  {line if len(line) <= LINE_CHARS else line[:LINE_CHARS - 1] + '…'}"
