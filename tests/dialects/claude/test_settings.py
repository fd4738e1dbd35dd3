"""Modes, models, thinking, effort and slash commands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dialects.acp.schema import faults
from tests.dialects.claude import sample_frames as f
from tests.tooling.claude_runs import greeting, translator
from tests.tooling.rows import every_row
from trunkline.dialects.claude.translate import Translator
from trunkline.errors import Invalid

OLD = {"models": [{"value": "default", "displayName": "Default"}, {"value": "opus", "displayName": "Opus"},
                  {"value": "sonnet", "displayName": "Sonnet"}], "commands": [{"name": "compact", "description": "Sum up"}]}


def greeted(body: dict[str, Any] | bytes) -> Translator:
    translate = translator()
    translate.settings.greeted(body if isinstance(body, bytes) else json.dumps(body).encode())
    return translate


def option(translate: Translator, config_id: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in json.loads(bytes(translate.settings.options())) if each["id"] == config_id)
    return found


def test_the_modes_are_those_that_can_be_chosen() -> None:
    translate = greeted(greeting())
    modes = json.loads(bytes(translate.settings.modes()))
    assert modes["currentModeId"] == "default"
    assert [mode["id"] for mode in modes["availableModes"]] == ["default", "acceptEdits", "plan", "auto", "dontAsk"]
    with_bypass = json.loads(bytes(translate.settings.modes(bypass=True)))["availableModes"]
    assert "bypassPermissions" in [mode["id"] for mode in with_bypass]
    assert not faults("SessionModeState", bytes(translate.settings.modes()))


def test_a_mode_is_told_when_it_changes_and_not_again_with_every_turn() -> None:
    translate = greeted(greeting())
    told = f.hear(translate, f.init(), f.system("status", status=None, permissionMode="plan"), f.init(permissionMode="plan"),
                  f.init(permissionMode="tomorrow"))
    assert [update["currentModeId"] for update in f.updates(told, "current_mode")] == ["plan", "tomorrow"]
    assert json.loads(bytes(translate.settings.modes()))["availableModes"][-1]["id"] == "tomorrow"


def test_each_model_is_on_offer_once_by_its_full_name() -> None:
    model = option(greeted(greeting()), "model")
    values = [entry["value"] for entry in model["options"]]
    assert len(set(values)) == len(values) and model["currentValue"] in values
    assert model["options"][0] | {"description": ""} == {"value": "claude-opus-5-5", "name": "Opus", "description": ""}
    for each in json.loads(bytes(greeted(greeting()).settings.options())):
        assert not faults("SessionConfigOption", json.dumps(each).encode())


def test_an_old_build_that_names_aliases_only_is_understood_by_its_turns() -> None:
    translate = greeted(OLD)
    assert option(translate, "model")["currentValue"] == "default"
    (update,) = f.updates(f.hear(translate, f.init(model="claude-opus-4-6")), "config")
    model = update["configOptions"][0]
    assert model["currentValue"] == "claude-opus-4-6"
    assert [entry["name"] for entry in model["options"]] == ["Default", "Opus", "Sonnet"]
    (update,) = f.updates(f.hear(translate, f.init(model="claude-sonnet-4-5")), "config")
    chosen = next(entry for entry in update["configOptions"][0]["options"] if entry["value"] == "claude-sonnet-4-5")
    assert chosen["name"] == "Sonnet"


def test_a_model_that_was_not_on_offer_is_on_offer_once_it_is_used() -> None:
    translate = greeted(greeting())
    (update,) = f.updates(f.hear(translate, f.init(model="somebody-elses-model")), "config")
    assert update["configOptions"][0]["currentValue"] == "somebody-elses-model"


def test_without_a_greeting_the_model_is_told_as_a_note() -> None:
    translate = translator()
    assert f.notes(f.hear(translate, f.init(model="m1"), f.init(model="m1"), f.init(model="m2")), "model") == [
        {"id": "m1"}, {"id": "m2"}]


@pytest.mark.parametrize(("config_id", "value", "request_is"), [
    ("model", "claude-sonnet-5-5", {"subtype": "set_model", "model": "claude-sonnet-5-5"}),
    ("thinking", "off", {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 0}),
    ("thinking", "auto", {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": None}),
    ("effort", "high", {"subtype": "apply_flag_settings", "settings": {"effortLevel": "high"}}),
])
def test_an_option_is_set_by_a_control_request(config_id: str, value: str, request_is: dict[str, Any]) -> None:
    translate = greeted(greeting())
    assert json.loads(translate.settings.request("r", config_id, value)) == {
        "type": "control_request", "request_id": "r", "request": request_is}
    options = json.loads(bytes(translate.settings.took(config_id, value, b"null")))
    assert next(each for each in options if each["id"] == config_id)["currentValue"] == value


def test_a_model_that_was_chosen_before_a_restart_is_taken_by_its_full_name() -> None:
    translate = greeted(OLD)
    line = translate.settings.request("r", "model", "claude-sonnet-4-5")
    assert json.loads(line)["request"]["model"] == "claude-sonnet-4-5"
    (model, _) = json.loads(bytes(translate.settings.took("model", "claude-sonnet-4-5", b"null")))
    assert model["currentValue"] == "claude-sonnet-4-5"
    assert [entry["value"] for entry in model["options"]] == ["default", "opus", "claude-sonnet-4-5"]
    with pytest.raises(Invalid):
        translate.settings.request("r", "model", "nobody")


def test_a_mode_that_somebody_asked_for_is_no_news() -> None:
    translate = greeted(greeting())
    answer = {"subtype": "success", "request_id": "r", "response": {"mode": "plan"}}
    told = f.hear(translate, f.frame("control_response", response=answer),
                  f.system("status", status=None, permissionMode="plan"), f.init(permissionMode="plan"))
    assert f.updates(told, "current_mode") == []
    assert json.loads(bytes(translate.settings.modes()))["currentModeId"] == "plan"


def test_the_cli_says_which_model_an_alias_stands_for() -> None:
    translate = greeted(OLD)
    options = json.loads(bytes(translate.settings.took("model", "sonnet", b'{"model":"claude-sonnet-4-5"}')))
    assert options[0]["currentValue"] == "claude-sonnet-4-5"


@pytest.mark.parametrize(("config_id", "value"), [
    ("model", "nobody"), ("thinking", "deep"), ("effort", "auto"), ("colour", "red")])
def test_an_option_or_a_value_that_is_not_on_offer_is_refused_with_what_is(config_id: str, value: str) -> None:
    with pytest.raises(Invalid, match=r"must be one of|the options are"):
        greeted(greeting()).settings.request("r", config_id, value)


def test_slash_commands_are_told_with_what_they_do_and_take() -> None:
    translate = translator()
    body = {"commands": [{"name": "compact", "description": "Sum up", "argumentHint": "[how]"}, {"name": "login"},
                         {"name": "__inner"}, {"name": "long", "description": "x" * 2000}, 7]}
    (update,) = f.updates(translate.settings.greeted(json.dumps(body).encode()))
    assert [command["name"] for command in update["availableCommands"]] == ["compact", "long"]
    assert update["availableCommands"][0] == {"name": "compact", "description": "Sum up", "input": {"hint": "[how]"}}
    assert len(update["availableCommands"][1]["description"]) < 400


def test_commands_are_told_again_only_when_they_change() -> None:
    translate = greeted({"commands": [{"name": "a", "description": "A"}]})
    told = f.hear(translate, f.init(slash_commands=["a"]), f.init(slash_commands=["a", "new"]),
                  f.init(slash_commands=["a", "new"]), f.init(slash_commands=["a", "new"], terminal_slash_commands=["new"]))
    assert [[command["name"] for command in update["availableCommands"]] for update in f.updates(told)] == [["a", "new"], ["a"]]
    assert f.updates(told)[0]["availableCommands"][0]["description"] == "A"
    changed = f.hear(translate, f.system("commands_changed", commands=[{"name": "b"}, "c"]))
    assert [command["name"] for command in f.updates(changed)[0]["availableCommands"]] == ["b", "c"]


@every_row("body", [
    b"null", b"[]", b"{", b'{"models":7,"commands":{}}', b'{"models":[{"value":7}],"commands":[[]]}'])
def test_a_greeting_of_any_shape_breaks_nothing(body: bytes) -> None:
    translate = greeted(body)
    assert json.loads(bytes(translate.settings.modes()))["currentModeId"] == "default"
    assert option(translate, "thinking")["currentValue"] == "auto"
