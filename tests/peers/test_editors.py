"""The official SDKs' clients as editors: each completes the same sequence by each way into the hub.

The sequence is the seed's minimal one, a permission, a cancel and a load with replay. Both SDKs have all three ways, so that no
combination is missing.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.peers.install import node, npm_package, python_with
from tests.tooling.hub_process import HubProcess, own_environment

pytestmark = pytest.mark.peers

TYPESCRIPT_SDK = "@agentclientprotocol/sdk@2.4.0"
PYTHON_SDK = "agent-client-protocol[http]==0.12.1"
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """A hub whose demo agent works at full speed."""
    with HubProcess(tmp_path_factory.mktemp("hub")) as hub:
        yield hub


def check(heard: dict[str, Any]) -> None:
    """Every step of the sequence went as it should."""
    assert heard["version"] == 1
    assert heard["stops"] == ["end_turn", "end_turn", "cancelled", "end_turn"]
    assert heard["asks"] == 1
    assert heard["said"].startswith("say helloApproved.") and heard["said"].endswith("1 ")
    assert heard["replayed"] == "/echo say hello/ask/slow 60"
    assert heard["after"] == "and after"


def heard_by(command: list[str], hub: HubProcess) -> dict[str, Any]:
    """What a client prints."""
    env = {**own_environment(hub.home), "TRUNKLINE_DATA": str(hub.data)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


WAYS = ("stdio", "ws", "http")


def by(way: str, hub: HubProcess) -> list[str]:
    """The arguments that tell a client which way to take: itself, a folder, where to."""
    address = f"{hub.url}/acp?agent=fast"
    where = {"stdio": [sys.executable, "-P", "-m", "trunkline", "acp", "--agent", "fast"],
             "ws": [address.replace("http://", "ws://"), hub.token], "http": [address, hub.token]}[way]
    return [way, str(hub.new_folder()), *where]


@pytest.mark.parametrize("way", WAYS)
def test_the_typescript_sdks_client_completes_the_sequence(hub: HubProcess, way: str) -> None:
    package = npm_package("typescript-sdk", TYPESCRIPT_SDK).parents[1]
    script = Path(shutil.copy(HERE / "editor.mjs", package))
    check(heard_by([str(node()), str(script), *by(way, hub)], hub))


@pytest.mark.parametrize("way", WAYS)
def test_the_python_sdks_client_completes_the_sequence(hub: HubProcess, way: str) -> None:
    python = python_with("python-sdk-http", PYTHON_SDK)
    check(heard_by([str(python), str(HERE / "editor.py"), *by(way, hub)], hub))
