"""The hook program as others start it: whatever goes wrong, it has no opinion."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.tooling.processes import eventually
from tests.tooling.rows import every_row
from trunkline.agents.environment import MARKER
from trunkline.reach import trunkline_hook

ALLOW = b'{"behavior":"allow"}'


def hook(path: Path, kind: str = "ask", given: bytes = b"{}", **env: str) -> bytes:
    """Run it as a program in a terminal does; its stdout. It ends well, whatever happens."""
    done = subprocess.run([sys.executable, "-I", "-S", trunkline_hook.__file__, "claude-code", kind, str(path), "THEIR_PID"],
                          input=given, env={"PATH": os.defpath, **env}, capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tl-") as name:
        yield Path(name)


@contextmanager
def hub(path: Path, answer: bytes, heard: list[bytes] | None = None, *, answers: bool = True) -> Iterator[None]:
    """Something that listens, reads one call and answers with these bytes; or waits until whoever called hangs up."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen()

    def serve() -> None:
        try:
            link, _ = listener.accept()
        except OSError:
            return
        with link, suppress(BrokenPipeError):
            got = link.recv(1 << 16)
            if heard is not None:
                heard.append(got)
            if answers:
                link.sendall(answer)
            elif heard is not None:
                heard.append(link.recv(1))
            else:
                link.recv(1)

    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        serving.join(10)


def test_an_answer_that_came_whole_is_printed_and_the_hub_heard_the_call(folder: Path) -> None:
    heard: list[bytes] = []
    with hub(folder / "s", b"trunkline 1 %d\n" % len(ALLOW) + ALLOW, heard):
        assert hook(folder / "s", given=b'{"a":1}', THEIR_PID="77", SECRET="x") == ALLOW
    assert heard == [b'trunkline 1 claude-code ask 77 7\n{"a":1}']


@every_row("answer", [
    b"", b"trunkline 1 20\n" + ALLOW[:-1], b"trunkline 1 20\n" + ALLOW + b"x", b"trunkline 2 20\n" + ALLOW,
    b"trunkline 1 20" + ALLOW, ALLOW, b"HTTP/1.1 200 OK\r\n\r\n" + ALLOW, b"trunkline 1 020\n" + ALLOW, b"trunkline 1 -1\n",
    b"\n" * 100, b"trunkline 1  20\n" + ALLOW])
def test_what_is_no_whole_answer_of_this_version_is_no_opinion(answer: bytes) -> None:
    with tempfile.TemporaryDirectory(prefix="tl-") as name, hub(Path(name, "s"), answer):
        assert hook(Path(name, "s")) == b""


def test_a_hub_that_is_not_there_is_no_opinion(folder: Path) -> None:
    assert hook(folder / "absent") == b""
    (folder / "file").write_text("no socket")
    assert hook(folder / "file") == b""
    left = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    left.bind(str(folder / "left"))
    left.close()
    assert hook(folder / "left") == b"", "a socket that a killed hub left"


def test_a_hub_that_takes_no_call_is_no_opinion(folder: Path) -> None:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(folder / "full"))
    listener.listen(0)
    waiting: list[socket.socket] = []
    with suppress(BlockingIOError):
        while len(waiting) < 100:  # until the next one would wait
            link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            link.setblocking(False)
            waiting.append(link)
            link.connect(str(folder / "full"))
    assert hook(folder / "full") == b"", "it would wait for ever"
    for link in (listener, *waiting):
        link.close()


def test_a_check_that_is_not_answered_is_given_up(folder: Path) -> None:
    with hub(folder / "s", b"", answers=False):
        assert hook(folder / "s", "check") == b""


def test_an_ask_of_which_the_hub_says_nothing_is_given_up(folder: Path) -> None:
    with hub(folder / "s", b"", answers=False):
        assert hook(folder / "s") == b"", "a hub that is stuck keeps nobody from the program's own prompt"


def test_an_ask_that_a_person_is_to_answer_is_waited_for_without_end() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        ours.settimeout(30)
        with theirs:
            theirs.sendall(trunkline_hook.WAITS + b"trunkline 1 %d\n" % len(ALLOW) + ALLOW)
        assert trunkline_hook.answer_in(ours) == ALLOW and ours.gettimeout() is None


def test_an_answer_to_a_check_is_printed(folder: Path) -> None:
    with hub(folder / "s", b"trunkline 1 %d\n" % len(ALLOW) + ALLOW):
        assert hook(folder / "s", "check") == ALLOW


@every_row("pid", ["", "x", "-1", "7 7", "٣", "1\n2"])
def test_a_process_id_that_is_none_is_not_handed_over(pid: str) -> None:
    heard: list[bytes] = []
    with tempfile.TemporaryDirectory(prefix="tl-") as name, hub(Path(name, "s"), b"", heard):
        hook(Path(name, "s"), THEIR_PID=pid)
    assert heard == [b"trunkline 1 claude-code ask 0 2\n{}"]


def test_without_a_variable_it_is_the_program_that_started_it_and_no_shell(folder: Path) -> None:
    heard: list[bytes] = []
    words = [sys.executable, "-I", "-S", trunkline_hook.__file__, "gemini", "report", str(folder / "s")]
    for line in (words, ["sh", "-c", f"{shlex.join(words)}; exit 0"]):
        (folder / "s").unlink(missing_ok=True)
        with hub(folder / "s", b"", heard):
            subprocess.run(line, input=b"{}", timeout=30, check=True)
    assert heard == [f"trunkline 1 gemini report {os.getpid()} 2\n{{}}".encode()] * 2


def test_a_hook_that_is_ended_prints_nothing_and_hangs_up(folder: Path) -> None:
    heard: list[bytes] = []
    with hub(folder / "s", b"", heard, answers=False):
        words = [sys.executable, "-I", "-S", trunkline_hook.__file__, "claude-code", "ask", str(folder / "s")]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            assert running.stdin is not None
            running.stdin.write(b"{}")
            running.stdin.close()
            running.stdin = None
            eventually(lambda: heard, "the hub has the call")
            running.terminate()
            assert running.communicate(timeout=120) == (b"", b"")
        eventually(lambda: heard[1:] == [b""], "the hub sees that it hung up")


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files to others")
def test_a_socket_of_another_user_is_not_talked_to(folder: Path) -> None:
    heard: list[bytes] = []
    with hub(folder / "s", b"trunkline 1 %d\n" % len(ALLOW) + ALLOW, heard):
        os.chown(folder / "s", 65534, 65534)
        assert hook(folder / "s") == b"" and heard == []


def test_an_ask_longer_than_anybody_can_look_at_is_no_opinion(folder: Path) -> None:
    heard: list[bytes] = []
    with hub(folder / "s", b"trunkline 1 %d\n" % len(ALLOW) + ALLOW, heard):
        assert hook(folder / "s", given=b" " * (trunkline_hook.INPUT_MOST + 1)) == b"" and heard == []


def test_below_a_hub_it_does_nothing(folder: Path) -> None:
    heard: list[bytes] = []
    with hub(folder / "s", b"trunkline 1 %d\n" % len(ALLOW) + ALLOW, heard):
        assert hook(folder / "s", AGENT_LINE_MARKER="of a session of the hub's own") == b"" and heard == []
    assert MARKER == trunkline_hook.OURS == "AGENT_LINE_MARKER"


def test_a_report_waits_for_no_answer(folder: Path) -> None:
    heard: list[bytes] = []
    with hub(folder / "s", b"trunkline 1 %d\n" % len(ALLOW) + ALLOW, heard):
        assert hook(folder / "s", "report") == b""


def test_wrong_words_are_no_opinion() -> None:
    done = subprocess.run([sys.executable, "-I", "-S", trunkline_hook.__file__], input=b"", capture_output=True, timeout=30,
                          check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_socket_is_found_whatever_the_length_of_its_path(folder: Path) -> None:
    deep = folder / ("d" * 90) / ("e" * 90)
    deep.mkdir(parents=True)
    here = os.open(deep, os.O_RDONLY)
    try:
        with hub(Path(f"/proc/self/fd/{here}/s"), b"trunkline 1 %d\n" % len(ALLOW) + ALLOW):
            assert hook(deep / "s") == ALLOW
    finally:
        os.close(here)


def test_it_loads_nothing_that_is_slow() -> None:
    code = f"import sys\nsource = open({trunkline_hook.__file__!r}).read()\n" \
           "exec(compile(source, 'hook', 'exec'), {'__name__': 'hook'})\nprint(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=30, check=True)
    slow = {"asyncio", "enum", "json", "re", "selectors", "site", "socket", "trunkline", "typing"}
    assert slow.isdisjoint(done.stdout.split())
