"""Several people and programs on one session at once: everybody sees the same, and every approval is resolved once."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.tooling.hub_process import HubProcess, Session

NewHub = Callable[..., HubProcess]
WAIT_S = 30.0


class Phone:
    """A client on ``/ws`` that follows everything and notes what it hears."""

    def __init__(self, hub: HubProcess, sessions: Any = "*") -> None:
        url = hub.url.replace("http", "ws", 1) + "/ws"
        self.socket: ClientConnection = connect(url, open_timeout=WAIT_S, max_size=None, legacy=True)
        self.heard: list[dict[str, Any]] = []
        self._say({"type": "hello", "versions": ["1.0.0"], "token": hub.token})
        assert self.next()["type"] == "welcome"
        self._say({"type": "subscribe", "id": "s", "sessions": sessions})
        self.until(lambda frame: frame["type"] == "ack" and frame["id"] == "s")

    def command(self, command_id: str, session: Session, **command: Any) -> None:
        """Send a command."""
        self._say({"type": "command", "id": command_id, "sessionId": session.id, "command": command})

    def next(self) -> dict[str, Any]:
        """The next frame."""
        frame: dict[str, Any] = json.loads(self.socket.recv(timeout=WAIT_S))
        self.heard.append(frame)
        return frame

    def until(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first frame that is it."""
        while not is_it(frame := self.next()):
            pass
        return frame

    def event(self, kind: str) -> dict[str, Any]:
        """The next event of a type."""
        event: dict[str, Any] = self.until(lambda frame: frame["type"] == "event" and frame["event"]["type"] == kind)["event"]
        return event

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Every event of a type that was heard so far."""
        return [frame["event"] for frame in self.heard if frame["type"] == "event" and frame["event"]["type"] == kind]

    def close(self) -> None:
        """Hang up."""
        self.socket.close()

    def _say(self, frame: dict[str, Any]) -> None:
        self.socket.send(json.dumps(frame))


def test_one_approves_and_everybody_sees_it_resolved_once(new_hub: NewHub) -> None:
    hub = new_hub()
    session = hub.new_session()
    ann, bob = Phone(hub), Phone(hub, [session.id])
    with hub.wire.stream(f"{session.path}/packets") as reader:
        session.wire.post(f"{session.path}/send-message", {"content": "/ask"}, 202)
        asked = ann.event("approval:requested")
        assert bob.event("approval:requested") == asked
        ids = {"requestId": asked["requestId"], "toolCallId": asked["toolCallId"]}
        shown = hub.command("sessions", "show", session.id).stdout
        assert asked["requestId"] in shown, "the command line shows what waits"
        bob.command("b-1", session, command="approve_tool_call", **ids)
        assert bob.until(lambda frame: frame["type"] == "ack" and frame["id"] == "b-1")["ok"] is True
        ann.command("a-1", session, command="deny_tool_call", reason="too late", **ids)
        late = ann.until(lambda frame: frame["type"] == "ack" and frame["id"] == "a-1")
        assert (late["ok"], late["error"]["code"]) == (False, "already_resolved")
        reader.until("prompt_response")
        resolved = [packet.value for packet in reader.seen if packet.type == "approval_resolved"]
    for phone in (ann, bob):
        phone.until(lambda frame: frame["type"] == "event" and frame["event"].get("to") == "idle")
        (event,) = phone.events("approval:resolved")
        assert (event["approved"], event["resolvedBy"]) == (True, "user")
        phone.close()
    assert [packet["approved"] for packet in resolved] == [True]
    tail = hub.command("sessions", "tail", session.id, "--no-follow", "--after", "0", "--json").stdout
    assert tail.count('"type":"approval_resolved"') == 1


def _race(phone: Phone, session: Session, number: int) -> Counter[str]:
    """Answer every approval that is asked for; how each answer went."""
    went: Counter[str] = Counter()
    try:
        while True:
            frame = phone.next()
            if frame["type"] == "ack":
                went["ok" if frame["ok"] else frame["error"]["code"]] += 1
            elif frame["type"] == "event" and frame["event"]["type"] == "approval:requested":
                event = frame["event"]
                verb = "approve_tool_call" if number % 2 else "deny_tool_call"
                phone.command(f"{number}-{event['requestId']}", session, command=verb, requestId=event["requestId"],
                              toolCallId=event["toolCallId"])
            elif frame["type"] == "event" and frame["event"].get("to") == "idle":
                return went
    except ConnectionClosed as error:
        raise AssertionError(f"client {number} was thrown out: {error}") from error
    finally:
        phone.close()


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_clients_that_race_resolve_each_approval_once_and_the_chain_holds(new_hub: NewHub, count: int) -> None:
    hub = new_hub()
    session = hub.new_session("puppet")
    option = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "n", "name": "No", "kind": "reject_once"}]
    steps = [["ask", "session/request_permission", {
        "toolCall": {"toolCallId": f"call-{number}", "title": f"Step {number}", "kind": "execute",
                     "rawInput": {"command": f"make step-{number}"}}, "options": option}] for number in range(count)]
    outcomes: list[Counter[str]] = []
    phones = [Phone(hub, [session.id]) for _ in range(4)]
    threads = [threading.Thread(target=lambda at=number: outcomes.append(_race(phones[at], session, at))) for number in range(4)]
    for thread in threads:
        thread.start()
    session.wire.post(f"{session.path}/send-message", {"content": json.dumps(steps)}, 202)
    for thread in threads:
        thread.join(WAIT_S + count / 10)
    total = sum(outcomes, Counter[str]())
    assert len(outcomes) == 4 and total["ok"] == count
    assert set(total) <= {"ok", "already_resolved"}
    history: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = session.wire.get(f"{session.path}/history?types=approval:&after={after}&limit=1000")
        history += page["events"]
        after = page["nextAfter"]
    asked = [event["requestId"] for event in history if event["type"] == "approval:requested"]
    resolved = [event["requestId"] for event in history if event["type"] == "approval:resolved"]
    assert len(asked) == len(set(asked)) == count and sorted(resolved) == sorted(asked)
    verified = hub.command("audit", "verify", session.id)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert str(2 * count) in verified.stdout
