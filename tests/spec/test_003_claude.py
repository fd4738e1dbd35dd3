"""Seed 003, second half: the Claude CLI's stream of JSON lines, held against ``dialects.claude`` and its driver, item by item.

The seed's frames are shorter than the CLI's own (no uuid, no answer's id, ``control`` for ``control_request``). Each test reads
the seed's own example.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.session.driver.stream_json.stage import ClaudeStage
from tests.spec import seeds
from trunkline.dialects.claude.control import outgoing
from trunkline.dialects.claude.conversation.stops import stop_of
from trunkline.dialects.claude.frames.types import ResultFrame
from trunkline.dialects.claude.translate import Translator
from trunkline.dialects.notes import AgentNote, HookRan, ModelUsed
from trunkline.dialects.signals import Signal, TurnEnd, Update
from trunkline.session.driver.stream_json.command import Way, flags

CLI = "003/claude-cli-stream-json"
STOPS = "003/acp-agent-client-protocol/cli-acp-stop-reason-mapping"

Json = dict[str, Any]


def translator() -> Translator:
    """A CLI's translator that waits for the end of a prompt."""
    made = Translator(lambda prefix: f"{prefix}-1")
    made.prompted()
    return made


def frame(name: str) -> bytes:
    """The seed's example of a frame as the line that the CLI writes; what it leaves out is filled in."""
    text = seeds.code(f"{CLI}/output-format/{name}/code:1").replace(", ...", "").replace("{...}", '{"file_path": "/a.txt"}')
    return json.dumps(json.loads(text.replace('"id": "..."', '"id": "toolu_1"'))).encode() + b"\n"


def updates(signals: list[Signal]) -> list[Json]:
    """What of it people see."""
    return [msgspec.json.decode(signal.raw) for signal in signals if isinstance(signal, Update)]


def prompt(text: str) -> Json:
    """The line that we write for a prompt."""
    line = outgoing.user_message([json.dumps({"type": "text", "text": text}).encode()])
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    value: Json = json.loads(line)
    return value


@pytest.mark.parametrize(("subtype", "stop"), seeds.rows(STOPS))
def test_a_subtype_of_the_table_has_its_stop_reason(subtype: str, stop: str) -> None:
    end = stop_of(msgspec.convert({"type": "result", "subtype": subtype, "is_error": subtype.startswith("error")}, ResultFrame))
    assert (end.stop, end.error) == (stop, None)


def test_a_turn_is_lines_of_json_in_both_directions(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> TurnEnd:
        try:
            await stage.driver.start(None)
            return await stage.turn(["say", "Hello!"])
        finally:
            await stage.driver.stop()

    end = run(play())
    assert (end.stop, stage.ears.text()) == ("end_turn", "Hello!")
    assert "user" in [line["type"] for line in stage.log() if "type" in line], "the log parses line by line"


def test_a_prompt_is_written_as_the_example_has_it() -> None:
    example = seeds.example(f"{CLI}/input-format/code:1")
    ours = prompt(example["message"]["content"])
    assert (ours["type"], ours["message"]["role"]) == (example["type"], example["message"]["role"])
    assert ours["message"]["content"] == [{"type": "text", "text": example["message"]["content"]}], "the same, as a block"


def test_everything_that_we_write_is_a_users_message_or_control() -> None:
    lines = [outgoing.initialize("a"), outgoing.interrupt("b"), outgoing.set_mode("c", "plan"), outgoing.set_model("d", None),
             outgoing.set_thinking("e", 1), outgoing.succeeded("f", {}), outgoing.failed("g", "no"), outgoing.take_back("h")]
    assert {json.loads(line)["type"].partition("_")[0] for line in lines} == {"control"}
    assert prompt("hi")["message"]["role"] == "user"


def test_output_is_objects_on_lines_of_their_own() -> None:
    lines = [frame(name) for name in ("system-init", "system-hook-response", "assistant", "result")]
    whole, apart = translator(), translator()
    together = [signal for line in b"".join(lines).split(b"\n") for signal in whole.receive(line)]
    assert together == [signal for line in lines for signal in apart.receive(line)]
    assert isinstance(together[-1], TurnEnd)


def test_the_first_frame_tells_the_session_and_the_model() -> None:
    cli = translator()
    told = cli.receive(frame("system-init"))
    assert cli.session_id == "uuid"
    models = [signal.body.id for signal in told if isinstance(signal, AgentNote) and isinstance(signal.body, ModelUsed)]
    assert models == ["claude-opus-4-5-20251101"]


def test_a_hooks_response_is_an_event_and_no_message() -> None:
    told = translator().receive(frame("system-hook-response"))
    (note,) = told
    assert isinstance(note, AgentNote) and isinstance(note.body, HookRan) and note.kind == "hook"
    assert note.body.name == "SessionStart:startup"


def test_an_answer_is_its_text_and_its_tool_calls() -> None:
    told = updates(translator().receive(frame("assistant")))
    assert told[0]["sessionUpdate"] == "agent_message_chunk" and told[0]["content"] == {"type": "text", "text": "Hello!"}
    calls = [update for update in told if update["sessionUpdate"].startswith("tool_call")]
    assert {call["toolCallId"] for call in calls} == {"toolu_1"}
    assert calls[-1]["kind"] == "read" and calls[-1]["rawInput"] == {"file_path": "/a.txt"}


def test_a_result_ends_the_turn_and_its_text_is_told_once() -> None:
    cli = translator()
    told = cli.receive(frame("result"))
    assert [update["content"]["text"] for update in updates(told)] == ["Final response text"], "nothing was said before"
    assert isinstance(told[-1], TurnEnd) and told[-1].stop == "end_turn"
    cli.prompted()
    cli.receive(frame("assistant"))
    assert updates(cli.receive(frame("result"))) == [], "the answer was told already"


def test_the_flags_of_the_example_are_those_of_every_version() -> None:
    _, *wanted = shlex.split(re.sub(r"\\\n", " ", seeds.code(f"{CLI}/cli-flags/code:1")))
    for version in (None, (2, 0, 77), (2, 1, 325)):
        ours = flags(Way("new", "id"), version=version, bypass=False, mcp_config=None)
        assert ours[:len(wanted)] == wanted


def test_the_cli_is_started_with_the_flags_that_stream_json_needs(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        try:
            await stage.driver.start(None)
        finally:
            await stage.driver.stop()

    run(play())
    words = " ".join(stage.argv())
    assert "-p" in stage.argv() and "--verbose" in stage.argv()
    assert "--input-format stream-json" in words and "--output-format stream-json" in words
