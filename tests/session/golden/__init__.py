"""What the fold makes of every recorded session, written down once, read by eye, and compared ever since.

``python -m tests.session.golden`` writes the files anew; what changed in them is then for a person to read.

Rule 1: a line is one event, without what is different each time (position, session, time). Long texts are cut, and a message's
deltas are one line with their number.
Rule 2: sessions are played as a hub would play them: the agent's own tool names and quirks from the catalog, and what it said
of itself when the session was opened.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from tests.tooling.claude_runs import Answered, greeting, runs, story, translator
from tests.tooling.story import Player
from tests.tooling.transcripts import AGENTS, Prompt, Step, greetings, openings, stories
from trunkline.agents import catalog
from trunkline.dialects.acp.reading.decode import decode_update
from trunkline.dialects.acp.shape import encode_acp
from trunkline.dialects.acp.updates import UserMessageChunk
from trunkline.dialects.claude.transcript import ClaudeTranscript
from trunkline.dialects.context.types import EnvironmentProject, EnvironmentRuntime
from trunkline.dialects.signals import Update
from trunkline.session.interpret.lifecycle import environment_of, name_of_folder
from trunkline.session.interpret.options import current_model, model_of

FOLDER = Path(__file__).parent
FILES = Path(__file__).parents[2] / "data" / "claude" / "projects"
FILE_STORY, FILE_AGENT = "claude-session-file", "claude-agent-acp"
STREAM_STORY, STREAM_AGENT = "claude-stream", "claude-code"
TEXT_MOST = 160
VOLATILE = ("seq", "sessionId", "timestamp")

PROJECT = EnvironmentProject(path="/home/dev/project", name="project", language="Python")
RUNTIME = EnvironmentRuntime(os="linux", arch="x86_64")


class _Opened(msgspec.Struct, rename="camel"):
    modes: msgspec.Raw = msgspec.Raw(b"null")
    models: msgspec.Raw = msgspec.Raw(b"null")
    config_options: msgspec.Raw = msgspec.Raw(b"null")


class _Hello(msgspec.Struct, rename="camel"):
    agent_info: msgspec.Raw = msgspec.Raw(b"null")


class _Modes(msgspec.Struct, rename="camel"):
    current_mode_id: str | None = None


def all_lines() -> dict[str, list[str]]:
    """Every golden file by its name, without its ending."""
    return {**{agent: lines_of(agent) for agent in AGENTS}, FILE_STORY: lines_of_file(), STREAM_STORY: lines_of_stream()}


def lines_of_file() -> list[str]:
    """The golden file of a session that another program wrote: read from its file, not heard from an agent."""
    player = Player(catalog.load()[FILE_AGENT].tool_names)
    for step in _steps_of_file(next(FILES.rglob("*.jsonl"))):
        player.play(step)
    player.stop()
    events = [msgspec.json.decode(entry.event) for entry in player.entries]
    return [json.dumps(event, ensure_ascii=False) for event in shortened(events)]


def lines_of_stream() -> list[str]:
    """The golden file of an agent that is driven by its own stream of JSON lines: every run, event by event."""
    found: list[str] = []
    for run in runs():
        player = played_run(run)
        events = [msgspec.json.decode(entry.event) for entry in player.entries]
        found.append(json.dumps({"story": run}))
        found += [json.dumps(event, ensure_ascii=False) for event in shortened(events)]
    return found


def played_run(run: str) -> Player:
    """One recorded run of that agent, played to its end."""
    player = Player(catalog.load()[STREAM_AGENT].tool_names)
    player.fold.agent = STREAM_AGENT
    asked = translator()
    asked.settings.greeted(greeting(run))
    opened = b'{"modes":%b,"configOptions":%b}' % (bytes(asked.settings.modes()), bytes(asked.settings.options()))
    _open(player, b"{}", opened)
    for step in story(run):
        if isinstance(step, Answered):
            _answer(player, step)
        else:
            player.play(step)
    player.stop()
    return player


def _answer(player: Player, answered: Answered) -> None:
    if answered.request_id in player.fold.questions:
        content = msgspec.Raw(answered.content) if answered.content is not None else None
        player.act(lambda now: now.questions.answered(answered.request_id, action=answered.action, content=content, who="tester"))


def lines_of(agent: str) -> list[str]:
    """The golden file of one agent: every story, event by event."""
    found: list[str] = []
    for number, ((run, session_id), steps) in enumerate(stories(agent).items()):
        found.append(json.dumps({"story": f"{run}-{number}", "steps": len(steps)}))
        found += [json.dumps(event, ensure_ascii=False) for event in shortened(events_of(agent, run, session_id, steps))]
    return found


def events_of(agent: str, run: str, session_id: str, steps: list[Step]) -> list[dict[str, Any]]:
    """One recorded session as events, from its start to its end."""
    spec = catalog.load().get(agent)
    player = Player(spec.tool_names if spec is not None else None)
    player.fold.agent = agent
    folder, opened = openings(agent).get((run, session_id), (player.fold.cwd, b"{}"))
    player.fold.cwd = folder
    _open(player, greetings(agent).get(run, b"{}"), opened if opened != b"null" else b"{}")
    for step in steps:
        player.play(step)
    player.stop()
    player.act(lambda now: now.lifecycle.completed("terminated", by="tester"))
    return [msgspec.json.decode(entry.event) for entry in player.entries]


def shortened(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without what changes each time, and short enough to be read."""
    found: list[dict[str, Any]] = []
    for event in events:
        event = {key: _cut(value) for key, value in event.items() if key not in VOLATILE}
        event.get("_meta", {}).get("chain", {}).pop("head", None)
        last = found[-1] if found else {}
        if event["type"].endswith(":delta") and last.get("type") == event["type"] and last["messageId"] == event["messageId"]:
            last["deltas"] = last.get("deltas", 1) + 1
        else:
            found.append(event)
    return found


def _open(player: Player, hello: bytes, opened: bytes) -> None:
    """As a session's link does when its agent is there."""
    fold, said = player.fold, msgspec.json.decode(opened, type=_Opened)
    fold.agent_info = msgspec.json.decode(hello, type=_Hello).agent_info
    fold.modes, fold.config_options = said.modes, said.config_options
    fold.mode = (msgspec.json.decode(said.modes, type=_Modes | None) or _Modes()).current_mode_id
    fold.model = model_of(said.config_options) or current_model(said.models)
    project = msgspec.structs.replace(PROJECT, path=fold.cwd, name=name_of_folder(fold.cwd))
    environment = environment_of(fold, project, RUNTIME)
    model = fold.model.id if fold.model is not None else None
    player.act(lambda now: now.lifecycle.started(fold.agent, model, fold.cwd, environment))
    player.act(lambda now: now.conditions.settle())
    player.act(lambda now: now.writer.status("idle"))


def _steps_of_file(path: Path) -> list[Step]:
    """What the lines of a session file stand for; what a person said in one is a prompt."""
    transcript = ClaudeTranscript()
    signals = [signal for line in path.read_bytes().splitlines() for _, signal in transcript.line(line)]
    steps: list[Step] = []
    for signal in [*signals, *(signal for _, signal in transcript.settle())]:
        update = decode_update(signal.raw) if isinstance(signal, Update) else None
        if isinstance(update, UserMessageChunk):
            steps.append(Prompt([msgspec.Raw(encode_acp(update.content))]))
        else:
            steps.append(signal)
    return steps


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > TEXT_MOST:
        return f"{value[:TEXT_MOST]}… ({len(value)} characters)"
    if isinstance(value, list):
        return [_cut(item) for item in value]
    return {key: _cut(item) for key, item in value.items()} if isinstance(value, dict) else value


def write_all() -> None:
    """Write every file anew."""
    for name, lines in all_lines().items():
        (FOLDER / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
