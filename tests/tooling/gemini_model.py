"""The scripted model in Gemini's dialect: ``POST …/models/M:generateContent`` and ``:streamGenerateContent``. Whoever imports
this has ``ScriptedModel`` speak it, too."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.tooling.scripted_model import DIALECTS, Json, Plan, Talk, Tool, _Reply, texts_of

USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}


def read_gemini(request: Json, *, stream: bool) -> Talk:
    """What a request asks."""
    turns = [_turn(content.get("role", "user"), content.get("parts") or []) for content in request.get("contents", [])]
    declared = [each for tool in request.get("tools") or [] for each in tool.get("functionDeclarations") or []]
    tools = [Tool(each["name"], each.get("parametersJsonSchema") or each.get("parameters") or {}) for each in declared]
    config: Json = request.get("generationConfig") or {}
    plain = {"type": "object"} if config.get("responseMimeType") == "application/json" else None
    return Talk(turns, tools, stream, config.get("responseJsonSchema") or config.get("responseSchema") or plain)


def _turn(role: str, parts: list[Json]) -> tuple[str, list[str]]:
    if any("functionResponse" in part for part in parts):
        return "tool", []
    return ("user" if role == "user" else "other"), texts_of(parts)


def answer_gemini(reply: _Reply, request: Json, plan: Plan, stream: bool) -> None:
    """Say and do it."""
    def message(*parts: Json, **more: Any) -> Json:
        return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "index": 0, **more}], "usageMetadata": USAGE}

    calls = [{"functionCall": {"name": call.tool.name, "args": call.arguments}} for call in plan.calls]
    if not stream:
        reply.send_json(message({"text": "".join(plan.chunks)}, *calls, finishReason="STOP"))
        return
    reply.start_events()
    for text in reply.paced(plan):
        reply.event(message({"text": text}))
    reply.event(message(*calls, {"text": ""}, finishReason="STOP"))
    reply.end_events()


DIALECTS |= {":generateContent": (partial(read_gemini, stream=False), answer_gemini),
             ":streamGenerateContent": (partial(read_gemini, stream=True), answer_gemini)}
