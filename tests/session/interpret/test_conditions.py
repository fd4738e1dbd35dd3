"""What an agent says about itself."""

from __future__ import annotations

import pytest

from tests.session.interpret.told import Told, events, names, packets, updates
from tests.session.script import update
from trunkline.dialects.notes import CustomNote
from trunkline.dialects.signals import Malformed
from trunkline.session.interpret import conditions
from trunkline.session.interpret.usage import CURRENCY_CHARS


def test_usage_and_cost_are_told_with_their_difference() -> None:
    told = Told()
    first = told.hear(update(sessionUpdate="usage_update", used=50, size=200, cost={"amount": 0.5, "currency": "USD"}))
    assert names(first) == ["resource:context_window", "resource:cost"]
    assert events(first)[0]["percentage"] == 25
    second = told.hear(update(sessionUpdate="usage_update", used=60, size=200, cost={"amount": 0.75, "currency": "USD"}))
    cost = events(second)[1]
    assert (cost["delta"]["total"], cost["cumulative"]["total"]) == (0.25, 0.75)
    assert packets(second)[0]["type"] == "usage_update" and len(packets(second)) == 1
    assert names(told.hear(update(sessionUpdate="usage_update", used=60, size=0))) == ["resource:context_window"]


def test_a_plan_replaces_the_one_before() -> None:
    told = Told()
    entries = told.hear(update(sessionUpdate="plan", entries=[{"content": "a", "priority": "high", "status": "pending"}]),
                        update(sessionUpdate="plan", entries=[]))
    assert names(entries) == ["progress:todo_update"] * 2 and told.fold.todos == []
    assert [packet["type"] for packet in packets(entries)] == ["agent_plan_update"] * 2


def test_plan_mode_is_entered_and_left() -> None:
    told = Told()
    modes = [update(sessionUpdate="current_mode_update", currentModeId=mode) for mode in ("ask", "plan", "code")]
    entries = told.hear(*modes)
    assert names(entries) == ["current_mode_update", "progress:plan_mode", "progress:plan_mode"]
    assert [event.get("active") for event in events(entries)] == [None, True, False]
    assert [packet["currentModeId"] for packet in packets(entries)] == ["ask", "plan", "code"]


def test_commands_are_found_by_their_entry() -> None:
    told = Told()
    entries = told.hear(update(sessionUpdate="available_commands_update",
                               availableCommands=[{"name": "x", "description": "does x"}]))
    assert told.fold.commands_seq == entries[0].seq
    assert packets(entries)[0]["type"] == "available_commands_update"


def test_the_agents_title_counts_until_a_person_gives_one() -> None:
    told = Told()
    told.hear(update(sessionUpdate="session_info_update", title="Fix the build"))
    assert told.fold.title == "Fix the build"
    told.at().conditions.title("Mine", by="ann")
    told.hear(update(sessionUpdate="session_info_update", title="Fix more"))
    assert told.fold.title == "Mine"


def test_a_notice_is_a_notification() -> None:
    (entry,) = Told().hear(update(sessionUpdate="notice", severity="warning", title="Slow", description="very"))
    event = events([entry])[0]
    assert (event["type"], event["level"], event["title"], event["message"]) == (
        "interaction:notification", "warning", "Slow", "very")


@pytest.mark.parametrize("said", [
    {"sessionUpdate": "tomorrows_update", "x": [1, 2]}, {"nothing": "known"}, {"sessionUpdate": "tool_call"},
])
def test_what_means_nothing_to_us_travels_whole(said: dict[str, object]) -> None:
    (entry,) = Told().hear(update(**said))
    event = events([entry])[0]
    assert (event["type"], event["namespace"], event["data"]) == ("custom", "acp", said)
    assert updates([entry]) == [said] and packets([entry]) == []


def test_junk_and_notes_become_events() -> None:
    entries = Told().hear(Malformed(b"no \xff json", "not JSON", 9), CustomNote("tomorrow", b'{"attempt":2}'))
    malformed, note = events(entries)
    assert (malformed["eventName"], malformed["data"]) == ("malformed", {"line": "no \ufffd json", "why": "not JSON", "size": 9})
    assert (note["namespace"], note["eventName"], note["data"]) == ("agent", "tomorrow", {"attempt": 2})



def test_what_an_agent_offers_is_kept_up_to_a_bound() -> None:
    told = Told()
    option = {"id": "a", "name": "A", "type": "boolean", "currentValue": True, "description": "d" * conditions.OFFERED_BYTES}
    told.hear(update(sessionUpdate="config_option_update", configOptions=[option]))
    assert bytes(told.fold.config_options) == b"null", "what was known stays"
    told.hear(update(sessionUpdate="current_mode_update", currentModeId="m" * (conditions.MODE_CHARS + 1)))
    assert told.fold.mode is None
    told.hear(update(sessionUpdate="usage_update", used=1, size=2, cost={"amount": 1.5, "currency": "E" * 1000}))
    assert told.fold.cost is not None and len(told.fold.cost.currency) == CURRENCY_CHARS
