"""An agent that is driven by its own stream of JSON lines, as an editor sees it.

Errors say what to do, branches work, remarks are events and never updates.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.acp.editor import TRUSTED, Editor, Json, Refused, editor, result_of
from tests.server.site import TOKEN, Site
from tests.session.driver.stream_json.stage import fake_program
from trunkline.agents.catalog import spec_from_table
from trunkline.hub import Hub, HubOptions
from trunkline.server.app import build_app
from trunkline.server.options import ServerOptions

HINTS = {"driver": "stream-json", "display_name": "Claude Code", "install_hint": "npm install it", "login_hint": "run it once"}


@asynccontextmanager
async def opened(folder: Path, **options: Any) -> AsyncIterator[tuple[Site, Editor]]:
    """An editor with the fake CLI behind the hub; with ``absent`` there is none."""
    work = folder / "work"
    work.mkdir()
    absent = options.pop("absent", False)
    command = "no-such-program" if absent else str(fake_program(folder, folder / "log.jsonl", options))
    specs = {"cli": spec_from_table("cli", {**HINTS, "command": [command]})}
    async with Hub(HubOptions(data=folder / "data", store="memory:", agents=specs)) as hub:
        hub.policies.replace(TRUSTED)
        site = Site(hub, build_app(hub, ServerOptions(data=folder / "data", port=7420, token=TOKEN)), work)
        async with editor(site, "cli") as made:
            yield site, made


async def play(made: Editor, session_id: str, *steps: list[Any]) -> Json:
    """A turn of these steps; the whole answer."""
    return await made.prompt(session_id, json.dumps(steps))


@pytest.mark.parametrize(("options", "code", "advice"), [
    ({"absent": True}, -32603, "npm install it"),
    ({"version": "1.9.9"}, -32603, "npm install it"),
    ({"fail": "Not logged in · Please run /login"}, -32000, "run it once"),
    ({"fail": "ENOSPC: no space left on device"}, -32603, "free some space"),
])
def test_a_session_that_cannot_be_begun_says_what_to_do(tmp_path: Path, options: Json, code: int, advice: str) -> None:
    async def check() -> None:
        async with opened(tmp_path, **options) as (site, made):
            with pytest.raises(Refused) as refused:
                await made.new(site.folder)
            assert refused.value.code == code and advice in refused.value.message

    run(check())


@pytest.mark.parametrize(("said", "code", "advice"), [
    ("Credit balance is too low", -32603, "add some"),
    ("Invalid API key · Please run /login", -32000, "run it once"),
    ("You've hit your weekly limit", -32603, "wait until it is reset"),
])
def test_a_turn_that_only_a_person_can_mend_says_what_to_do_and_the_session_goes_on(
        tmp_path: Path, said: str, code: int, advice: str) -> None:
    async def check() -> None:
        async with opened(tmp_path) as (site, made):
            session_id = await made.new(site.folder)
            answer = await play(made, session_id, ["result", {"is_error": True, "result": said}])
            assert answer["error"]["code"] == code and advice in answer["error"]["message"]
            answered = result_of(await play(made, session_id, ["say", "still here"]))
            assert answered == {"stopReason": "end_turn", "usage": {"totalTokens": 2, "inputTokens": 1, "outputTokens": 1}}

    run(check())


def test_a_limit_that_a_person_set_is_a_stop_and_no_error(tmp_path: Path) -> None:
    async def check() -> None:
        async with opened(tmp_path) as (site, made):
            session_id = await made.new(site.folder)
            for subtype in ("error_max_turns", "error_max_budget_usd"):
                answer = await play(made, session_id, ["result", {"subtype": subtype, "is_error": True}])
                assert result_of(answer)["stopReason"] == "max_turn_requests"

    run(check())


def test_hooks_retries_and_limits_are_events_and_never_updates(tmp_path: Path) -> None:
    remarks: list[Json] = [
        {"type": "system", "subtype": "hook_started", "hook_name": "Stop"},
        {"type": "system", "subtype": "hook_response", "hook_name": "Stop", "exit_code": 1, "stderr": "no tests"},
        {"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 3, "error_status": 429, "error": "rate_limit"}]

    async def check() -> None:
        async with opened(tmp_path) as (site, made):
            session_id = await made.new(site.folder)
            await play(made, session_id, *(["frame", remark] for remark in remarks), ["say", "done"])
            assert made.text(session_id) == "done"
            told = json.dumps(made.heard)
            assert not [word for word in ("no tests", "hook", "retry", "rate_limit") if word in told]
            assert {message["method"] for message in made.heard if "method" in message} == {"session/update"}
            entries = await (await site.hub.session(session_id)).feed.read(after=0)
            events = b"\n".join(entry.event for entry in entries)
            assert b"no tests" in events and b"resource:rate_limit" in events

    run(check())


def test_a_fork_has_an_id_of_its_own_tells_no_history_and_both_work(tmp_path: Path) -> None:
    async def check() -> None:
        async with opened(tmp_path) as (site, made):
            offered = made.heard[0]["result"]["agentCapabilities"]["sessionCapabilities"]
            assert "fork" in offered
            session_id = await made.new(site.folder)
            await play(made, session_id, ["say", "before"])
            env = {"trunkline": {"env": {"PATH": "/editor/bin:/usr/bin:/bin"}}}
            asked = {"sessionId": session_id, "cwd": str(site.folder), "_meta": env}
            branch = (await made.ask("session/fork", asked))["sessionId"]
            assert branch != session_id
            assert (await site.hub.session(branch)).env == env["trunkline"]["env"], "the editor's PATH is the branch's"
            await play(made, branch, ["say", "in the branch"])
            await play(made, session_id, ["say", " and after"])
            assert (made.text(branch), made.text(session_id)) == ("in the branch", "before and after")
            assert "available_commands_update" in [each["sessionUpdate"] for each in made.updates(branch)]
            log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
            starts = [entry["argv"] for entry in log if "argv" in entry and "--verbose" in entry["argv"]]
            assert "--fork-session" in starts[1] and "--fork-session" not in starts[0]

    run(check())


def test_modes_models_and_commands_are_offered_and_set(tmp_path: Path) -> None:
    async def check() -> None:
        async with opened(tmp_path) as (site, made):
            answer = await made.ask("session/new", {"cwd": str(site.folder), "mcpServers": []})
            session_id = answer["sessionId"]
            assert "plan" in [mode["id"] for mode in answer["modes"]["availableModes"]]
            await made.ask("session/set_mode", {"sessionId": session_id, "modeId": "plan"})
            (model,) = [option for option in answer["configOptions"] if option["id"] == "model"]
            other = next(each["value"] for each in model["options"] if each["value"] != model["currentValue"])
            after = await made.ask("session/set_config_option", {"sessionId": session_id, "configId": "model", "value": other})
            assert [each["currentValue"] for each in after["configOptions"] if each["id"] == "model"] == [other]
            told = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
            asked = {line["request"]["subtype"] for line in told if line.get("type") == "control_request"}
            assert {"initialize", "set_permission_mode", "set_model"} <= asked

    run(check())


def test_who_may_only_approve_cannot_end_the_turn_or_have_something_else_run(tmp_path: Path) -> None:
    async def check() -> None:
        async with opened(tmp_path) as (site, made):
            session_id = await made.new(site.folder)
            secret = (await site.ask("POST", "/auth/tokens", json_body={"name": "phone", "scope": "approve"})).json()["secret"]
            async with editor(site, "cli", token=secret) as phone:
                await phone.ask("session/resume", {"sessionId": session_id, "cwd": str(site.folder)})
                turn = made.prompt(session_id, json.dumps([["ask", "Bash", {"command": "touch x"}], ["say", "went on"]]))
                theirs, ours = await phone.asked(), await made.asked()
                offered = [[option["optionId"] for option in ask["params"]["options"]] for ask in (theirs, ours)]
                assert "cancel" in offered[1] and "cancel" not in offered[0] and "reject" in offered[0]
                path = f"/sessions/{session_id}/permissions/{ours['params']['_meta']['trunkline']['requestId']}"
                for body in ({"optionId": "cancel"}, {"decision": "allow", "updatedInput": {"command": "id"}}):
                    refused = await site.ask("POST", path, json_body=body, token=secret)
                    assert (refused.status, refused.json()["code"]) == (403, "forbidden")
                phone.answer(theirs, {"outcome": {"outcome": "selected", "optionId": "cancel"}})
                assert result_of(await turn)["stopReason"] == "end_turn" and "went on" in made.text(session_id)

    run(check())
