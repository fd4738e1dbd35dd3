"""What an agent's own settings mean, whatever it calls them; plan mode."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.session.interpret.told import Told, events, names
from tests.session.script import OPTIONS, update
from tests.tooling.rows import every_row
from trunkline.dialects.context.types import EnvironmentModel
from trunkline.dialects.signals import PermissionAsk
from trunkline.session.interpret.options import choice_of, current_model, model_of

PLAN = {"toolCallId": "c", "title": "Ready?", "kind": "switch_mode", "rawInput": {"plan": "1. write it"}}


def raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def select(category: str, value: str, options: list[Any] | None = None) -> dict[str, Any]:
    choices = options or [{"value": value, "name": value}]
    return {"id": "any", "name": "Any", "type": "select", "category": category, "currentValue": value, "options": choices}


def test_a_model_is_known_by_its_options_category_and_named_by_its_choice() -> None:
    flat = [select("mode", "ask"), select("model", "m", [{"value": "m", "name": "Model M"}])]
    assert model_of(raw(flat)) == EnvironmentModel(id="m", display_name="Model M")
    grouped = [select("model", "m", [{"group": "g", "name": "G", "options": [{"value": "m", "name": "M"}]}])]
    assert model_of(raw(grouped)) == EnvironmentModel(id="m", display_name="M")
    assert choice_of(raw(flat), "mode") == "ask"


@every_row("options", [None, [], {}, 7, [select("thought_level", "low")], [{"id": "x"}]])
def test_options_without_a_model_name_none(options: Any) -> None:
    assert model_of(raw(options)) is None


def test_a_model_that_an_agent_opens_with_is_named() -> None:
    told = {"currentModelId": "m", "availableModels": [{"modelId": "m", "name": "Model M"}]}
    assert current_model(raw(told)) == EnvironmentModel(id="m", display_name="Model M")
    assert current_model(raw({"currentModelId": "m"})) == EnvironmentModel(id="m")
    assert current_model(None) is None and current_model(raw([])) is None


def test_an_option_can_be_plan_mode_where_an_agent_has_no_modes() -> None:
    told = Told()
    changes = [update(sessionUpdate="config_option_update", configOptions=[select("mode", mode)])
               for mode in ("build", "plan", "build")]
    entries = [entry for change in changes for entry in told.hear(change)]
    assert names(entries) == ["config_option_update", "config_option_update", "progress:plan_mode", "config_option_update",
                              "progress:plan_mode"]
    assert [event["active"] for event in events(entries) if event["type"] == "progress:plan_mode"] == [True, False]
    assert told.fold.mode is None, "an option is no mode that could be set again"


def test_a_plan_is_told_when_it_is_shown_and_when_plan_mode_ends_with_it() -> None:
    told = Told().turn()
    told.hear(update(sessionUpdate="current_mode_update", currentModeId="plan"))
    shown = told.hear(PermissionAsk("req", msgspec.json.encode(PLAN), OPTIONS))
    kinds = [event["type"] for event in events(shown)]
    assert kinds.index("progress:plan_mode") < kinds.index("approval:requested"), "it is read before it is agreed to"
    plan = events(shown)[kinds.index("progress:plan_mode")]
    assert (plan["type"], plan["active"], plan["plan"], plan["_meta"]) == (
        "progress:plan_mode", True, "1. write it", {"toolCallId": "c"})
    assert "progress:plan_mode" not in names(told.hear(update(sessionUpdate="tool_call_update", toolCallId="c", title="Again")))
    told.at().asks.resolve("req", approved=True, resolved_by="user", who="ann")
    told.take()
    (left,) = events(told.hear(update(sessionUpdate="current_mode_update", currentModeId="code")))
    assert (left["active"], left["plan"]) == (False, "1. write it")


@pytest.mark.parametrize("given", [{"kind": "edit"}, {"rawInput": {}}, {"rawInput": {"plan": 7}}, {"rawInput": ["plan"]}])
def test_what_is_no_plan_is_not_told_as_one(given: dict[str, Any]) -> None:
    told = Told().turn()
    assert "progress:plan_mode" not in names(told.hear(update(sessionUpdate="tool_call", **{**PLAN, **given})))
