"""Stores of other programs, made of what was recorded of them, below a home."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).parents[1] / "data" / "stores"
RECORDED = "/home/dev/project"
"""The folder that recorded sessions were in."""


class Made(NamedTuple):
    """A store with one recorded session in it."""

    agent: str
    folder: Path
    """What the catalog calls the agent's ``sessions``."""
    session_id: str
    file: Path
    """Where the session is written."""


def table(connection: sqlite3.Connection, name: str, rows: list[dict[str, Any]]) -> None:
    """A table of these rows, with their members as columns."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    declared = [_primary(rows) if key == "id" else f'"{key}"' for key in columns]
    connection.execute(f"CREATE TABLE {name} ({', '.join(declared)})")
    for row in rows:
        connection.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", [row.get(key) for key in columns])


def _primary(rows: list[dict[str, Any]]) -> str:
    return "id INTEGER PRIMARY KEY" if all(isinstance(row.get("id"), int) for row in rows) else "id TEXT PRIMARY KEY"


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def codex(home: Path) -> Made:
    """Codex's: a file, and the index beside it."""
    folder = home / ".codex" / "sessions"
    shutil.copytree(DATA / "codex" / "sessions", folder)
    with sqlite3.connect(home / ".codex" / "state_5.sqlite") as connection:
        table(connection, "threads", read_lines(DATA / "codex" / "threads.jsonl"))
    connection.close()
    return Made("codex-acp", folder, "01a1e4d7-2d1e-7cb1-84c4-54f2b21811b0", next(folder.rglob("*.jsonl")))


def opencode(home: Path) -> Made:
    """OpenCode's: rows of a database."""
    folder = home / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    rows = read_lines(DATA / "opencode" / "rows.jsonl")
    with sqlite3.connect(folder / "opencode.db") as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        for name in ("session", "message", "part"):
            table(connection, name, [{key: row[key] for key in row if key != "table"} for row in rows if row["table"] == name])
        connection.execute("CREATE INDEX part_of_session ON part (session_id)")
    connection.close()
    return Made("opencode", folder, "ses_e1b22f15bffeR27A7NwqznbVUo", folder / "opencode.db")


def gemini(home: Path) -> Made:
    """Gemini CLI's: a file, and the list of projects."""
    chats = home / ".gemini" / "tmp" / "project" / "chats"
    chats.mkdir(parents=True)
    (home / ".gemini" / "projects.json").write_text('{"projects": {"/home/dev/project": "project"}}')
    file = chats / "session-2026-11-16T15-20-30ae2bf1.jsonl"
    shutil.copyfile(DATA / "gemini" / "chat-after.jsonl", file)
    return Made("gemini", home / ".gemini" / "tmp", "30ae2bf1-1918-4bfb-bcc9-758f173e65f3", file)


def qwen(home: Path) -> Made:
    """Qwen Code's: a file."""
    chats = home / ".qwen" / "projects" / "-home-dev-project" / "chats"
    chats.mkdir(parents=True)
    session_id = "95d6745a-e665-46b8-9d06-928ca5b2b767"
    shutil.copyfile(DATA / "qwen" / "chat.jsonl", chats / f"{session_id}.jsonl")
    return Made("qwen", home / ".qwen" / "projects", session_id, chats / f"{session_id}.jsonl")


def copilot(home: Path) -> Made:
    """GitHub Copilot CLI's: a folder with its lines and its description."""
    session_id = "70217db7-3d16-4b89-a99f-1972e7c10530"
    folder = home / ".copilot" / "session-state"
    shutil.copytree(DATA / "copilot", folder / session_id)
    return Made("copilot", folder, session_id, folder / session_id / "events.jsonl")


DONE = '[{"type":"text","text":"Done."}]'
"""The end of the recorded turn, which the recorded rows are without."""


def goose(home: Path) -> Made:
    """goose's: rows of a database."""
    folder = home / ".local" / "share" / "goose" / "sessions"
    folder.mkdir(parents=True)
    rows = read_lines(DATA / "goose" / "rows.jsonl")
    with sqlite3.connect(folder / "sessions.db") as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        for name in ("sessions", "messages"):
            table(connection, name, [{key: row[key] for key in row if key != "table"} for row in rows if row["table"] == name])
        connection.execute("INSERT INTO messages (id, message_id, session_id, role, content_json, created_timestamp) "
                           "VALUES (5, 'm5', '20261116_1', 'assistant', ?, 1794841822)", (DONE,))
        connection.execute("CREATE INDEX messages_of_session ON messages (session_id)")
    connection.close()
    return Made("goose", folder, "20261116_1", folder / "sessions.db")


def claude(home: Path) -> Made:
    """Claude Code's: a file."""
    folder = home / ".claude" / "projects"
    shutil.copytree(DATA.parent / "claude" / "projects", folder)
    session_id = "11111111-2222-4333-8444-555555555555"
    return Made("claude-agent-acp", folder, session_id, folder / "-home-dev-project" / f"{session_id}.jsonl")


def move(made: Made, project: Path) -> None:
    """Let a recorded session have been in a folder that is there."""
    if made.file.suffix == ".db":
        with sqlite3.connect(made.file) as connection:
            told = "sessions SET working_dir" if made.agent == "goose" else "session SET directory"
            connection.execute(f"UPDATE {told} = ?", (str(project),))
        connection.close()
        return
    for path in (made.file, *made.folder.parent.glob("projects.json")):
        path.write_text(path.read_text().replace(RECORDED, str(project)))


def add_prompt(made: Made, text: str) -> None:
    """Write a prompt into the session, as its own program would."""
    stamp = "2026-11-19T10:00:00.000Z"
    if made.agent == "goose":
        with sqlite3.connect(made.file) as connection:
            connection.execute("INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp) "
                               "VALUES (?, ?, 'user', ?, 1795082400)", (f"u-{text}", made.session_id,
                                                                        json.dumps([{"type": "text", "text": text}])))
        connection.close()
        return
    if made.file.suffix == ".db":
        with sqlite3.connect(made.file) as connection:
            (newest,) = connection.execute("SELECT max(time_updated) FROM part").fetchone()
            at, number = newest + 60_000, abs(hash(text)) % 10**9
            data = {"role": "user", "time": {"created": at}}
            connection.execute("INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?, ?, ?, ?, ?)",
                               (f"msg_z{number}", made.session_id, at, at, json.dumps(data)))
            connection.execute("INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) "
                               "VALUES (?, ?, ?, ?, ?, ?)", (f"prt_z{number}", f"msg_z{number}", made.session_id, at, at,
                                                             json.dumps({"type": "text", "text": text})))
        connection.close()
        return
    words = {"type": "text", "text": text}
    line: dict[str, Any] = {
        "claude-agent-acp": {"type": "user", "uuid": f"u-{text}", "timestamp": stamp,
                             "message": {"role": "user", "content": [words]}},
        "codex-acp": {"timestamp": stamp, "type": "event_msg", "payload": {"type": "user_message", "message": text}},
        "qwen": {"uuid": f"u-{text}", "sessionId": made.session_id, "timestamp": stamp, "type": "user",
                 "message": {"role": "user", "parts": [{"text": text}]}},
        "copilot": {"type": "user.message", "id": f"u-{text}", "timestamp": stamp, "data": {"content": text}},
    }[made.agent]
    with made.file.open("a") as file:
        file.write(json.dumps(line) + "\n")


STORES: dict[str, Callable[[Path], Made]] = {"codex": codex, "opencode": opencode, "gemini": gemini, "qwen": qwen,
                                           "copilot": copilot, "goose": goose}
RESUMED: dict[str, Callable[[Path], Made]] = {"claude": claude, "codex": codex, "opencode": opencode, "qwen": qwen,
                                            "copilot": copilot, "goose": goose}
"""Those whose program goes on with a session that it is to resume."""


def state_of(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file below a folder: how long, how old, what is in it."""
    found: dict[str, tuple[int, int, bytes]] = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            info = os.lstat(path)
            found[path] = (info.st_size, info.st_mtime_ns, Path(path).read_bytes() if os.path.isfile(path) else b"")
    return found
