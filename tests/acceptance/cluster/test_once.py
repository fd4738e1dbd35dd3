"""What somebody asked for under an id is done once, whatever happens to its owner, and wherever the session goes meanwhile."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.cluster.farm import Farm, farm
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.processes import eventually

WITHIN_S = 60.0
BURST = 3
"""Prompts after which the sender lets the session come to rest."""


def said(session: Session) -> list[str]:
    """What people said in a session, in order."""
    page = session.wire.get(f"{session.path}/history?limit=5000")
    told = [each for each in page["events"] if each["type"] == "message:complete" and each.get("role") == "user"]
    return [each["content"][0]["text"] for each in told]


def command(hub: HubProcess, session: Session, number: int) -> Any:
    """A prompt under an id, sent again until it is known to be done; its result."""
    body = {"id": f"c{number}", "command": {"command": "send_message", "message": f"/echo {number}"}}
    until = time.monotonic() + WITHIN_S
    while True:
        answer = hub.wire.ask("POST", f"{session.path}/commands", body)
        if answer.status == 200:
            return answer.json()["result"]
        assert answer.json()["recoverable"] and time.monotonic() < until, answer.body
        time.sleep(0.05)


def test_what_was_done_before_a_restart_or_a_move_is_known_afterwards(tmp_path: Path) -> None:
    with farm(tmp_path) as nodes:
        web, box = nodes["web"], nodes["box"]
        body = {"agent": "fast", "cwd": str(box.new_folder()), "node": "box", "prompt": "/echo first"}
        key = {"Idempotency-Key": "once"}
        made = web.wire.ask("POST", "/sessions", body, key).expect(201)
        session = nodes.known("web", Session(web, made["id"], Path(body["cwd"])), "box")
        first = command(web, session, 1)
        eventually(lambda: session.view()["status"] == "idle", "its turns are over")
        box.kill()
        box.start()
        nodes.all_there("web", "box")
        assert web.wire.ask("POST", "/sessions", body, key).expect(201)["id"] == session.id
        assert command(web, session, 1) == first
        move_somehow(nodes, session, "den")
        assert command(web, session, 1) == first
        assert web.wire.ask("POST", "/sessions", body, key).expect(201)["id"] == session.id
        assert said(session) == ["/echo first", "/echo 1"]


def move_somehow(nodes: Farm, session: Session, to: str) -> None:
    """Move a session as soon as it rests."""
    def moved() -> bool:
        return nodes["web"].wire.ask("POST", f"{session.path}/move", {"node": to}).status == 200

    eventually(moved, f"the session is on {to}")
    nodes.known("web", session, to)


def rests(hub: HubProcess, session: Session) -> bool:
    """Whether nothing runs or waits in it, as far as it is shown at this moment."""
    answer = hub.wire.ask("GET", session.path)
    return answer.status == 200 and answer.json()["status"] == "idle" and not answer.json()["queue"]


@pytest.mark.slow
def test_what_is_asked_for_while_a_session_moves_is_done_once_and_in_order(tmp_path: Path) -> None:
    with farm(tmp_path) as nodes:
        web = nodes["web"]
        session = nodes.known("web", nodes["box"].new_session(node="box"), "box")
        wrong: list[BaseException] = []
        moved = threading.Event()
        count = 0

        def send() -> None:
            nonlocal count
            try:
                while not moved.is_set():
                    command(web, session, count)
                    count += 1
                    if count % BURST == 0:  # on a machine that is busy it would never come to rest otherwise
                        eventually(lambda: rests(web, session), "its turns are over")
            except BaseException as error:  # the test's own thread: it is told of below
                wrong.append(error)

        sending = threading.Thread(target=send)
        sending.start()
        try:
            for to in ("den", "box", "den"):
                before = count
                move_somehow(nodes, session, to)
                eventually(lambda before=before: count > before + BURST or wrong, "it goes on")  # type: ignore[misc]
        finally:
            moved.set()
            sending.join()
        assert wrong == []
        eventually(lambda: session.view()["status"] == "idle" and not session.view()["queue"], "all turns are over")
        assert said(session) == [f"/echo {number}" for number in range(count)]
