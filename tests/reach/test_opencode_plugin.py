"""The plugin file itself, in a Node of its own: what it tells a socket, and what it does by the program's client."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Queue
from types import TracebackType
from typing import Any, Self

import pytest

from trunkline.reach.shapes import PLUGINS

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="no Node is on this machine")

HOST = Path(__file__).with_name("plugin_host.mjs")
SESSION = "ses_1"
ASKED = {"id": "per_1", "sessionID": SESSION, "permission": "bash", "metadata": {"command": "touch a1"}}
WAIT_S = 30.0


class Listener:
    """The hub's end: the first line of a call, then lines both ways."""

    def __init__(self, path: Path) -> None:
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen()
        self._server.settimeout(WAIT_S)
        self._path = path
        self._link: socket.socket | None = None

    def accept(self) -> str:
        """Wait for a plugin; what it says first."""
        self._link, _ = self._server.accept()
        self._link.settimeout(WAIT_S)
        self._lines = self._link.makefile("rb")
        return self._lines.readline().decode()

    def hears(self, *kinds: str) -> Any:
        """The next line of one of these kinds."""
        while line := self._lines.readline():
            told = json.loads(line)
            if told["type"] in kinds:
                return told["properties"]
        raise AssertionError(f"the plugin has hung up, and never said {kinds}")

    def says(self, line: bytes) -> None:
        assert self._link is not None
        self._link.sendall(line)

    def order(self, **order: Any) -> None:
        self.says(json.dumps(order).encode() + b"\n")

    def hangs_up(self) -> None:
        if self._link is not None:
            self._lines.close()
            self._link.close()
        self._link = None

    def close(self) -> None:
        self.hangs_up()
        self._server.close()
        self._path.unlink(missing_ok=True)


class Host:
    """A program with the plugin in it."""

    def __init__(self, path: Path, **env: str) -> None:
        options = json.dumps({"agent": "opencode", "socket": str(path)})
        self._process = subprocess.Popen(
            ["node", str(HOST), str(PLUGINS / "opencode.js"), options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], **env}, cwd=path.parent)
        self.pid = self._process.pid
        self._said: Queue[Any] = Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.put(json.loads(line))

    def tell(self, **told: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(told).encode() + b"\n")
        self._process.stdin.flush()

    def set(self, **told: Any) -> None:
        """Change what it is told, and wait until that is so."""
        self.tell(**told)
        self.printed("is_set")

    def event(self, kind: str, **properties: Any) -> None:
        self.tell(event=kind, properties=properties)

    def printed(self, key: str) -> Any:
        """The next that it prints with this member."""
        while True:
            said = self._said.get(timeout=WAIT_S)
            if key in said:
                return said

    def ends(self) -> int:
        return self._process.wait(WAIT_S)


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tl-") as name:
        yield Path(name)


@contextmanager
def plugged() -> Iterator[tuple[Listener, Host]]:
    with folder() as place:
        listener = Listener(place / "hooks.sock")
        try:
            with Host(place / "hooks.sock") as host:
                assert listener.accept() == f"trunkline 1 opencode line {host.pid} 0\n"
                yield listener, host
        finally:
            listener.close()


def test_what_is_asked_and_answered_is_told_and_orders_are_done() -> None:
    with plugged() as (hub, host):
        host.event("permission.asked", **ASKED)
        assert hub.hears("permission.asked") == {**ASKED, "alone": True}
        hub.order(do="reply", requestID="per_1", reply="once")
        assert host.printed("does") == {"does": "permission.reply", "requestID": "per_1", "reply": "once"}
        host.event("permission.replied", sessionID=SESSION, requestID="per_1", reply="once")
        assert hub.hears("permission.replied")["reply"] == "once"
        hub.order(do="reply", requestID="per_2", reply="reject", message="use a2")
        assert host.printed("does")["message"] == "use a2"
        hub.order(do="answer", requestID="que_1", answers=[["Blue"]])
        assert host.printed("does") == {"does": "question.reply", "requestID": "que_1", "answers": [["Blue"]]}
        hub.order(do="decline", requestID="que_1")
        assert host.printed("does") == {"does": "question.reject", "requestID": "que_1"}
        hub.order(do="abort", sessionID=SESSION)
        assert host.printed("does") == {"does": "session.abort", "sessionID": SESSION}


def test_a_prompt_goes_to_the_agent_and_model_of_the_last_one() -> None:
    with plugged() as (hub, host):
        model = {"providerID": "fake", "modelID": "m"}
        host.set(set={"said": [{"role": "user", "agent": "plan", "model": model}, {"role": "assistant"}]})
        hub.order(do="prompt", id="turn_1", sessionID=SESSION, parts=[{"type": "text", "text": "hello"}])
        sent = host.printed("does")
        assert (sent["sessionID"], sent["agent"], sent["model"]) == (SESSION, "plan", model)
        assert hub.hears("trunkline.done") == {"id": "turn_1", "ok": True}
        host.set(set={"said": []}, answers={"error": {"name": "NotFound"}})
        hub.order(do="prompt", id="turn_2", sessionID=SESSION, parts=[])
        assert host.printed("does")["agent"] == "build"
        assert hub.hears("trunkline.done") == {"id": "turn_2", "ok": False, "why": '{"name":"NotFound"}'}
        host.set(answers={"throws": True})
        hub.order(do="prompt", id="turn_3", sessionID=SESSION, parts=[])
        assert hub.hears("trunkline.done")["ok"] is False


def test_an_order_that_is_none_does_nothing_and_always_is_never_told() -> None:
    with plugged() as (hub, host):
        for line in (b"junk\n", b"\xff\xfe\n", b"null\n", b"[]\n", b'{"do": "constructor"}\n', b'{"do": "__proto__"}\n'):
            hub.says(line)
        hub.order(do="reply", requestID="per_1", reply="always")
        hub.order(do="reply", requestID="per_1", reply="yes")
        hub.says(b'{"do": "abort", ')
        hub.says(b'"sessionID": "ses_9"}\n')
        assert host.printed("does") == {"does": "session.abort", "sessionID": "ses_9"}, "a line may come in pieces"


def test_a_text_is_told_from_its_beginning_and_never_by_half_a_character() -> None:
    with plugged() as (hub, host):
        part = {"id": "prt_1", "type": "text", "sessionID": SESSION, "messageID": "msg_1", "text": "", "time": {"start": 1}}
        delta = {"sessionID": SESSION, "partID": "prt_1", "field": "text"}
        host.event("message.part.delta", **{**delta, "partID": "prt_0"}, delta="from the middle")
        host.event("message.part.updated", part={**part, "id": "prt_u", "text": "a prompt"})
        host.event("message.part.updated", part=part)
        for words in ("Hello ", " ", "you", " there. "):
            host.event("message.part.delta", **delta, delta=words)
        host.event("message.part.updated", part={**part, "text": "Hello  you there.", "time": {"start": 1, "end": 2}})
        heard = [hub.hears("trunkline.words", "trunkline.whole") for _ in range(5)]
        assert [each["text"] for each in heard] == ["Hello ", " ", "you", " there. ", "Hello  you there."]
        assert heard[0] == {"sessionID": SESSION, "partID": "prt_1", "text": "Hello ", "thinking": False}
        host.event("message.part.updated", part={**part, "id": "prt_2", "type": "reasoning"})
        host.event("message.part.delta", **{**delta, "partID": "prt_2"}, delta="hm \ud83d")
        host.event("message.part.delta", **{**delta, "partID": "prt_2"}, delta="\ude00 so")
        assert [hub.hears("trunkline.words")["text"] for _ in range(2)] == ["hm ", "\U0001f600 so"]


def test_a_hub_that_comes_back_is_told_what_waits_and_what_is_shown() -> None:
    with plugged() as (hub, host):
        host.tell(shows=SESSION)
        assert hub.hears("trunkline.shows") == {"sessionID": SESSION}
        host.event("permission.asked", **ASKED)
        host.event("permission.asked", **{**ASKED, "id": "per_2"})
        host.event("permission.replied", sessionID=SESSION, requestID="per_1", reply="once")
        hub.hears("permission.replied")
        hub.hangs_up()
        hub.accept()
        assert hub.hears("trunkline.shows") == {"sessionID": SESSION}
        assert hub.hears("permission.asked")["id"] == "per_2"


def test_others_who_may_answer_are_told() -> None:
    with plugged() as (hub, host):
        host.set(set={"others": [{"id": "another", "source": "npm"}]})
        host.event("permission.asked", **ASKED)
        assert hub.hears("permission.asked")["alone"] is False


def test_without_a_hub_the_program_notices_nothing() -> None:
    with folder() as place, Host(place / "hooks.sock") as host:
        assert host.printed("began")["handlers"] > 5
        host.tell(event="permission.asked", properties=ASKED, times=1000)
        host.tell(event="message.part.delta", properties={"sessionID": SESSION, "partID": "p", "field": "text", "delta": "x"},
                  times=10_000)
        host.printed("handled")
        host.printed("handled")
        host.tell(ends=True)
        assert host.ends() == 0


def test_a_hub_that_reads_nothing_is_hung_up_on_and_holds_nobody() -> None:
    with plugged() as (hub, host):
        replied = {"sessionID": SESSION, "requestID": "x" * 10_000, "reply": "once"}
        host.tell(event="permission.replied", properties=replied, times=2000)
        host.printed("handled")
        with pytest.raises((AssertionError, ValueError, OSError)):
            while True:
                hub.hears("never")


def test_a_socket_of_others_and_a_program_below_a_hub_are_left_alone() -> None:
    with folder() as place:
        listener = Listener(place / "hooks.sock")
        try:
            place.chmod(0o777)
            with Host(place / "hooks.sock") as host:
                host.printed("began")
                host.event("permission.asked", **ASKED)
                host.printed("handled")
            place.chmod(0o700)
            with Host(place / "hooks.sock", AGENT_LINE_MARKER="x") as host:
                assert host.printed("began")["handlers"] == 0
            listener._server.settimeout(0.0)
            with pytest.raises(BlockingIOError):
                listener.accept()
        finally:
            listener.close()


def test_a_path_that_is_too_long_for_an_address_is_reached() -> None:
    with folder() as place:
        deep = place / ("d" * 100) / ("e" * 40)
        deep.mkdir(parents=True, mode=0o700)
        listener = Listener(place / "s")
        (place / "s").rename(deep / "hooks.sock")
        try:
            with Host(deep / "hooks.sock") as host:
                assert listener.accept() == f"trunkline 1 opencode line {host.pid} 0\n"
        finally:
            listener.close()


def test_a_program_ends_though_its_line_is_open() -> None:
    with plugged() as (hub, host):
        host.tell(dispose=True)
        with pytest.raises(AssertionError, match="hung up"):
            hub.hears("never")
