"""An agent that does exactly what each prompt tells it: the prompt is a JSON list of steps. Stdlib only; runs on its own.

    ["say", TEXT]                one message chunk
    ["recite", FILE, SIZE]       the text of a file as message chunks of SIZE characters
    ["update", OBJECT]           one session/update
    ["line", TEXT]               TEXT as a line of stdout
    ["bytes", HEX]               bytes as they are, no line end added
    ["ask", METHOD, PARAMS]      a request to the client (sessionId is added); its answer is said as JSON
    ["request", METHOD, PARAMS]  the same without waiting for the answer
    ["answer"]                   waits for the answer to the last request and says it
    ["environ"]                  says its environment as JSON
    ["opened"]                   says the parameters of session/new as JSON
    ["child"]                    starts ``sleep 180`` that keeps stdout and stderr open; says its pid
    ["run", WORDS]               runs a program of its own and says what it printed
    ["stderr", TEXT]             a line on stderr
    ["wait"]                     until the turn is cancelled
    ["await", FILE]              until the file exists
    ["pause", SECONDS]           does nothing for so long
    ["note", FILE, TEXT]         adds TEXT as a line to the file, in one write
    ["end", RESULT]              answers the prompt; steps after it come late (without it, the last step is followed by end_turn)
    ["die", CODE, FILE]          writes the monotonic clock (ns) to FILE and exits; a negative CODE is a signal to itself

Options: ``--session ID`` (the id it gives every session), ``--new ERROR_CODE MESSAGE`` (how it refuses session/new),
``--store FILE`` (sessions of its own: ``{"offers": ["list", "load", "resume", "fork"], "sessions": [SessionInfo], "pageSize": N,
"history": {ID: [UPDATE]}, "scoped": BOOL}``; a load tells the updates again, a session without history is refused, and a scoped
store lists only the sessions of the folder that is named), ``--plays FILE`` (``{PROMPT: STEPS}``: prompts in plain words that
stand for steps).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

Json = dict[str, Any]


class Puppet:
    """Serves one client."""

    def __init__(self, options: dict[str, list[str]]) -> None:
        self._options = options
        self._lock = threading.Lock()
        self._answers: dict[str, Json] = {}
        self._answered = threading.Condition()
        self._cancelled = threading.Event()
        self._asked = 0
        self._opened: Json = {}
        self.session_id = options.get("--session", ["puppet-session"])[0]
        self._store: Json = {"offers": [], "sessions": [], "history": {}}
        if "--store" in options:
            with open(options["--store"][0], encoding="utf-8") as file:
                self._store |= json.load(file)
        self._plays: Json = {}
        if "--plays" in options:
            with open(options["--plays"][0], encoding="utf-8") as file:
                self._plays = json.load(file)

    def serve(self) -> None:
        """Take messages until stdin ends."""
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if "method" not in message:
                self._settle(message)
            elif message["method"] == "session/prompt":
                self._cancelled.clear()
                threading.Thread(target=self._play, args=(message,), daemon=True).start()
            elif message["method"] == "session/cancel":
                self._cancelled.set()
            elif "id" in message:
                self._serve(message)

    def _serve(self, message: Json) -> None:
        method = message["method"]
        if method == "initialize":
            offers = self._store["offers"]
            can = {"loadSession": "load" in offers, "sessionCapabilities": {name: {} for name in offers if name != "load"}}
            self._send({"id": message["id"], "result": {
                "protocolVersion": 1, "agentCapabilities": can if offers else {}, "authMethods": []}})
        elif method.removeprefix("session/") in self._store["offers"]:
            self._serve_store(method, message)
        elif method == "session/new" and "--new" in self._options:
            code, text = self._options["--new"]
            self._send({"id": message["id"], "error": {"code": int(code), "message": text}})
        elif method == "session/new":
            self._opened = message["params"]
            self._send({"id": message["id"], "result": {"sessionId": self.session_id}})
        else:
            self._send({"id": message["id"], "error": {"code": -32601, "message": f"no {method}"}})

    def _serve_store(self, method: str, message: Json) -> None:
        params = message["params"]
        if method == "session/list":
            self._send({"id": message["id"], "result": self._page(params)})
            return
        if params["sessionId"] not in self._store["history"]:
            self._send({"id": message["id"], "error": {"code": -32002, "message": "no such session"}})
            return
        self._opened = params
        if method == "session/fork":
            self.session_id = f"{params['sessionId']}-fork"
            self._store["history"][self.session_id] = self._store["history"][params["sessionId"]]
            self._send({"id": message["id"], "result": {"sessionId": self.session_id}})
            return
        self.session_id = params["sessionId"]
        for update in self._store["history"][self.session_id] if method == "session/load" else []:
            self._step_update(update)
        self._send({"id": message["id"], "result": {}})

    def _page(self, params: Json) -> Json:
        """A page of the store's sessions; the cursor is where it begins."""
        everywhere = [] if self._store.get("scoped") else [None]
        fitting = [info for info in self._store["sessions"] if params.get("cwd") in (*everywhere, info["cwd"])]
        start = int(params.get("cursor", 0))
        end = start + self._store.get("pageSize", len(fitting) or 1)
        page: Json = {"sessions": fitting[start:end]}
        return page if end >= len(fitting) else {**page, "nextCursor": str(end)}

    def _play(self, prompt: Json) -> None:
        text = prompt["params"]["prompt"][0]["text"]
        steps = self._plays[text] if text in self._plays else json.loads(text)
        for name, *rest in steps:
            if name == "end":
                self._send({"id": prompt["id"], "result": rest[0]})
            else:
                getattr(self, f"_step_{name}")(*rest)
        if not any(name == "end" for name, *_ in steps):
            stop = "cancelled" if self._cancelled.is_set() else "end_turn"
            self._send({"id": prompt["id"], "result": {"stopReason": stop}})

    def _step_recite(self, file: str, size: int) -> None:
        with open(file, encoding="utf-8") as source:
            while text := source.read(size):
                self._step_say(text)

    def _step_say(self, text: str) -> None:
        self._step_update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})

    def _step_update(self, update: Json) -> None:
        self._send({"method": "session/update", "params": {"sessionId": self.session_id, "update": update}})

    def _step_line(self, text: str) -> None:
        self._write(text.encode() + b"\n")

    def _step_bytes(self, digits: str) -> None:
        self._write(bytes.fromhex(digits))

    def _step_request(self, method: str, params: Json) -> None:
        self._asked += 1
        params = {"sessionId": self.session_id, **params}
        self._send({"id": f"puppet-{self._asked}", "method": method, "params": params})

    def _step_ask(self, method: str, params: Json) -> None:
        self._step_request(method, params)
        self._step_answer()

    def _step_answer(self) -> None:
        request_id = f"puppet-{self._asked}"
        with self._answered:
            self._answered.wait_for(lambda: request_id in self._answers)
        answer = self._answers.pop(request_id)
        self._step_say(json.dumps({key: answer[key] for key in ("result", "error") if key in answer}) + "\n")

    def _step_environ(self) -> None:
        self._step_say(json.dumps(dict(os.environ)))

    def _step_opened(self) -> None:
        self._step_say(json.dumps(self._opened))

    def _step_child(self) -> None:
        child = subprocess.Popen(["sleep", "180"], stdin=subprocess.DEVNULL)
        self._step_say(str(child.pid))

    def _step_run(self, words: list[str]) -> None:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self._step_say(done.stdout.decode(errors="replace"))

    def _step_stderr(self, text: str) -> None:
        os.write(2, text.encode() + b"\n")

    def _step_wait(self) -> None:
        self._cancelled.wait()

    def _step_await(self, path: str) -> None:
        while not os.path.exists(path):
            time.sleep(0.005)

    def _step_pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def _step_note(self, path: str, text: str) -> None:
        notes = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(notes, text.encode() + b"\n")
        os.close(notes)

    def _step_die(self, code: int, path: str) -> None:
        clock = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(clock, str(time.monotonic_ns()).encode())
        if code < 0:
            os.kill(os.getpid(), signal.Signals(-code))
        os._exit(code)

    def _settle(self, message: Json) -> None:
        with self._answered:
            self._answers[str(message["id"])] = message
            self._answered.notify_all()

    def _send(self, message: Json) -> None:
        self._write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def _write(self, data: bytes) -> None:
        with self._lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()


def options_of(words: list[str]) -> dict[str, list[str]]:
    """The words behind each ``--option``."""
    options: dict[str, list[str]] = {}
    for word in words:
        if word.startswith("--"):
            options[word] = []
        else:
            list(options.values())[-1].append(word)
    return options


def main(words: list[str]) -> None:
    """Read the options and serve."""
    Puppet(options_of(words)).serve()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
