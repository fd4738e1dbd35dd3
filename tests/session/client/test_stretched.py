"""What an approval must not be stretched to: an agent that was allowed one thing tries others through the hub."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.session.client.acting import approved, changing, refused, write, writing
from tests.session.script import OPTIONS, Stage, update
from trunkline.dialects.signals import PermissionAsk
from trunkline.session.commands.requests import Decision

MAKE = {"title": "Bash", "kind": "execute", "rawInput": {"command": "make all"}}
WRITE = {"title": "Write", "kind": "edit", "rawInput": {"path": "a.txt", "content": "new\n"}}
EDIT = {"title": "Edit", "kind": "edit", "rawInput": {"path": "a.txt", "old_string": "old", "new_string": "new"}}


async def start(stage: Stage, *words: str, cwd: str | None = None, **env: str) -> str:
    """Have a command run as ``terminal/create`` asks for it."""
    async with stage.session.agent.permits.run(words[0], words[1:], cwd, env):
        return "ran"


def prepared(tmp_path: Path) -> Stage:
    """A session in a folder with a file, another folder, and links to both."""
    (tmp_path / "root" / "sub").mkdir(parents=True)
    (tmp_path / "root" / "a.txt").write_text("old\n")
    (tmp_path / "root" / "b.txt").write_text("old\n")
    (tmp_path / "root" / "link").symlink_to("sub")
    (tmp_path / "root" / "other.txt").symlink_to("b.txt")
    (tmp_path / "root" / "same.txt").symlink_to("a.txt")
    return Stage(tmp_path / "root")


STRETCHED_COMMANDS: list[tuple[dict[str, Any], tuple[str, ...], dict[str, str]]] = [
    (MAKE, ("make",), {}), (MAKE, ("make", "all", "-f", "x"), {}), (MAKE, ("make", "all; true"), {}),
    (MAKE, ("make", "ALL"), {}), (MAKE, ("./make", "all"), {}), (MAKE, ("/tmp/make", "all"), {}),
    (MAKE, ("bash", "-c", "make all; true"), {}), (MAKE, ("bash", "-c", "make all", "x"), {}),
    (MAKE, ("bash", "-ic", "make all"), {}), (MAKE, ("bash", "--rcfile", "x", "-c", "make all"), {}),
    (MAKE, ("env", "make", "all"), {}), (MAKE, ("sudo", "make", "all"), {}), (MAKE, ("make all &",), {}),
    (MAKE, ("make all\ntrue",), {}), (MAKE, ("make all > x",), {}), (MAKE, ("make all | tee x",), {}),
    (MAKE, ("make\u00a0all",), {}), (MAKE, ("make", "all\u200b"), {}),
    (MAKE, ("make", "all"), {"cwd": "sub"}), (MAKE, ("make", "all"), {"cwd": "link"}),
    (MAKE, ("bash", "-c", "cd sub && make all"), {}),
    (MAKE, ("make", "all"), {"PATH": "sub"}), (MAKE, ("make", "all"), {"MAKEFLAGS": "-f x"}),
    (MAKE, ("make", "all"), {"SHELL": "./x"}), (MAKE, ("make", "all"), {"BASH_ENV": "x"}),
    (MAKE, ("make", "all"), {"CI": "$(x)"}), (MAKE, ("make", "all"), {"LD_PRELOAD": "x.so"}),
    (MAKE, ("make", "all"), {"HOME": "/tmp"}), (MAKE, ("CI=1 PATH=x make all",), {}),
    ({**MAKE, "rawInput": {"command": "make all", "cwd": "sub"}}, ("make", "all"), {}),
    ({**MAKE, "rawInput": {"command": "make all", "env": {"A": "1"}}}, ("make", "all"), {}),
    ({**MAKE, "rawInput": {"command": "make all", "env": {"A": "1"}}}, ("make", "all"), {"A": "2"}),
    ({**MAKE, "rawInput": {"commands": ["make all", "true"]}}, ("make", "all"), {}),
    ({**MAKE, "rawInput": {"command": "make", "args": ["all"]}}, ("make",), {}),
    ({"title": "Read", "kind": "read", "rawInput": {"path": "make"}}, ("make",), {}),
    ({**MAKE, "rawInput": {"command": "make all"}, "_meta": {"command": "make evil"}}, ("make", "evil"), {}),
    ({"title": "Edit", "kind": "edit", "rawInput": {"command": "delete", "path": "a.txt"}}, ("delete",), {}),
    ({"title": "Bash", "kind": "execute", "rawInput": {"command": "make all", "background": "make evil"}}, ("make", "evil"), {}),
]


@pytest.mark.parametrize(("asked", "words", "more"), STRETCHED_COMMANDS)
def test_another_command_folder_or_variable_than_was_shown_is_asked_about(
        tmp_path: Path, asked: dict[str, Any], words: tuple[str, ...], more: dict[str, str]) -> None:
    async def scenario() -> None:
        stage = prepared(tmp_path)
        await stage.open()
        await approved(stage, asked)
        await refused(stage, start(stage, *words, **more))

    run(scenario())


STRETCHED_WRITES: list[tuple[dict[str, Any], str, str]] = [
    (WRITE, "a.txt", "new"), (WRITE, "a.txt", "new\n\n"), (WRITE, "a.txt", "new\r\n"), (WRITE, "a.txt", "new\n\u200b"),
    (WRITE, "a.txt", ""), (WRITE, "b.txt", "new\n"), (WRITE, "sub/a.txt", "new\n"), (WRITE, "link/a.txt", "new\n"),
    (WRITE, "other.txt", "new\n"), (WRITE, "A.txt", "new\n"), (WRITE, "a.txt ", "new\n"),
    (EDIT, "a.txt", "new\nmore\n"), (EDIT, "b.txt", "new\n"), (EDIT, "other.txt", "new\n"),
    (changing(("a.txt", "nothing", "new\n")), "a.txt", "new\n"), (changing(("sub/a.txt", None, "new\n")), "a.txt", "new\n"),
    ({"title": "Edit", "kind": "edit", "rawInput": {"command": "delete", "path": "a.txt"}}, "a.txt", ""),
    ({"title": "Edit", "kind": "edit", "rawInput": {"command": "rename", "path": "a.txt", "new_path": "c.txt"}},
     "c.txt", "old\n"),
    ({"title": "Read", "kind": "read", "rawInput": {"path": "a.txt", "old_string": "old"}}, "a.txt", "new\n"),
    ({"title": "Bash", "kind": "execute", "rawInput": {"command": "make all"}}, "a.txt", "make all"),
    ({"title": "apply_patch", "kind": "edit", "rawInput": {"patch": "1,$d\n", "path": "a.txt"}}, "a.txt", ""),
]


@pytest.mark.parametrize(("asked", "path", "content"), STRETCHED_WRITES)
def test_another_file_or_text_than_was_shown_is_asked_about(
        tmp_path: Path, asked: dict[str, Any], path: str, content: str) -> None:
    async def scenario() -> None:
        stage = prepared(tmp_path)
        await stage.open()
        await approved(stage, asked)
        await refused(stage, write(stage, path, content))

    run(scenario())


@pytest.mark.parametrize(("asked", "act"), [
    (MAKE, lambda stage: start(stage, "make", "all")), (MAKE, lambda stage: start(stage, "bash", "-lc", "make all", CI="1")),
    (MAKE, lambda stage: start(stage, "make", "all", cwd=".")),
    ({**MAKE, "rawInput": {"command": "make all", "cwd": "link"}}, lambda stage: start(stage, "make", "all", cwd="sub")),
    (WRITE, lambda stage: write(stage, "a.txt", "new\n")), (WRITE, lambda stage: write(stage, "same.txt", "new\n")),
    (WRITE, lambda stage: write(stage, "./sub/../a.txt", "new\n")), (EDIT, lambda stage: write(stage, "a.txt", "new\n")),
])
def test_exactly_what_was_shown_counts_once_and_not_in_the_next_turn(
        tmp_path: Path, asked: dict[str, Any], act: Callable[[Stage], Awaitable[str]]) -> None:
    async def scenario() -> None:
        stage = prepared(tmp_path)
        await stage.open()
        await approved(stage, asked, asked)
        assert await act(stage) in ("ran", "written")
        assert await act(stage) in ("ran", "written"), "it was approved twice"
        await refused(stage, act(stage))
        stage.driver.end()
        await stage.packets("prompt_response")
        await stage.send()
        await refused(stage, act(stage))

    run(scenario())


@pytest.mark.parametrize("later", [
    {"rawInput": {"command": "make evil"}}, {"rawInput": {"command": "make all", "cwd": "sub"}}, {"title": "make evil"},
    {"_meta": {"command": "make evil"}}, {"kind": "edit"},
])
@pytest.mark.parametrize("when", ["after the answer", "under the same id again"])
def test_what_is_said_later_of_an_approved_call_grants_nothing(tmp_path: Path, later: dict[str, Any], when: str) -> None:
    async def scenario() -> None:
        stage = prepared(tmp_path)
        await stage.open()
        await approved(stage, MAKE)
        kind = "tool_call_update" if when == "after the answer" else "tool_call"
        stage.driver.say(update(sessionUpdate=kind, toolCallId="call-0", **{"title": "Bash", **later}))
        await refused(stage, start(stage, "make", "evil"))
        await refused(stage, start(stage, "make", "all", cwd="sub"))
        assert await start(stage, "make", "all") == "ran", "what was approved still counts"
        await refused(stage, start(stage, "make", "all"))

    run(scenario())


@pytest.mark.parametrize("decision", [Decision(decision="deny"), Decision(decision="allow", updated_input={"command": "make b"})])
def test_what_was_denied_or_replaced_grants_nothing_though_its_id_was_allowed_before(tmp_path: Path, decision: Decision) -> None:
    async def scenario() -> None:
        stage = prepared(tmp_path)
        await stage.open()
        await approved(stage, MAKE)
        assert await start(stage, "make", "all") == "ran"
        again = {"toolCallId": "call-0", "title": "Bash", "kind": "execute", "rawInput": {"command": "make c"}}
        stage.driver.say(PermissionAsk("req-b", msgspec.json.encode(again), OPTIONS, editable=True))
        await stage.packets("approval_requested", 2)
        await stage.session.approvals.decide("req-b", decision, by="ann")
        for target in ("all", "c"):
            await refused(stage, start(stage, "make", target))

    run(scenario())


def test_before_an_answer_nothing_is_granted(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = prepared(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.ask("req-a0", toolCallId="call-0", **writing("a.txt"))
        await stage.packets("approval_requested", 1)
        stage.driver.end()
        await stage.packets("prompt_response")
        await stage.send()
        assert not stage.session.view().pending_approvals, "an ask is over with its turn"
        await refused(stage, write(stage, "a.txt", "new\n"))

    run(scenario())
