"""Sessions of real programs that change hands, against scripted models on loopback: taken over while nobody has them, refused and
forked while somebody has, given back to the program in its terminal."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.peers.claude import NATIVE, PLAIN, Json, bash, program, tool
from tests.peers.install import node
from tests.peers.places import CODEX, COPILOT, GEMINI, GOOSE, OPENCODE
from tests.peers.recipes import OPEN_CODE, QWEN_CODE, Recipe
from tests.peers.seat import Seat
from tests.peers.test_terminal import Person, person
from tests.tooling.hub_process import HubProcess, Session, own_environment
from tests.tooling.messages_api import script
from tests.tooling.processes import eventually
from tests.tooling.scripted_model import ScriptedModel
from tests.tooling.tmux import START_S, Terminal
from trunkline.agents import catalog

pytestmark = [pytest.mark.peers, pytest.mark.slow]

InTerminal = Callable[[], AbstractContextManager[Seat]]


@pytest.fixture(scope="module", params=(NATIVE, PLAIN))
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def somebody(version: str) -> Iterator[Person]:
    with person(version) as one:
        yield one


def found(one: Person) -> Any:
    """The session in the terminal, followed by the hub."""
    def ours() -> list[Any]:
        views = one.hub.wire.get("/sessions")["sessions"]
        return [view for view in views if view["cwd"] == str(one.work)]

    eventually(ours, "the hub follows the session", 30)
    return ours()[0]


def events(one: Person, session_id: str, kind: str = "") -> list[Json]:
    wanted = f"&types={kind}" if kind else ""
    return list(one.hub.wire.get(f"/sessions/{session_id}/history?limit=500{wanted}")["events"])


def said(one: Person, session_id: str, role: str) -> list[str]:
    return ["".join(part.get("text", "") for part in event["content"])
            for event in events(one, session_id, "message:complete") if event["role"] == role]


def handover(one: Person, session_id: str, wait: int = 0) -> Json:
    return dict(one.hub.wire.get(f"/sessions/{session_id}/handover?wait={wait}"))


def transcript(one: Person, session_id: str) -> Path:
    return next(one.config.rglob(f"{session_id}.jsonl"))


def leaves(one: Person) -> None:
    """The person ends the program."""
    one.terminal.key("C-c")
    one.terminal.key("C-c")


@pytest.mark.program("Claude Code")
@pytest.mark.shows("found, and shown as running", "forked or refused while it runs")
def test_a_running_session_is_refused_with_what_can_be_done_and_forked(somebody: Person) -> None:
    somebody.plays({"text": "I know xyzzy."})
    somebody.hears("I know xyzzy.")
    view = found(somebody)
    who = handover(somebody, view["id"])
    assert who["running"] and [(way["how"], way["possible"]) for way in who["ways"]] == [("resume", False), ("fork", True)]
    error = somebody.hub.wire.post(f"/sessions/{view['id']}/take-over", {}, 409)
    assert (error["code"], error["details"]["pid"], error["details"]["can"]) == ("session_in_use", who["pid"], ["fork", "wait"])
    done = somebody.hub.command("continue", view["id"])
    assert done.returncode == 1 and str(who["pid"]) in done.stderr and "--fork" in done.stderr
    lines = transcript(somebody, view["agentSessionId"]).read_bytes()
    branch = somebody.hub.wire.post(f"/sessions/{view['id']}/take-over", {"how": "fork"}, 201)
    assert branch["id"] != view["id"] and branch["agentSessionId"] != view["agentSessionId"]
    assert "I know xyzzy." in said(somebody, branch["id"], "assistant")
    Session(somebody.hub, branch["id"], somebody.work).say(script({"text": "In the branch."}), wait_s=90)
    assert "I know xyzzy." in json.dumps(somebody.api.requests[-1]["messages"])
    now = transcript(somebody, view["agentSessionId"]).read_bytes()  # its own program may note the end of its turn meanwhile
    assert now.startswith(lines) and b"In the branch." not in now, "the other program's is as it was"
    Session(somebody.hub, branch["id"], somebody.work).delete()


def test_a_sub_agents_calls_are_shown_under_the_call_that_started_it_and_its_asks_find_them(
        somebody: Person, version: str) -> None:
    view = found(somebody)
    somebody.plays(tool("Agent" if version == NATIVE else "Task", description="make it", subagent_type="general-purpose",
                       prompt=script(bash("touch made1"), {"text": "Made."})), {"text": "It is on its way."})
    ask = somebody.asked()

    def starts() -> list[Json]:
        return [event for event in events(somebody, view["id"], "tool:start") if event.get("_meta", {}).get("parentToolCallId")]

    eventually(starts, "the sub-agent's call is told", 20)
    (start,) = starts()
    # Its hook asks before its file tells of it, now and then.
    eventually(lambda: events(somebody, view["id"], "subagent:spawned"), "its beginning is told", 30)
    spawned = events(somebody, view["id"], "subagent:spawned")[-1]
    assert start["_meta"]["parentToolCallId"] == spawned["parentToolCallId"]
    assert ask["approval"]["toolCallId"] == start["toolCallId"], "what is asked is about that very call"
    somebody.decide(ask, decision="allow")
    eventually((somebody.work / "made1").exists, "it was done", 30)
    eventually(lambda: events(somebody, view["id"], "subagent:completed"), "its end is told", 30)
    progress = events(somebody, view["id"], "subagent:progress")
    assert any("touch made1" in event["message"] for event in progress)


@pytest.mark.program("Claude Code")
@pytest.mark.shows("taken over while idle", "given back")
def test_left_in_the_terminal_it_goes_on_here_under_its_id_and_is_given_back(
        somebody: Person, version: str) -> None:
    view = found(somebody)
    before = said(somebody, view["id"], "user")
    own_file = transcript(somebody, view["agentSessionId"])
    eventually(lambda: somebody.hub.wire.get(f"/sessions/{view['id']}")["status"] == "idle", "its turn is over", 60)
    leaves(somebody)
    eventually(lambda: not handover(somebody, view["id"], 5)["running"], "the program has ended", 60)
    way = handover(somebody, view["id"])["ways"][0]
    assert (way["how"], way["possible"]) == ("resume", True)
    taken = somebody.hub.wire.post(f"/sessions/{view['id']}/take-over", {}, 200)
    assert (taken["id"], taken["agentSessionId"], taken["watchOnly"]) == (view["id"], view["agentSessionId"], False)
    assert said(somebody, view["id"], "user") == before, "nothing is in it twice"
    Session(somebody.hub, view["id"], somebody.work).say(script({"text": "Here it is plugh."}), wait_s=90)
    assert "I know xyzzy." in json.dumps(somebody.api.requests[-1]["messages"]), "it remembers"
    # Some versions write what was said a moment after they have said it.
    eventually(lambda: "Here it is plugh." in own_file.read_text(), "it is in the same file", 30)

    given = somebody.hub.wire.post(f"/sessions/{view['id']}/give-back", {}, 200)
    assert not given["here"] and given["resumeCommand"] == f"cd {somebody.work} && claude --resume {view['agentSessionId']}"
    prompts = said(somebody, view["id"], "user")
    words = [str(program(version)), "--permission-mode", "default", "--resume", view["agentSessionId"]]
    folder = somebody.work.parent / "again"
    folder.mkdir()
    with Terminal(folder, words, somebody.terminal.env, somebody.work) as terminal:
        terminal.sees("Here it is plugh.", 60)
        again = Person(somebody.hub, somebody.api, terminal, somebody.work, somebody.config)
        again.plays({"text": "Back in the terminal."})
        again.hears("Back in the terminal.")
        assert "Here it is plugh." in json.dumps(somebody.api.requests[-1]["messages"]), "it knows what was done here"
        eventually(lambda: "Back in the terminal." in said(somebody, view["id"], "assistant"), "that is followed", 30)
        assert said(somebody, view["id"], "user") == [*prompts, script({"text": "Back in the terminal."})]
        somebody.hub.wire.post(f"/sessions/{view['id']}/take-over", {}, 409)


class Coder:
    """A program of npm's in one folder, and a hub beside it that runs it over the Agent Client Protocol."""

    def __init__(self, recipe: Recipe, root: Path, model: ScriptedModel) -> None:
        self.recipe = recipe
        self.model = model
        self.root = root
        self.hub = HubProcess(root / "hub")
        self.work = root / "work"
        self.work.mkdir()
        spec = catalog.load()[recipe.entry]
        settings = self.hub.home / "config" / "trunkline" / "config.toml"
        settings.parent.mkdir(parents=True)
        entry, own = recipe.settings(self.hub.home, model.url).split("\n", 1)
        settings.write_text(f'{entry}\nstore = "{spec.store}"\nresume = {json.dumps(spec.resume)}\n{own}')
        program = recipe.command()[2]
        self.words = [str(program)]
        self.env = {**own_environment(self.hub.home), "TERM": "xterm-256color",
                    "PATH": f"{Path(program).parent}:{node().parent}:/usr/local/bin:/usr/bin:/bin",
                    **{name: value.replace("MODEL", model.url) for name, value in recipe.env.items()}}

    def found(self) -> list[Json]:
        return [each for each in self.hub.wire.get("/found")["sessions"] if each["cwd"] == str(self.work)]

    def follow(self) -> str:
        """The hub's id of the session that the program wrote."""
        eventually(self.found, "the session is found", 60)
        (one,) = self.found()
        return str(self.hub.wire.post(f"/adapters/{self.recipe.name}/sessions/{one['id']}/attach", {"watch": True})["id"])

    def said(self, session_id: str, role: str) -> list[str]:
        found = self.hub.wire.get(f"/sessions/{session_id}/history?limit=500&types=message:complete")["events"]
        texts = ["".join(part.get("text", "") for part in event["content"]) for event in found if event["role"] == role]
        return [text.strip().strip('"') for text in texts]  # one of them puts what is typed in quotes

    def goes_on(self, session_id: str) -> Json:
        """Take it over, and say something in it here."""
        before = self.said(session_id, "user")
        taken = self.hub.wire.post(f"/sessions/{session_id}/take-over", {}, 200)
        assert taken["id"] == session_id and not taken["watchOnly"] and self.said(session_id, "user") == before
        Session(self.hub, session_id, self.work).say("think: in the hub", wait_s=90)
        assert "say hello" in self.model.told[-1], "it remembers"
        assert self.said(session_id, "user") == [*before, "think: in the hub"]
        return dict(taken)

    def give_back(self, session_id: str) -> list[str]:
        """The command that goes on with it in a terminal, without the folder."""
        given = self.hub.wire.post(f"/sessions/{session_id}/give-back", {}, 200)
        assert not given["here"]
        folder, _, command = given["resumeCommand"].partition(" && ")
        assert folder == f"cd {self.work}"
        return shlex.split(command)


@contextmanager
def coder(recipe: Recipe) -> Iterator[Coder]:
    root = Path(tempfile.mkdtemp(prefix="tl-"))
    with ScriptedModel() as model:
        one = Coder(recipe, root, model)
        with one.hub:
            yield one
    shutil.rmtree(root, ignore_errors=True)


@pytest.mark.program("opencode", "1.18.33")
@pytest.mark.shows("taken over while idle", "given back")
def test_a_session_of_opencodes_goes_on_here_and_there_again() -> None:
    with coder(OPEN_CODE) as one:
        def types(*words: str) -> None:
            done = subprocess.run([*one.words, "run", *words], cwd=one.work, env=one.env, capture_output=True, text=True,
                                  timeout=120, check=False)
            assert done.returncode == 0, done.stderr

        types("say hello")
        session_id = one.follow()
        assert one.said(session_id, "user") == ["say hello"] and "Hello from the fake model." in one.said(session_id, "assistant")
        taken = one.goes_on(session_id)
        command = one.give_back(session_id)
        assert command == ["opencode", "-s", taken["agentSessionId"]]
        types(*command[1:], "long 3")
        assert "think: in the hub" in one.model.told[-1], "its own program knows what was done here"
        eventually(lambda: one.said(session_id, "user") == ["say hello", "think: in the hub", "long 3"], "that is followed", 30)


@pytest.mark.program("Qwen Code", "0.24.4")
@pytest.mark.shows("found, and shown as running", "forked or refused while it runs", "taken over while idle", "given back")
def test_a_session_of_qwens_is_left_alone_while_it_runs_and_goes_on_here_and_there_again() -> None:
    with coder(QWEN_CODE) as one:
        with Terminal(one.root, one.words, one.env, one.work) as terminal:
            terminal.sees("Type your message", START_S)
            terminal.type("say hello")
            terminal.sees("Hello from the fake model.", START_S)
            session_id = one.follow()
            error = one.hub.wire.post(f"/sessions/{session_id}/take-over", {}, 409)
            assert error["code"] == "session_in_use" and "wait" in error["details"]["can"]
            assert one.hub.wire.get(f"/sessions/{session_id}/handover")["running"]
        eventually(lambda: not one.hub.wire.get(f"/sessions/{session_id}/handover?wait=5")["running"], "it has ended", 60)
        taken = one.goes_on(session_id)
        command = one.give_back(session_id)
        assert command == ["qwen", "--resume", taken["agentSessionId"]]
        folder = one.root / "again"
        folder.mkdir()
        with Terminal(folder, [*one.words, *command[1:]], one.env, one.work) as terminal:
            terminal.sees("in the hub", 60)
            terminal.type("long 3")
            terminal.sees("chunk 2", 60)
            assert "think: in the hub" in one.model.told[-1], "its own program knows what was done here"
            eventually(lambda: one.said(session_id, "user")[-1] == "long 3", "that is followed", 30)
            assert one.said(session_id, "user") == ["say hello", "think: in the hub", "long 3"]


@pytest.mark.parametrize("seat", [CODEX, OPENCODE, COPILOT, GEMINI, GOOSE])
@pytest.mark.shows("found, and shown as running", "forked or refused while it runs")
def test_a_session_that_runs_in_any_terminal_is_shown_as_running_and_left_alone(seat: InTerminal) -> None:
    with seat() as one:
        one.says("say hello")
        session_id = one.session()["id"]
        eventually(lambda: one.hub.wire.get(f"/sessions/{session_id}/handover")["running"], "it is shown as running", 30)
        assert one.hub.wire.get(f"/sessions/{session_id}/handover")["pid"]
        refused = one.hub.wire.ask("POST", f"/sessions/{session_id}/take-over", {})
        assert (refused.status, refused.json()["code"]) in ((409, "session_in_use"), (501, "unsupported")), refused.json()
        assert one.session()["watchOnly"]
        one.says("long 3")
        one.terminal.sees("chunk 2")


@pytest.mark.parametrize("seat", [COPILOT, GOOSE])
@pytest.mark.shows("taken over while idle", "given back")
def test_a_session_left_in_any_terminal_goes_on_here_and_there_again(seat: InTerminal) -> None:
    with seat() as one:
        one.says("say hello")
        session_id = one.session()["id"]
        eventually(lambda: "Hello from the fake model." in one.said(session_id=session_id), "the answer is here", 60)
        one.terminal.close()
        eventually(lambda: not one.hub.wire.get(f"/sessions/{session_id}/handover?wait=5")["running"], "it has ended", 60)
        before = one.said("user", session_id)
        taken = one.hub.wire.ask("POST", f"/sessions/{session_id}/take-over", {}, wait_s=120).expect(200)
        assert taken["id"] == session_id and not taken["watchOnly"] and one.said("user", session_id) == before
        Session(one.hub, session_id, one.work).say("think: in the hub", wait_s=120)
        assert "say hello" in one.model.told[-1], "it remembers"
        given = one.hub.wire.post(f"/sessions/{session_id}/give-back", {}, 200)
        folder = one.work.parent / "again"
        folder.mkdir()
        with Terminal(folder, ["sh", "-c", given["resumeCommand"]], one.terminal.env, one.work) as terminal:
            terminal.sees(one.ready, START_S)
            again = Seat(one.hub, one.model, terminal, one.work, one.agent, one.prompt, ready=one.ready)
            again.says("long 3")
            assert "think: in the hub" in one.model.told[-1], "its own program knows what was done here"
            eventually(lambda: one.said("user", session_id)[-1:] == ["long 3"], "that is followed", 60)
