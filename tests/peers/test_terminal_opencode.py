"""The real OpenCode in a real terminal, with Trunkline's plugin, against a scripted model on loopback: it asks in the terminal
and here at once, types here while it types there, and takes prompts from here."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.peers.install import npm_package
from tests.peers.opencode import AGENT, PACKAGE, PROMPT, READY, VERSION, at, begun, person, place
from tests.peers.seat import Seat
from tests.tooling.hub_process import own_environment
from tests.tooling.processes import eventually
from tests.tooling.tmux import START_S, Terminal

pytestmark = [pytest.mark.peers, pytest.mark.slow, pytest.mark.program("opencode", VERSION)]


@pytest.fixture(scope="module")
def somebody() -> Iterator[Seat]:
    with person() as one:
        yield one


@pytest.mark.shows("allowed from the hub")
def test_a_tool_asked_in_the_terminal_is_allowed_in_the_hub_and_runs(somebody: Seat) -> None:
    somebody.says("run: touch a1")
    ask = somebody.asked()
    assert "touch a1" in json.dumps(ask["approval"]["preview"])
    somebody.terminal.sees(PROMPT)
    somebody.decide(ask, decision="allow")
    somebody.made("a1")
    somebody.terminal.unsees(PROMPT)
    assert somebody.ended(ask)["approved"] is True


@pytest.mark.shows("denied from the hub, and the model sees the reason")
def test_a_denial_in_the_hub_reaches_the_model_with_its_reason(somebody: Seat) -> None:
    somebody.says("run: touch never1")
    ask = somebody.asked()
    somebody.decide(ask, decision="deny", reason="use a2 instead")
    somebody.is_told("use a2 instead")
    somebody.is_idle()
    assert not (somebody.work / "never1").exists()


@pytest.mark.shows("answered in the terminal first, and taken back everywhere")
def test_a_yes_in_the_terminal_takes_the_ask_back_from_the_hub(somebody: Seat) -> None:
    somebody.says("run: touch a3")
    ask = somebody.asked()
    somebody.presses("Enter")
    somebody.made("a3")
    end = somebody.ended(ask)
    assert (end["approved"], end["reason"]) == (True, "answered in the terminal: allowed") and not somebody.pending()


@pytest.mark.shows("answered in the terminal first, and taken back everywhere")
def test_a_no_in_the_terminal_takes_the_ask_back_from_the_hub(somebody: Seat) -> None:
    somebody.says("run: touch never2")
    ask = somebody.asked()
    somebody.presses("Escape")
    end = somebody.ended(ask)
    assert (end["approved"], end["reason"]) == (False, "answered in the terminal: not allowed")
    somebody.terminal.unsees(PROMPT)
    assert not (somebody.work / "never2").exists()


def test_a_late_answer_does_nothing(somebody: Seat) -> None:
    somebody.says("run: touch a4")
    ask = somebody.asked()
    somebody.presses("Enter")
    somebody.ended(ask)
    path = f"/sessions/{ask['sessionId']}/permissions/{ask['approval']['requestId']}"
    assert somebody.hub.wire.ask("POST", path, {"decision": "deny"}).status in (404, 409)
    somebody.made("a4")


@pytest.mark.shows("deny rule answers")
def test_a_rule_that_denies_answers_at_once(somebody: Seat) -> None:
    somebody.says("run: touch forbidden1")
    somebody.is_told("not that one")
    somebody.is_idle()
    assert not (somebody.work / "forbidden1").exists() and not somebody.pending()


@pytest.mark.shows("question answered from the hub")
def test_a_question_is_answered_in_the_hub(somebody: Seat) -> None:
    choices = [{"label": label, "description": label.lower()} for label in ("Red", "Blue")]
    question = {"header": "Color", "question": "Which color?", "options": choices}
    somebody.says(f"call: question {json.dumps({'questions': [question]})}")
    ask = somebody.asked()
    somebody.terminal.sees("1. Red")
    somebody.answer(ask, answer="Blue")
    somebody.is_told(r'\"Which color?\"=\"Blue\"')
    somebody.terminal.unsees("1. Red")
    somebody.is_idle()


@pytest.mark.shows("plan approved from the hub")
def test_a_plan_is_approved_in_the_hub() -> None:
    with person(words=("--agent", "plan"), OPENCODE_EXPERIMENTAL_PLAN_MODE="1") as one:
        one.is_idle()
        one.says("call: plan_exit {}")
        ask = one.asked()
        assert "switch to the build agent" in ask["question"]["question"]
        one.answer(ask, answer="Yes")
        one.terminal.sees("▣  Build")


def test_a_change_of_a_file_is_shown_and_allowed(somebody: Seat) -> None:
    somebody.says("write: b1.txt hello")
    ask = somebody.asked()
    assert "b1.txt" in json.dumps(ask["approval"]["preview"])
    somebody.decide(ask, decision="allow")
    somebody.made("b1.txt")


def test_what_goes_outside_is_asked_twice_as_the_program_does(somebody: Seat) -> None:
    somebody.says("run: cat /etc/hostname")
    first = somebody.asked()
    somebody.decide(first, decision="allow")
    somebody.ended(first)
    second = somebody.asked()
    assert second["approval"]["requestId"] != first["approval"]["requestId"]
    somebody.decide(second, decision="allow")
    somebody.is_idle()


def test_always_is_a_rule_of_the_hub_and_the_program_is_told_once(somebody: Seat) -> None:
    somebody.says("run: touch always1")
    ask = somebody.asked()
    somebody.decide(ask, optionId="always")
    somebody.made("always1")
    somebody.is_idle()
    somebody.says("run: touch always2")
    somebody.terminal.sees(PROMPT)  # the program itself remembers nothing
    somebody.presses("Enter")
    somebody.made("always2")


@pytest.mark.shows("prompted from the hub")
def test_a_prompt_from_the_hub_appears_in_the_terminal(somebody: Seat) -> None:
    somebody.is_idle()
    session_id = somebody.session()["id"]
    with somebody.hub.wire.send_message(session_id, "long 3"):
        somebody.terminal.sees("chunk 2")
    somebody.is_idle()
    assert somebody.said("user").count("long 3") == 1


@pytest.mark.shows("shown live")
def test_what_is_typed_there_is_shown_here_meanwhile_and_can_be_stopped_from_here(somebody: Seat) -> None:
    session_id = somebody.session()["id"]
    somebody.says("slow")
    eventually(lambda: "tick 2" in shown(somebody), "the first words are here", 30)
    assert stored_text(somebody.hub.home).count("tick") == 0, "the program has not stored it yet"
    somebody.hub.wire.post(f"/sessions/{session_id}/cancel")
    somebody.is_idle()
    somebody.terminal.sees("interrupted")
    said = somebody.said()[-1]
    assert said.count("tick 1 ") == 1, said


def shown(somebody: Seat) -> str:
    """What is being written, as far as it is here."""
    return "".join(event["delta"] for event in somebody.events("message:delta"))


def stored_text(home: Path) -> str:
    with sqlite3.connect(f"file:{home / 'share' / 'opencode' / 'opencode.db'}?mode=ro", uri=True) as store:
        return "".join(row[0] for row in store.execute("SELECT data FROM part WHERE json_extract(data, '$.type') = 'text'"))


@pytest.mark.shows("history equal to its store")
def test_the_history_is_what_the_store_has(somebody: Seat) -> None:
    somebody.is_idle()
    with sqlite3.connect(f"file:{somebody.hub.home / 'share' / 'opencode' / 'opencode.db'}?mode=ro", uri=True) as store:
        rows = store.execute(
            "SELECT json_extract(message.data, '$.role'), json_extract(part.data, '$.text') FROM part JOIN message ON "
            "message.id = part.message_id WHERE json_extract(part.data, '$.type') = 'text' ORDER BY part.id").fetchall()
    assert somebody.messages() == [tuple(row) for row in rows]


@pytest.mark.shows("hub killed while it is asked: the terminal asks as usual")
def test_a_hub_that_is_killed_while_it_is_asked_leaves_the_terminal_to_its_person(somebody: Seat) -> None:
    somebody.says("run: touch c1")
    ask = somebody.asked()
    somebody.hub.kill()
    somebody.presses("Enter")
    somebody.made("c1")
    somebody.says("run: touch c2")
    somebody.terminal.sees(PROMPT)
    somebody.hub.start()
    assert somebody.ended(ask)["approved"] is False
    again = somebody.asked()  # the plugin has found the hub again, and what waits there waits here
    somebody.decide(again, decision="allow")
    somebody.made("c2")


def test_a_program_that_ends_takes_its_ask_with_it_and_comes_back_with_its_session() -> None:
    with place() as (hub, model, work, env):
        with Terminal(work.parent, ["opencode"], env, work) as terminal:
            one = begun(hub, model, terminal, work)
            one.says("run: touch d1")
            ask = one.asked()
        assert one.ended(ask)["reason"] == "the program that asked has ended"
        own_id = one.session()["agentSessionId"]
        eventually(lambda: not one.session()["line"], "the line is gone", 10)
        with Terminal(work.parent, ["opencode", "-s", own_id], env, work) as terminal:
            terminal.sees("run: touch d1", 120)
            back = at(hub, model, terminal, work)
            eventually(lambda: back.session()["line"], "the line is back", 30)
            with hub.wire.send_message(back.session()["id"], "long 3"):
                terminal.sees("chunk 2", 120)


def test_rules_that_allow_answer_only_where_the_person_wants_that() -> None:
    allow = '[[rules]]\ncommand = ["touch fine*"]\naction = "allow"\n'
    with person("--terminal-rules", policy=allow) as one:
        one.says("run: touch fine1")
        one.made("fine1")
        one.is_idle()
        assert not one.pending() and one.events("approval:resolved")[-1]["resolvedBy"] == "policy"


@pytest.mark.shows("hooks removed: settings as before")
def test_a_removed_plugin_leaves_the_settings_as_they_were(somebody: Seat) -> None:
    config = somebody.hub.home / "config" / "opencode"
    assert (config / "tui.jsonc").exists()
    done = somebody.hub.command("hooks", "remove", "--yes", AGENT)
    assert done.returncode == 0 and not (config / "tui.jsonc").exists()
    env = {**own_environment(somebody.hub.home), "PATH": f"{npm_package('opencode', PACKAGE, 'opencode-ai')}:/usr/bin:/bin",
           "TERM": "xterm-256color"}
    somebody.terminal.close()
    (somebody.work.parent / "second").mkdir()
    with Terminal(somebody.work.parent / "second", ["opencode"], env, somebody.work) as terminal:
        terminal.sees(READY, START_S)
        terminal.type("run: touch e1")
        terminal.sees(PROMPT, START_S)  # it takes its time for the first prompt
        time.sleep(1.0)  # as long as an ask takes to come here, and longer
        assert not somebody.pending()
        terminal.key("Enter")
        somebody.made("e1")


def test_without_a_network_it_starts_as_soon_as_without_the_plugin() -> None:
    """A plugin of the other kind has the program install a package first: over 60 s more until it gives that up."""
    with place() as (hub, _, work, env):
        offline = {**env, **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")}
        took = {}
        for name in ("with", "without"):
            began = time.monotonic()
            (work.parent / name).mkdir()
            with Terminal(work.parent / name, ["opencode"], offline, work) as terminal:
                terminal.sees(READY, START_S)
                took[name] = time.monotonic() - began
            hub.command("hooks", "remove", "--yes", AGENT)
        assert took["with"] < took["without"] + 40, took
        assert not (hub.home / "config" / "opencode" / "node_modules").exists(), "nothing could be installed"
