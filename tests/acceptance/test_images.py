"""Pictures that an event only points at."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

from tests.tooling.hub_process import HubProcess

NewHub = Callable[..., HubProcess]


def test_a_large_picture_is_an_address_in_the_event_and_a_picture_there(some_hub: NewHub) -> None:
    hub = some_hub()
    session = hub.new_session("puppet")
    picture = b"\x89PNG" + bytes(range(256)) * 400
    data = base64.b64encode(picture).decode()
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "mimeType": "image/png", "data": data}}
    session.say(json.dumps([["say", "look"], ["update", update], ["update", {**update, "content": {
        **update["content"], "data": data[:400]}}]]))  # type: ignore[dict-item]
    events = session.wire.get(f"{session.path}/history?types=message:complete")["events"]
    parts = [part for event in events for part in event["content"] if part["type"] == "image"]
    assert parts[1]["url"].startswith("data:image/png;base64,")
    assert parts[0]["mimeType"] == "image/png" and parts[0]["url"].startswith(f"{session.path}/images/")
    answer = session.wire.ask("GET", parts[0]["url"])
    assert (answer.status, answer.headers["content-type"], answer.body) == (200, "image/png", picture)
    assert "sandbox" in answer.headers["content-security-policy"]
    assert session.wire.ask("GET", f"{session.path}/images/1").status == 404
    assert session.wire.ask("GET", f"{session.path}/images/9999999").status == 404
    assert session.wire.ask("GET", f"{session.path}/images/x").status == 400
    assert session.wire.as_nobody().ask("GET", parts[0]["url"]).status == 401
