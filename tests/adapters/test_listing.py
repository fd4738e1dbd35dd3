"""Sessions from three places in one shape: each once, newest activity first, with times that compare as text."""

from __future__ import annotations

from msgspec import UNSET

from trunkline.adapters.listing import LAST_MOST, NAME_MOST, UNKNOWN_TIME, from_agent, from_hub, from_store, merged
from trunkline.discovery.base import FoundSession
from trunkline.session.driver.base import AgentSession
from trunkline.session.fold import Fold, view_of


def listed(key: str, **more: str) -> AgentSession:
    return AgentSession(session_id=key, cwd="/home/ann/app/", **more)


def test_a_session_of_each_place_has_the_same_shape() -> None:
    fold = Fold(session_id="h", agent="demo", cwd="/home/ann/app", created_at=0, updated_at=1_000_000, title="T", last_text="so")
    found = FoundSession(id="f", path="/x.jsonl", cwd="/home/ann/app", created_at=0, updated_at=1_000_000, title="T",
                         last_message="so")
    hub, store = from_hub(view_of(fold)), from_store("demo", found)
    for session in (hub, store):
        assert (session.agent, session.project_name, session.session_name, session.last_message) == ("demo", "app", "T", "so")
        assert session.last_activity == "1970-01-01T00:00:01.000Z"
    assert from_agent("demo", listed("a")).project_name == "app"


def test_times_of_agents_are_brought_to_one_form_and_what_is_none_is_unknown() -> None:
    session = from_agent("demo", listed("a", updated_at="2026-01-01T02:00:00+02:00", created_at="no time"))
    assert (session.last_activity, session.created_at) == ("2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z")
    assert from_agent("demo", listed("a", created_at="2026-01-01T00:00:00.1234")).last_activity == "2026-01-01T00:00:00.123Z"
    assert from_agent("demo", listed("a")).last_activity == UNKNOWN_TIME


def test_a_session_is_listed_once_as_the_first_place_has_it_and_the_newest_comes_first() -> None:
    old = from_agent("demo", listed("a", updated_at="2026-01-01T00:00:00Z", title="first"))
    again = from_agent("demo", listed("a", updated_at="2026-03-01T00:00:00Z", title="second"))
    new = from_agent("demo", listed("b", updated_at="2026-02-01T00:00:00Z"))
    assert [(each.id, each.session_name) for each in merged([old, new, again])] == [("b", UNSET), ("a", "first")]


def test_long_names_and_messages_are_cut_and_say_so() -> None:
    found = FoundSession(id="f", path="/x", cwd="/", created_at=0, updated_at=0, title="x" * (NAME_MOST + 1),
                         last_message="y" * LAST_MOST)
    session = from_store("demo", found)
    assert session.session_name == "x" * NAME_MOST + "..." and session.last_message == "y" * LAST_MOST
    assert session.project_name == "/"
