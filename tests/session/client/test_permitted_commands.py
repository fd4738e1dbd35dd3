"""Which commands an approval covers: the one that was shown, however it is written, once."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.session.client.acting import approved, execute, refused, told_in_words, write, writing
from tests.session.script import OPTIONS, Stage, update
from trunkline.agents import catalog
from trunkline.dialects.signals import PermissionAsk
from trunkline.session.commands.requests import Decision


def test_what_was_approved_as_a_tool_call_is_not_asked_about_again_but_counts_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await approved(stage, writing(str(tmp_path / "a.txt")), *[{"rawInput": {"command": "make all"}}] * 2)
        assert await write(stage) == "written"
        assert await execute(stage, "make", "all") == "ran"
        assert await execute(stage, "bash", "-c", "make all") == "ran"
        await refused(stage, write(stage))
        await refused(stage, execute(stage, "make", "all"))

    run(scenario())


@pytest.mark.parametrize("words", [
    ("make", "all", "install"), ("make all",), ("./bash", "-c", "touch I1 I2"), ("touch", "I1 I2"), ("sub/touch", "I1", "I2")])
def test_another_command_than_the_approved_one_is_asked_about(tmp_path: Path, words: tuple[str, ...]) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await approved(stage, {"rawInput": {"command": "touch I1 I2"}})
        await refused(stage, execute(stage, *words))

    run(scenario())


def test_the_same_command_in_another_folder_or_with_variables_that_change_it_is_asked_about(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        (tmp_path / "sub").mkdir()
        await approved(stage, {"rawInput": {"command": "make"}})

        async def elsewhere(cwd: str | None, env: dict[str, str]) -> None:
            async with stage.session.agent.permits.run("make", (), cwd, env):
                pass

        await refused(stage, elsewhere("sub", {}))
        for name, value in [("PATH", "/evil"), ("LD_PRELOAD", "x.so"), ("GIT_SSH", "x"), ("NODE_OPTIONS", "-r x"), ("TZ", ":/x"),
                            ("PAGER", "less"), ("WHATEVER", "1")]:
            await refused(stage, elsewhere(None, {"CI": "true", name: value}))

    run(scenario())


@pytest.mark.parametrize(("asked", "words", "env"), [
    ("make all", ("make", "all"), {"CI": "true", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}),
    ("CI=true make all", ("make", "all"), {}),
    ("make all", ("CI=true make all",), {}),
    ("make all", ("/bin/bash", "-lc", "make all"), {"TERM": "dumb"}),
    ("make all", ("bash", "-l", "-c", "CI=1 make all"), {}),
    ("make all", ("/bin/bash -lc 'make all'",), {}),
    ("/bin/bash -lc 'make all'", ("make", "all"), {"PAGER": "cat"}),
    ("/bin/bash -lc \"make all\"", ("sh", "-c", "make all"), {}),
    ("make all && echo 'a b' | tail", ("bash -c 'CI=1 make all && echo '\"'\"'a b'\"'\"' | tail'",), {}),
    ("make all > log", ("bash", "-lc", "make all > log"), {"CI": "1"}),
    ("X=1 make", ("make",), {"X": "1", "CI": "true"}),
    ("make all", ("/bin/bash", "-c", "cd HERE && make all"), {"SHELL": "/bin/bash"}),
    ("make all; make x", ("cd -- 'HERE' && CI=1 make all; make x",), {}),
    ("cd HERE && make all", ("bash", "-c", "cd HERE && make all"), {}),
])
def test_what_was_approved_covers_the_same_behind_harmless_variables_and_a_shell(
        tmp_path: Path, asked: str, words: tuple[str, ...], env: dict[str, str]) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        here = [word.replace("HERE", str(tmp_path)) for word in words]
        await approved(stage, {"rawInput": {"command": asked.replace("HERE", str(tmp_path))}})
        assert await execute(stage, *here, **env) == "ran"
        await refused(stage, execute(stage, *here, **env))

    run(scenario())


@pytest.mark.parametrize(("asked", "words", "env"), [
    ("make all", ("bash", "-ic", "make all"), {}),
    ("make all", ("bash", "-c", "make all", "x"), {}),
    ("make all", ("./bash", "-c", "make all"), {}),
    ("make all", ("bash -c 'make all'; touch x",), {}),
    ("make all", ("bash -c 'make all'>x",), {}),
    ("make all", ("X=1 make all",), {}),
    ("make $X", ("make", "$X"), {}),
    ("ls *.py", ("ls", "*.py"), {}),
    ("touch a; touch b", ("touch", "a;", "touch", "b"), {}),
    ("X=1 make && make x", ("make && make x",), {"X": "1"}),
    ("X=1 make", ("make",), {"X": "2"}),
    ("make all", ("cd / && make all",), {}),
    ("make all", ("cd HERE/sub && make all",), {}),
    ("make all", ("cd HERE; make all",), {}),
    ("make all", ("cd HERE || make all",), {}),
    ("make all", ("cd . && make all",), {}),
    ("make all", ("cd $X && make all",), {}),
    ("cd HERE && make all", ("make all",), {}),
    ("make all", ("make", "all"), {"SHELL": "./bash"}),
    ("make all", ("make", "all"), {"GIT_TERMINAL_PROMPT": "0"}),
])
def test_what_only_looks_like_the_approved_command_is_asked_about(
        tmp_path: Path, asked: str, words: tuple[str, ...], env: dict[str, str]) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        (tmp_path / "sub").mkdir()
        await approved(stage, {"rawInput": {"command": asked.replace("HERE", str(tmp_path))}})
        await refused(stage, execute(stage, *(word.replace("HERE", str(tmp_path)) for word in words), **env))

    run(scenario())


def test_variables_that_an_agent_is_known_to_give_to_every_command_change_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        names = catalog.load()["kimi"].tool_names
        stage.services = msgspec.structs.replace(stage.services, tool_names=lambda agent: names)
        stage.session = stage.new(tmp_path)
        await stage.open()
        await approved(stage, {"rawInput": {"command": "make all"}})
        kimis = {"NO_COLOR": "1", "TERM": "dumb", "GIT_TERMINAL_PROMPT": "0", "SHELL": "/bin/bash"}
        await refused(stage, execute(stage, "make", "all", **{**kimis, "GIT_TERMINAL_PROMPT": "1"}))
        assert await execute(stage, "/bin/bash", "-c", f"cd '{tmp_path}' && make all", **kimis) == "ran"

    run(scenario())


@pytest.mark.parametrize("said", ["Running: make all && make a…", "Running: make all && make again"])
def test_arguments_that_are_told_as_a_text_are_what_an_ask_in_words_is_about(tmp_path: Path, said: str) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(*told_in_words(0, "Bash", '{"command": "make all && make again"}', kind="execute"),
                         *told_in_words(1, "Write", '{"path": "a.txt", "content": "new\\n"}', kind="edit"))
        asks = (("call-0", "Bash", said), ("call-1", "Write", "Writing a.txt"))
        for number, (call, title, words) in enumerate(asks):
            text = {"type": "text", "text": f"Requesting approval to {words}"}
            stage.driver.say(PermissionAsk(f"req-a{number}", msgspec.json.encode({
                "toolCallId": call, "title": title, "content": [{"type": "content", "content": text}]}), OPTIONS))
        await stage.packets("approval_requested", 2)
        running, wrote = session.view().pending_approvals
        assert running.preview is not None and running.preview.command == "make all && make again"  # type: ignore[union-attr]
        assert wrote.preview is not None and "+new" in wrote.preview.diff  # type: ignore[union-attr]
        for number in range(2):
            await session.approvals.decide(f"req-a{number}", Decision(decision="allow"), by="ann")
        await refused(stage, write(stage, "a.txt", "other"))
        assert await execute(stage, "bash", "-c", f"cd {tmp_path} && make all && make again", TERM="dumb") == "ran"
        assert await write(stage) == "written"

    run(scenario())


def test_an_ask_for_several_calls_covers_each_command_that_it_shows_and_no_write(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        for number, given in enumerate([{"command": "make all"}, {"command": "make again"}]):
            stage.driver.say(update(sessionUpdate="tool_call", toolCallId=f"call-{number}", title="Bash", kind="execute",
                                    status="pending", rawInput=given))
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="call-2", title="Write", **writing("a.txt")))
        stage.driver.say(PermissionAsk("req-a0", msgspec.json.encode({
            "toolCallId": "confirm-1", "title": "Confirm Agent Actions", "kind": "other"}), OPTIONS))
        await stage.packets("approval_requested")
        await session.approvals.decide("req-a0", Decision(decision="allow"), by="ann")
        assert await execute(stage, "make", "again", CI="1") == "ran"
        assert await execute(stage, "/bin/bash", "-lc", "make all") == "ran"
        await refused(stage, execute(stage, "make", "all"))
        await refused(stage, write(stage))

    run(scenario())


def test_a_command_that_was_only_in_the_words_of_an_ask_covers_that_command(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        words = [{"type": "content", "content": {"type": "text", "text": "Requesting approval to Running: make all"}}]
        stage.driver.ask("req-a0", toolCallId="0/1", title="Bash", kind="execute", rawInput=None, content=words)
        await stage.packets("approval_requested")
        await stage.session.approvals.decide("req-a0", Decision(decision="allow"), by="ann")
        await refused(stage, execute(stage, "make", "all", "install"))
        assert await execute(stage, "/bin/bash", "-c", "make all", CI="1") == "ran"

    run(scenario())


@pytest.mark.parametrize("asked", [
    "grep -n 'a b' c.txt", 'grep "-n" "a b" c.txt', "grep  -n a\\ b\tc.txt", "gr''ep -n 'a b' c.txt"])
def test_however_the_approved_line_was_quoted_its_words_count(tmp_path: Path, asked: str) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await approved(stage, {"rawInput": {"command": asked}})
        await refused(stage, execute(stage, "grep", "-n", "a", "b", "c.txt"))
        assert await execute(stage, "grep", "-n", "a b", "c.txt") == "ran"

    run(scenario())
