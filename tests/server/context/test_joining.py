"""Runs of deltas are one event, and nothing of their text is lost, doubled or moved."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.aio import run
from tests.feeds.test_session import stored_feed
from tests.server.site import site
from tests.tooling.examples import examples
from trunkline.dialects.context.filters import TypeFilter, parse_types
from trunkline.feeds.session import Feed
from trunkline.server import paging
from trunkline.server.context import joining
from trunkline.server.context.joining import EventRun, EventRuns
from trunkline.server.paging import Stretch, runs_after, runs_before

Event = dict[str, Any]

DELTAS = st.fixed_dictionaries({"type": st.sampled_from(["message:delta"]), "messageId": st.sampled_from(["m1", "m2"]),
                                "role": st.sampled_from(["assistant", "user"]), "delta": st.text(max_size=5)})
THOUGHTS = st.fixed_dictionaries({"type": st.just("thinking:delta"), "messageId": st.just("m1"), "delta": st.text(max_size=5)})
ARGUMENTS = st.fixed_dictionaries({"type": st.just("tool:args_delta"), "toolCallId": st.sampled_from(["c1", "c2"]),
                                   "delta": st.text(max_size=5)})
REMARKED = st.fixed_dictionaries({"type": st.just("message:delta"), "_meta": st.just({"truncated": {"bytes": 9}}),
                                  "messageId": st.just("m1"), "role": st.just("assistant"), "delta": st.text(max_size=5)})
OTHERS = st.fixed_dictionaries({"type": st.sampled_from(["tool:start", "message:complete"]), "x": st.text(max_size=3)})
STORIES = st.lists(st.one_of(DELTAS, DELTAS, THOUGHTS, ARGUMENTS, REMARKED, OTHERS), max_size=120)


async def feed_of(story: list[Event]) -> Feed:
    """A feed of these events, as a hub encodes them."""
    feed, journal = await stored_feed(len(story))
    for entry, event in zip(journal._sessions.get("s", []), story, strict=True):
        whole = {"seq": entry.seq, "sessionId": "s", "timestamp": f"t{entry.seq}", **event}
        entry.event = json.dumps(whole, separators=(",", ":")).encode()
    return feed


async def joined_after(feed: Feed, after: int, before: int | None, limit: int, wanted: TypeFilter) -> Stretch[EventRun]:
    return await runs_after(feed, after, before, limit, EventRuns(wanted), scan_most=joining.JOINED_SCAN_MOST)


async def joined_before(feed: Feed, before: int, limit: int, wanted: TypeFilter) -> Stretch[EventRun]:
    return await runs_before(feed, before, limit, EventRuns(wanted), scan_most=joining.JOINED_SCAN_MOST)


def events_of(stretch: Stretch[EventRun]) -> list[Event]:
    return [json.loads(bytes(run.event())) for run in stretch.runs]


async def forwards(feed: Feed, limit: int, wanted: TypeFilter) -> list[Event]:
    found: list[Event] = []
    after, more = 0, True
    while more:
        stretch = await joined_after(feed, after, None, limit, wanted)
        assert len(stretch.runs) <= limit
        found += events_of(stretch)
        after, more = stretch.position, stretch.more
    return found


async def backwards(feed: Feed, limit: int, wanted: TypeFilter) -> list[Event]:
    found: list[Event] = []
    before, more = feed.last_seq + 1, True
    while more:
        stretch = await joined_before(feed, before, limit, wanted)
        assert len(stretch.runs) <= limit
        found = events_of(stretch) + found
        before, more = stretch.position, stretch.more
    return found


def expected(story: list[Event], wanted: TypeFilter) -> list[Event]:
    """The same by the plain rule, one event after the other."""
    found: list[Event] = []
    for seq, event in enumerate(story, 1):
        if not wanted.matches(event["type"]):
            continue
        shown = {"seq": seq, "sessionId": "s", "timestamp": f"t{seq}", **event}
        last = found[-1] if found else None
        if last is not None and "delta" in event and "_meta" not in event and _whose(last) == _whose(event) and (
                set(last.get("_meta", {})) <= {"joined"}):
            shown["delta"] = last["delta"] + event["delta"]
            shown["_meta"] = last.get("_meta") or {"joined": last["seq"]}
            found[-1] = shown
        else:
            found.append(shown)
    return found


def _whose(event: Event) -> tuple[Any, ...]:
    return tuple(event.get(key) for key in ("type", "messageId", "toolCallId", "role"))


@settings(max_examples=examples(16, 150), deadline=None)
@given(story=STORIES, limit=st.integers(1, 30),
       types=st.sampled_from([None, "message:", "tool:args_delta", "thinking:delta,message:delta"]))
def test_pages_of_any_size_in_both_directions_add_up_to_the_same_runs(story: list[Event], limit: int, types: str | None) -> None:
    async def check() -> None:
        feed, wanted = await feed_of(story), parse_types(types)
        assert await forwards(feed, limit, wanted) == await backwards(feed, limit, wanted) == expected(story, wanted)

    run(check())


@settings(max_examples=examples(16), deadline=None)
@given(story=STORIES, cuts=st.lists(st.integers(0, 120), max_size=6))
def test_cursors_that_point_into_runs_give_the_same_text(story: list[Event], cuts: list[int]) -> None:
    async def check() -> None:
        feed = await feed_of(story)
        text = ""
        edges = [0, *sorted(min(cut, len(story)) for cut in cuts), len(story)]
        for start, end in pairwise(edges):
            stretch = await joined_after(feed, start, end + 1, 5_000, parse_types(None))
            assert not stretch.more
            text += "".join(event.get("delta", "") for event in events_of(stretch))
        assert text == "".join(event.get("delta", "") for event in story)

    run(check())


def test_a_run_and_a_page_are_bounded_and_nothing_is_lost_at_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "RUN_BYTES", 1_000)
    monkeypatch.setattr(paging, "PAGE_BYTES", 3_000)
    monkeypatch.setattr(joining, "JOINED_SCAN_MOST", 100)

    async def check() -> None:
        story: list[Event] = [{"type": "message:delta", "messageId": "m", "role": "assistant", "delta": f"{number:04},"}
                             for number in range(3_000)]
        feed = await feed_of(story)
        first = await joined_after(feed, 0, None, 5_000, parse_types(None))
        assert first.more and 2 <= len(first.runs) <= 4
        assert all(len(bytes(run.event())) < 1_400 for run in first.runs)
        for whole in (await forwards(feed, 50, parse_types(None)), await backwards(feed, 50, parse_types(None))):
            assert "".join(event["delta"] for event in whole) == "".join(event["delta"] for event in story)
            starts = [event["_meta"]["joined"] if "_meta" in event else event["seq"] for event in whole]
            assert starts == [1, *(event["seq"] + 1 for event in whole[:-1])]

    run(check())


def test_a_page_of_one_wanted_event_behind_very_many_others_looks_through_a_bounded_number(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "JOINED_SCAN_MOST", 2_000)

    async def check() -> None:
        feed = await feed_of([{"type": "tool:start"}] + [{"type": "message:complete"}] * 9_000)
        first = await joined_before(feed, feed.last_seq + 1, 50, parse_types("tool:"))
        assert first.runs == [] and first.more and first.position > 5_000
        assert [event["seq"] for event in await backwards(feed, 50, parse_types("tool:"))] == [1]

    run(check())


def test_joined_history_over_http_says_what_the_journal_says(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/burst 40 10")
            path = f"/sessions/{session.id}/history"
            plain = (await hub.ask("GET", f"{path}?types=message:delta")).json()["events"]
            *_, joined = (await hub.ask("GET", f"{path}?joined=true&types=message:delta")).json()["events"]
            plain = [event for event in plain if event["messageId"] == joined["messageId"]]
            assert joined["delta"] == "".join(event["delta"] for event in plain)
            assert (joined["seq"], joined["_meta"]) == (plain[-1]["seq"], {"joined": plain[0]["seq"]})
            assert set(joined) == {*plain[0], "_meta"}
            last = session.feed.last_seq
            page = (await hub.ask("GET", f"{path}?joined=true&before={last + 1}&limit=3")).json()
            assert len(page["events"]) == 3 and page["nextAfter"] is None and page["lastSeq"] == last
            older = (await hub.ask("GET", f"{path}?joined=true&before={page['nextBefore']}")).json()
            assert older["nextBefore"] is None and older["nextAfter"] == page["nextBefore"] - 1
            whole = (await hub.ask("GET", f"{path}?joined=true")).json()
            assert older["events"] + page["events"] == whole["events"]
            assert (await hub.ask("GET", f"{path}?joined=false")).json() == (await hub.ask("GET", path)).json()
            refused = await hub.ask("GET", f"{path}?joined=yes")
            assert (refused.status, refused.json()["details"]) == (400, {"field": "joined"})

    run(check())
