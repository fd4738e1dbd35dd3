"""What a shell completes beside commands and flags: agents, sessions, and what waits.

Rule: somebody waits for the Tab key: a hub is asked only where one runs, within WITHIN_S, and no trouble is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

WITHIN_S = 2.0


def agent_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Agents, by the catalog and the settings alone."""
    from trunkline.cli.naming import known_agents
    from trunkline.cli.read_settings import load

    known = known_agents(load(_flags(ctx)))
    return [CompletionItem(name, help=spec.display_name) for name, spec in known.items() if name.startswith(incomplete)]


def session_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The newest sessions, with their titles."""

    async def ask(hub: Any) -> list[CompletionItem]:
        page = await hub.sessions(limit=50)
        return [_item(view.id, view.title or view.cwd) for view in page.sessions]

    return _of_hub(ctx, incomplete, ask)


def agents_and_sessions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Both."""
    return agent_names(ctx, param, incomplete) + session_ids(ctx, param, incomplete)


def waiting_approvals(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Requests that wait for a decision."""
    return _of_hub(ctx, incomplete, lambda hub: _waiting(hub, "approval"))


def waiting_questions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Questions that wait for an answer."""
    return _of_hub(ctx, incomplete, lambda hub: _waiting(hub, "question"))


async def _waiting(hub: Any, kind: str) -> list[CompletionItem]:
    from trunkline.cli.waiting import id_of, line_of

    return [_item(id_of(ask), line_of(ask)) for ask in await hub.approvals() if getattr(ask, kind) is not None]


def _of_hub(ctx: click.Context, incomplete: str, ask: Callable[[Any], Awaitable[list[CompletionItem]]]) -> list[CompletionItem]:
    from trunkline.cli.hosting.locate import connected, find
    from trunkline.cli.read_settings import load
    from trunkline.errors import TrunklineError

    async def asked() -> list[CompletionItem]:
        settings = load(_flags(ctx))
        async with asyncio.timeout(WITHIN_S):
            endpoint = await find(settings)
            if endpoint is None:
                return []
            async with connected(endpoint, settings) as hub:
                return await ask(hub)

    try:
        found = asyncio.run(asked())
    except (TrunklineError, TimeoutError):
        return []
    return [item for item in found if item.value.startswith(incomplete)]


def _item(word: str, about: str) -> CompletionItem:
    from trunkline.dialects.visible import one_line

    return CompletionItem(word, help=one_line(about)[:60])


def _flags(ctx: click.Context) -> dict[str, Any]:
    """Which hub the line names, as far as it was typed."""
    return {name: value for name, value in ctx.params.items() if name in ("data", "config", "url") and value}
