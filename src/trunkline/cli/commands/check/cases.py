"""The checklist: the wire, the handshake, turns and cancels. Ids are the protocol's conformance kit's where it has them."""

from __future__ import annotations

from trunkline.cli.commands.check import asking as _asking  # noqa: F401 - importing it puts its cases on the list
from trunkline.cli.commands.check import lifetime as _lifetime  # noqa: F401
from trunkline.cli.commands.check.examinee import AgentRefused, Examinee, Failed, Json
from trunkline.cli.commands.check.registry import CASES, case, need
from trunkline.dialects.acp.methods import CANCEL_REQUEST, INITIALIZE, SESSION_CANCEL, SESSION_NEW, SESSION_PROMPT, SESSION_UPDATE
from trunkline.dialects.error_codes import ErrorCode

__all__ = ["CASES"]

STOP_REASONS = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")


# -- the wire


@case("TRANSPORT-001", "must", "every line of stdout is one JSON-RPC message")
async def _lines(agent: Examinee) -> None:
    await agent.greet()
    await agent.turn(await agent.new(), agent.prompts.say)


@case("TRANSPORT-002", "must", "text is UTF-8, in both directions")
async def _utf8(agent: Examinee) -> None:
    await agent.greet()
    session_id = await agent.new()
    await agent.turn(session_id, agent.prompts.say)
    agent.judge()
    text = agent.text(session_id)
    need(text and agent.prompts.says in text, f"the agent said {text[:100]!r}")


@case("JSONRPC-001", "must", "an id comes back as it was sent, number or string")
async def _ids(agent: Examinee) -> None:
    await agent.greet()
    for request_id in (7001, "7001", "ünïcode", 2**40):
        await agent.ask(SESSION_NEW, {"cwd": str(agent.folder), "mcpServers": []}, request_id)


@case("JSONRPC-002", "must", "an answer has exactly one of result and error")
async def _one_of(agent: Examinee) -> None:
    await agent.greet()
    await _refusal(agent, "session/unheard_of")


@case("JSONRPC-003", "must", "a notification is not answered")
async def _notifications(agent: Examinee) -> None:
    await agent.greet()
    before = len(agent.received)
    agent.notify("_check/unheard_of", {})
    agent.notify(SESSION_CANCEL, {"sessionId": "no-such-session"})
    await agent.quiet()
    answers = [each for each in agent.received[before:] if "method" not in each]
    need(not answers, f"it answered {answers[:1]}")


@case("JSONRPC-004", "must", "an unknown method is refused with -32601")
async def _unknown(agent: Examinee) -> None:
    await agent.greet()
    code = await _refusal(agent, "session/unheard_of")
    need(code == ErrorCode.METHOD_NOT_FOUND, f"the code was {code}")


@case("JSONRPC-005", "must", "the agent goes on after errors")
async def _after_errors(agent: Examinee) -> None:
    await agent.greet()
    await _refusal(agent, SESSION_NEW)
    await _refusal(agent, SESSION_PROMPT)
    await agent.turn(await agent.new(), agent.prompts.say)


@case("JSONRPC-006", "advice", "what is no message is answered with -32700 or -32600")
async def _malformed(agent: Examinee) -> None:
    await agent.greet()
    agent.raw(b"{nonsense\n")
    found = await agent.until(lambda: [each for each in agent.received if "error" in each])
    need(found[0]["id"] is None and found[0]["error"]["code"] in (-32700, -32600), f"it answered {found[0]}")


@case("JSONRPC-007", "must", "malformed lines, batches and blank lines do not end the connection")
async def _junk(agent: Examinee) -> None:
    await agent.greet()
    for line in (b"{nonsense\n", b"\n", b"[]\n", b"17\n", b'{"jsonrpc":"2.0"}\n', b"\xff\xfe\n"):
        agent.raw(line)
    await agent.turn(await agent.new(), agent.prompts.say)


@case("EXT-001", "must", "an unknown extension request is answered")
async def _extension(agent: Examinee) -> None:
    await agent.greet()
    await _refusal(agent, "_check/unheard_of")


@case("META-001", "must", "_meta is accepted everywhere")
async def _meta(agent: Examinee) -> None:
    meta = {"_meta": {"check.example/x": {"y": [1, None]}, "traceparent": "00-0-0-00"}}
    await agent.ask(INITIALIZE, {"protocolVersion": 1, **meta})
    answer = await agent.ask(SESSION_NEW, {"cwd": str(agent.folder), "mcpServers": [], **meta})
    prompt = [{"type": "text", "text": agent.prompts.say, **meta}]
    await agent.ask(SESSION_PROMPT, {"sessionId": answer["sessionId"], "prompt": prompt, **meta})


# -- the handshake


@case("INIT-001", "must", "initialize is answered with a version and capabilities")
async def _initialize(agent: Examinee) -> None:
    hello = await agent.greet()
    need(isinstance(hello.get("protocolVersion"), int), f"protocolVersion is {hello.get('protocolVersion')!r}")
    need(isinstance(hello.get("agentCapabilities", {}), dict), "agentCapabilities is no object")


@case("INIT-002", "must", "version 1 is answered with 1")
async def _version_1(agent: Examinee) -> None:
    need((await agent.greet())["protocolVersion"] == 1, "another version came back")


@case("INIT-003", "must", "a version from the future is answered with the agent's own, not echoed and not refused")
async def _future(agent: Examinee) -> None:
    hello = await agent.ask(INITIALIZE, {"protocolVersion": 65535})
    need(hello["protocolVersion"] in (1, 2), f"it answered {hello['protocolVersion']}")


@case("INIT-004", "advice", "the agent says its name and version")
async def _info(agent: Examinee) -> None:
    info = (await agent.greet()).get("agentInfo") or {}
    need(info.get("name") and info.get("version"), f"agentInfo is {info}")


@case("INIT-005", "must", "capabilities that are markers are objects")
async def _markers(agent: Examinee) -> None:
    offered = (await agent.greet()).get("agentCapabilities", {}).get("sessionCapabilities", {})
    wrong = {name: value for name, value in offered.items() if not isinstance(value, dict)}
    need(not wrong, f"these are not: {wrong}")


@case("AUTH-002", "must", "no login in a terminal is offered to a client that has none")
async def _terminal_login(agent: Examinee) -> None:
    methods = (await agent.greet()).get("authMethods") or []
    need(not [each for each in methods if each.get("type") == "terminal"], "one is")


@case("CONFIG-003", "must", "no switches are sent to a client that cannot show them")
async def _switches(agent: Examinee) -> None:
    await agent.greet()
    answer = await agent.ask(SESSION_NEW, {"cwd": str(agent.folder), "mcpServers": []})
    need(not [each for each in answer.get("configOptions") or [] if each.get("type") == "boolean"], "one is")


# -- turns


@case("PROMPT-001", "must", "a turn ends with a stop reason that the protocol has")
async def _stops(agent: Examinee) -> None:
    await agent.greet()
    stop = await agent.turn(await agent.new(), agent.prompts.say)
    need(stop in STOP_REASONS, f"the stop reason was {stop!r}")


@case("PROMPT-002", "must", "updates name their session and come before the turn's answer")
async def _updates_first(agent: Examinee) -> None:
    await agent.greet()
    session_id = await agent.new()
    request_id = agent.prompt(session_id, agent.prompts.say)
    await agent.answer(request_id)
    await agent.quiet()
    need(agent.text(session_id), "nothing was said")
    need(not _chunks_after(agent, request_id), "something was said after the answer")


@case("PROMPT-003", "must", "links to resources are accepted in prompts")
async def _links(agent: Examinee) -> None:
    await agent.greet()
    prompt = [{"type": "text", "text": agent.prompts.say},
              {"type": "resource_link", "uri": f"file://{agent.folder}/a.txt", "name": "a.txt"}]
    await agent.ask(SESSION_PROMPT, {"sessionId": await agent.new(), "prompt": prompt})


@case("PROMPT-004", "must", "what is said fast arrives complete and before the answer")
async def _burst(agent: Examinee) -> None:
    await agent.greet()
    session_id = await agent.new()
    request_id = agent.prompt(session_id, agent.prompts.burst)
    await agent.answer(request_id)
    await agent.quiet()
    text = agent.text(session_id)
    need(text and not _chunks_after(agent, request_id), "chunks came after the answer")
    need(len(text) >= agent.prompts.burst_chars, f"{len(text)} of {agent.prompts.burst_chars} characters arrived")


@case("CANCEL-001", "must", "a cancelled turn ends with the stop reason cancelled")
async def _cancel(agent: Examinee) -> None:
    await agent.greet()
    session_id = await agent.new()
    request_id = agent.prompt(session_id, agent.prompts.long)
    await agent.until(lambda: agent.text(session_id))
    agent.notify(SESSION_CANCEL, {"sessionId": session_id})
    stop = (await agent.answer(request_id))["stopReason"]
    need(stop == "cancelled", f"the stop reason was {stop!r}")


@case("CANCEL-002", "must", "nothing is said after a cancelled turn's answer")
async def _silence(agent: Examinee) -> None:
    await agent.greet()
    session_id = await agent.new()
    request_id = agent.prompt(session_id, agent.prompts.long)
    await agent.until(lambda: agent.text(session_id))
    agent.notify(SESSION_CANCEL, {"sessionId": session_id})
    await agent.answer(request_id)
    await agent.quiet()
    need(not _chunks_after(agent, request_id), "something was said after the answer")


@case("CANCEL-003", "must", "a cancel right behind its prompt counts")
async def _early_cancel(agent: Examinee) -> None:
    await agent.greet()
    session_id = await agent.new()
    request_id = agent.prompt(session_id, agent.prompts.long)
    agent.notify(SESSION_CANCEL, {"sessionId": session_id})
    stop = (await agent.answer(request_id))["stopReason"]
    need(stop == "cancelled", f"the stop reason was {stop!r}")


@case("CANCEL-004", "must", "a session works on after a cancel")
async def _works_on(agent: Examinee) -> None:
    await agent.greet()
    session_id = await agent.new()
    request_id = agent.prompt(session_id, agent.prompts.long)
    await agent.until(lambda: agent.text(session_id))
    agent.notify(SESSION_CANCEL, {"sessionId": session_id})
    await agent.answer(request_id)
    need(await agent.turn(session_id, agent.prompts.say) == "end_turn", "the next turn did not end well")


@case("CANCEL-005", "advice", "a request that is taken back is answered, as cancelled")
async def _take_back(agent: Examinee) -> None:
    await agent.greet()
    session_id = await agent.new()
    request_id = agent.prompt(session_id, agent.prompts.long)
    await agent.until(lambda: agent.text(session_id))
    agent.notify(CANCEL_REQUEST, {"requestId": request_id})
    try:
        stop = (await agent.answer(request_id))["stopReason"]
    except AgentRefused as refused:
        need(refused.code == ErrorCode.REQUEST_CANCELLED, f"the code was {refused.code}")
    else:
        need(stop == "cancelled", f"the stop reason was {stop!r}")


@case("ERROR-001", "advice", "an error's message is one line")
async def _one_line(agent: Examinee) -> None:
    await agent.greet()
    try:
        await agent.ask(SESSION_PROMPT, {"sessionId": "no-such-session", "prompt": [{"type": "text", "text": "x"}]})
    except AgentRefused as refused:
        need("\n" not in str(refused), "it has several")
    else:
        raise Failed("a prompt for a session that is not there was answered")


@case("SHUTDOWN-001", "must", "the agent ends when its stdin does")
async def _shutdown(agent: Examinee) -> None:
    await agent.greet()
    await agent.new()
    ended = await agent.stop(close_stdin_s=10.0)
    need(ended.signal is None, f"it had to be ended ({ended})")


def _chunks_after(agent: Examinee, request_id: object) -> list[Json]:
    """What was sent after a request was answered."""
    later = agent.received[agent.place(request_id) + 1:]
    updates = [each["params"]["update"] for each in later if each.get("method") == SESSION_UPDATE]
    return [each for each in updates if each["sessionUpdate"].endswith("_chunk")]


async def _refusal(agent: Examinee, method: str) -> int | None:
    try:
        await agent.ask(method)
    except AgentRefused as refused:
        return refused.code
    raise Failed(f"{method} without what it needs was not refused")
