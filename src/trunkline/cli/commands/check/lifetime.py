"""The checklist: sessions made, side by side, found again, listed, closed, deleted, set."""

from __future__ import annotations

import asyncio

from trunkline.cli.commands.check.examinee import AgentRefused, Examinee, Json, Skipped
from trunkline.cli.commands.check.registry import case, need
from trunkline.dialects.acp.methods import (
    SESSION_CANCEL,
    SESSION_CLOSE,
    SESSION_DELETE,
    SESSION_LIST,
    SESSION_LOAD,
    SESSION_NEW,
    SESSION_RESUME,
    SESSION_SET_CONFIG_OPTION,
    SESSION_SET_MODE,
    SESSION_UPDATE,
)


@case("SESSION-001", "must", "a new session has an id")
async def _new(agent: Examinee) -> None:
    await agent.greet()
    need(await agent.new(), "it is empty")


@case("SESSION-002", "must", "every session has its own id")
async def _distinct(agent: Examinee) -> None:
    await agent.greet()
    need(len({await agent.new() for _ in range(3)}) == 3, "two are the same")


@case("SESSION-003", "must", "nothing is said of a session before its id is told")
async def _id_first(agent: Examinee) -> None:
    await agent.greet()
    request_id = agent.begin(SESSION_NEW, {"cwd": str(agent.folder), "mcpServers": []})
    await agent.answer(request_id)
    early = [each for each in agent.received[:agent.place(request_id)] if each.get("method") == SESSION_UPDATE]
    need(not early, "an update came first")


@case("CONCURRENT-001", "must", "two sessions work at the same time and do not mix")
async def _side_by_side(agent: Examinee) -> None:
    await agent.greet()
    one, two = await agent.new(), await agent.new()
    running = agent.prompt(one, agent.prompts.long)
    await agent.until(lambda: agent.text(one))
    await agent.turn(two, agent.prompts.say)
    need(agent.text(two), "the second session said nothing while the first worked")
    agent.notify(SESSION_CANCEL, {"sessionId": one})
    need((await agent.answer(running))["stopReason"] == "cancelled", "the first was not cancelled")


@case("CONCURRENT-002", "must", "a cancel is about its own session only")
async def _own_cancel(agent: Examinee) -> None:
    await agent.greet()
    one, two = await agent.new(), await agent.new()
    running, stopped = agent.prompt(one, agent.prompts.long), agent.prompt(two, agent.prompts.long)
    await agent.until(lambda: agent.text(one) and agent.text(two))
    agent.notify(SESSION_CANCEL, {"sessionId": two})
    await agent.answer(stopped)
    await agent.quiet()
    need(not [each for each in agent.received if "method" not in each and each.get("id") == running], "the other ended too")
    agent.notify(SESSION_CANCEL, {"sessionId": one})
    await agent.answer(running)


async def _prompted(agent: Examinee) -> str:
    """A session that has a message."""
    session_id = await agent.new()
    await agent.turn(session_id, agent.prompts.say)
    return session_id


def _open(agent: Examinee, session_id: str) -> Json:
    return {"sessionId": session_id, "cwd": str(agent.folder), "mcpServers": []}


@case("LOAD-001", "offered", "a load tells the history, all of it before it is answered")
async def _load(agent: Examinee) -> None:
    await agent.greet()
    agent.can("load")
    session_id = await _prompted(agent)
    text, before = agent.text(session_id), len(agent.received)
    request_id = agent.begin(SESSION_LOAD, _open(agent, session_id))
    await agent.answer(request_id)
    replay = [each["params"]["update"] for each in agent.received[before:agent.place(request_id)] if "params" in each]
    texts = "".join(each["content"].get("text", "") for each in replay if each["sessionUpdate"] == "agent_message_chunk")
    need(texts == text, f"it told {texts[:100]!r} where {text[:100]!r} was said")
    need([each for each in replay if each["sessionUpdate"] == "user_message_chunk"], "what the person said is missing")


@case("LOAD-002", "offered", "a load of a session that is not there is refused")
async def _load_nothing(agent: Examinee) -> None:
    await agent.greet()
    agent.can("load")
    try:
        await agent.ask(SESSION_LOAD, _open(agent, "no-such-session"))
    except AgentRefused:
        return
    need(False, "it was answered")


@case("LOAD-003", "advice", "a load is answered with an object")
async def _load_object(agent: Examinee) -> None:
    await agent.greet()
    agent.can("load")
    answer = await agent.ask(SESSION_LOAD, _open(agent, await _prompted(agent)))
    need(isinstance(answer, dict), f"it was answered with {answer!r}")


@case("RESUME-001", "offered", "a resumed session works, and nothing of its history is told")
async def _resume(agent: Examinee) -> None:
    await agent.greet()
    agent.can("resume")
    session_id = await _prompted(agent)
    before = len(agent.updates(session_id))
    await agent.ask(SESSION_RESUME, _open(agent, session_id))
    replayed = [each for each in agent.updates(session_id)[before:] if each["sessionUpdate"].endswith("message_chunk")]
    need(not replayed, "history was told")
    need(await agent.turn(session_id, agent.prompts.say) == "end_turn", "the next turn did not end well")


@case("LIST-001", "offered", "a session is listed with its folder")
async def _list(agent: Examinee) -> None:
    await agent.greet()
    agent.can("list")
    session_id = await _prompted(agent)
    listed = (await agent.ask(SESSION_LIST, {"cwd": str(agent.folder)}))["sessions"]
    found = [each for each in listed if each["sessionId"] == session_id]
    need(found and found[0]["cwd"] == str(agent.folder), f"it listed {listed[:3]}")


@case("LIST-002", "offered", "a folder without sessions has none")
async def _list_nowhere(agent: Examinee) -> None:
    await agent.greet()
    agent.can("list")
    await _prompted(agent)
    listed = (await agent.ask(SESSION_LIST, {"cwd": "/no/such/folder"}))["sessions"]
    need(listed == [], f"it listed {listed[:3]}")


@case("CLOSE-001", "offered", "a session can be closed")
async def _close(agent: Examinee) -> None:
    await agent.greet()
    agent.can("close")
    need(await agent.ask(SESSION_CLOSE, {"sessionId": await _prompted(agent)}) is not None, "it was answered with null")


@case("CLOSE-002", "offered", "closing ends the running turn as cancelled")
async def _close_busy(agent: Examinee) -> None:
    await agent.greet()
    agent.can("close")
    session_id = await agent.new()
    running = agent.prompt(session_id, agent.prompts.long)
    await agent.until(lambda: agent.text(session_id))
    await agent.ask(SESSION_CLOSE, {"sessionId": session_id})
    stop = (await agent.answer(running))["stopReason"]
    need(stop == "cancelled", f"the stop reason was {stop!r}")


@case("DELETE-001", "offered", "a deleted session is not listed any more")
async def _delete(agent: Examinee) -> None:
    await agent.greet()
    agent.can("delete")
    session_id = await _prompted(agent)
    await agent.ask(SESSION_DELETE, {"sessionId": session_id})
    listed = (await agent.ask(SESSION_LIST, {"cwd": str(agent.folder)}))["sessions"]
    need(session_id not in [each["sessionId"] for each in listed], "it is")


@case("DELETE-002", "advice", "deleting twice is no error")
async def _delete_twice(agent: Examinee) -> None:
    await agent.greet()
    agent.can("delete")
    session_id = await _prompted(agent)
    for _ in range(2):
        await agent.ask(SESSION_DELETE, {"sessionId": session_id})


@case("MODES-001", "offered", "a mode that is offered can be set")
async def _mode(agent: Examinee) -> None:
    await agent.greet()
    answer = await agent.ask(SESSION_NEW, {"cwd": str(agent.folder), "mcpServers": []})
    modes = answer.get("modes")
    if not modes or len(modes["availableModes"]) < 2:
        raise Skipped("it has no modes to choose from")
    need(modes["currentModeId"] in [mode["id"] for mode in modes["availableModes"]], "the current mode is not among the modes")
    other = next(mode["id"] for mode in modes["availableModes"] if mode["id"] != modes["currentModeId"])
    await agent.ask(SESSION_SET_MODE, {"sessionId": answer["sessionId"], "modeId": other})


@case("MODES-002", "offered", "a mode that is not offered is refused")
async def _wrong_mode(agent: Examinee) -> None:
    await agent.greet()
    answer = await agent.ask(SESSION_NEW, {"cwd": str(agent.folder), "mcpServers": []})
    if not answer.get("modes"):
        raise Skipped("it has no modes")
    try:
        await agent.ask(SESSION_SET_MODE, {"sessionId": answer["sessionId"], "modeId": "no-such-mode"})
    except AgentRefused:
        return
    need(False, "it was taken")


@case("CONFIG-001", "offered", "setting an option is answered with all options as they are then")
async def _option(agent: Examinee) -> None:
    await agent.greet()
    answer = await agent.ask(SESSION_NEW, {"cwd": str(agent.folder), "mcpServers": []})
    selects = [each for each in answer.get("configOptions") or [] if each.get("type") == "select"
               and len(each["options"]) > 1 and "value" in each["options"][0]]
    if not selects:
        raise Skipped("it has no options to choose from")
    option = selects[0]
    value = next(each["value"] for each in option["options"] if each["value"] != option["currentValue"])
    wanted = {"sessionId": answer["sessionId"], "configId": option["id"], "value": value}
    after = (await agent.ask(SESSION_SET_CONFIG_OPTION, wanted))["configOptions"]
    need([each["id"] for each in after] == [each["id"] for each in answer["configOptions"]], "the list is not complete")
    need(next(each for each in after if each["id"] == option["id"])["currentValue"] == value, "the value did not change")


@case("CONCURRENT-003", "advice", "requests are answered while a turn runs")
async def _busy_answers(agent: Examinee) -> None:
    await agent.greet()
    session_id = await agent.new()
    running = agent.prompt(session_id, agent.prompts.long)
    await agent.until(lambda: agent.text(session_id))
    async with asyncio.timeout(5):
        await agent.new()
    agent.notify(SESSION_CANCEL, {"sessionId": session_id})
    await agent.answer(running)
