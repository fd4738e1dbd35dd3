"""Stores of 500 MB, made here: they are listed in a moment, in little memory, and cost nothing while nothing happens."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.aio import run
from tests.tooling.pace import own_s
from tests.tooling.stores import STORES, Made
from trunkline.agents import catalog
from trunkline.discovery import files, store_of
from trunkline.discovery.base import AgentStore
from trunkline.discovery.watch import watch_store

SIZE = 500 << 20
SESSIONS = 500
LIST_S = 2.0
MEMORY = 64 << 20
REST_S = 2.0
REST_CPU_S = 0.1

FILLERS = {
    "codex": '{"timestamp":"2026-11-16","type":"response_item","payload":{"type":"reasoning","summary":[{"text":"%s"}]}}',
    "gemini": '{"id":"%s","type":"info","content":"x"}',
    "qwen": '{"uuid":"x","type":"system","cwd":"/home/dev/project","systemPayload":"%s"}',
    "copilot": '{"type":"system.message","data":{"content":"%s"},"id":"x"}',
}


def grown(name: str, made: Made) -> None:
    """Many long sessions, each the recorded one with much in its middle."""
    head, _, tail = made.file.read_bytes().rpartition(b"\n{")
    middle = (FILLERS[name] % ("x" * 4000)).encode()
    body = head + b"\n" + b"\n".join([middle] * (SIZE // SESSIONS // len(middle))) + b"\n{" + tail
    for number in range(SESSIONS):
        path = Path(str(made.file).replace(made.session_id[:8], f"{number:08x}"))
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(body.replace(made.session_id[:8].encode(), f"{number:08x}".encode(), 2))


def grown_database(name: str, made: Made) -> None:
    text = json.dumps({"type": "text", "text": "x" * 20_000, "time": {"end": 1}})
    with sqlite3.connect(made.file) as connection:
        for number in range(SESSIONS):
            connection.execute("INSERT INTO session (id, directory, title, time_created, time_updated) "
                               "VALUES (?, '/home', 't', 1, ?)", (f"ses_{number}", number))
            connection.executemany(
                "INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES (?, 'm', ?, 1, 1, ?)",
                [(f"prt_{number}_{part}", f"ses_{number}", text) for part in range(SIZE // SESSIONS // len(text))])
    connection.close()


def grown_goose(name: str, made: Made) -> None:
    text = json.dumps([{"type": "text", "text": "x" * 20_000}])
    with sqlite3.connect(made.file) as connection:
        for number in range(SESSIONS):
            session_id = f"20261116_{number + 2}"
            connection.execute("INSERT INTO sessions (id, session_type, working_dir, name, updated_at) "
                               "VALUES (?, 'user', '/home', 't', '2026-11-16 15:00:00')", (session_id,))
            connection.executemany(
                "INSERT INTO messages (message_id, session_id, role, content_json) VALUES ('m', ?, 'assistant', ?)",
                [(session_id, text) for _ in range(SIZE // SESSIONS // len(text))])
    connection.close()


GROW: dict[str, Callable[[str, Made], None]] = {
    **{name: grown for name in FILLERS}, "opencode": grown_database, "goose": grown_goose}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(GROW))
def test_a_store_of_500_mb_is_listed_in_a_moment_and_in_little_memory(name: str, tmp_path: Path) -> None:
    made = STORES[name](tmp_path)
    GROW[name](name, made)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) > 0.9 * SIZE
    store = store_of(catalog.load()[made.agent].store, str(made.folder))
    assert store is not None
    files._looked.clear()
    took = own_s(store.sessions)
    assert len(store.sessions()) >= SESSIONS and took < LIST_S, f"{took:.2f} s"
    files._looked.clear()
    tracemalloc.start()
    store.sessions()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MEMORY, f"{peak >> 20} MiB"
    run(_rests(store))


async def _rests(store: AgentStore) -> None:
    """Watched, while nothing happens in it."""
    stop = watch_store(lambda: store, "agent", lambda event: None)
    await asyncio.sleep(REST_S)
    began = time.process_time()
    await asyncio.sleep(REST_S)
    spent = time.process_time() - began
    stop()
    assert spent < REST_CPU_S, f"{spent:.3f} s of {REST_S:.0f} s"
