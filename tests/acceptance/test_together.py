"""Several clients of different kinds on one session: what one does, all see, once."""

from __future__ import annotations

import json
import random
import subprocess
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest

from tests.acceptance.test_websocket import connected, follow, history
from tests.tooling.hub_process import TRUNKLINE, HubProcess, Session
from tests.tooling.readers import Background
from tests.tooling.websocket import WebSocket

NewHub = Callable[..., HubProcess]
AT_ONCE = 100


def answer(session: Session, request: dict[str, Any], allow: bool, command_id: str) -> dict[str, Any]:
    """The frame that answers an approval."""
    command = {"command": "approve_tool_call" if allow else "deny_tool_call", "requestId": request["requestId"],
               "toolCallId": request["toolCallId"]}
    return {"id": command_id, "sessionId": session.id, "command": command}


def test_two_websockets_a_stream_and_the_command_line_see_one_approval_resolved_once(hub: HubProcess) -> None:
    session = hub.new_session()
    tail = subprocess.Popen([*TRUNKLINE, "sessions", "tail", "--json", "--url", hub.url, session.id], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env={**hub._env, "TRUNKLINE_TOKEN": hub.token}, text=True)
    first, second = connected(hub), connected(hub)
    follow(first, session)
    follow(second, session)
    try:
        with session.wire.stream(f"{session.path}/events") as stream, session.send("/ask") as turn:
            request = first.event("approval:requested")
            first.say("command", **answer(session, request, True, "mine"))
            assert first.until("ack", id="mine")["ok"]
            second.say("command", **answer(session, request, False, "too late"))
            refused = second.until("ack", id="too late")["error"]
            assert refused["code"] == "already_resolved"
            turn.rest()
            stream.expect().until("approval:resolved")
            session.wire.ask("PATCH", session.path, {"title": "the end"}).expect(200)
            for link in (first, second):
                while "the end" not in json.dumps(link.hear()):
                    pass
        resolved = [event for event in history(session) if event["type"] == "approval:resolved"]
        assert [(event["requestId"], event["approved"], event["resolvedBy"]) for event in resolved] == [
            (request["requestId"], True, "user")]
        assert tail.stdout is not None
        shown: list[dict[str, Any]] = []
        while not shown or shown[-1]["type"] != "prompt_response":
            shown.append(json.loads(tail.stdout.readline()))
        assert [packet["approved"] for packet in shown if packet["type"] == "approval_resolved"] == [True]
    finally:
        tail.terminate()
        tail.communicate()
        first.cut()
        second.cut()
    session.delete()


class Racer:
    """A client that answers every approval it sees, whatever the others do."""

    def __init__(self, hub: HubProcess, session: Session, number: int) -> None:
        self._session = session
        self._link: WebSocket = connected(hub, wait_s=120)
        self._dice = random.Random(number)
        self._number = number
        self.resolved: list[str] = []
        self.won: list[str] = []
        self.codes: Counter[str] = Counter()

    def run(self, approvals: int) -> None:
        follow(self._link, self._session)
        waiting: set[str] = set()
        while len(self.resolved) < approvals or waiting:
            frame = self._link.hear()
            if frame["type"] == "ack":
                waiting.discard(frame["id"])
                self.codes["ok" if frame["ok"] else frame["error"]["code"]] += 1
                if frame["ok"]:
                    self.won.append(frame["id"].partition(":")[2])
            elif frame["type"] == "event" and frame["event"]["type"] == "approval:requested":
                request = frame["event"]
                waiting.add(f"{self._number}:{request['requestId']}")
                self._link.say("command", **answer(self._session, request, self._dice.random() < 0.5,
                                                   f"{self._number}:{request['requestId']}"))
            elif frame["type"] == "event" and frame["event"]["type"] == "approval:resolved":
                self.resolved.append(frame["event"]["requestId"])
        self._link.cut()


@pytest.mark.parametrize("rounds", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_hundreds_of_approvals_with_four_clients_racing_are_each_resolved_once(some_hub: NewHub, rounds: int) -> None:
    hub = some_hub()
    session = hub.new_session()
    racers = [Racer(hub, session, number) for number in range(4)]
    with ExitStack() as running:
        for racer in racers:
            running.enter_context(Background(partial(racer.run, rounds * AT_ONCE)))
        for _ in range(rounds):
            session.say(f"/ask {AT_ONCE}", wait_s=120)
    events = history(session)
    asked = [event["requestId"] for event in events if event["type"] == "approval:requested"]
    resolved = [event["requestId"] for event in events if event["type"] == "approval:resolved"]
    assert len(asked) == len(set(asked)) == rounds * AT_ONCE
    assert sorted(resolved) == sorted(asked)
    for racer in racers:
        assert sorted(racer.resolved) == sorted(asked)
        assert set(racer.codes) <= {"ok", "already_resolved"}
        assert sum(racer.codes.values()) == len(asked), "every command is answered"
    winners = [request_id for racer in racers for request_id in racer.won]
    assert sorted(winners) == sorted(asked), "each was won by exactly one"
    verified = hub.command("audit", "verify", session.id)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert str(2 * rounds * AT_ONCE) in verified.stdout, verified.stdout
