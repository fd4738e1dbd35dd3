"""``trunkline run`` as a person or a script uses it: by subprocess (but where it only refuses), with the demo agent."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.aio import run
from tests.cli.conftest import Place
from tests.cli.person import WITHIN_S, Terminal
from tests.tooling.rows import every_row
from trunkline.cli.commands.run import EXIT_CODES, allowed_env, caller_env, exit_code
from trunkline.cli.hosting.locate import connected, find_or_start
from trunkline.client import Client, Packet

TALKING = Path(__file__).parent / "talking_agent.py"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A place whose hub already runs, with an agent that talks while it asks and one that nobody knows."""
    made = Place(tmp_path_factory.mktemp("shared"))
    try:
        made.serve("--agent", f"talking={sys.executable} {TALKING}", "--agent", f"mine={sys.executable} -m trunkline.agents.demo")
        yield made
    finally:
        made.clear()


def test_a_prompt_is_answered_and_the_exit_code_is_zero(place: Place) -> None:
    done = place.call("run", "demo", "/burst 3 10")
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    first, answer = done.stdout.decode().splitlines()
    assert re.fullmatch(rf"demo in {place.work} \(session ses_\w+\)", first)
    assert len(answer) == 30


def test_json_is_the_packets_one_a_line(shared: Place) -> None:
    done = shared.call_here("run", "demo", "/burst 2 5", "--json")
    packets = [json.loads(line) for line in done.stdout.splitlines()]
    assert [packet["type"] for packet in packets] == [
        "user_message_chunk", "agent_message_chunk", "agent_message_chunk", "prompt_response"]


def test_quiet_is_the_answer_alone_and_the_prompt_may_come_on_stdin(shared: Place) -> None:
    done = shared.call_here("run", "demo", "-", "--quiet", stdin=b"/burst 2 5")
    assert (done.returncode, len(done.stdout), done.stderr) == (0, 11, b"")


@pytest.mark.parametrize(("flag", "verdict", "chosen"), [("--allow", "allowed", "allow"), ("--deny", "denied", "reject")])
def test_permissions_are_answered_by_flag(shared: Place, flag: str, verdict: str, chosen: str) -> None:
    done = shared.call_here("run", "demo", "/ask", flag)
    text = done.stdout.decode()
    assert done.returncode == 0
    assert text.count("permission wanted (") == 1
    assert f"{verdict} by " in text
    assert chosen in text


def test_a_failed_turn_is_exit_code_one_and_says_why(shared: Place) -> None:
    done = shared.call_here("run", "demo", "/crash")
    assert done.returncode == 1
    assert "the agent ended in the middle of its work" in done.stdout.decode()
    quiet = shared.call_here("run", "demo", "/crash", "--quiet")
    assert quiet.returncode == 1
    assert "the agent ended in the middle of its work" in quiet.stderr.decode()


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (("nobody", "hello"), 1, "no agent is called 'nobody': trunkline agents lists them\n"),
        (("dmo", "hello"), 1, "no agent is called 'dmo': trunkline agents lists them; did you mean demo?\n"),
        (("demo", "  "), 2, "the prompt is empty"),
        (("demo", "x", "--allow", "--deny"), 2, "exclude each other"),
        (("demo", "x", "--cwd", "/does/not/exist"), 2, "not a folder"),
        (("demo",), 2, "Missing argument 'PROMPT'"),
    ],
)
def test_what_cannot_be_is_refused(shared: Place, words: tuple[str, ...], code: int, complaint: str) -> None:
    done = shared.call_here("run", *words)
    assert (done.returncode, done.stdout) == (code, b"")
    assert complaint in done.stderr.decode()


@every_row(("reason", "code"), [("end_turn", 0), ("refusal", 3), ("max_tokens", 4), ("max_turn_requests", 5),
                                              ("cancelled", 130), ("something_new", 1)])
def test_the_exit_code_follows_the_stop_reason(reason: str, code: int) -> None:
    assert exit_code(Packet(b'{"type":"prompt_response","stopReason":"%b"}' % reason.encode())) == code
    assert exit_code(Packet(b'{"type":"error","stopReason":"end_turn"}')) == 1
    assert set(EXIT_CODES) <= {"end_turn", "refusal", "max_tokens", "max_turn_requests", "cancelled"}


def test_a_reader_that_leaves_ends_the_command_quietly_and_not_the_turn(shared: Place) -> None:
    child = shared.start("run", "demo", "/burst 20000 100", "--json")
    assert child.stdout is not None
    child.stdout.readline()
    child.stdout.close()
    assert child.wait(timeout=WITHIN_S) == 141
    assert child.stderr is not None
    assert child.stderr.read() == b""


def _line_with(child: subprocess.Popen[bytes], text: bytes) -> bytes:
    assert child.stdout is not None
    while True:
        line = child.stdout.readline()
        if text in line:
            return line
        assert line, f"the output ended before {text!r}"


def test_the_first_ctrl_c_cancels_the_turn(shared: Place) -> None:
    child = shared.start("run", "demo", "/slow 60", "--json")
    _line_with(child, b"agent_message_chunk")
    child.send_signal(signal.SIGINT)
    out, log = child.communicate(timeout=WITHIN_S)
    assert child.returncode == 130
    assert json.loads(out.splitlines()[-1])["stopReason"] == "cancelled"
    assert b"cancelling" in log


def test_the_second_ctrl_c_leaves_at_once(place: Place) -> None:
    child = place.start("run", "demo", "/slow 60", "--json")
    _line_with(child, b"agent_message_chunk")
    pid = place.data.holder()
    assert pid
    os.kill(pid, signal.SIGSTOP)  # nobody answers the cancel
    child.send_signal(signal.SIGINT)
    assert child.stderr is not None
    assert b"cancelling" in child.stderr.readline()
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=WITHIN_S) == 130


def test_a_hub_that_is_killed_in_mid_turn_is_started_again_and_the_turn_ends_in_one_error(place: Place) -> None:
    child = place.start("run", "demo", "/slow 60", "--json")
    first = _line_with(child, b"agent_message_chunk")
    old = place.data.holder()
    assert old
    os.kill(old, signal.SIGKILL)
    out, _ = child.communicate(timeout=WITHIN_S)
    last = json.loads(out.splitlines()[-1])
    assert child.returncode == 1
    assert (last["type"], last["details"]["code"]) == ("error", "hub_restarted")
    assert out.count(first) == 0
    assert place.data.holder() not in (None, old)


def test_a_hub_that_comes_back_elsewhere_is_followed_by_tail(place: Place) -> None:
    hub, _ = place.serve()
    done = place.call("run", "demo", "/burst 2 5", "--json")
    assert done.returncode == 0
    (session,) = json.loads(place.call_here("sessions", "list", "--here", "--json").stdout)
    tail = place.start("sessions", "tail", session["id"], "--after", "0", "--json")
    _line_with(tail, b"prompt_response")
    hub.kill()
    hub.wait()
    place.serve()
    _send(place, session["id"], "/burst 1 5")
    assert b"user_message_chunk" in _line_with(tail, b"")
    _line_with(tail, b"prompt_response")
    tail.send_signal(signal.SIGINT)
    assert tail.wait(timeout=WITHIN_S) == 130


def _send(place: Place, session_id: str, prompt: str) -> None:
    async def scene() -> None:
        settings = place.settings()
        async with connected(await find_or_start(settings), settings) as hub:
            await hub.send(session_id, prompt)

    run(scene())


def test_the_callers_allowed_variables_reach_the_agent_and_ours_do_not(place: Place) -> None:
    place.serve()
    file = place.work / "config.toml"
    script = place.work / "agent.sh"
    script.write_text(f"#!/bin/sh\nenv > {place.work}/env\nexec {sys.executable} -m trunkline.agents.demo\n")
    script.chmod(0o755)
    place.call("stop")
    file.write_text(f'[agents.mine]\ncommand = ["{script}"]\nenv_allow = ["MY_API_*"]\n')
    place.serve("--config", str(file))
    env = {"MY_API_KEY": "k", "OTHER_SECRET": "s", "TRUNKLINE_CONFIG": str(file), "PATH": f"{place.work}:{os.environ['PATH']}"}
    done = place.call("run", "mine", "/burst 1 5", env=env)
    assert done.returncode == 0, done.stderr
    seen = dict(line.split("=", 1) for line in (place.work / "env").read_text().splitlines() if "=" in line)
    assert seen["MY_API_KEY"] == "k"
    assert seen["PATH"].startswith(f"{place.work}:")
    assert "OTHER_SECRET" not in seen
    assert not [name for name in seen if name.startswith("TRUNKLINE_")]
    assert b"MY_API_KEY" not in b"".join(path.read_bytes() for path in place.data.path.glob("journal*"))


def test_variables_pass_by_the_lists_and_never_ours() -> None:
    source = {"PATH": "/bin", "OPENAI_KEY": "1", "AWS_KEY": "2", "TRUNKLINE_TOKEN": "3", "LC_ALL": "C"}
    assert allowed_env(["OPENAI_*", "TRUNKLINE_*"], source) == {"PATH": "/bin", "OPENAI_KEY": "1", "LC_ALL": "C"}


def test_no_variable_travels_to_another_machine(place: Place) -> None:
    assert run(caller_env(Client("https://hub.example"), "demo", place.settings(), {"PATH": "/bin"})) == {}


@pytest.mark.parametrize(("key", "verdict"), [("a", b"allowed by"), ("d", b"denied by"), ("1", b"allowed by")])
def test_a_person_at_a_terminal_is_asked(shared: Place, key: str, verdict: bytes) -> None:
    terminal = Terminal(shared, "run", "demo", "/ask")
    terminal.wait_for("[a]pprove, [d]eny, a[l]ways, or a number > ")
    terminal.type("perhaps")
    terminal.wait_for("that is none of the answers")
    terminal.wait_for("or a number > ")
    terminal.press_until(f"{key}\n", verdict.decode(), every_s=1.1)
    assert terminal.end() == 0
    assert verdict in terminal.seen
    assert b"\x1b[" in terminal.seen


def _talking(place: Place, commands: list[str], *flags: str, through: tuple[str, ...] = ()) -> Terminal:
    order = json.dumps({"commands": commands, "words": 60})
    return Terminal(place, "run", "talking", order, *flags, rows=24, columns=80, through=through)


def _asking(place: Place, rows: int = 24, columns: int = 80, **script: object) -> Terminal:
    return Terminal(place, "run", "talking", json.dumps({"words": 0, **script}), rows=rows, columns=columns)


@pytest.mark.parametrize("through", [(), ("cat",)])
@pytest.mark.parametrize("flags", [(), ("--quiet",), ("--json",)])
def test_an_agent_cannot_write_below_what_it_asks_for(shared: Place, flags: tuple[str, ...], through: tuple[str, ...]) -> None:
    terminal = _talking(shared, ["touch kept.txt"], *flags, through=through)
    terminal.wait_for("or a number > ")
    terminal.press_until("perhaps\n", "that is none of the answers", every_s=1.1)
    assert "Run: touch kept.txt" in terminal.window and "w59" not in terminal.text
    terminal.press_until("y\n", "ask0=yes", every_s=1.1)
    assert terminal.end() == 0
    assert "w59" in terminal.text, "what was said meanwhile is shown after the answer"


def test_what_an_agent_says_just_before_it_asks_stands_above_also_behind_a_slow_pipe(shared: Place) -> None:
    order = json.dumps({"words": 0, "before": "\n" * 30 + "said before\n", "commands": ["touch kept.txt"]})
    slow = (sys.executable, "-c", "import sys, time; time.sleep(1); [print(line, end='', flush=True) for line in sys.stdin]")
    terminal = Terminal(shared, "run", "talking", order, rows=24, columns=80, through=slow)
    terminal.wait_for("or a number > ")
    terminal.press_until("perhaps\n", "that is none of the answers", every_s=1.1)
    assert terminal.text.index("said before") < terminal.text.index("Run: touch kept.txt")
    assert "Run: touch kept.txt" in terminal.window
    terminal.press_until("n\n", "denied by", every_s=1.1)
    assert terminal.end() == 0


def test_what_becomes_of_others_is_not_written_below_an_ask_either(shared: Place) -> None:
    order = json.dumps({"commands": ["touch kept.txt"], "words": 0, "withdrawn": 30})
    terminal = Terminal(shared, "run", "talking", order, rows=24, columns=80, stdout=shared.work / "out")
    terminal.wait_for("or a number > ")
    terminal.press_until("perhaps\n", "that is none of the answers", every_s=1.1)
    assert "Run: touch kept.txt" in terminal.window and "denied by" not in terminal.text
    terminal.press_until("y\n", "allowed by", every_s=1.1)
    assert terminal.end() == 0
    assert "ask0=yes" in (shared.work / "out").read_text()


def test_asks_that_come_at_once_are_shown_one_after_the_other(shared: Place) -> None:
    terminal = _talking(shared, ["touch first.txt", "touch second.txt"])
    terminal.wait_for("or a number > ")
    assert "Run: touch first.txt" in terminal.text and "Run: touch second.txt" not in terminal.text
    terminal.type("n")
    terminal.wait_for("Run: touch second.txt")
    terminal.press_until("y\n", "ask0=no ask1=yes", every_s=1.1)
    assert terminal.end() == 0


def test_a_command_that_is_taller_than_the_window_is_looked_through_first(shared: Place) -> None:
    terminal = _talking(shared, ["touch begins.txt; echo " + "x " * 1_500])
    terminal.wait_for("[v]iew all, or a number > ")
    terminal.press_until("y\n", "not all of it is shown", every_s=1.1)
    terminal.wait_for("not all of it is shown")
    terminal.wait_for("or a number > ")  # what is typed before it is asked for counts for nothing
    terminal.press_until("v\n", "Enter shows more, [q]uit", every_s=4)
    assert "begins.txt" in terminal.window
    terminal.type("all")  # which is for who has looked through it
    terminal.wait_for("2 of 3: Enter shows more")
    terminal.type("")
    terminal.wait_for("or a number > ")
    terminal.press_until("y\n", "ask0=yes", every_s=1.1)
    assert terminal.end() == 0


def test_a_person_is_told_at_the_start_that_an_agent_may_act_without_asking(shared: Place) -> None:
    note = b"note: mine was never seen to ask for permission; it may act without asking"
    told = Terminal(shared, "run", "mine", "/echo hello")
    assert told.end() == 0
    assert note in told.seen
    assert told.seen.index(note) < told.seen.index(b"hello")
    trusted = Terminal(shared, "run", "demo", "/echo hello")
    assert trusted.end() == 0
    assert b"note:" not in trusted.seen
    assert shared.call_here("run", "mine", "/echo hello").stderr == b""


def test_what_somebody_else_answers_is_withdrawn_from_the_terminal(place: Place) -> None:
    place.serve()
    terminal = Terminal(place, "run", "demo", "/ask")
    terminal.wait_for("or a number > ")

    async def answer() -> None:
        settings = place.settings()
        async with connected(await find_or_start(settings), settings) as hub:
            (view,) = (await hub.sessions()).sessions
            await hub.decide(view.id, view.pending_approvals[0].request_id, allow=False)

    run(answer())
    assert terminal.end() == 0
    assert b"denied by" in terminal.seen


def test_a_question_is_asked_field_by_field(shared: Place) -> None:
    terminal = Terminal(shared, "run", "demo", "/question")
    terminal.wait_for("Your name > ")
    terminal.press_until("\n", "an answer is needed", every_s=1.1)
    for shown, answer in (("an answer is needed", None), ("Your name > ", "Ada"),
                          ("A colour [blue] > ", "1"), ("How many steps [3] > ", "many"), ("expected a whole number", None),
                          ("How many steps [3] > ", "4"), ("Are you sure? [True] > ", "")):
        terminal.wait_for(shown)
        if answer is not None:
            terminal.type(answer)
    assert terminal.end() == 0
    assert b'"content": {"name": "Ada", "colour": "red", "steps": 4, "sure": true}' in terminal.seen.replace(b"\r\n", b"")


def test_a_question_that_sends_somebody_to_a_page_waits_for_them(shared: Place) -> None:
    terminal = Terminal(shared, "run", "demo", "/question url")
    terminal.wait_for("Enter when you are done there, n to decline > ")
    assert b"https://example.com/demo" in terminal.seen
    terminal.type("n")
    assert terminal.end() == 0
    assert b'"action": "decline"' in terminal.seen


def test_a_question_in_a_form_can_be_declined(shared: Place) -> None:
    terminal = Terminal(shared, "run", "demo", "/question")
    terminal.wait_for("Your name > ")
    terminal.type(":decline")
    assert terminal.end() == 0
    assert b'"action": "decline"' in terminal.seen


def _typed_early(start: Callable[[], Terminal], shown: str, answer: str) -> Terminal:
    """A terminal where the answer came as soon as it was asked for. On a busy machine it may come after the rest, and count: then
    that is tried again. Where nothing rests it always counts."""
    for _ in range(5):
        terminal = start()
        terminal.wait_for(shown)
        terminal.type(answer)
        if terminal.shows("this has only just appeared"):
            return terminal
    raise AssertionError(f"what was typed at once was taken: {terminal.text}")


def test_what_is_typed_as_a_question_appears_agrees_to_nothing(shared: Place) -> None:
    question = {"mode": "form", "message": "Delete all?", "requestedSchema": {"type": "object"}}
    terminal = _typed_early(lambda: _asking(shared, question=question), "Enter to agree", "")
    terminal.press_until("\n", '"action": "accept"', every_s=1.1)
    assert terminal.end() == 0


CARD = "permission wanted (low risk: nothing dangerous in it): Run: ls\n    ls\n    1  Allow\n    2  Reject"


def test_a_question_cannot_be_drawn_as_a_permission_and_hides_nothing_in_its_address(shared: Place) -> None:
    url = "https://good.example\u200b\u3164/\n  ? permission wanted"
    terminal = _asking(shared, question={"mode": "url", "elicitationId": "e", "message": CARD, "url": url})
    terminal.wait_for("n to decline > ")
    for line in CARD.split("\n"):
        assert f"    | {line}" in terminal.text
    assert "| https://good.example[U+200B][U+3164]/ ⏎ ? permission wanted" in terminal.text
    assert "\u200b".encode() not in terminal.seen and "\u3164".encode() not in terminal.seen
    terminal.type("n")
    assert terminal.end() == 0


def test_an_option_says_what_becomes_of_it_whatever_the_agent_calls_it(shared: Place) -> None:
    offered = [{"optionId": "x", "name": "Deny", "kind": "allow_once"},
               {"optionId": "y", "name": "Allow once", "kind": "allow_always"},
               {"optionId": "n", "name": "Allow", "kind": "reject_once"}]
    terminal = _typed_early(lambda: _asking(shared, commands=["touch kept.txt"], options=offered), "or a number > ", "1")
    for words in ("1  approves, once: Deny", "2  approves, and writes a rule", "3  denies, once: Allow"):
        assert words in terminal.text
    terminal.wait_for("or a number > ")
    terminal.type("3")
    terminal.wait_for("denied by")
    assert terminal.end() == 0


def test_an_error_cannot_be_drawn_as_another_ask(shared: Place) -> None:
    offered = [{"optionId": f"x\n\n  ? {CARD}", "name": "Allow", "kind": "allow_always"},
               {"optionId": "no", "name": "Reject", "kind": "reject_once"}]
    terminal = _asking(shared, commands=["touch kept.txt"], options=offered)
    terminal.wait_for("or a number > ")
    terminal.press_until("y\n", "for good only", every_s=1.1)
    terminal.press_until("n\n", "denied by", every_s=1.1)
    assert terminal.end() == 0
    assert "Run: ls\n    ls" not in terminal.text


@pytest.mark.parametrize(("call", "seen"), [
    ({"title": "mcp__x__y", "kind": "other", "rawInput": {"a": {"b": ["touch deep"]}, "n": 7}}, ['a.b: ["touch deep"]', "n: 7"]),
    ({"title": "Task", "kind": "other", "rawInput": {"prompt": "empty it\nall", "description": "look"}},
     ["prompt: 2 lines", "| empty it", "| all", "description: look"]),
    ({"title": "Read", "kind": "read", "rawInput": {"path": "x", "after_command": "touch after"}},
     ["after_command: touch after"]),
    ({"rawInput": {"command": "make", "cwd": "/tmp"}}, ["cwd: /tmp"]),
])
def test_all_that_an_agent_gives_a_tool_is_on_the_card(shared: Place, call: dict[str, object], seen: list[str]) -> None:
    terminal = _asking(shared, calls=[call])
    terminal.wait_for("or a number > ")
    for fact in seen:
        assert fact in terminal.window
    terminal.type("n")
    terminal.wait_for("denied by")
    assert terminal.end() == 0


@pytest.mark.parametrize(("rows", "columns"), [(3, 20), (5, 20)])
def test_in_a_window_that_is_too_small_for_it_nothing_is_approved(shared: Place, rows: int, columns: int) -> None:
    terminal = _asking(shared, rows, columns, commands=["touch kept.txt"])
    terminal.wait_for("number > ")
    terminal.press_until("y\n", "too small", every_s=1.1)
    terminal.press_until("n\n", "denied by", every_s=1.1)
    assert terminal.end() == 0


def test_a_window_of_no_size_is_taken_for_a_usual_one(shared: Place) -> None:
    terminal = _asking(shared, 0, 0, commands=["touch kept.txt"])
    terminal.wait_for("or a number > ")
    assert b"[v]iew all" not in terminal.seen
    terminal.type("n")
    terminal.wait_for("denied by")
    assert terminal.end() == 0
