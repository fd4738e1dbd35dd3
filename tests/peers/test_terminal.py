"""The real Claude Code CLI in a real terminal, with Trunkline's hooks, against a scripted Messages API on loopback: it asks in
the terminal and here at once, and the first answer wins."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.peers.claude import AGENT, NATIVE, PLAIN, Json, bash, program, settings, tool
from tests.peers.install import node
from tests.peers.seat import READ_S, Seat
from tests.tooling.hub_process import HubProcess
from tests.tooling.messages_api import MARK, MessagesApi, script
from tests.tooling.processes import eventually
from tests.tooling.tmux import START_S, Terminal

pytestmark = [pytest.mark.peers, pytest.mark.slow, pytest.mark.program("Claude Code")]

KEY = "sk-ant-api03-fake-key-for-a-scripted-model"
PROMPT = "Do you want to"
"""In the CLI's own question."""


class Person(Seat):
    """Somebody with the CLI, whose settings are in ``config``."""

    def __init__(self, hub: HubProcess, api: MessagesApi, terminal: Terminal, work: Path, config: Path) -> None:
        super().__init__(hub, api, terminal, work, AGENT, PROMPT, ready="❯")
        self.api = api
        self.config = config

    def plays(self, *steps: Json) -> None:
        """Type a prompt with what the model is to do."""
        self.says(script(*steps))

    def hears(self, words: str) -> None:
        """Wait until the agent says that; the prompt that it stands in does not count."""
        self.terminal.sees(f"● {words}")

    def told_model(self) -> str:
        """All that the model was sent so far."""
        return "\n".join(self.model.told)


def prepare(config: Path, work: Path) -> None:
    """What the CLI asks at its first start, answered."""
    config.mkdir(parents=True)
    known = {"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
             "projects": {str(work): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}}
    (config / ".claude.json").write_text(json.dumps(known))


@contextmanager
def person(version: str, *flags: str, policy: str = "") -> Iterator[Person]:
    root = Path(tempfile.mkdtemp(prefix="tl-"))
    with MessagesApi() as api:
        hub = HubProcess(root / "hub", *flags, policy=policy)
        work, config = root / "work", hub.home / ".claude"
        work.mkdir()
        prepare(config, work)
        file = hub.home / "config" / "trunkline" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text(settings(version, hub.home, api.url, key=KEY, config=config))
        path = f"{node().parent}:/usr/local/bin:/usr/bin:/bin"
        env = {"PATH": path, "HOME": str(hub.home), "LANG": "C.UTF-8", "TERM": "xterm-256color", "ANTHROPIC_BASE_URL": api.url,
               "ANTHROPIC_API_KEY": KEY, "CLAUDE_CONFIG_DIR": str(config), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
               "DISABLE_AUTOUPDATER": "1"}
        with hub:
            done = hub.command("hooks", "install", "--yes", AGENT)
            assert done.returncode == 0, done.stderr
            with Terminal(root, [str(program(version)), "--permission-mode", "default"], env, work) as terminal:
                terminal.sees("❯", START_S)
                yield Person(hub, api, terminal, work, config)
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="module", params=(NATIVE, PLAIN))
def somebody(request: pytest.FixtureRequest) -> Iterator[Person]:
    rule = '[[rules]]\ncommand = ["touch forbidden*"]\nreason = "not that one"\naction = "deny"\n'
    with person(request.param, policy=rule) as one:
        yield one


@pytest.mark.shows("allowed from the hub")
def test_a_tool_asked_in_the_terminal_is_allowed_in_the_hub_and_runs(somebody: Person) -> None:
    somebody.plays(bash("touch a1"), {"text": "Done one."})
    ask = somebody.asked()
    assert "touch a1" in json.dumps(ask["approval"]["preview"])
    somebody.terminal.sees(PROMPT)
    somebody.decide(ask, decision="allow")
    somebody.hears("Done one.")
    assert (somebody.work / "a1").exists()
    assert somebody.ended(ask)["approved"] is True


@pytest.mark.shows("denied from the hub, and the model sees the reason")
def test_a_denial_in_the_hub_reaches_the_model_with_its_reason(somebody: Person) -> None:
    somebody.plays(bash("touch never1"), {"text": "Then not."})
    ask = somebody.asked()
    somebody.decide(ask, decision="deny", reason="use a2 instead")
    somebody.hears("Then not.")
    assert not (somebody.work / "never1").exists()
    assert "use a2 instead" in somebody.told_model()


@pytest.mark.shows("answered in the terminal first, and taken back everywhere")
def test_a_yes_in_the_terminal_takes_the_ask_back_from_the_hub(somebody: Person) -> None:
    somebody.plays(bash("touch a3"), {"text": "Done three."})
    ask = somebody.asked()
    somebody.presses("1")
    somebody.hears("Done three.")
    end = somebody.ended(ask)
    assert (somebody.work / "a3").exists()
    assert end["reason"].startswith("answered in the terminal") and not somebody.pending()


@pytest.mark.shows("answered in the terminal first, and taken back everywhere")
def test_a_no_in_the_terminal_takes_the_ask_back_from_the_hub(somebody: Person) -> None:
    somebody.plays(bash("touch never2"), {"text": "never said"})
    ask = somebody.asked()
    somebody.presses("Escape")
    end = somebody.ended(ask)
    assert (end["approved"], end["reason"]) == (False, "answered in the terminal: not allowed")
    assert not (somebody.work / "never2").exists()
    somebody.terminal.unsees(PROMPT)


@pytest.mark.shows("deny rule answers")
def test_a_rule_that_denies_answers_at_once(somebody: Person) -> None:
    somebody.plays(bash("touch forbidden1"), {"text": "So be it."})
    somebody.hears("So be it.")
    assert not (somebody.work / "forbidden1").exists() and not somebody.pending()
    assert "not that one" in somebody.told_model()


@pytest.mark.shows("allowed with a changed input")
def test_what_is_allowed_with_another_input_runs_with_that(somebody: Person) -> None:
    somebody.plays(bash("touch asked1"), {"text": "Done other."})
    somebody.decide(somebody.asked(), decision="allow", updatedInput={"command": "touch other1", "description": "as told"})
    somebody.hears("Done other.")
    assert (somebody.work / "other1").exists() and not (somebody.work / "asked1").exists()


@pytest.mark.shows("question answered from the hub")
def test_a_question_is_answered_in_the_hub(somebody: Person) -> None:
    asks = {"question": "Which color?", "header": "Color", "multiSelect": False,
            "options": [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}]}
    somebody.plays(tool("AskUserQuestion", questions=[asks]), {"text": "Thank you."})
    somebody.answer(somebody.asked(), answer="Blue")
    somebody.hears("Thank you.")
    assert "Blue" in somebody.told_model()


@pytest.mark.shows("plan approved from the hub")
def test_a_plan_is_approved_in_the_hub(somebody: Person) -> None:
    somebody.plays(tool("EnterPlanMode"), tool("ExitPlanMode", plan="1. Touch a file."), {"text": "On it."})
    ask = somebody.asked()
    somebody.decide(ask, optionId="default")
    somebody.hears("On it.")


@pytest.mark.shows("history equal to its store")
def test_the_history_is_what_the_transcript_says(somebody: Person) -> None:
    (file,) = somebody.config.glob("projects/*/*.jsonl")
    eventually(lambda: spoken(somebody.messages()) == spoken(stored(file)), "all of it is in the hub, once", 30)


def stored(file: Path) -> list[tuple[str, str]]:
    """Who said what, by the CLI's own file."""
    said = []
    for line in map(json.loads, file.read_text().splitlines()):
        content = line["message"]["content"] if line["type"] in ("user", "assistant") else []
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        said += [(line["type"], block["text"]) for block in blocks if block["type"] == "text"]
    return said


def spoken(said: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Without what the CLI itself says in its person's name."""
    return [(who, text) for who, text in said if who == "assistant" or text.startswith(MARK)]


@pytest.mark.shows("hub killed while it is asked: the terminal asks as usual")
def test_a_hub_that_is_killed_while_it_is_asked_leaves_the_terminal_to_its_person(somebody: Person) -> None:
    somebody.plays(bash("touch a4"), {"text": "Done four."})
    ask = somebody.asked()
    somebody.hub.kill()
    somebody.presses("1")
    somebody.hears("Done four.")
    somebody.plays(bash("touch a5"), {"text": "Done five."})
    somebody.presses("1")
    somebody.hears("Done five.")
    somebody.hub.start()
    assert somebody.ended(ask)["approved"] is False and not somebody.pending()


@pytest.mark.shows("hooks removed: settings as before")
def test_removed_hooks_leave_the_settings_as_they_were_and_ask_nobody_here(somebody: Person) -> None:
    done = somebody.hub.command("hooks", "remove", "--yes", AGENT)
    assert done.returncode == 0 and not (somebody.config / "settings.json").exists()
    for number in range(5):  # the CLI looks at its settings now and then
        somebody.plays(bash(f"touch b{number}"), {"text": f"Done with {number}."})
        somebody.terminal.sees(PROMPT)
        time.sleep(READ_S)
        is_asked = bool(somebody.pending())
        somebody.terminal.key("1")
        somebody.hears(f"Done with {number}.")
        if not is_asked:
            return
    raise AssertionError("the CLI still asks the hub")
