"""Sessions that change hands, over HTTP and from the command line: continued here under their id, refused, forked, released."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.page.test_handover import AGENT, Place
from tests.tooling.hub_process import Session
from tests.tooling.processes import eventually
from tests.tooling.stores import add_prompt


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    found = Place(tmp_path)
    try:
        with found.hub:
            yield found
    finally:
        found.end_elsewhere()


def prompts(place: Place, session_id: str) -> list[str]:
    events = place.hub.wire.get(f"/sessions/{session_id}/history?limit=500&types=message:complete")["events"]
    return ["".join(part["text"] for part in event["content"]) for event in events if event["role"] == "user"]


def test_a_found_session_says_how_its_own_program_goes_on_with_it(place: Place) -> None:
    command = f"cd {place.project} && coder --resume {place.made.session_id}"
    listed = place.hub.command("sessions", "--json")
    (found,) = [each for each in json.loads(listed.stdout) if each["id"] == place.made.session_id and each["agent"] == AGENT]
    assert found["resumeCommand"] == command
    session_id = place.follow()
    assert place.hub.wire.get(f"/sessions/{session_id}")["resumeCommand"] == command
    assert [each["resumeCommand"] for each in place.hub.wire.get("/sessions")["sessions"]] == [command]
    assert command in place.hub.command("sessions", "show", session_id).stdout
    fast = place.hub.new_session("fast")
    assert place.hub.wire.get(f"/sessions/{fast.id}")["resumeCommand"] is None


def test_it_is_continued_and_released_over_http_under_one_id_with_nothing_lost_or_doubled(place: Place) -> None:
    session_id = place.follow()
    before = prompts(place, session_id)
    taken = place.hub.wire.ask("POST", f"/sessions/{session_id}/take-over", {}).expect(200)
    assert (taken["id"], taken["watchOnly"], taken["agentSessionId"]) == (session_id, False, place.made.session_id)
    words = json.dumps([["say", "Here."]])
    Session(place.hub, session_id, place.project).say(words)
    assert place.hub.wire.post(f"/sessions/{session_id}/take-over", {}, 200)["id"] == session_id, "it is here already"
    who = place.hub.wire.post(f"/sessions/{session_id}/give-back", {}, 200)
    assert not who["here"] and who["ways"][0]["how"] == "resume"
    place.hub.wire.post(f"/sessions/{session_id}/send-message", {"content": "x"}, 501)
    add_prompt(place.made, "Elsewhere again.")
    eventually(lambda: prompts(place, session_id)[-1] == "Elsewhere again.", "it is followed")
    assert prompts(place, session_id) == [*before, words, "Elsewhere again."]


def test_a_hub_that_is_killed_leaves_each_where_it_was(place: Place) -> None:
    session_id = place.follow()
    place.hub.wire.post(f"/sessions/{session_id}/take-over", {}, 200)
    place.hub.kill()
    place.hub.start()
    assert not place.hub.wire.get(f"/sessions/{session_id}")["watchOnly"]
    place.hub.wire.post(f"/sessions/{session_id}/give-back", {}, 200)
    place.hub.kill()
    add_prompt(place.made, "While it was down.")
    place.hub.start()
    place.hub.wire.get(f"/sessions/{session_id}")  # who asks for it has it opened
    eventually(lambda: prompts(place, session_id)[-1] == "While it was down.", "it is followed on")
    assert prompts(place, session_id).count("While it was down.") == 1


def test_one_that_runs_elsewhere_is_a_conflict_that_says_what_can_be_done(place: Place) -> None:
    pid = place.begin_elsewhere()
    session_id = place.follow()
    for path, body in ((f"/sessions/{session_id}/take-over", {}),
                       (f"/adapters/{AGENT}/sessions/{place.made.session_id}/attach", {"watch": False})):
        error = place.hub.wire.post(path, body, 409)
        assert error["code"] == "session_in_use" and error["details"]["pid"] == pid and "wait" in error["details"]["can"]
    place.hub.wire.ask("GET", f"/sessions/{session_id}/handover?wait=61").expect(400)
    place.hub.wire.post(f"/sessions/{session_id}/take-over", {"how": "fork"}, 501)  # nobody has seen it fork yet
    place.hub.new_session(AGENT, place.project)
    error = place.hub.wire.post(f"/sessions/{session_id}/take-over", {}, 409)
    assert error["details"]["can"] == ["fork", "wait"]
    branch = place.hub.wire.post(f"/sessions/{session_id}/take-over", {"how": "fork"}, 201)
    assert branch["id"] != session_id and place.hub.wire.get(f"/sessions/{session_id}")["watchOnly"]


def test_the_command_line_says_what_it_will_do_and_does_it(place: Place) -> None:
    pid = place.begin_elsewhere()
    refused = place.hub.command("continue", place.made.session_id[:13])
    assert refused.returncode == 1 and f"process {pid}" in refused.stderr and "continues as" not in refused.stdout
    place.end_elsewhere()
    done = place.hub.command("continue", place.made.session_id, "--wait")
    assert done.returncode == 0, done.stderr
    said, continued = done.stdout.splitlines()[-2:]
    assert "goes on with this session here" in said
    session_id = continued.split()[2].rstrip(":")
    assert not place.hub.wire.get(f"/sessions/{session_id}")["watchOnly"]
    assert "it is here already" in place.hub.command("continue", session_id).stdout
    released = place.hub.command("release", session_id)
    assert released.returncode == 0, released.stderr
    assert f"coder --resume {place.made.session_id}" in released.stdout
    assert place.hub.wire.get(f"/sessions/{session_id}")["watchOnly"]
    assert json.loads(place.hub.command("release", session_id, "--json").stdout)["here"] is False


def test_the_command_line_opens_a_session_by_its_id_that_its_agent_does_not_list(place: Place) -> None:
    unknown = place.hub.command("continue", "hidden-2", "--agent", AGENT, "--folder", str(place.project))
    assert unknown.returncode == 1 and "no such session" in unknown.stderr
    done = place.hub.command("continue", "hidden-1", "--agent", AGENT, "--folder", str(place.project))
    assert done.returncode == 0, done.stderr
    session_id = done.stdout.splitlines()[-1].split()[2].rstrip(":")
    assert prompts(place, session_id) == ["Make it blue.", "And red?"]


def test_where_resuming_would_do_harm_the_command_line_offers_a_summary(place: Place) -> None:
    from tests.tooling.stores import gemini, move

    made = gemini(place.hub.home)
    move(made, place.project)
    program = place.hub.root / "bin" / "gemini"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -m trunkline.agents.demo --fast\n")
    program.chmod(0o755)
    place.hub.stop()
    place.hub._env["PATH"] = f"{program.parent}:{place.hub._env['PATH']}"
    place.hub.start()
    refused = place.hub.command("continue", made.session_id)
    assert refused.returncode == 1 and "--summary" in refused.stderr
    done = place.hub.command("continue", made.session_id, "--summary")
    assert done.returncode == 0, done.stderr
    assert "copy" in done.stdout
    assert len(list((place.hub.data / "kept").iterdir())) == 1
    shutil.rmtree(place.hub.data / "kept")
