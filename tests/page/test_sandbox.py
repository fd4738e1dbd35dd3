"""A sandbox on the page: it is chosen in the form for a new session, and shown in the session's head."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.page.beginning import choose_agent, choose_folder
from tests.page.conftest import MakePerson, free_port
from tests.tooling.bubblewrap import need_bubblewrap
from tests.tooling.hub_process import HubProcess


def test_a_sandbox_is_chosen_for_a_new_session_and_shown_in_its_head(tmp_path: Path, make_person: MakePerson) -> None:
    need_bubblewrap()
    with HubProcess(tmp_path / "hub", port=free_port()) as hub:
        person = make_person(hub.url)
        page = person.log_in(hub, "#/new")
        choose_agent(page, "fast")
        choose_folder(page, hub.new_folder())
        expect(page.get_by_text("can read and change whatever you can")).to_be_visible()
        page.get_by_label("Sandbox").select_option(label="Sandbox without network")
        page.get_by_role("button", name="Start", exact=True).click()
        expect(page.get_by_role("feed")).to_be_visible()
        expect(page.get_by_text("Sandbox: bwrap, network off")).to_be_visible()
        assert hub.wire.get("/sessions")["sessions"][0]["sandbox"] == {"kind": "bwrap", "network": False}
        person.leave()
