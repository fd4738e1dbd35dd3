"""The functions for shells, in the shells themselves: a program is started as ever, or with its pair of files."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.tooling.processes import eventually
from trunkline.discovery.processes import is_running
from trunkline.errors import Invalid
from trunkline.reach.shell_functions import Chatted, Paired, Shell, function_of

FAKE = """\
import json, os, signal, sys
given = sys.argv[1:]
told = {"pid": os.getpid(), "words": given,
        "modes": [oct(os.stat(word).st_mode & 0o777) for word in given if word.endswith(".jsonl")],
        "folder": [oct(os.stat(os.path.dirname(word)).st_mode & 0o777) for word in given if word.endswith("events.jsonl")]}
open(os.environ["TOLD"], "w").write(json.dumps(told))
if "--wait" in given:
    signal.pause()
sys.exit(7)
"""
ODD = ["--model", "a b", "", "$HOME", "it's", '"', "*", "\\\\", "ä\n", "--", "-x"]
PLAIN_NAMES = ("bash", "zsh", "fish")
RC = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}


class There:
    """A shell, a program on its PATH, and what the function looks at."""

    def __init__(self, shell: str, root: Path) -> None:
        found = shutil.which(shell)
        if found is None:
            pytest.skip(f"no {shell} is on this machine")
        self.shell = cast(Shell, shell)
        self._path = found
        self._root = root
        self.data = root / "a data'folder $HOME"
        self.folder = self.data / "terminals" / "qwen"
        self.folder.mkdir(parents=True)
        self.paired = Paired("qwen", ("--json-file", "--input-file"), ("-p", "--prompt"), self.folder,
                             self.data / "hooks" / "qwen.line.json", self.data / "hooks.sock")
        self.paired.consent.parent.mkdir()
        self.paired.consent.touch()
        self.listener = socket.socket(socket.AF_UNIX)
        os.chdir(self.data)  # the path may be longer than an address can be
        self.listener.bind("hooks.sock")
        (root / "bin").mkdir()
        for name in ("qwen", "trunkline"):
            program = root / "bin" / name
            program.write_text(f"#!{sys.executable} -IS\n{FAKE}")
            program.chmod(0o755)
        self.env = {"PATH": f"{root / 'bin'}:/usr/bin:/bin", "HOME": str(root), "TOLD": str(root / "told.json"), "TERM": "dumb",
                    "LANG": "C.UTF-8"}

    def close(self) -> None:
        self.listener.close()
        os.chdir("/")

    def file(self, *more: Paired | Chatted) -> Path:
        """What ``shell-init`` prints."""
        path = self._root / "init"
        path.write_text("".join(function_of(self.shell, each) for each in (self.paired, *more)))
        return path

    def run(self, *words: str, program: str = "qwen", on_terminal: bool = True, more: tuple[Paired | Chatted, ...] = ()) -> Any:
        """Type it; returns what the program was given, and the shell's exit code."""
        quoted = " ".join(self.quoted(word) for word in words)
        line = f". {self.quoted(str(self.file(*more)))}; {program} {quoted}"
        told = Path(self.env["TOLD"])
        told.unlink(missing_ok=True)
        master, slave = pty.openpty()
        given = slave if on_terminal else subprocess.DEVNULL
        with subprocess.Popen([self._path, *RC[self.shell], "-c", line], stdin=given, stdout=given, stderr=subprocess.PIPE,
                              env=self.env, start_new_session=True) as process:
            os.close(slave)
            error = process.stderr.read() if process.stderr is not None else b""
            code = process.wait(60)
        os.close(master)
        assert not error, error
        return json.loads(told.read_text()) | {"code": code}

    def quoted(self, word: str) -> str:
        return "'" + word.replace("\\", "\\\\").replace("'", "\\'") + "'" if self.shell == "fish" else shlex.quote(word)


@pytest.fixture(params=PLAIN_NAMES)
def there(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[There]:
    one = There(request.param, tmp_path)
    yield one
    one.close()


def test_a_start_in_a_terminal_has_a_private_pair_of_files_and_leaves_nothing(there: There) -> None:
    told = there.run()
    events, reads = told["words"][1], told["words"][3]
    assert told["words"] == ["--json-file", events, "--input-file", reads] and told["code"] == 7
    assert Path(events).parent.parent == there.folder and Path(events).parent == Path(reads).parent
    assert Path(events).parent.name.partition(".")[0].isdigit()
    assert told["modes"] == ["0o600", "0o600"] and told["folder"] == ["0o700"]
    assert not list(there.folder.iterdir())


def test_what_the_person_types_reaches_the_program_as_it_is(there: There) -> None:
    told = there.run(*ODD)
    assert told["words"][4:] == ODD and told["words"][0] == "--json-file"


@pytest.mark.parametrize("words", [["--json-file", "mine"], ["--input-file=mine"], ["-m", "x", "--json-file=a"], ["-p", "a b"],
                                   ["mcp", "list"], ["say it's done"]])
def test_the_persons_own_flags_and_what_is_no_session_are_left_alone(there: There, words: list[str]) -> None:
    told = there.run(*words)
    assert (told["words"], told["code"]) == (words, 7)


def test_without_a_hub_without_consent_and_without_a_terminal_it_is_the_program_as_ever(there: There) -> None:
    assert there.run("--x", on_terminal=False)["words"] == ["--x"]
    there.folder.rmdir()
    assert there.run("--x")["words"] == ["--x"]
    there.folder.mkdir()
    there.paired.consent.unlink()
    assert there.run("--x")["words"] == ["--x"]
    there.paired.consent.touch()
    (there.data / "hooks.sock").unlink()
    assert there.run("--x")["words"] == ["--x"]
    assert not list(there.folder.iterdir())


def test_a_chat_takes_the_place_of_a_program_without_words(there: There) -> None:
    chat = Chatted("claude", ["chat", "claude-code"])
    (Path(there.env["PATH"].partition(":")[0]) / "claude").symlink_to("qwen")
    assert there.run(program="claude", more=(chat,))["words"] == ["chat", "claude-code"]
    assert there.run("-p", "x", program="claude", more=(chat,))["words"] == ["-p", "x"]
    assert there.run(program="claude", more=(chat,), on_terminal=False)["words"] == []
    (Path(there.env["PATH"].partition(":")[0]) / "trunkline").unlink()
    assert there.run(program="claude", more=(chat,))["words"] == []


def test_ctrl_c_ends_the_program_and_not_the_shell(there: There) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(there._path, [there._path, *RC[there.shell], "-i"], there.env)
    try:
        said = bytearray()

        def heard(words: bytes) -> bool:
            while select.select([terminal], [], [], 0)[0]:
                said.extend(os.read(terminal, 1 << 16))
            return words in said

        os.write(terminal, f". {there.quoted(str(there.file()))}; echo is''ready\n".encode())
        eventually(lambda: heard(b"isready"), "the shell takes lines")
        os.write(terminal, b"qwen --wait\n")
        told = Path(there.env["TOLD"])
        eventually(lambda: heard(b"") and told.exists() and told.read_text(), "the program runs")
        os.write(terminal, b"\x03")
        program = json.loads(told.read_text())["pid"]
        eventually(lambda: heard(b"") and not is_running(program), "the program has ended")
        os.write(terminal, b"echo still''here\n")
        eventually(lambda: heard(b"stillhere"), "the shell goes on")
        os.write(terminal, b"exit\n")
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)


def test_the_text_is_right_by_the_shell_itself(there: There) -> None:
    file = there.file(Chatted("claude", ["chat", "it's"]))
    done = subprocess.run([there._path, "-n", str(file)], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_name_that_a_shell_would_read_otherwise_is_refused() -> None:
    for name in ("a b", "", "-x", "a;b", "$(x)"):
        with pytest.raises(Invalid):
            function_of("bash", Chatted(name, []))
