"""``trunkline sessions``: listed, shown, cancelled and deleted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Place
from tests.tooling.stores import STORES
from trunkline.cli.commands.sessions.sessions import _became
from trunkline.client.views import RemovedView


def test_sessions_are_listed_shown_cancelled_and_deleted(place: Place) -> None:
    assert place.call("run", "demo", "/burst 1 5", "--title", "my title").returncode == 0
    (listed,) = json.loads(place.call_here("sessions", "list", "--here", "--json").stdout)
    assert (listed["title"], listed["status"], listed["cwd"]) == ("my title", "idle", str(place.work))
    assert b"my title" in place.call_here("sessions").stdout
    shown = place.call_here("sessions", "show", listed["id"][:8]).stdout.decode()
    assert listed["id"] in shown
    assert place.call_here("sessions", "cancel", listed["id"]).stdout == b"no turn was running\n"
    replay = place.call_here("sessions", "tail", listed["id"], "--no-follow", "--after", "0", "--json").stdout.splitlines()
    assert [json.loads(line)["type"] for line in replay][-3:] == ["user_message_chunk", "agent_message_chunk", "prompt_response"]
    assert place.call_here("sessions", "delete", listed["id"]).stdout.decode() == f"deleted {listed['id']}\n"
    gone = place.call_here("sessions", "show", listed["id"])
    assert (gone.returncode, b"no session has an id that begins with" in gone.stderr) == (1, True)


@pytest.mark.parametrize(("removed", "said"), [
    (RemovedView(erased=3), "3 messages were erased"),
    (RemovedView(purged=True, why="three"), "the rest was purged: its bytes stay in the servers' files for a while (three)"),
    (RemovedView(unswept=True, why="no key"), "no node shows it any more, and what it had stays until the next sweep (no key)"),
    (RemovedView(why="another's"), "nothing was done (another's)"),
])
def test_what_became_of_a_session_in_its_cluster_is_said(removed: RemovedView, said: str) -> None:
    assert _became(removed) == said


def test_sessions_that_other_programs_wrote_are_listed_too_and_say_where_they_are(place: Place, tmp_path: Path) -> None:
    made = STORES["codex"](tmp_path / "home")
    assert place.call("run", "demo", "/burst 1 5", "--title", "my title", env={"HOME": str(tmp_path / "home")}).returncode == 0
    first, second = json.loads(place.call_here("sessions", "list", "--json").stdout)
    assert {first["title"], second["title"]} == {"my title", "fake title"}
    shown = place.call_here("sessions").stdout.decode().splitlines()
    (line,) = [line for line in shown if line.startswith(made.session_id)]
    assert line.split()[1:3] == ["elsewhere", "codex-acp"] and "fake title" in line
    assert made.session_id not in place.call_here("sessions", "list", "--here").stdout.decode()
