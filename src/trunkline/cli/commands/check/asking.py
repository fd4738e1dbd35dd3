"""The checklist: permissions, and what may be asked of a client that did not offer it."""

from __future__ import annotations

from trunkline.cli.commands.check.examinee import Examinee, Json, wait
from trunkline.cli.commands.check.registry import case, need
from trunkline.dialects.acp.methods import SESSION_CANCEL, SESSION_REQUEST_PERMISSION, SESSION_UPDATE


def _permissions(agent: Examinee) -> list[Json]:
    return [each for each in agent.received if each.get("method") == SESSION_REQUEST_PERMISSION]


@case("PERMISSION-001", "must", "a permission is a request, with options to choose from, and its answer counts")
async def _permission(agent: Examinee) -> None:
    await agent.greet()
    session_id = await agent.new()
    stop = await agent.turn(session_id, agent.prompts.ask)
    requests = _permissions(agent)
    need(requests, "no permission was asked for")
    need("id" in requests[0], "it is a notification, not a request")
    params = requests[0]["params"]
    need(params["sessionId"] == session_id, "it names another session")
    options = params["options"]
    need(options and all({"optionId", "name", "kind"} <= set(option) for option in options), f"the options are {options}")
    need(stop == "end_turn", f"the turn ended with {stop!r} though it was allowed")


@case("PERMISSION-002", "must", "the call that a permission is about was told of before")
async def _announced(agent: Examinee) -> None:
    await agent.greet()
    await agent.turn(await agent.new(), agent.prompts.ask)
    requests = _permissions(agent)
    need(requests, "no permission was asked for")
    before = agent.received[:agent.received.index(requests[0])]
    calls = [each["params"]["update"].get("toolCallId") for each in before if each.get("method") == SESSION_UPDATE
             and each["params"]["update"]["sessionUpdate"] == "tool_call"]
    need(requests[0]["params"]["toolCall"]["toolCallId"] in calls, "it was not")


@case("PERMISSION-003", "must", "a refused permission does not end the session")
async def _refused(agent: Examinee) -> None:
    agent.permit = _reject
    await agent.greet()
    session_id = await agent.new()
    await agent.turn(session_id, agent.prompts.ask)
    need(await agent.turn(session_id, agent.prompts.say) == "end_turn", "the next turn did not end well")


@case("PERMISSION-004", "must", "a cancel while a permission is open ends the turn as cancelled")
async def _cancelled(agent: Examinee) -> None:
    agent.permit = wait
    await agent.greet()
    session_id = await agent.new()
    request_id = agent.prompt(session_id, agent.prompts.ask)
    request = (await agent.until(lambda: _permissions(agent)))[0]
    agent.notify(SESSION_CANCEL, {"sessionId": session_id})
    agent.say({"id": request["id"], "result": {"outcome": {"outcome": "cancelled"}}})
    stop = (await agent.answer(request_id))["stopReason"]
    need(stop == "cancelled", f"the stop reason was {stop!r}")


@case("CLIENTCAP-001", "must", "no file is asked of a client that did not offer files")
async def _no_files(agent: Examinee) -> None:
    await agent.greet()
    (agent.folder / "a.txt").write_text("text")
    await agent.turn(await agent.new(), agent.prompts.read.format(path=agent.folder / "a.txt"))
    need(not agent.requests_for("fs"), "one was")


@case("CLIENTCAP-002", "must", "no terminal is asked of a client that did not offer terminals")
async def _no_terminal(agent: Examinee) -> None:
    await agent.greet()
    await agent.turn(await agent.new(), agent.prompts.terminal)
    need(not agent.requests_for("terminal"), "one was")


@case("CLIENTCAP-003", "must", "no form is put to a client that has none")
async def _no_form(agent: Examinee) -> None:
    await agent.greet()
    session_id = await agent.new()
    request_id = agent.prompt(session_id, agent.prompts.question)
    await agent.quiet()
    agent.notify(SESSION_CANCEL, {"sessionId": session_id})
    await agent.answer(request_id)
    need(not agent.requests_for("elicitation"), "one was")


def _reject(ask: Json) -> Json | None:
    options = ask["params"]["options"]
    chosen = next((option for option in options if option["kind"] == "reject_once"), options[-1])
    return {"outcome": "selected", "optionId": chosen["optionId"]}
