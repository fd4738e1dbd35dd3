"""Slash prompts about what happens beside the conversation: limits, notes, plans, leaving.

Rule: what the protocol has no word for goes as a note (``Turn.note``), to clients that take notes.
"""

from __future__ import annotations

import json
import os

from trunkline.agents.demo import tools
from trunkline.agents.demo.registry import number, script
from trunkline.agents.demo.steps import FOLDER, PLAN
from trunkline.agents.demo.turn import DemoTurn
from trunkline.agents.demo.wire import Refused
from trunkline.dialects.error_codes import ErrorCode


@script("limit")
def _limit(turn: DemoTurn, rest: str) -> None:
    wait_s = number(rest.split(), 0, "S") if rest else 1
    turn.note("rate_limit", retryAfter=wait_s, limit="requests", message="Too many requests in this minute")
    turn.note("retry", attempt=1, most=3, delay=wait_s, message="The model is busy")
    turn.wait(wait_s)
    turn.note("hook", name="after-retry", level="info", message="The model answered at the second attempt")
    turn.note("cost", total=0.0125, input=0.01, output=0.0025, currency="USD")
    turn.say("I was asked to wait, and waited.")


@script("plan")
def _plan(turn: DemoTurn, rest: str) -> None:
    turn.mode("plan")
    try:
        turn.think("First a plan, then the work.")
        call = turn.call("plan_exit", "switch_mode")
        raw_input = {"plan": PLAN.format(folder=FOLDER)}
        chosen = turn.finish_permission(turn.begin_permission(call, title="Go to work?", kind="switch_mode", rawInput=raw_input))
        if not (chosen or "").startswith("allow"):
            call.fail()
            turn.say("Then I plan on another time.")
            return
        call.start(raw_input)
        call.complete(tools.plan_exit())
    finally:
        turn.mode(turn.session.mode)
    turn.say("The plan stands. This demo leaves it at that.")


@script("note")
def _note(turn: DemoTurn, rest: str) -> None:
    kind, _, body = rest.partition(" ")
    try:
        data = json.loads(body or "{}")
    except ValueError:
        data = None
    if not kind or not isinstance(data, dict):
        raise Refused(ErrorCode.INVALID_PARAMS, "/note needs a KIND and a JSON object")
    turn.note(kind, **data)


@script("leave")
def _leave(turn: DemoTurn, rest: str) -> None:
    turn.say("I am done here. Goodbye.")
    turn.end("end_turn")
    turn.wait(LEAVE_S)
    os._exit(0)


LEAVE_S = 0.2
"""Between the answer and the exit: the client gets the end of the turn before the end of the agent."""
