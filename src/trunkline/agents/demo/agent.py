"""The demo as an agent: the methods a client may call, and the sessions they are about."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from importlib import import_module

from trunkline import __version__
from trunkline.agents.demo import DEMO_PROMPTS, DemoPrompt
from trunkline.agents.demo.turn import DemoTurn
from trunkline.agents.demo.wire import DemoWire, Json, Refused
from trunkline.dialects.error_codes import ErrorCode

PROTOCOL_VERSION = 1

MODES = (
    {"id": "ask", "name": "Ask", "description": "Asks before the tour writes or runs anything"},
    {"id": "auto", "name": "Auto", "description": "Plays the tour without asking"},
    {"id": "plan", "name": "Plan", "description": "Only reads; writes and runs nothing"},
)

MODELS = (
    {"value": "demo-1", "name": "Demo One", "description": "Every word is scripted"},
    {"value": "demo-2", "name": "Demo Two", "description": "The same words under another name"},
)

PACES = (
    {"value": "natural", "name": "Natural", "description": "As fast as a person likes to read"},
    {"value": "instant", "name": "Instant", "description": "No pauses"},
)

LOGIN = {"id": "demo-login", "name": "Log in to the demo", "description": "Always works; only there to be called"}


class DemoSession:
    """What the agent remembers of one conversation."""

    def __init__(self, session_id: str, cwd: str) -> None:
        self.id = session_id
        self.cwd = cwd
        self.mode = "ask"
        self.config = {"model": "demo-1", "pace": "natural"}
        self.turn: DemoTurn | None = None
        self.characters = 0
        self.reported_characters = 0
        """Those that were reported as tokens."""
        self.unread_characters = 0
        """Those of prompts that were not."""
        self.is_trusted = False

    def modes(self) -> Json:
        """The modes and which one is on."""
        return {"currentModeId": self.mode, "availableModes": list(MODES)}

    def config_options(self) -> list[Json]:
        """Every option with its value."""
        return [
            _select("model", "Model", "model", MODELS, self.config["model"]),
            _select("pace", "Pace of the tour", None, PACES, self.config["pace"]),
        ]


class Agent:
    """Serves one client on one wire."""

    def __init__(self, wire: DemoWire, *, speed: float = 1.0, fault: str = "") -> None:
        self.wire = wire
        self._speed = speed
        self._fault = fault
        self._is_logged_in = False
        self._sessions: dict[str, DemoSession] = {}
        self.client: Json = {}
        self.is_deaf = False

    def serve(self) -> None:
        """Take messages until stdin ends."""
        for message in self.wire.messages():
            if "method" in message:
                self._take(message)
            else:
                self._settle(message)

    def _take(self, message: Json) -> None:
        method, params = str(message["method"]), message.get("params")
        params = params if isinstance(params, dict) else {}
        if "id" not in message:
            self._notified(method, params)
            return
        try:
            self._requested(message["id"], method, params)
        except Refused as refused:
            self.wire.fail(message["id"], refused.code, refused.message, refused.data)

    def _requested(self, request_id: object, method: str, params: Json) -> None:
        if method == "session/prompt":
            self._prompt(request_id, params)
            return
        serve = self._methods().get(method)
        if serve is None:
            raise Refused(ErrorCode.METHOD_NOT_FOUND, f"the demo has no method {method!r}")
        result = serve(params)
        if result is None:
            return
        answer: Json = {"id": request_id, "result": result}
        if method in ("session/new", "session/load", "session/resume"):
            # In one write, so that the list never lands in the first turn.
            self.wire.send(answer, self._commands_of(result.get("sessionId") or params["sessionId"]))
        else:
            self.wire.send(answer)

    def _methods(self) -> dict[str, Callable[[Json], Json | None]]:
        return {
            "initialize": self._initialize,
            "authenticate": self._authenticate,
            "session/new": self._new,
            "session/load": self._reopen,
            "session/resume": self._reopen,
            "session/close": self._close,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_config_option,
        }

    def _notified(self, method: str, params: Json) -> None:
        for session in list(self._sessions.values()):
            turn = session.turn
            if turn is None:
                continue
            is_cancel = method == "session/cancel" and params.get("sessionId") == session.id
            if is_cancel or (method == "$/cancel_request" and params.get("requestId") == turn.request_id):
                turn.cancel()

    def _settle(self, message: Json) -> None:
        turns = [session.turn for session in self._sessions.values() if session.turn is not None]
        any(turn.settle(message) for turn in turns)

    def _initialize(self, params: Json) -> Json | None:
        if self._fault == "silent":
            return None
        self.client = params.get("clientCapabilities") or {}
        return {
            "protocolVersion": 99 if self._fault == "version" else PROTOCOL_VERSION,
            "agentInfo": {"name": "trunkline-demo", "title": "Trunkline demo agent", "version": __version__},
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
                "sessionCapabilities": {"resume": {}, "close": {}},
            },
            "authMethods": [LOGIN] if self._fault in ("auth", "locked") else [],
        }

    def _authenticate(self, params: Json) -> Json:
        if params.get("methodId") != LOGIN["id"] or self._fault == "locked":
            raise Refused(ErrorCode.INVALID_PARAMS, f"cannot log in by {params.get('methodId')!r}")
        self._is_logged_in = True
        return {}

    def _new(self, params: Json) -> Json:
        session = self._open(f"demo_{os.urandom(8).hex()}", params)
        return {"sessionId": session.id, "modes": session.modes(), "configOptions": session.config_options()}

    def _reopen(self, params: Json) -> Json:
        session = self._open(_text(params, "sessionId"), params)
        return {"modes": session.modes(), "configOptions": session.config_options()}

    def _open(self, session_id: str, params: Json) -> DemoSession:
        if self._fault in ("auth", "locked") and not self._is_logged_in:
            raise Refused(ErrorCode.AUTH_REQUIRED, "Authentication required: log in to the demo first", {"authMethods": [LOGIN]})
        cwd = _text(params, "cwd")
        if not os.path.isabs(cwd):
            raise Refused(ErrorCode.INVALID_PARAMS, f"cwd must be an absolute path, not {cwd!r}")
        session = self._sessions[session_id] = self._sessions.get(session_id) or DemoSession(session_id, cwd)
        session.cwd = cwd
        return session

    def _commands_of(self, session_id: str) -> Json:
        update = {
            "sessionUpdate": "available_commands_update",
            "availableCommands": [_command(prompt) for prompt in DEMO_PROMPTS],
        }
        return {"method": "session/update", "params": {"sessionId": session_id, "update": update}}

    def _close(self, params: Json) -> Json:
        session = self._session(params)
        if session.turn is not None:
            session.turn.cancel()
        del self._sessions[session.id]
        return {}

    def _set_mode(self, params: Json) -> Json:
        session, mode = self._session(params), params.get("modeId")
        if mode not in [known["id"] for known in MODES]:
            raise Refused(ErrorCode.INVALID_PARAMS, f"no mode {mode!r}")
        session.mode = str(mode)
        update = {"sessionUpdate": "current_mode_update", "currentModeId": session.mode}
        self.wire.notify("session/update", {"sessionId": session.id, "update": update})
        return {}

    def _set_config_option(self, params: Json) -> Json:
        session, option, value = self._session(params), str(params.get("configId")), params.get("value")
        values = {"model": MODELS, "pace": PACES}.get(option, ())
        if value not in [known["value"] for known in values]:
            raise Refused(ErrorCode.INVALID_PARAMS, f"config option {option!r} cannot be {value!r}")
        session.config[option] = str(value)
        return {"configOptions": session.config_options()}

    def _prompt(self, request_id: object, params: Json) -> None:
        session = self._session(params)
        if session.turn is not None:
            raise Refused(ErrorCode.INVALID_REQUEST, "another prompt is being answered already")
        blocks = [block for block in params.get("prompt") or [] if isinstance(block, dict)]
        text = "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
        attachments = sum(block.get("type") != "text" for block in blocks)
        session.characters += len(text)
        session.unread_characters += len(text)
        speed = float("inf") if session.config["pace"] == "instant" else self._speed
        turn = session.turn = DemoTurn(self, session, request_id, text, attachments, speed)
        threading.Thread(target=self._play, args=(turn,), daemon=True).start()

    def _play(self, turn: DemoTurn) -> None:
        """Play a prompt in its thread. Its code is imported only now (Rule 2 of the package)."""
        module = "scripts" if turn.text.lstrip().startswith("/") else "tour"
        turn.run(import_module(f"trunkline.agents.demo.{module}").play)

    def _session(self, params: Json) -> DemoSession:
        session = self._sessions.get(_text(params, "sessionId"))
        if session is None:
            raise Refused(ErrorCode.RESOURCE_NOT_FOUND, f"no session {params['sessionId']!r}", {"sessionId": params["sessionId"]})
        return session


def _text(params: Json, name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise Refused(ErrorCode.INVALID_PARAMS, f"{name} must be a string")
    return value


def _command(prompt: DemoPrompt) -> Json:
    hint = {"input": {"hint": prompt.arguments}} if prompt.arguments else {}
    return {"name": prompt.name, "description": prompt.does, **hint}


def _select(option: str, name: str, category: str | None, values: tuple[Json, ...], current: str) -> Json:
    mark = {} if category is None else {"category": category}
    return {"id": option, "name": name, **mark, "type": "select", "currentValue": current, "options": list(values)}
