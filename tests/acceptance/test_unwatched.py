"""What a hub does for people who are not looking: it tells a webhook, and finds things again later."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually

NewHub = Callable[..., HubProcess]
SECRET = "a secret of the receiver"
WAIT_S = 60.0


class Inbox:
    """A receiver of webhooks on this machine."""

    def __init__(self) -> None:
        self.url = ""
        self._arrived: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()

    def took(self, headers: dict[str, str], body: bytes) -> None:
        """Something came."""
        self._arrived.put((headers, body))

    def next(self) -> Any:
        """The next body, if its signature is right."""
        headers, body = self._arrived.get(timeout=WAIT_S)
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        digest = base64.b64encode(hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()).decode()
        assert headers["webhook-signature"] == f"v1,{digest}"
        return json.loads(body)


@contextmanager
def inbox(port: int = 0) -> Iterator[Inbox]:
    box = Inbox()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            box.took({name.lower(): value for name, value in self.headers.items()}, body)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = HTTPServer(("127.0.0.1", port), Handler)
    box.url = f"http://127.0.0.1:{server.server_port}/told"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield box
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def told(tmp_path: Path) -> Iterator[tuple[Inbox, Path]]:
    """A receiver, and the settings file of a hub that tells it."""
    with inbox() as box:
        config = tmp_path / "config.toml"
        config.write_text(f'public_url = "https://hub.example"\n[[webhooks]]\nurl = "{box.url}"\nsecret = "{SECRET}"\n'
                          'after_s = 0\nallow = ["127.0.0.1"]\n')
        yield box, config


def test_an_approval_that_nobody_watches_reaches_the_webhook_and_its_link_opens_nothing_by_itself(
        new_hub: NewHub, told: tuple[Inbox, Path]) -> None:
    box, config = told
    hub = new_hub("--config", str(config))
    session = hub.new_session()
    session.post("send-message", {"content": "/ask"}, 202)
    notice = box.next()
    request_id = hub.wire.get("/approvals")["pending"][0]["approval"]["requestId"]
    assert (notice["type"], notice["data"]["requestId"]) == ("approval", request_id)
    assert notice["data"]["link"] == f"https://hub.example/#/sessions/{session.id}/approvals/{request_id}"
    assert hub.token not in json.dumps(notice)
    hub.wire.as_nobody().ask("POST", f"{session.path}/permissions/{request_id}", {"decision": "allow"}).expect(401)
    session.post(f"permissions/{request_id}", {"decision": "allow"})
    assert box.next()["type"] == "finished"
    assert hub.wire.get("/approvals") == {"pending": []}


def test_who_watches_is_not_told_by_webhook(new_hub: NewHub, told: tuple[Inbox, Path]) -> None:
    box, config = told
    hub = new_hub("--config", str(config))
    watched, alone = hub.new_session(), hub.new_session()
    for number in range(3):
        watched.say(f"/echo {number}")
    alone.post("send-message", {"content": "/echo alone"}, 202)
    assert box.next()["data"]["sessionId"] == alone.id


def test_what_a_webhook_could_not_be_told_is_told_once_after_a_restart(new_hub: NewHub, tmp_path: Path) -> None:
    with inbox() as gone:
        url = gone.url
    config = tmp_path / "config.toml"
    config.write_text(f'[[webhooks]]\nurl = "{url}"\nsecret = "{SECRET}"\nevents = ["finished"]\nafter_s = 0\n'
                      'allow = ["127.0.0.1"]\n')
    hub = new_hub("--config", str(config))
    session = hub.new_session()
    session.post("send-message", {"content": "/echo one"}, 202)
    owed = hub.data / "webhooks.json"
    eventually(lambda: owed.exists() and len(json.loads(owed.read_bytes())["owed"]) == 1, "it is owed", WAIT_S)
    hub.stop()
    with inbox(int(url.rpartition(":")[2].partition("/")[0])) as box:
        hub.start()
        assert box.next()["data"]["sessionId"] == session.id
        eventually(lambda: json.loads(owed.read_bytes())["owed"] == [], "nothing is owed", WAIT_S)
        hub.restart()
        again = hub.new_session()
        again.post("send-message", {"content": "/echo two"}, 202)
        assert box.next()["data"]["sessionId"] == again.id, "the first came once"


def test_words_are_found_again_after_a_restart_and_without_the_index(new_hub: NewHub) -> None:
    hub = new_hub()
    session = hub.new_session(title="About herons")
    session.say("/echo a heronry by the lake")

    def kinds() -> list[str]:
        found = hub.wire.get("/search?q=heron")
        assert found["complete"]
        return sorted(hit["kind"] for hit in found["hits"])

    assert kinds() == ["assistant", "title", "user"]
    hub.restart()
    assert kinds() == ["assistant", "title", "user"]
    hub.kill()
    for file in hub.data.glob("search.db*"):
        file.unlink()
    hub.start()
    assert kinds() == ["assistant", "title", "user"]
    session.delete()
    assert kinds() == []
