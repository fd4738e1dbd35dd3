"""``trunkline open``: the way into the page."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from tests.aio import run
from tests.cli.commands.elsewhere import begun
from tests.cli.conftest import Place
from tests.tooling.wire import Wire
from trunkline.cli.hosting.locate import find_or_start


def test_open_prints_a_link_that_logs_in_and_leads_to_a_session(shared: Place) -> None:
    session = begun(shared)
    env = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "SSH_CONNECTION": ""}
    link = shared.call_here("open", "--print", env=env).stdout.decode().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#code=[\w-]{32}", link)
    there = shared.call_here("open", session[:14], env=env).stdout.decode().strip()
    assert re.fullmatch(rf"http://127\.0\.0\.1:\d+/#code=[\w-]{{32}}&to=/s/{session}", there)
    tunnel = shared.call_here("open", "--print", env={**env, "SSH_CONNECTION": "10.0.0.1 5 10.0.0.2 22"})
    assert b"ssh -L " in tunnel.stderr and b"ssh" not in tunnel.stdout


def test_open_gives_who_may_not_let_others_in_the_address_of_a_session(shared: Place) -> None:
    session, settings = begun(shared), shared.settings()
    url = run(find_or_start(settings)).url
    wire = Wire(urlsplit(url).hostname or "", urlsplit(url).port or 0, (shared.data.path / "token").read_text().strip())
    token = wire.post("/auth/tokens", {"name": "a program", "scope": "control"}, 201)["secret"]
    done = shared.call_here("open", session, "--print", "--url", url, env={"TRUNKLINE_TOKEN": token, "SSH_CONNECTION": ""})
    assert (done.stdout.decode(), done.stderr) == (f"{url}/#/s/{session}\n", b"")
