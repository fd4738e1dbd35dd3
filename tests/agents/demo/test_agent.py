"""The demo's sessions: how they begin, what can be set in them, how they end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.demo.client import demo, text_of, update_of
from trunkline.agents.demo import DEMO_PROMPTS


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


def test_closing_a_session_ends_its_turn(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        running = client.begin_prompt(session, "/silent")
        closing = client.begin("session/close", {"sessionId": session})
        answers = {client.next()["id"]: True for _ in range(2)}
        assert set(answers) == {running, closing}
        assert client.prompt(session, "/echo")[0]["error"]["code"] == -32002
