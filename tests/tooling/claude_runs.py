"""Recorded traffic of the Claude Code CLI, and what the hub's own driver would have made of it.

Rule: a run is one process of the CLI. What the host wrote in it stands for what people did: prompts, answers, interrupts.
"""

from __future__ import annotations

import functools
import itertools
import json
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tests.tooling.transcripts import Cancel, Decision, Prompt, Step
from trunkline.dialects.claude.translate import Translator
from trunkline.dialects.packets.shapes import AnswerAction
from trunkline.dialects.signals import PermissionAsk, QuestionAsk

FOLDER = Path(__file__).parents[1] / "data" / "claude" / "stream"

Json = dict[str, Any]


class Line(NamedTuple):
    """One line of a recording."""

    dir: str
    message: Any


@functools.cache
def runs() -> dict[str, list[Line]]:
    """Every run, in the order of recording."""
    found: dict[str, list[Line]] = {}
    for path in (FOLDER / "first.jsonl", FOLDER / "more.jsonl", FOLDER / "versions.jsonl"):
        for text in path.read_bytes().splitlines():
            line = json.loads(text)
            found.setdefault(line["run"], []).append(Line(line["dir"], line["msg"]))
    return found


@functools.cache
def greeting(run: str = "main") -> bytes:
    """The answer to ``initialize``; where it was not kept whole, that of the first run."""
    frames = (line.message for line in runs()[run] if line.dir == "out")
    answer: Json = next((frame["response"] for frame in frames if frame["type"] == "control_response"), {})
    body = answer.get("response") or {}
    return json.dumps(body).encode() if "commands" in body else greeting("main")


def output(run: str) -> list[bytes]:
    """The lines that the CLI wrote in a run."""
    return [encoded(line.message) for line in runs()[run] if line.dir == "out"]


def sent_image(run: str) -> bool:
    """Whether a prompt of the run had a picture in it."""
    return any(line.dir == "in" and '"type": "image"' in json.dumps(line.message) for line in runs()[run])


def encoded(message: Json) -> bytes:
    """A frame as a line, without its end."""
    return json.dumps(message, ensure_ascii=False).encode()


def translator() -> Translator:
    """A translator whose ids count up."""
    numbers = itertools.count(1)
    return Translator(lambda kind: f"{kind}_{next(numbers)}")


class Answered(NamedTuple):
    """A person answered a question."""

    request_id: str
    action: AnswerAction
    content: bytes | None


def story(run: str) -> list[Step | Answered]:
    """A run as the signals and acts that it stands for."""
    translate = translator()
    steps: list[Step | Answered] = list(translate.settings.greeted(greeting(run)))
    asks: dict[str, PermissionAsk | QuestionAsk] = {}
    for line in runs()[run]:
        if line.dir == "out":
            told = translate.receive(encoded(line.message))
            asks |= {_cli_id(line): signal for signal in told if isinstance(signal, PermissionAsk | QuestionAsk)}
            steps += told
        elif line.dir == "in":
            steps += _act(translate, line.message, asks)
    return steps


def _cli_id(line: Line) -> str:
    return str(line.message.get("request_id"))


def _act(translate: Translator, message: Json, asks: dict[str, PermissionAsk | QuestionAsk]) -> list[Step | Answered]:
    match message["type"]:
        case "user":
            translate.prompted(message.get("uuid"))
            return [Prompt([msgspec.Raw(json.dumps(block).encode()) for block in _blocks(message["message"]["content"])])]
        case "control_request" if message["request"]["subtype"] == "interrupt":
            return [Cancel()]
        case "control_response":
            ask = asks.pop(message["response"]["request_id"], None)
            return [_answer(translate, ask, message["response"].get("response"))] if ask is not None else []
    return []


def _blocks(content: Any) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content[:300]}]
    return [{"type": "text", "text": block["text"][:300]} if block["type"] == "text" else
            {"type": "image", "data": block["source"]["data"], "mimeType": block["source"]["media_type"]} for block in content]


def _answer(translate: Translator, ask: PermissionAsk | QuestionAsk, answer: Any) -> Step | Answered:
    allowed = isinstance(answer, dict) and answer.get("behavior") == "allow"
    if isinstance(ask, QuestionAsk):
        content = b"{}" if allowed else None
        assert translate.control.answer_question(ask.request_id, "accept" if allowed else "decline", content) is not None
        return Answered(ask.request_id, "accept" if allowed else "decline", content)
    kinds = "allow" if allowed else "reject"
    option = next(option.option_id for option in ask.options if option.kind.startswith(kinds))
    assert translate.control.answer_permission(ask.request_id, option, reason=None, updated_input=None) is not None
    return Decision(ask.request_id, option)
