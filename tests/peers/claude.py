"""The real CLI of Claude Code, of several versions, behind a hub of its own, with a scripted Messages API on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.dialects.packets.shapes_check import validate_packet
from tests.peers.install import node, npm_package
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.messages_api import MessagesApi, script
from tests.tooling.wire import Stream

Json = dict[str, Any]

NATIVE, PLAIN, OLD = "2.1.325", "2.1.112", "2.0.77"
"""The newest, the last one that is plain JavaScript, and one for the basics."""

AGENT = "claude-peer"
TURN_S = 90.0


class Claude:
    """One version of the CLI behind one hub."""

    def __init__(self, version: str, hub: HubProcess, api: MessagesApi) -> None:
        self.version = version
        self.hub = hub
        self.api = api

    def session(self, cwd: Path | None = None, **more: Any) -> Session:
        """A new session with the CLI."""
        return self.hub.new_session(AGENT, cwd, **more)


def program(version: str) -> Path:
    """The CLI of that version."""
    package = "@anthropic-ai/claude-code"
    return npm_package(f"claude-{version}", f"{package}@{version}", package) / "claude"


def settings(version: str, home: Path, url: str, *, key: str = "sk-fake", config: Path | None = None) -> str:
    """The CLI as an agent of the hub's settings file."""
    config = config or home / ".claude"
    command = ["/usr/bin/env", f"PATH={node().parent}:/usr/local/bin:/usr/bin:/bin", str(program(version))]
    variables = {"ANTHROPIC_BASE_URL": url, "CLAUDE_CONFIG_DIR": str(config), "NO_COLOR": "1",
                 "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
                 "CLAUDE_CODE_MAX_RETRIES": "2"}
    if key:
        variables["ANTHROPIC_API_KEY"] = key
    lines = [f"[agents.{AGENT}]", 'driver = "stream-json"', 'display_name = "Claude Code"', f"command = {json.dumps(command)}",
             'store = "claude"', 'hooks = "claude"', 'resume = ["claude", "--resume", "{session}"]',
             'login_hint = "run `claude` once and log in"', 'parent_call = "claudeCode.parentToolUseId"',
             f"paths.config = {json.dumps(str(config))}",
             f"paths.sessions = {json.dumps(str(config / 'projects'))}",
             f"detect.executable = {json.dumps(str(program(version)))}", f"[agents.{AGENT}.env]"]
    return "\n".join([*lines, *(f"{name} = {json.dumps(value)}" for name, value in variables.items())])


@contextmanager
def claude(version: str, folder: Path, *flags: str, **more: Any) -> Iterator[Claude]:
    """A hub with this CLI."""
    with MessagesApi() as api:
        hub = HubProcess(folder, *flags)
        file = hub.home / "config" / "trunkline" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text(settings(version, hub.home, api.url, **more))
        with hub:
            yield Claude(version, hub, api)


def say(session: Session, *steps: Json) -> list[Json]:
    """A turn of these steps in which nobody is asked anything."""
    return session.say(script(*steps), wait_s=TURN_S)


def begin(session: Session, *steps: Json) -> Stream:
    """A turn of these steps, to be followed."""
    return session.send(script(*steps), wait_s=TURN_S)


def answer(session: Session, *steps: Json, **decision: Any) -> list[Json]:
    """A turn in which every permission gets the same answer."""
    with begin(session, *steps) as stream:
        for packet in stream:
            validate_packet(packet.value)
            if packet.type == "approval_requested":
                session.post(f"permissions/{packet.value['requestId']}", decision)
        return [packet.value for packet in stream.seen]


def bash(command: str) -> Json:
    """A step that runs a command."""
    return {"tools": [{"name": "Bash", "input": {"command": command, "description": "as told"}}]}


def tool(called: str, /, **given: Any) -> Json:
    """A step that calls a tool."""
    return {"tools": [{"name": called, "input": given}]}


def of_type(packets: list[Json], kind: str) -> list[Json]:
    """The packets of one type."""
    return [packet for packet in packets if packet["type"] == kind]
