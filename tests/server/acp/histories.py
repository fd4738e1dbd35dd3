"""Sessions with a history, and how an editor asks for it."""

from __future__ import annotations

from pathlib import Path

from tests.server.acp.editor import Editor, Json

LONG = 400
"""Turns of a history that takes more than one slice to tell."""


async def with_history(made: Editor, folder: Path) -> str:
    """A session in which much was said."""
    session_id = await made.new(folder)
    for number in range(4):
        await made.play(session_id, *[["say", f"{number}.{line} {'x' * 400}\n"] for line in range(LONG // 4)])
    return session_id


def named(session_id: str, **ours: object) -> Json:
    """Params of a request that opens a session again."""
    return {"sessionId": session_id, "cwd": "/", "mcpServers": [], "_meta": {"trunkline": ours}}
