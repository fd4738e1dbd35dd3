"""One way to play a turn with any agent, through each of the hub's faces: what a person sees and answers, told in the same words.

Rule 1: a face speaks only its own wire: packets over HTTP, the Agent Context Protocol over the WebSocket, the Agent Client
Protocol over the stdio of ``trunkline acp``.
Rule 2: a turn is played to its end by one call. Whoever is asked meanwhile answers at once; ``cancel`` may be called from there
or from another thread.
"""

from __future__ import annotations

import copy
import itertools
import json
import queue
import subprocess
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.dialects.packets.shapes_check import validate_packet
from tests.tooling.hub_process import TRUNKLINE, HubProcess, Session
from tests.tooling.websocket import WebSocket

Json = dict[str, Any]
TURN_S = 90.0


class Ask(NamedTuple):
    """A permission or a question that waits."""

    id: str
    call: str
    title: str
    options: list[Json]
    shown: str
    """Everything that it shows, as JSON."""
    is_question: bool = False


class Answer(NamedTuple):
    """What a person says to it."""

    allow: bool = True
    reason: str | None = None
    option: str | None = None
    edited: Json | None = None
    content: Json | None = None
    """What a question's form is filled with."""


class Outcome:
    """A turn as it was seen, up to now or to its end."""

    def __init__(self) -> None:
        self.text = ""
        self.thoughts = ""
        self.stop: str | None = None
        self.error: str | None = None
        self.asks: list[Ask] = []
        self.taken_back: list[str] = []
        """Asks that somebody else answered, where the face tells."""
        self.calls: dict[str, str] = {}
        """The last status of each tool call."""
        self.results: dict[str, str] = {}
        """Everything that was told of a call's outcome, as JSON."""

    @property
    def result(self) -> str:
        """All results in one text."""
        return "\n".join(self.results.values())


Decide = Callable[[Ask], Answer | None]
"""Answers an ask; None leaves it open."""
Watch = Callable[[Outcome], None]
"""Sees the turn after every piece of news."""


def allow(_: Ask) -> Answer:
    """Everything is allowed."""
    return Answer()


def nothing(_: Outcome) -> None:
    """Only watch."""


class Face(ABC):
    """One session of a hub through one of its faces."""

    name = ""
    tells_reasons = True
    """Whether this face has a way to say why something is denied."""

    def __init__(self, hub: HubProcess, agent: str, session: Session) -> None:
        self.hub = hub
        self.agent = agent
        self.session = session

    @property
    def folder(self) -> Path:
        """The session's folder."""
        return self.session.folder

    @abstractmethod
    def play(self, prompt: str, decide: Decide = allow, watch: Watch = nothing) -> Outcome:
        """Send a prompt and play its turn to the end."""

    @abstractmethod
    def cancel(self) -> None:
        """End the running turn."""

    @abstractmethod
    def answer(self, ask: Ask, answer: Answer) -> None:
        """Answer what was left open."""

    @abstractmethod
    def close(self) -> None:
        """Leave; the session goes on."""

    @abstractmethod
    def rejoin(self) -> None:
        """The hub was restarted: be where we were."""

    @abstractmethod
    def come_again(self) -> tuple[Face, str]:
        """Somebody else comes to the session later: their face, and what they are told that the agent said before."""

    def set_mode(self, mode: str) -> None:
        """Switch the agent's mode; only the Agent Client Protocol has a word of its own for it."""
        self.session.post("mode", {"modeId": mode})

    def stop_agent(self) -> None:
        """End the agent's process; the session stays."""
        self.session.post("commands", {"command": {"command": "terminate"}})

    def fork(self) -> Face:
        """A branch of the session; only the Agent Client Protocol has a word of its own for it."""
        view = self.session.post("fork", {}, 201)
        return self._of(Session(self.hub, view["id"], self.session.folder))

    def _of(self, session: Session) -> Face:
        return type(self)(self.hub, self.agent, session)

    def _asked(self, ask: Ask, outcome: Outcome, decide: Decide) -> None:
        outcome.asks.append(ask)
        answer = decide(ask)
        if answer is not None:
            self.answer(ask, answer)


class PacketsFace(Face):
    """Packets over HTTP."""

    name = "packets"

    def play(self, prompt: str, decide: Decide = allow, watch: Watch = nothing) -> Outcome:
        """Send a prompt and play its turn to the end."""
        outcome = Outcome()
        with self.session.send(prompt, wait_s=TURN_S) as stream:
            for packet in stream:
                validate_packet(packet.value)
                self._take(packet.value, outcome, decide)
                watch(outcome)
        return outcome

    def cancel(self) -> None:
        """End the running turn."""
        self.session.post("cancel")

    def answer(self, ask: Ask, answer: Answer) -> None:
        """Answer what was left open."""
        if ask.is_question:
            told: Json = {"action": "accept", "content": answer.content} if answer.allow else {"action": "decline"}
            self.session.post(f"questions/{ask.id}", told)
            return
        chosen: Json = {"optionId": answer.option} if answer.option else {"decision": "allow" if answer.allow else "deny"}
        extra = {"reason": answer.reason, "updatedInput": answer.edited}
        self.session.post(f"permissions/{ask.id}", {**chosen, **{name: value for name, value in extra.items() if value}})

    def close(self) -> None:
        """Nothing is open between turns."""

    def rejoin(self) -> None:
        """Nothing was open."""

    def come_again(self) -> tuple[Face, str]:
        """Somebody reads the packets from the beginning."""
        packets = [json.loads(data) for _, data in self.session.history()]
        return self._of(self.session), "".join(
            each["content"]["text"] for each in packets if each["type"] == "agent_message_chunk")

    def _take(self, packet: Json, outcome: Outcome, decide: Decide) -> None:
        match packet["type"]:
            case "agent_message_chunk" if packet["content"]["type"] == "text":
                outcome.text += packet["content"]["text"]
            case "agent_thought_chunk":
                outcome.thoughts += packet["content"]["text"]
            case "tool_call_start":
                outcome.calls.setdefault(packet["toolCallId"], "pending")
            case "tool_call_progress":
                outcome.calls[packet["toolCallId"]] = packet.get("status") or outcome.calls.get(packet["toolCallId"], "")
                outcome.results[packet["toolCallId"]] = json.dumps(packet)
            case "approval_requested":
                self._asked(Ask(packet["requestId"], packet["toolCallId"], packet["title"], packet["options"],
                                json.dumps(packet)), outcome, decide)
            case "question_requested":
                self._asked(Ask(packet["questionId"], packet.get("toolCallId") or "", packet["question"], [],
                                json.dumps(packet), True), outcome, decide)
            case "prompt_response":
                outcome.stop = packet["stopReason"]
            case "error":
                outcome.error = packet["message"]


class ContextFace(Face):
    """The Agent Context Protocol over the WebSocket."""

    name = "context"

    def __init__(self, hub: HubProcess, agent: str, session: Session) -> None:
        super().__init__(hub, agent, session)
        self._numbers = 0
        self._lock = threading.Lock()
        self._link = self._subscribed(session.view()["lastSeq"])

    def _subscribed(self, after: int) -> WebSocket:
        link = WebSocket(self.hub.wire.host, self.hub.wire.port, wait_s=TURN_S)
        assert link.hello(self.hub.token)["type"] == "welcome"
        link.say("subscribe", id=self.session.id, sessions=[self.session.id], after=after)
        assert link.until("ack", id=self.session.id)["ok"]
        return link

    def close(self) -> None:
        """Leave; the session goes on."""
        self._link.cut()

    def rejoin(self) -> None:
        """A WebSocket ends with its hub."""
        self._link.cut()
        self._link = self._subscribed(self.session.view()["lastSeq"])

    def come_again(self) -> tuple[Face, str]:
        """Somebody subscribes from the beginning."""
        newest = self.session.view()["lastSeq"]
        link, said, seq = self._subscribed(0), "", 0
        while seq < newest:
            frame = link.hear()
            if frame["type"] == "event":
                seq, event = frame["event"]["seq"], frame["event"]
                said += event["delta"] if event["type"] == "message:delta" and event["role"] == "assistant" else ""
        link.cut()
        return self._of(self.session), said

    def play(self, prompt: str, decide: Decide = allow, watch: Watch = nothing) -> Outcome:
        """Send a prompt and play its turn to the end."""
        self._link.allow(TURN_S)
        outcome = Outcome()
        self._order("send_message", message=prompt)
        begun = False
        while outcome.stop is None and outcome.error is None:
            frame = self._link.hear()
            if frame["type"] == "ack":
                assert frame["ok"], frame
            if frame["type"] != "event":
                continue
            event = frame["event"]
            begun = begun or event.get("eventName") == "turn_started"
            if begun:
                self._take(event, outcome, decide)
                watch(outcome)
        return outcome

    def cancel(self) -> None:
        """End the running turn."""
        self._order("cancel")

    def answer(self, ask: Ask, answer: Answer) -> None:
        """Answer what was left open."""
        if ask.is_question:
            declined: Json = {} if answer.allow else {"_meta": {"action": "decline"}}
            self._order("answer_question", questionId=ask.id, answer=json.dumps(answer.content), **declined)
            return
        extra: Json = {name: value for name, value in (("optionId", answer.option), ("updatedInput", answer.edited)) if value}
        told: Json = {"reason": answer.reason} if answer.reason is not None and not answer.allow else {}
        self._order("approve_tool_call" if answer.allow else "deny_tool_call", requestId=ask.id, toolCallId=ask.call, **told,
                    **({"_meta": extra} if extra else {}))

    def _order(self, command: str, **fields: Any) -> None:
        with self._lock:
            self._numbers += 1
            self._link.say("command", id=f"c{self._numbers}-{id(self)}", sessionId=self.session.id,
                           command={"command": command, **fields})

    def _take(self, event: Json, outcome: Outcome, decide: Decide) -> None:
        match event["type"]:
            case "message:delta" if event["role"] == "assistant":
                outcome.text += event["delta"]
            case "thinking:delta":
                outcome.thoughts += event["delta"]
            case "tool:start":
                outcome.calls[event["toolCallId"]] = "pending"
            case "tool:executing":
                outcome.calls[event["toolCallId"]] = "pending" if event["requiresApproval"] else "in_progress"
            case "tool:result" | "tool:error":
                outcome.calls[event["toolCallId"]] = "completed" if event["type"] == "tool:result" else "failed"
                outcome.results[event["toolCallId"]] = json.dumps(event)
            case "approval:requested":
                options = (event.get("_meta") or {}).get("options") or []
                title = event.get("title") or event["toolName"]
                self._asked(Ask(event["requestId"], event["toolCallId"], title, options, json.dumps(event)), outcome, decide)
            case "interaction:question":
                self._asked(Ask(event["questionId"], "", event["question"], [], json.dumps(event), True), outcome, decide)
            case "session:error":
                outcome.error = event["error"]["message"]
            case "session:status_changed" if "stopReason" in (event.get("_meta") or {}):
                outcome.stop = event["_meta"]["stopReason"]


class AcpFace(Face):
    """The Agent Client Protocol over the stdio of ``trunkline acp``, as an editor speaks it."""

    name = "acp"
    tells_reasons = False

    def __init__(self, hub: HubProcess, agent: str, session: Session | None = None, *, load: bool = False) -> None:
        # Named by its address, a hub that goes away is waited for; else ``trunkline acp`` would start one before the test does.
        command = [*TRUNKLINE, "acp", "--agent", agent, "--hub", hub.url]
        with hub.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, cwd=hub.root,
                env={**hub.environment(), "TRUNKLINE_TOKEN": hub.token})
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._owns = True
        """Whether the process is this face's to end."""
        self._ids: dict[str, Any] = {}
        """The ids of what we are asked, as they came."""
        self.told = Outcome()
        """What was told while nothing was prompted: a history that was loaded."""
        self._heard: queue.Queue[Json | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self._ask("initialize", protocolVersion=1, clientCapabilities={"elicitation": {"form": {}}})
        if session is None:
            folder = hub.new_folder()
            session_id = self._ask("session/new", cwd=str(folder), mcpServers=[])["sessionId"]
            session = Session(hub, session_id, folder)
        else:
            how = "session/load" if load else "session/resume"
            self._ask(how, sessionId=session.id, cwd=str(session.folder), mcpServers=[])
        super().__init__(hub, agent, session)

    def close(self) -> None:
        """Leave; the session goes on."""
        if not self._owns:
            return
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def play(self, prompt: str, decide: Decide = allow, watch: Watch = nothing) -> Outcome:
        """Send a prompt and play its turn to the end."""
        return self.follow(self.begin(prompt), decide, watch)

    def begin(self, prompt: str) -> int:
        """Send a prompt; its number, to be followed."""
        return self._send("session/prompt", sessionId=self.session.id, prompt=[{"type": "text", "text": prompt}])

    def follow(self, number: int, decide: Decide = allow, watch: Watch = nothing) -> Outcome:
        """Play the turn of a prompt that was sent to the end."""
        outcome = Outcome()
        while True:
            message = self._next()
            if message.get("id") == number and "method" not in message:
                break
            self._take(message, outcome, decide)
            watch(outcome)
        if "error" in message:
            outcome.error = message["error"]["message"]
        else:
            outcome.stop = message["result"]["stopReason"]
        return outcome

    def cancel(self) -> None:
        """End the running turn."""
        self._write({"method": "session/cancel", "params": {"sessionId": self.session.id}})

    def rejoin(self) -> None:
        """``trunkline acp`` sees to it: the editor does nothing, and knows nothing."""

    def come_again(self) -> tuple[Face, str]:
        """Another editor loads the session."""
        other = AcpFace(self.hub, self.agent, self.session, load=True)
        return other, other.told.text

    def set_mode(self, mode: str) -> None:
        """Switch the agent's mode."""
        self._ask("session/set_mode", sessionId=self.session.id, modeId=mode)

    def stop_agent(self) -> None:
        """Close the session: its agent ends, its history stays."""
        self._ask("session/close", sessionId=self.session.id)

    def fork(self) -> Face:
        """A branch, in the same editor."""
        made = self._ask("session/fork", sessionId=self.session.id, cwd=str(self.folder), mcpServers=[])
        branch = copy.copy(self)
        branch.session, branch._owns = Session(self.hub, made["sessionId"], self.folder), False
        return branch

    def answer(self, ask: Ask, answer: Answer) -> None:
        """Answer what was left open."""
        if answer.edited is not None:
            # The protocol has no word for another input: it is given elsewhere, and the editor's request is taken back.
            there = json.loads(ask.shown)["_meta"]["trunkline"]["requestId"]
            self.session.post(f"permissions/{there}", {"decision": "allow", "updatedInput": answer.edited})
            return
        if ask.is_question:
            told: Json = {"action": "accept", "content": answer.content} if answer.allow else {"action": "decline"}
        else:
            wanted = "allow_once" if answer.allow else "reject_once"
            option = answer.option or next(each["optionId"] for each in ask.options if each["kind"] == wanted)
            told = {"outcome": {"outcome": "selected", "optionId": option}}
        self._write({"id": self._ids[ask.id], "result": told})

    def _take(self, message: Json, outcome: Outcome, decide: Decide) -> None:
        params = message.get("params") or {}
        if "id" in message:
            self._ids[str(message["id"])] = message["id"]
        match message.get("method"):
            case "$/cancel_request":
                outcome.taken_back.append(str(params["requestId"]))
            case "session/update":
                _take_update(params["update"], outcome)
            case "session/request_permission":
                call = params["toolCall"]
                self._asked(Ask(str(message["id"]), call["toolCallId"], call.get("title") or "", params["options"],
                                json.dumps(params)), outcome, decide)
            case "elicitation/create":
                self._asked(Ask(str(message["id"]), params.get("toolCallId") or "", params["message"], [], json.dumps(params),
                                True), outcome, decide)

    def _ask(self, method: str, **params: Any) -> Any:
        number = self._send(method, **params)
        while True:
            message = self._next()
            if message.get("id") == number and "method" not in message:
                assert "result" in message, message
                return message["result"]
            self._take(message, self.told, lambda ask: None)

    def _send(self, method: str, **params: Any) -> int:
        number = next(self._numbers)
        self._write({"id": number, "method": method, "params": params})
        return number

    def _write(self, message: Json) -> None:
        assert self._process.stdin is not None
        with self._lock:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._process.stdin.flush()

    def _next(self) -> Json:
        message = self._heard.get(timeout=TURN_S)
        assert message is not None, "trunkline acp ended"
        return message

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._heard.put(json.loads(line))
        self._heard.put(None)


def _take_update(update: Json, outcome: Outcome) -> None:
    match update["sessionUpdate"]:
        case "agent_message_chunk" if update["content"]["type"] == "text":
            outcome.text += update["content"]["text"]
        case "agent_thought_chunk":
            outcome.thoughts += update["content"]["text"]
        case "tool_call" | "tool_call_update":
            call = update["toolCallId"]
            outcome.calls[call] = update.get("status") or outcome.calls.get(call, "pending")
            if update.get("status") in ("completed", "failed"):
                outcome.results[call] = json.dumps(update)


FACES: tuple[type[PacketsFace | ContextFace], ...] = (PacketsFace, ContextFace)
