"""How each real agent is installed, set up and run against the scripted model, and what it is known to do its own way."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.peers.install import node, npm_package, python_with, source_of
from trunkline.agents import catalog

SDK = "0.12.1"

DEEPAGENTS = '''
import asyncio, sys
from acp import run_agent
from deepagents import create_deep_agent
from deepagents.backends import LocalShellBackend
from deepagents_acp.server import AgentServerACP
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import MemorySaver

memory = MemorySaver()
model = ChatOpenAI(model="fake-model", base_url=sys.argv[1] + "/v1", api_key="sk-fake", use_responses_api=False)


def build(context):
    shell = LocalShellBackend(root_dir=context.cwd, virtual_mode=False, inherit_env=True)
    return create_deep_agent(model=model, checkpointer=memory, backend=shell, interrupt_on={"execute": True, "write_file": True})


asyncio.run(run_agent(AgentServerACP(agent=build)))
'''

CODEX = '''
approvals_reviewer = "user"
model = "gpt-5.5"
model_provider = "fake"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "Fake"
base_url = "MODEL/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 1
stream_max_retries = 1
'''

QWEN = json.dumps({
    "$version": 4, "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}, "general": {"enableAutoUpdate": False},
    "model": {"name": "fake-model"},
})

OPENCODE = json.dumps({
    "autoupdate": False, "share": "disabled", "model": "fake/fake-model", "small_model": "fake/fake-model",
    "permission": {"bash": "ask", "edit": "ask"},
    "provider": {"fake": {
        "npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": {"baseURL": "MODEL/v1", "apiKey": "sk-fake"},
        "models": {"fake-model": {"name": "Fake", "tool_call": True, "reasoning": True,
                                  "limit": {"context": 200000, "output": 8192}}},
    }},
})


KIMI = '''
default_model = "fake"
telemetry = false
[providers.fake]
type = "openai"
api_key = "sk-fake"
base_url = "MODEL/v1"
[models.fake]
provider = "fake"
model = "fake-model"
max_context_size = 200000
'''

VIBE = '''
active_model = "fake"
enable_update_checks = false
enable_telemetry = false
[[providers]]
name = "fake"
api_base = "MODEL/v1"
api_key_env_var = "FAKE_KEY"
api_style = "openai"
backend = "generic"
[[models]]
name = "fake-model"
provider = "fake"
alias = "fake"
'''


OPENHANDS = json.dumps({
    "kind": "Agent", "llm": {"model": "openai/fake-model", "api_key": "sk-fake", "base_url": "MODEL/v1", "usage_id": "agent"},
    "tools": [{"name": "terminal", "params": {}}, {"name": "file_editor", "params": {}}],
    "agent_context": {"load_user_skills": False, "load_public_skills": False},
})


class Recipe(NamedTuple):
    """One agent. ``MODEL`` in files, environment and command is the scripted model's address, ``HOME`` the agent's home."""

    name: str
    command: Callable[[], list[str]]
    env: Mapping[str, str] = {}
    files: Mapping[str, str] = {}
    comes_back: str = "new"
    """How its session comes back after a restart of the hub."""
    stop_when_denied: str = "end_turn"
    """Some end the turn when a tool was rejected."""
    entry: str = ""
    """Its entry in the catalog, whose paths say what it may write in a sandbox."""

    def settings(self, home: Path, model: str) -> str:
        """Its part of the hub's settings file; writes the agent's own files."""
        for name, text in self.files.items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("MODEL", model))

        def filled(text: str) -> str:
            return text.replace("MODEL", model).replace("HOME", str(home))

        env = {name: filled(value) for name, value in {"NO_COLOR": "1", **self.env}.items()}
        command = [filled(word) for word in self.command()]
        lines = [f"[agents.{self.name}]", f"command = {json.dumps(command)}", *self._of_entry(), f"[agents.{self.name}.env]"]
        return "\n".join([*lines, *(f"{name} = {json.dumps(value)}" for name, value in env.items())])


    def _of_entry(self) -> list[str]:
        """What the catalog says of it: its paths, its tools, and what of its inputs and variables changes nothing."""
        if not self.entry:
            return []
        spec = catalog.load()[self.entry]
        lines = [f"paths.{name} = {json.dumps(getattr(spec.paths, name))}" for name in spec.paths.__struct_fields__]
        lines += [f"{name} = {json.dumps(getattr(spec, name))}" for name in ("members", "variables")]
        return [*lines, *(f"tools.{json.dumps(name)} = {json.dumps(role)}" for name, role in spec.tools.items())]


def _npm(name: str, package: str, program: str, *arguments: str, scripts: tuple[str, ...] = ()) -> Callable[[], list[str]]:
    """A program of an npm package, run with a PATH that has a Node on it."""
    def command() -> list[str]:
        program_path = npm_package(name, package, *scripts) / program
        return ["/usr/bin/env", f"PATH={node().parent}:/usr/local/bin:/usr/bin:/bin", str(program_path), *arguments]

    return command


def _python(name: str, package: str, program: str, *arguments: str, least: tuple[int, int]) -> Callable[[], list[str]]:
    """A program of a Python package, run by a Python that is new enough for it."""
    return lambda: [str(python_with(name, package, least=least).with_name(program)), *arguments]


def _deepagents() -> list[str]:
    python = python_with("deepagents", "deepagents-acp==0.0.13", "langchain-openai==1.7.3")
    return [str(python), "HOME/deep_agent.py", "MODEL"]


def _sdk_example(name: str) -> Callable[[], list[str]]:
    def command() -> list[str]:
        python = python_with("sdk", f"agent-client-protocol=={SDK}")
        return [str(python), str(source_of("agent-client-protocol", SDK) / "examples" / name)]

    return command


ECHO = Recipe("echo", _sdk_example("echo_agent.py"))
EXAMPLE = Recipe("example", _sdk_example("agent.py"))

GOOSE = Recipe(
    "goose-peer", entry="goose",
    command=_npm("goose", "@aaif/goose@0.20.1", "goose", "acp", "--with-builtin", "developer"), comes_back="loaded",
    env={"GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "fake-model", "OPENAI_API_KEY": "sk-fake", "OPENAI_HOST": "MODEL",
         "GOOSE_MODE": "approve", "GOOSE_DISABLE_KEYRING": "1", "GOOSE_TELEMETRY_ENABLED": "false"})

CODEX_ZED = Recipe(
    "codex-peer", entry="codex-acp-zed",
    command=_npm("codex", "@zed-industries/codex-acp@0.16.0", "codex-acp"), comes_back="resumed",
    env={"CODEX_HOME": "HOME/.codex", "FAKE_KEY": "sk-fake"}, files={".codex/config.toml": CODEX}, stop_when_denied="cancelled")

DEEP = Recipe("deepagents", _deepagents, files={"deep_agent.py": DEEPAGENTS})

QWEN_CODE = Recipe(
    "qwen-peer", entry="qwen",
    command=_npm("qwen", "@qwen-code/qwen-code@0.24.4", "qwen", "--acp"), comes_back="resumed",
    env={"OPENAI_API_KEY": "sk-fake", "OPENAI_BASE_URL": "MODEL/v1", "OPENAI_MODEL": "fake-model"},
    files={".qwen/settings.json": QWEN})

OPEN_CODE = Recipe(
    "opencode-peer", entry="opencode",
    command=_npm("opencode", "opencode-ai@1.18.33", "opencode", "acp", scripts=("opencode-ai",)), comes_back="resumed",
    files={"config/opencode/opencode.json": OPENCODE})

KIMI_CODE = Recipe(
    "kimi-peer", entry="kimi",
    command=_npm("kimi", "@moonshot-ai/kimi-code@2.1.0", "kimi", "acp"), comes_back="resumed",
    env={"KIMI_CODE_HOME": "HOME/.kimi-code", "KIMI_DISABLE_TELEMETRY": "1"}, files={".kimi-code/config.toml": KIMI})

MISTRAL_VIBE = Recipe(
    "vibe-peer", entry="mistral-vibe", command=_python("vibe", "mistral-vibe==3.0.2", "vibe-acp", least=(3, 12)),
    env={"VIBE_HOME": "HOME/.vibe", "FAKE_KEY": "sk-fake"}, files={".vibe/config.toml": VIBE})

FAST_AGENT = Recipe(
    "fast-agent-peer", entry="fast-agent", command=_python("fast-agent", "fast-agent-mcp==0.10.46", "fast-agent-acp", "-x",
                                                           "--model", "generic.fake-model", least=(3, 13)),
    env={"GENERIC_BASE_URL": "MODEL/v1", "GENERIC_API_KEY": "sk-fake"})

OPEN_HANDS = Recipe(
    "openhands-peer", entry="openhands",
    command=_python("openhands", "openhands==1.16.0", "openhands", "acp", least=(3, 12)),
    env={"OPENHANDS_SUPPRESS_BANNER": "1", "GIT_ALLOW_PROTOCOL": "file"},  # it would fetch skills from the network
    files={".openhands/agent_settings.json": OPENHANDS})

CLAUDE_ZED = Recipe(
    "claude-zed-peer", entry="claude-agent-acp",
    command=_npm("claude-zed", "@zed-industries/claude-code-acp@0.16.2", "claude-code-acp"),
    env={"ANTHROPIC_BASE_URL": "MODEL", "ANTHROPIC_API_KEY": "sk-fake", "CLAUDE_CONFIG_DIR": "HOME/.claude",
         "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"})

TALKERS = (ECHO, EXAMPLE)
"""They repeat what they hear: no model, no tools."""

WORKERS = (GOOSE, CODEX_ZED, DEEP, QWEN_CODE, OPEN_CODE)
"""They use tools."""
