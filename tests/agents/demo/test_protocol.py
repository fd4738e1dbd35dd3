"""The demo as a citizen of the protocol: handshake, sessions, modes, options, cancel, errors, start and end."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.agents.demo.client import Client, calls_of, check, choose, demo, text_of, update_of
from trunkline import __version__
from trunkline.agents.demo import DEMO_PROMPTS, FAULTS


def test_it_answers_initialize_with_its_version_and_what_it_can(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        for offered in (1, 2, 65535):
            result = client.request("initialize", {"protocolVersion": offered})["result"]
            assert result["protocolVersion"] == 1
        assert result["agentInfo"]["name"] == "trunkline-demo"
        assert result["agentCapabilities"]["loadSession"] is True
        assert result["agentCapabilities"]["sessionCapabilities"]["resume"] == {}


def test_it_answers_initialize_soon_after_its_start(tmp_path: Path) -> None:
    """Within a few starts of a bare interpreter, each the best of five: how long one takes is the machine's."""

    def bare() -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import json"], check=True)
        return time.perf_counter() - began

    def start() -> float:
        began = time.perf_counter()
        with demo(tmp_path) as client:
            client.request("initialize", {"protocolVersion": 1})
            return time.perf_counter() - began

    pairs = [(bare(), start()) for _ in range(5)]
    assert min(took for _, took in pairs) < 6 * min(took for took, _ in pairs)


def test_sessions_have_ids_of_their_own_modes_options_and_commands(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        first = client.open()
        opened = client.request("session/new", {"cwd": str(tmp_path), "mcpServers": []})["result"]
        assert opened["sessionId"] != first
        assert [mode["id"] for mode in opened["modes"]["availableModes"]] == ["ask", "auto", "plan"]
        assert [option["id"] for option in opened["configOptions"]] == ["model", "pace"]
        commands = update_of(client.until(lambda message: "update" in message.get("params", {})))["availableCommands"]
        assert [command["name"] for command in commands] == [prompt.name for prompt in DEMO_PROMPTS]
        assert next(command for command in commands if command["name"] == "echo")["input"] == {"hint": "TEXT"}


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_any_session_id_can_be_taken_up_again_and_nothing_is_replayed(tmp_path: Path, method: str) -> None:
    with demo(tmp_path) as client:
        session = client.open(method, sessionId="from an earlier life")
        kinds = [update_of(message).get("sessionUpdate") for message in client.messages]
        assert kinds == [None, None, "available_commands_update"]
        assert text_of(client.prompt(session, "/echo again")[1]) == "again"


def test_a_mode_can_be_set_and_is_told(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        assert client.request("session/set_mode", {"sessionId": session, "modeId": "plan"})["result"] == {}
        assert {"sessionUpdate": "current_mode_update", "currentModeId": "plan"} in map(update_of, client.messages)
        assert client.request("session/set_mode", {"sessionId": session, "modeId": "fly"})["error"]["code"] == -32602


def test_setting_an_option_answers_with_all_of_them(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        answer = client.request("session/set_config_option", {"sessionId": session, "configId": "model", "value": "demo-2"})
        assert {o["id"]: o["currentValue"] for o in answer["result"]["configOptions"]} == {"model": "demo-2", "pace": "natural"}
        for option, value in (("model", "gpt"), ("colour", "red"), ("model", True)):
            refused = client.request("session/set_config_option", {"sessionId": session, "configId": option, "value": value})
            assert refused["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("session/prompt", {"sessionId": "nobody", "prompt": []}, -32002),
        ("session/set_mode", {"sessionId": "nobody", "modeId": "ask"}, -32002),
        ("session/set_mode", {}, -32602),
        ("session/new", {"cwd": "relative", "mcpServers": []}, -32602),
        ("session/new", {"mcpServers": []}, -32602),
        ("session/fly", {}, -32601),
        ("_vendor/thing", {}, -32601),
        ("authenticate", {"methodId": "x"}, -32602),
    ],
)
def test_a_bad_request_gets_an_error_and_the_agent_lives_on(
    tmp_path: Path, method: str, params: dict[str, object], code: int
) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        assert client.request(method, params)["error"]["code"] == code
        assert text_of(client.prompt(session, "/echo alive")[1]) == "alive"


@pytest.mark.parametrize(("line", "code"), [(b"no json", -32700), (b"[" * 100_000, -32700), (b"[]", -32600), (b"17", -32600)])
def test_a_line_that_is_no_message_is_answered_without_an_id(tmp_path: Path, line: bytes, code: int) -> None:
    with demo(tmp_path) as client:
        client.write(line + b"\n\r\n")
        answer = client.next()
        assert answer["id"] is None and answer["error"]["code"] == code
        client.open()


@pytest.mark.parametrize("request_id", [0, "seven", "1", 2**40])
def test_ids_come_back_as_they_were(tmp_path: Path, request_id: object) -> None:
    with demo(tmp_path) as client:
        client.is_strict = False
        client.send({"id": request_id, "method": "initialize", "params": {"protocolVersion": 1}})
        assert client.next()["id"] == request_id


def test_one_turn_at_a_time_in_a_session_and_many_side_by_side(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session, other = client.open(), client.open()
        running = client.begin_prompt(session, "/silent")
        assert client.prompt(session, "/echo x")[0]["error"]["code"] == -32600
        assert text_of(client.prompt(other, "/echo y")[1]) == "y"
        client.cancel(session)
        assert client.answer_to(running)["result"] == {"stopReason": "cancelled"}


@pytest.mark.parametrize("prompt", ["/silent", "/slow 60", "/burst 1000000 10 5", "/ask", "a tour", "/question"])
def test_whatever_runs_can_be_cancelled(tmp_path: Path, prompt: str) -> None:
    with demo(tmp_path, capabilities={"elicitation": {"form": {}}}) as client:
        session = client.open()
        running = client.begin_prompt(session, prompt)
        if prompt != "/silent":
            client.next()
        client.cancel(session)
        began = time.monotonic()
        assert client.answer_to(running)["result"] == {"stopReason": "cancelled"}
        assert time.monotonic() - began < 1
        assert text_of(client.prompt(session, "/echo next")[1]) == "next"


def test_a_cancel_takes_open_requests_back_and_closes_open_calls(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        running = client.begin_prompt(session, "/ask 2")
        asked = [client.until(lambda message: message.get("method") == "session/request_permission")["id"] for _ in range(2)]
        client.cancel(session)
        client.answer_to(running)
        withdrawn = [m["params"]["requestId"] for m in client.messages if m.get("method") == "$/cancel_request"]
        assert withdrawn == asked
        assert [call[-1]["status"] for call in calls_of([update_of(m) for m in client.messages])] == ["failed", "failed"]


def test_a_cancelled_permission_ends_the_turn_as_cancelled(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        client.replies["session/request_permission"] = lambda params: {"outcome": {"outcome": "cancelled"}}
        assert client.prompt(client.open(), "/ask")[0]["result"] == {"stopReason": "cancelled"}


def test_cancelling_the_prompts_request_cancels_the_turn(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        running = client.begin_prompt(client.open(), "/silent")
        client.send({"method": "$/cancel_request", "params": {"requestId": running}})
        assert client.answer_to(running)["result"] == {"stopReason": "cancelled"}


def test_closing_a_session_ends_its_turn(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        running = client.begin_prompt(session, "/silent")
        closing = client.begin("session/close", {"sessionId": session})
        answers = {client.next()["id"]: True for _ in range(2)}
        assert set(answers) == {running, closing}
        assert client.prompt(session, "/echo")[0]["error"]["code"] == -32002


def test_end_of_stdin_ends_it_even_in_a_turn(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        client.begin_prompt(client.open(), "/silent")
        assert client.end() == 0


def test_sigterm_ends_it(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        client.open()
        client.process.terminate()
        assert client.process.wait(5) == -15


def test_a_client_that_goes_away_ends_it(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        assert client.process.stdout
        client.process.stdout.close()
        client.begin_prompt(session, "/burst 100000 100")
        assert client.process.wait(5) == 0


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_at_start(tmp_path: Path, fault: str) -> None:
    with demo(tmp_path, "--fault", fault) as client:
        if fault == "exit":
            assert client.process.wait(5) == 1
            assert client.process.stderr and b"exiting at start" in client.process.stderr.read()
            return
        started = client.begin("initialize", {"protocolVersion": 1})
        new = client.begin("session/new", {"cwd": str(tmp_path), "mcpServers": []})
        if fault == "silent":
            assert client.next()["id"] == new
        elif fault == "version":
            assert client.answer_to(started)["result"]["protocolVersion"] == 99
        else:
            assert client.answer_to(started)["result"]["authMethods"][0]["id"] == "demo-login"
            assert client.answer_to(new)["error"]["code"] == -32000
            _log_in(client, works=fault == "auth")


def _log_in(client: Client, *, works: bool) -> None:
    answer = client.request("authenticate", {"methodId": "demo-login"})
    assert ("result" in answer) == works
    opened = client.request("session/new", {"cwd": str(client.cwd), "mcpServers": []})
    assert ("result" in opened) == works


def run_demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "trunkline.agents.demo", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [["--speed"], ["--speed", "0"], ["--speed", "x"], ["--fault", "none"], ["--nonsense"]])
def test_bad_options_print_the_usage(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "trunkline.agents.demo", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("usage: ")


def test_it_tells_its_version() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "trunkline.agents.demo", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"trunkline-demo {__version__}\n"


def test_it_loads_nothing_heavy_to_start(tmp_path: Path) -> None:
    program = "import sys, json, trunkline.agents.demo.__main__; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    heavy = {"asyncio", "subprocess", "msgspec", "argparse", "difflib", "trunkline.agents.demo.tools", "trunkline.agents.process"}
    assert not loaded & heavy


def test_the_schema_check_of_these_tests_can_fail() -> None:
    with pytest.raises(Exception, match="is not valid"):
        check("SessionNotification", {"sessionId": "s", "update": {"sessionUpdate": "plan", "entries": [{"content": "x"}]}})


def test_allow_and_reject_are_told_apart_by_option_id(tmp_path: Path) -> None:
    for option, status in (
        ("allow-once", "completed"),
        ("allow-always", "completed"),
        ("reject-once", "failed"),
        ("odd", "failed"),
    ):
        with demo(tmp_path) as client:
            client.replies["session/request_permission"] = choose(option)
            answer, updates = client.prompt(client.open(), "/ask")
            assert answer["result"] == {"stopReason": "end_turn"}
            assert calls_of(updates)[0][-1]["status"] == status
            assert text_of(updates) == f"You chose {option}.\n"
