"""Sessions from three places, brought to one shape, each once, newest activity first."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from trunkline.dialects.context.envelope import iso_ms
from trunkline.dialects.context.types import DiscoveredSession
from trunkline.discovery.base import FoundSession
from trunkline.session.driver.base import AgentSession
from trunkline.session.fold import SessionView

LISTED_MOST = 5_000
"""Sessions of the hub that one list takes in."""

UNKNOWN_TIME = "1970-01-01T00:00:00.000Z"
"""Where an agent does not say when: the protocol wants a time."""

NAME_MOST = 100
LAST_MOST = 200


def from_hub(view: SessionView) -> DiscoveredSession:
    """A session of the hub."""
    return _discovered(view.id, view.agent, view.cwd, view.created_at, view.updated_at, view.title, view.last_text)


def from_agent(agent: str, listed: AgentSession) -> DiscoveredSession:
    """A session that the agent listed; agents tell when it was last used, few when it began."""
    last = _instant(listed.updated_at) or _instant(listed.created_at) or UNKNOWN_TIME
    return _discovered(listed.session_id, agent, listed.cwd, _instant(listed.created_at) or last, last, listed.title or "", "")


def from_store(agent: str, found: FoundSession) -> DiscoveredSession:
    """A session found in the agent's files."""
    return _discovered(found.id, agent, found.cwd, iso_ms(found.created_at), iso_ms(found.updated_at), found.title,
                 found.last_message)


def merged(sessions: Iterable[DiscoveredSession]) -> list[DiscoveredSession]:
    """Each session once, as the first place that had it has it."""
    once: dict[str, DiscoveredSession] = {}
    for session in sessions:
        once.setdefault(session.id, session)
    return sorted(once.values(), key=lambda session: session.last_activity, reverse=True)


def _discovered(session_id: str, agent: str, cwd: str, created: str, last: str, name: str, message: str) -> DiscoveredSession:
    return DiscoveredSession(
        id=session_id, agent=agent, project_path=cwd, project_name=os.path.basename(cwd.rstrip("/")) or cwd, created_at=created,
        last_activity=last, session_name=_short(name, NAME_MOST), last_message=_short(message, LAST_MOST))


def _short(text: str, most: int) -> str | msgspec.UnsetType:
    return (text if len(text) <= most else text[:most] + "...") if text else msgspec.UNSET


def _instant(stamp: str | None) -> str | None:
    """An ISO time in the one form in which times can be compared as text; None for what is no time."""
    if not stamp:
        return None
    try:
        read = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    at = read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"
