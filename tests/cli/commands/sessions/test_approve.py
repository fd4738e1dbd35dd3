"""``trunkline approve`` and ``deny``: what waits is decided from elsewhere."""

from __future__ import annotations

import re

import pytest

from tests.cli.commands.elsewhere import begun, state, wait_for
from tests.cli.conftest import Place
from tests.tooling.processes import eventually


def test_the_only_request_that_waits_is_approved_or_denied_without_naming_it(place: Place) -> None:
    place.serve()
    nothing = place.call_here("approve")
    assert (nothing.returncode, nothing.stderr) == (1, b"trunkline: no approval waits for anybody\n")
    session = begun(place, "/ask")
    wait_for(place, session, "pendingApprovals")
    assert place.call_here("approve").stdout.startswith(b"approved req_")
    eventually(lambda: "Approved." in state(place, session)["lastText"], "the agent was told")
    place.call_here("send", session, "/ask")
    wait_for(place, session, "pendingApprovals")
    assert place.call_here("deny", session[:14], "--reason", "not today").stdout.startswith(b"denied req_")
    eventually(lambda: "Not approved." in state(place, session)["lastText"], "the agent was told")


def test_where_several_wait_they_are_listed_and_nothing_is_decided(place: Place) -> None:
    place.serve()
    session = begun(place, "/ask 2")
    eventually(lambda: len(state(place, session)["pendingApprovals"]) == 2, "both wait")
    refused = place.call_here("approve", session)
    assert refused.returncode == 2
    ids = re.findall(r"req_\w+", refused.stderr.decode())
    assert len(set(ids)) == 2
    assert len(state(place, session)["pendingApprovals"]) == 2
    assert place.call_here("approve", ids[1]).returncode == 0
    eventually(lambda: [each["requestId"] for each in state(place, session)["pendingApprovals"]] == [ids[0]], "one is left")


@pytest.mark.parametrize("command", ["approve", "answer"])
def test_without_a_hub_nothing_waits_and_none_is_started(place: Place, command: str) -> None:
    done = place.call_here(command, *(["-"] if command == "answer" else []))
    assert done.returncode == 1 and b"no hub is running" in done.stderr
    assert place.data.holder() is None


@pytest.mark.parametrize("words", [("sessions", "--json"), ("pair", "--json"), ("open", "--print")])
def test_who_starts_a_hub_says_so_on_stderr(place: Place, words: tuple[str, ...]) -> None:
    first, second = place.call(*words), place.call(*words)
    assert first.returncode == 0, first.stderr
    assert re.search(rb"no hub was running: started one in the background at http://\S+;", first.stderr)
    assert b"no hub was running" not in first.stdout + second.stderr
