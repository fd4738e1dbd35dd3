"""``trunkline chat`` as a person uses it: in a pseudo-terminal, with a real hub and the demo agent."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.cli.conftest import Place, serving
from tests.cli.person import Terminal
from tests.tooling.hub_process import FAST_DEMO
from tests.tooling.processes import eventually

CTRL_C, CTRL_D, ENTER = "\x03", "\x04", "\r"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """As everywhere, but its hub also has the demo at full speed: the tour at its own pace takes eight seconds."""
    with serving(tmp_path_factory.mktemp("shared"), f"--agent=fast={FAST_DEMO}") as made:
        yield made


def newest(place: Place) -> dict[str, object]:
    """The session with the newest activity, as ``sessions --json`` tells it."""
    listed = json.loads(place.call_here("sessions", "--json").stdout)
    assert isinstance(listed[0], dict)
    return listed[0]


def test_a_chat_streams_markdown_and_tools_and_leaves_the_session_as_it_is(shared: Place) -> None:
    chat = Terminal(shared, "chat", "fast", "--mode", "auto")
    chat.see("fast in ")
    chat.see("mode auto")
    chat.keys("Show me around" + ENTER)
    chat.see("▸ Show me around")
    chat.see("✓")
    chat.see("tokens")
    eventually(lambda: newest(shared)["status"] == "idle", "the turn is over")
    chat.keys("/echo **bold** words" + ENTER)
    chat.see("\nbold words\n")
    chat.keys(CTRL_D)
    assert chat.end() == 0
    session = newest(shared)
    assert f"left {session['id']}; trunkline chat {session['id']} goes on with it" in chat.text
    assert re.search(r"^bold words$", chat.text, re.M), "Markdown is laid out"
    assert b"\x1b[32m+" in chat.seen, "a change is a coloured diff"


def test_an_ask_is_answered_with_the_pages_key_and_the_session_can_be_taken_up_again(shared: Place) -> None:
    chat = Terminal(shared, "chat", "demo")
    chat.see(":help")
    chat.keys("/ask" + ENTER)
    chat.see("a approve · d deny")
    chat.keys("a")
    chat.see("this has only just appeared")
    chat.see_gone("one moment")
    chat.press_until("a", "Approved.")
    chat.keys("\x15" + CTRL_D)
    assert chat.end() == 0
    again = Terminal(shared, "chat", str(newest(shared)["id"])[:12])
    again.see("▸ /ask")
    again.see("Approved.")
    again.keys(":quit" + ENTER)
    assert again.end() == 0


def test_a_line_that_was_begun_before_an_ask_came_is_sent_as_it_is(shared: Place) -> None:
    chat = Terminal(shared, "chat", "demo")
    chat.see(":help")
    chat.keys("/echo later")
    chat.see("› /echo later")
    shared.call_here("send", str(newest(shared)["id"]), "/ask")
    chat.see("1 waiting: Esc")
    chat.keys(ENTER)
    chat.see("queued: /echo later")
    chat.see("a approve · d deny")
    chat.keys(CTRL_D)
    assert chat.end() == 0


def test_ctrl_c_cancels_the_turn_and_not_the_chat(shared: Place) -> None:
    chat = Terminal(shared, "chat", "demo")
    chat.see(":help")
    chat.keys("/slow 60" + ENTER)
    chat.see("Ctrl-C cancels")
    chat.keys(CTRL_C)
    chat.see("stopped: cancelled")
    chat.keys("/echo still here" + ENTER)
    chat.see("still here")
    chat.keys(CTRL_D)
    assert chat.end() == 0


def test_a_turn_goes_on_when_the_chat_is_left(shared: Place) -> None:
    chat = Terminal(shared, "chat", "demo")
    chat.see(":help")
    chat.keys("/slow 2" + ENTER)
    chat.see("Ctrl-C cancels")
    chat.keys(CTRL_D)
    assert chat.end() == 0
    session = newest(shared)
    eventually(lambda: newest(shared)["status"] == "idle", "it ended by itself")
    tail = shared.call_here("tail", str(session["id"]), "--no-follow", "--after", "0", "--json").stdout.splitlines()
    assert json.loads(tail[-1])["stopReason"] == "end_turn"


def test_what_was_typed_is_kept_for_its_owner_alone_and_comes_back(place: Place) -> None:
    place.serve()
    for typed in ("/echo once", "\x1b[A"):  # the second time with the key that brings back what was typed before
        chat = Terminal(place, "chat", "demo")
        chat.see(":help")
        chat.keys(typed)
        chat.see("› /echo once")
        chat.keys(ENTER)
        chat.see("▸ /echo once")
        chat.keys(CTRL_D)
        assert chat.end() == 0
    assert stat.S_IMODE((place.data.path / "chat_history").stat().st_mode) == 0o600


def test_commands_are_completed_by_tab(shared: Place) -> None:
    chat = Terminal(shared, "chat", "demo")
    chat.see(":help")
    shown = ("sessions", "show", str(newest(shared)["id"]), "--json")
    eventually(lambda: json.loads(shared.call_here(*shown).stdout)["commands"], "the agent has named its commands")
    chat.keys("/burs")
    chat.see(" /burst ")
    chat.keys("\t" + "2 5" + ENTER)
    chat.see("▸ /burst 2 5")
    chat.keys(CTRL_D)
    assert chat.end() == 0


def test_without_a_terminal_every_line_is_a_prompt(shared: Place) -> None:
    done = shared.call("chat", "demo", stdin=b"/echo one\n\n/echo two\n")
    assert (done.returncode, done.stdout) == (0, b"one\ntwo\n"), done.stderr


@pytest.mark.parametrize(("words", "code", "complaint"), [
    (("chat", "dmo"), 1, "no agent is called 'dmo', and no session has an id that begins so: trunkline agents and "
                         "trunkline sessions list them; did you mean demo?\n"),
    (("chat", "ses_nothing"), 1, "no agent is called 'ses_nothing'"),
    (("chat", "demo", "--cwd", "/does/not/exist"), 2, "not a folder"),
    (("chat", "demo", "--continue"), 2, "--continue takes no name"),
    (("chat", "--continue", "--cwd", "/"), 2, "no session was in / yet"),
])
def test_what_cannot_be_is_refused_and_named(shared: Place, words: tuple[str, ...], code: int, complaint: str) -> None:
    done = shared.call_here(*words)
    assert (done.returncode, done.stdout) == (code, b""), done.stderr
    assert complaint in done.stderr.decode()


def test_a_hub_that_is_not_there_is_named(place: Place) -> None:
    done = place.call_here("chat", "demo", "--url", "http://127.0.0.1:9")
    assert done.returncode == 1
    assert b"http://127.0.0.1:9" in done.stderr


def test_an_agent_that_does_not_start_is_named_with_what_it_said(place: Place) -> None:
    place.serve("--agent", f"exits={sys.executable} -m trunkline.agents.demo --fault exit")
    done = place.call("chat", "exits")
    assert done.returncode == 1
    assert b"exit" in done.stderr and b"Traceback" not in done.stderr


def test_a_terminal_whose_output_goes_elsewhere_is_told_what_to_use_instead(shared: Place) -> None:
    told = Terminal(shared, "chat", "demo", env={"TERM": "dumb"})
    assert told.end() == 2
    assert b"chat needs a terminal that can move its cursor" in told.seen


def test_other_commands_import_neither_library_of_the_chat() -> None:
    code = ("import sys, importlib\nfrom trunkline.cli.commands import COMMANDS\n"
            "for each in COMMANDS.values(): importlib.import_module(each.module)\n"
            "print(*sys.modules)")
    loaded = set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())
    assert not {"prompt_toolkit", "rich", "pygments", "markdown_it"} & loaded
