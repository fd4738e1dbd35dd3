"""An editor opens a session whose owner is away: it is sent what the cluster has of it, and can do nothing with it.

Rule 1: nothing is followed: nothing comes while the owner is away. An editor that wants to go on opens the session again.
Rule 2: whatever would change the session is refused, with the reason (``Elsewhere.check_there``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from trunkline.dialects.acp.methods import SESSION_LOAD
from trunkline.dialects.acp.reading.decode import decode_params
from trunkline.dialects.acp.sessions import LoadSessionRequest
from trunkline.hub.sight import ShownSession
from trunkline.server.acp.attachment.attachment import EditorAttachment
from trunkline.server.acp.attachment.settings import settings_of
from trunkline.server.acp.connection import EditorLine, EditorRequest
from trunkline.server.acp.handshake import Handshake
from trunkline.server.acp.offers import ours_of
from trunkline.server.acp.tasks import Spawn
from trunkline.session.client.editors import Editors

if TYPE_CHECKING:
    from trunkline.hub import Session


class _Readable:
    """As much of a session as a replay needs."""

    def __init__(self, shown: ShownSession) -> None:
        self.id, self.fold, self.feed = shown.id, shown.fold, shown.feed
        self.editors = Editors(shown.fold)


async def open_away(shown: ShownSession, line: EditorLine, handshake: Handshake, spawn: Spawn, method: str,
                    request: EditorRequest) -> None:
    """Answer a request to load a session, with all that was, or to resume it."""
    if method == SESSION_LOAD:
        ask: LoadSessionRequest = decode_params(SESSION_LOAD, request.params)
        place = EditorAttachment(cast("Session", _Readable(shown)), line, handshake.by, spawn, scope=handshake.caller.scope,
                                 stopping=lambda: False)
        until = shown.feed.last_seq
        await place.replay(min(ours_of(ask.meta).after or 0, until), until, request.stream)
    await line.reply(request, settings_of(shown.fold, line.offers))
