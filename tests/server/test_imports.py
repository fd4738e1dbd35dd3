"""What a hub loads before its first request, and what it does not."""

from __future__ import annotations

import subprocess
import sys

LATER = ("tree_sitter", "tree_sitter_bash", "prometheus_client", "pydantic", "fastapi", "rich", "hypothesis",
         "websockets", "multiprocessing.pool", "sqlite3.dbapi2", "cryptography", "segno", "trunkline.server.delivery.push.sender",
         "trunkline.server.delivery.push.pusher", "trunkline.server.delivery.push.crypt",
         "trunkline.dialects.risk", "trunkline.dialects.shell",
         "trunkline.session.session", "trunkline.session.interpret", "trunkline.session.driver.acp.driver",
         "trunkline.session.driver.stream_json")


def test_serving_loads_nothing_that_only_some_requests_need() -> None:
    code = "import sys, trunkline.server.http.listen\nprint(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "trunkline.server.app" in loaded
    assert [name for name in LATER if name in loaded] == []
