"""What a hub loads before its first request, and what it does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LATER = ("starlette.requests", "starlette.responses", "starlette.formparsers", "python_multipart", "http.cookies",
         "tree_sitter", "tree_sitter_bash", "prometheus_client", "pydantic", "fastapi", "rich", "hypothesis",
         "websockets", "multiprocessing.pool", "sqlite3.dbapi2", "cryptography", "segno", "html.entities", "tomllib",
         "trunkline.server.delivery.push.sender", "trunkline.server.delivery.push.pusher", "trunkline.server.delivery.push.crypt",
         "trunkline.dialects.risk", "trunkline.dialects.shell", "trunkline.dialects.claude",
         "trunkline.dialects.codex", "trunkline.dialects.copilot", "trunkline.dialects.gemini", "trunkline.dialects.opencode",
         "trunkline.dialects.qwen", "trunkline.dialects.elsewhere.transcripts", "trunkline.discovery.sqlite",
         "trunkline.discovery.watch",
         "trunkline.session.session", "trunkline.session.interpret", "trunkline.session.driver.acp.driver",
         "trunkline.session.driver.stream_json", "nats", "trunkline.cluster", "trunkline.server.clustered",
         "trunkline.server.elsewhere", "trunkline.server.foreign", "trunkline.server.acp.remote")

FACES = ("trunkline.server.acp.agent", "trunkline.server.acp.transport.http", "trunkline.server.acp.transport.socket",
         "trunkline.server.context.events", "trunkline.server.context.ws.face", "trunkline.server.packets.packets",
         "trunkline.server.packets.frames", "trunkline.server.sessions.sessions", "trunkline.server.sessions.export",
         "trunkline.server.files.diff", "trunkline.server.files.preview", "trunkline.server.files.uploads", "trunkline.adapters",
         "trunkline.server.delivery.push.face", "trunkline.server.delivery.webhooks")

UNUSED = ("anyio", "tempfile", "encodings.idna", "email.charset", "uvicorn.main", "uvicorn.supervisors", "multiprocessing",
          "watchfiles", "logging.handlers", "pickle", "email.parser", "_bz2", "_lzma")
"""What packages of ours would load and a hub does not use."""

SERVING = "import trunkline.server.http.listen"
STARTED = """
import asyncio
from pathlib import Path
from trunkline.hub import Hub, HubOptions
async def start():
    async with Hub(HubOptions(data=Path({data!r}))):
        print(*sys.modules)
asyncio.run(start())
"""
HOSTING = ("from trunkline.cli.hosting.unused import leave_unused_unloaded\nleave_unused_unloaded()\n"
           "from trunkline.cli.commands import serve\nimport trunkline.cli.hosting.hosting")


def loaded_by(code: str) -> set[str]:
    code = f"import sys\n{code}\nprint(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())


def test_serving_loads_nothing_that_only_some_requests_need() -> None:
    loaded = loaded_by(SERVING)
    assert "trunkline.server.app" in loaded
    assert [name for name in (*LATER, *FACES) if name in loaded] == []


def test_a_hubs_own_process_loads_nothing_that_it_does_not_use() -> None:
    loaded = loaded_by(HOSTING)
    assert "trunkline.server.http.listen" in loaded and "uvicorn.server" in loaded
    assert [name for name in (*LATER, *FACES, *UNUSED) if name in loaded] == []


def test_a_hub_that_starts_where_nothing_was_left_running_reads_no_agents_entry(tmp_path: Path) -> None:
    loaded = loaded_by(STARTED.format(data=str(tmp_path)))
    assert "trunkline.agents.catalog" in loaded and "tomllib" not in loaded
