"""Calls that cancel, set, decide and answer: what goes out, what comes back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from tests.client.calls.routes import SESSION, Row, check_route
from tests.tooling.rows import every_row
from trunkline.client import Client

CALLS: list[Row] = [
    ("cancel", lambda hub: hub.cancel("s1"), "POST /sessions/s1/cancel", {}, {"cancelled": True}),
    ("mode", lambda hub: hub.set_mode("s1", "plan"), "POST /sessions/s1/mode", {"modeId": "plan"}, SESSION),
    ("config", lambda hub: hub.set_config("s1", "fast", True), "POST /sessions/s1/config",
     {"configId": "fast", "value": True}, SESSION),
    ("queue", lambda hub: hub.queue("s1"), "GET /sessions/s1/queue", None, [{"turnId": "t", "content": []}]),
    ("edit", lambda hub: hub.edit_queued("s1", "t", "x"), "PATCH /sessions/s1/queue/t", {"content": "x"}, []),
    ("drop", lambda hub: hub.drop_queued("s1", "t"), "DELETE /sessions/s1/queue/t", None, None),
    ("allow", lambda hub: hub.decide("s1", "r", allow=True, scope="always"), "POST /sessions/s1/permissions/r",
     {"decision": "allow", "scope": "always"}, SESSION),
    ("deny", lambda hub: hub.decide("s1", "r", allow=False, reason="no"), "POST /sessions/s1/permissions/r",
     {"decision": "deny", "scope": "once", "reason": "no"}, SESSION),
    ("option", lambda hub: hub.decide("s1", "r", option_id="o"), "POST /sessions/s1/permissions/r", {"optionId": "o"}, SESSION),
    ("option for the session", lambda hub: hub.decide("s1", "r", option_id="o", scope="session"),
     "POST /sessions/s1/permissions/r", {"optionId": "o", "scope": "session"}, SESSION),
    ("allow for the turn", lambda hub: hub.decide("s1", "r", allow=True, scope="turn"), "POST /sessions/s1/permissions/r",
     {"decision": "allow", "scope": "turn"}, SESSION),
    ("allow an edited input", lambda hub: hub.decide("s1", "r", allow=True, updated_input={"command": "ls"}),
     "POST /sessions/s1/permissions/r", {"decision": "allow", "scope": "once", "updatedInput": {"command": "ls"}}, SESSION),
    ("answer", lambda hub: hub.answer_question("s1", "q", {"a": 1}), "POST /sessions/s1/questions/q",
     {"action": "accept", "content": {"a": 1}}, SESSION),
    ("decline", lambda hub: hub.answer_question("s1", "q", None, action="decline"), "POST /sessions/s1/questions/q",
     {"action": "decline"}, SESSION),
    ("clear", lambda hub: hub.clear_queue("s1"), "DELETE /sessions/s1/queue", None, None),
]


@every_row(("call", "target", "body", "answer"), [row[1:] for row in CALLS])
def test_every_call_sends_its_route_and_reads_the_answer(
    call: Callable[[Client], Awaitable[Any]], target: str, body: object, answer: object
) -> None:
    check_route(call, target, body, answer)
