"""What an agent has the hub do passes the same rules as its own tools."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.session.script import OPTIONS, Stage, update
from trunkline.agents import catalog
from trunkline.dialects.context.unions import CommandPreview, DiffPreview
from trunkline.dialects.signals import PermissionAsk, Update
from trunkline.errors import Forbidden, Invalid
from trunkline.session.approvals import grants
from trunkline.session.client import permits
from trunkline.session.commands.requests import Decision
from trunkline.session.fold import ApprovalView
from trunkline.session.interpret.asks import preview
from trunkline.session.interpret.effects.diff import DIFF_LINES
from trunkline.session.policy.decide import Rule


async def write(stage: Stage, path: str = "a.txt", content: str = "new\n") -> str:
    async with stage.session.agent.permits.write(path, content):
        return "written"


async def execute(stage: Stage, command: str, *args: str, **env: str) -> str:
    async with stage.session.agent.permits.run(command, args, None, env):
        return "ran"


def writing(path: str, text: str = "new\n", **more: Any) -> dict[str, Any]:
    """An ask for a write that shows what would be written."""
    return {"kind": "edit", "rawInput": {}, "content": [{"type": "diff", "path": path, "newText": text}], **more}


def test_a_write_that_nobody_asked_about_is_asked_about_with_a_diff_and_told_as_a_call(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        (tmp_path / "a.txt").write_text("old\n")
        await stage.send()
        writing = asyncio.create_task(write(stage))
        await stage.packets("approval_requested")
        (view,) = session.view().pending_approvals
        assert view.preview is not None and "-old" in view.preview.diff and "+new" in view.preview.diff  # type: ignore[union-attr]
        assert not writing.done()
        await session.approvals.decide(view.request_id, Decision(decision="allow"), by="ann")
        assert await writing == "written"
        await session.snapshot()
        types = await stage.types()
        assert types.index("tool:start") < types.index("approval:requested") < types.index("tool:result")
        assert stage.driver.known_call("permission") == [], "the agent did not ask"

    run(scenario())


def test_a_denied_write_is_forbidden_and_its_call_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        writing = asyncio.create_task(write(stage))
        await stage.packets("approval_requested")
        (view,) = session.view().pending_approvals
        await session.approvals.decide(view.request_id, Decision(decision="deny", reason="use b.txt"), by="ann")
        with pytest.raises(Forbidden, match=r"not approved: use b\.txt") as told:
            await writing
        assert told.value.details == {"reason": "use b.txt"}
        stage.driver.end()
        await stage.packets("prompt_response")
        assert "tool:error" in await stage.types()

    run(scenario())


async def until(happened: Callable[[], bool]) -> None:
    """Let others run until something is so."""
    async with asyncio.timeout(20):
        while not happened():  # noqa: ASYNC110  # what is looked at has no event
            await asyncio.sleep(0)


async def approved(stage: Stage, *asks: dict[str, Any]) -> ApprovalView:
    """A turn in which these tool calls were asked for and approved; the first as it was asked."""
    await stage.send()
    for number, call in enumerate(asks):
        stage.driver.ask(f"req-a{number}", toolCallId=f"call-{number}", **call)
    await stage.packets("approval_requested", len(asks))
    first = stage.session.view().pending_approvals[0]
    for number in range(len(asks)):
        await stage.session.approvals.decide(f"req-a{number}", Decision(decision="allow"), by="ann")
    return first


async def refused(stage: Stage, act: Any) -> None:
    """The act is asked about, and not done when the turn is cancelled."""
    asking = asyncio.create_task(act)
    await stage.until(lambda: bool(stage.session.view().pending_approvals) or asking.done())
    assert not asking.done()
    (view,) = stage.session.view().pending_approvals
    await stage.session.approvals.decide(view.request_id, Decision(decision="deny"), by="ann")
    with pytest.raises(Forbidden):
        await asking


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


def test_what_the_hub_asked_about_is_asked_about_again_when_it_is_wanted_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        for _ in range(2):
            for act in (execute(stage, "make", "all"), write(stage)):
                doing = asyncio.create_task(act)
                await stage.until(lambda: bool(session.view().pending_approvals))
                request_id = session.view().pending_approvals[0].request_id
                await session.approvals.decide(request_id, Decision(decision="allow"), by="ann")
                assert await doing in ("ran", "written")

    run(scenario())


@pytest.mark.parametrize("call", [
    {"title": "mcp__files__put", "kind": "other", "rawInput": {"file_path": "a.txt", "content": "new\n"}},
    {"title": "Whatever it is", "kind": "other", "rawInput": {"path": "a.txt", "content": "new\n"}},
    {"title": "Write", "kind": "edit", "rawInput": {"path": "a.txt", "content": "new\n"}},
    {"title": "Write", "kind": "edit", "rawInput": {"tool": "write_file", "arguments": {"path": "a.txt", "content": "new\n"}}},
    {"title": "Edit", "kind": "edit", "rawInput": {"path": "a.txt", "old_string": "old", "new_string": "new"}},
    {"title": "Edit", "kind": "edit", "rawInput": {"path": "a.txt", "edits": [
        {"old_string": "o", "new_string": "n"}, {"old_string": "ld", "new_string": "ew"}]}},
])
def test_an_approved_write_of_any_kind_covers_the_content_that_was_shown(tmp_path: Path, call: dict[str, Any]) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        (tmp_path / "a.txt").write_text("old\n")
        await approved(stage, call)
        await refused(stage, write(stage, "a.txt", "other\n"))
        assert await write(stage, "a.txt", "new\n") == "written"
        await refused(stage, write(stage, "a.txt", "new\n"))

    run(scenario())


@pytest.mark.parametrize("call", [
    {"kind": "edit", "rawInput": {}, "locations": [{"path": "a.txt"}]},
    {"kind": "edit", "rawInput": {"path": "a.txt", "bytes": 4}},
    {"kind": "read", "rawInput": {"path": "a.txt"}, "locations": [{"path": "a.txt"}]},
    {"kind": "execute", "rawInput": {"command": "make", "path": "a.txt", "content": "new\n"}},
    {"kind": "edit", "rawInput": {}, "content": [{"type": "diff", "path": "a.txt", "oldText": "l", "newText": "new\n"}]},
], ids=["only the place", "only the length", "a read", "a command", "a piece of it"])
def test_an_approval_that_did_not_show_the_content_covers_no_write(tmp_path: Path, call: dict[str, Any]) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        (tmp_path / "a.txt").write_text("old\n")
        await approved(stage, call)
        await refused(stage, write(stage, "a.txt", "new\n"))

    run(scenario())


@pytest.mark.parametrize(("text", "is_covered"), [
    ("x\n" * DIFF_LINES, False), ("x\n" * (DIFF_LINES - 1), True), ("x" * (preview.TEXT_MOST - 200), True),
    ("x" * preview.TEXT_MOST, False),
], ids=["too many lines", "as many lines as are shown", "a long line", "too long a line"])
def test_content_that_is_too_long_to_be_shown_is_not_approved_with_its_ask(tmp_path: Path, text: str, is_covered: bool) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        asked = await approved(stage, writing("a.txt", text))
        assert (preview.NOT_ALL in asked.doubts) is not is_covered
        if is_covered:
            assert await write(stage, "a.txt", text) == "written"
        else:
            await refused(stage, write(stage, "a.txt", text))

    run(scenario())


def changing(*diffs: tuple[str, str | None, str], **more: Any) -> dict[str, Any]:
    """A call that shows changes of files."""
    return {"kind": "edit", "rawInput": {}, **more, "content": [
        {"type": "diff", "path": path, "oldText": old, "newText": new} for path, old, new in diffs]}


def test_every_file_of_an_ask_is_shown_and_may_be_written(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        asked = await approved(stage, changing(("a.txt", None, "one\n"), ("package.json", None, "two\n")))
        assert [(act.path, act.diff.splitlines()[-1]) for act in asked.previews if isinstance(act, DiffPreview)] == [
            ("a.txt", "+one"), ("package.json", "+two")]
        assert await write(stage, "package.json", "two\n") == "written"
        assert await write(stage, "a.txt", "one\n") == "written"

    run(scenario())


def test_one_file_under_two_spellings_is_shown_with_both_changes(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        (tmp_path / "a.txt").write_text("one\ntwo\n")
        asked = await approved(stage, changing((f"{tmp_path}/a.txt", "one\n", "ONE\n"),
                                               (f"{tmp_path}/./a.txt", "two\n", "TWO\n")))
        [shown] = asked.previews
        assert isinstance(shown, DiffPreview) and "+ONE" in shown.diff and "+TWO" in shown.diff
        assert await write(stage, "a.txt", "ONE\nTWO\n") == "written"

    run(scenario())


def test_pieces_that_do_not_fit_the_file_are_all_shown(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        (tmp_path / "a.txt").write_text("one\n")
        asked = await approved(stage, changing(("a.txt", "one\n", "ONE\n"), ("a.txt", "later\n", "EVIL\n")))
        assert [act.diff.splitlines()[-1] for act in asked.previews if isinstance(act, DiffPreview)] == ["+ONE", "+EVIL"]

    run(scenario())


def test_an_old_text_too_long_to_be_compared_shows_and_grants_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        asked = await approved(stage, changing(("a.txt", "x" * (preview.COMPARED_MOST + 1), "evil\n"), ("b.txt", None, "b\n")))
        assert preview.NOT_ALL in asked.doubts
        await refused(stage, write(stage, "a.txt", "evil\n"))

    run(scenario())


@pytest.mark.parametrize("every", [True, False])
def test_only_the_places_of_a_piece_that_were_shown_may_be_replaced(tmp_path: Path, every: bool) -> None:
    between = "y\n" * 20

    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        (tmp_path / "a.txt").write_text(f"x=1\n{between}x=1\n")
        asked = await approved(stage, {"kind": "edit", "rawInput": {
            "path": "a.txt", "old_string": "x=1", "new_string": "x=2", "replace_all": every}})
        assert isinstance(asked.preview, DiffPreview) and asked.preview.diff.count("+x=2") == (2 if every else 1)
        whole = write(stage, "a.txt", f"x=2\n{between}x=2\n")
        if every:
            assert await whole == "written"
        else:
            await refused(stage, whole)

    run(scenario())


def test_an_approval_with_another_input_allows_nothing_of_the_one_that_was_asked_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        call = {"toolCallId": "call-1", "title": "Bash", "kind": "execute", "rawInput": {"command": "make all"}}
        stage.driver.say(PermissionAsk("req-1", msgspec.json.encode(call), OPTIONS, editable=True))
        await stage.packets("approval_requested", 1)
        await stage.session.approvals.decide("req-1", Decision(decision="allow", updated_input={"command": "ls"}), by="ann")
        await refused(stage, execute(stage, "make", "all"))

    run(scenario())


def test_a_command_beside_a_change_is_shown_first(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        given = {"command": "touch it", "path": "README.md"}
        asked = await approved(stage, changing(("README.md", None, "hello\n"), rawInput=given))
        assert isinstance(asked.preview, CommandPreview) and asked.preview.command == "touch it"
        assert [act.path for act in asked.acts if isinstance(act, DiffPreview)] == ["README.md"]
        assert await execute(stage, "touch", "it") == "ran"

    run(scenario())


def test_an_approved_write_is_about_the_place_that_it_led_to(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
        (tmp_path / "link").symlink_to("one")
        await approved(stage, writing("link/a.txt"))
        (tmp_path / "link").unlink()
        (tmp_path / "link").symlink_to("two")
        await refused(stage, write(stage, "link/a.txt"))
        assert await write(stage, "one/a.txt") == "written", "by whatever name"

    run(scenario())


def told_in_words(number: int, name: str, arguments: str, **more: Any) -> list[Update]:
    """A call whose arguments are told as a text while they stream, and whose ask says the rest in a sentence."""
    told = {"type": "content", "content": {"type": "text", "text": arguments}}
    return [update(sessionUpdate="tool_call", toolCallId=f"call-{number}", title=name, status="pending", **more),
            update(sessionUpdate="tool_call_update", toolCallId=f"call-{number}", status="in_progress", content=[told])]


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


def test_what_was_approved_is_over_with_its_turn(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await approved(stage, writing("b.txt"), {"rawInput": {"command": "make all"}})
        stage.driver.end()
        await stage.packets("prompt_response")
        await stage.send()
        await refused(stage, write(stage, "b.txt"))
        await refused(stage, execute(stage, "make", "all", CI="1"))

    run(scenario())


def test_a_call_that_a_write_belongs_to_is_found_by_its_input_too(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="looks", title="Read", kind="read", status="in_progress",
                                rawInput={"path": "a.txt"}))
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="mine", title="Edit", kind="edit", status="in_progress",
                                rawInput={"path": "a.txt"}))
        doing = asyncio.create_task(write(stage))
        await stage.packets("approval_requested")
        (view,) = session.view().pending_approvals
        assert view.tool_call_id == "mine"
        await session.approvals.decide(view.request_id, Decision(decision="allow"), by="ann")
        assert await doing == "written"

    run(scenario())


def test_an_agent_that_changes_ids_is_allowed_what_was_asked_and_not_what_stands_under_another_id(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        announced = {"title": "make all", "kind": "execute", "status": "pending"}
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="real-1", rawInput={"command": "make other"}, **announced))
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="real-2", title="Write a.txt", **writing("a.txt", "evil")))
        stage.driver.ask("req-a0", toolCallId="perm-1", title="make all", kind="execute", rawInput={"command": "make all"})
        stage.driver.ask("req-a1", toolCallId="perm-2", title="Write a.txt", kind="edit", rawInput={"path": "a.txt"})
        await stage.packets("approval_requested", 2)
        for number in range(2):
            await stage.session.approvals.decide(f"req-a{number}", Decision(decision="allow"), by="ann")
        await refused(stage, execute(stage, "make", "other"))
        await refused(stage, write(stage, "a.txt", "evil"))
        assert await execute(stage, "make", "all") == "ran", "what was asked is allowed, by whatever id"
        await refused(stage, execute(stage, "make", "all"))

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


def test_an_approved_call_that_turns_into_another_covers_only_what_was_asked(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        read = {"kind": "read", "rawInput": {"path": "a.txt"}, "locations": [{"path": "a.txt"}]}
        await approved(stage, read, writing("b.txt", rawInput={"path": "b.txt"}), {"rawInput": {"command": "ls"}})
        changes: list[dict[str, Any]] = [{"locations": [{"path": "a.txt"}]}, {"locations": [{"path": ".env"}]},
                                         {"rawInput": {"command": "rm x"}}]
        for number, change in enumerate(changes):
            stage.driver.say(update(sessionUpdate="tool_call_update", toolCallId=f"call-{number}", **change))
        await refused(stage, write(stage, "a.txt"))
        await refused(stage, write(stage, ".env"))
        await refused(stage, execute(stage, "rm", "x"))
        assert await write(stage, "b.txt") == "written"

    run(scenario())


def test_other_content_than_the_one_that_was_shown_is_asked_about(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        (tmp_path / "b.txt").write_text("one\ntwo\nthree\n")
        whole = {"kind": "edit", "rawInput": {}, "content": [{"type": "diff", "path": "a.txt", "newText": "good"}]}
        piece = {"kind": "edit", "rawInput": {},
                 "content": [{"type": "diff", "path": "b.txt", "oldText": "two", "newText": "2"}]}
        await approved(stage, whole, piece)
        await refused(stage, write(stage, "a.txt", "EVIL"))
        await refused(stage, write(stage, "b.txt", "one\nevil\nthree\n"))
        assert await write(stage, "a.txt", "good") == "written"
        assert await write(stage, "b.txt", "one\n2\nthree\n") == "written"

    run(scenario())


def test_a_rule_that_denies_counts_also_for_what_was_approved_and_for_reading(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await approved(stage, writing(".env"))
        session.fold.rules.append(Rule(action="deny", path=[".env"], reason="secret"))
        with pytest.raises(Forbidden):
            await write(stage, ".env")
        with pytest.raises(Forbidden, match="secret"):
            await session.agent.permits.read(".env")
        await session.agent.permits.read("a.txt")

    run(scenario())


@pytest.mark.parametrize(("action", "outcome"), [("allow", "written"), ("deny", None)])
def test_a_rule_decides_without_asking(tmp_path: Path, action: Any, outcome: str | None) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        session.fold.rules.append(Rule(action=action, path=["*.txt"], reason="because"))
        await stage.send()
        if outcome is not None:
            assert await write(stage) == outcome
        else:
            with pytest.raises(Forbidden):
                await write(stage)
        (resolved,) = [p for p in await stage.packets("approval_resolved") if p["type"] == "approval_resolved"]
        assert (resolved["approved"], resolved["resolvedBy"]) == (outcome is not None, "policy")
        assert "because" in resolved["reason"], "what a rule decided is in the journal"

    run(scenario())


def test_a_write_outside_the_roots_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        with pytest.raises(Forbidden, match="outside"):
            await write(stage, "../elsewhere.txt")
        assert "approval:requested" not in await stage.types()

    run(scenario())


def test_an_open_call_of_the_agent_is_the_one_that_is_asked_about(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="mine", title="Edit", kind="edit", status="in_progress",
                                locations=[{"path": "a.txt"}], rawInput={"path": "a.txt"}))
        writing = asyncio.create_task(write(stage))
        await stage.packets("approval_requested")
        (view,) = session.view().pending_approvals
        assert view.tool_call_id == "mine"
        await session.approvals.decide(view.request_id, Decision(decision="allow"), by="ann")
        assert await writing == "written"
        assert (await stage.types()).count("tool:start") == 1

    run(scenario())


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_a_write_over_what_is_no_plain_file_is_refused_and_nobody_is_asked(tmp_path: Path, kind: str) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "folder").mkdir()
        (tmp_path / "device").symlink_to("/dev/zero")
        await stage.send()
        with pytest.raises((Invalid, Forbidden), match=r"not a plain file|is a folder|outside"):
            await write(stage, kind)
        assert not session.fold.approvals

    run(scenario())


def test_writes_are_asked_about_in_the_order_in_which_they_were_made(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        (tmp_path / "0.txt").write_text("x" * (60 << 10))
        writing = [asyncio.create_task(write(stage, f"{number}.txt")) for number in range(8)]
        await stage.packets("approval_requested", 8)
        titles = [view.title for view in session.view().pending_approvals]
        assert titles == [f"Write {number}.txt" for number in range(8)]
        for view in session.view().pending_approvals:
            await session.approvals.decide(view.request_id, Decision(decision="allow"), by="ann")
        assert await asyncio.gather(*writing) == ["written"] * 8

    run(scenario())


def test_two_writes_of_one_file_take_one_grant(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await approved(stage, writing("a.txt"))
        both = [asyncio.create_task(write(stage)) for _ in range(2)]
        await stage.until(lambda: bool(stage.session.view().pending_approvals))
        assert [task.done() for task in both] == [True, False], "the first one takes it, the second is asked about"
        (view,) = stage.session.view().pending_approvals
        await stage.session.approvals.decide(view.request_id, Decision(decision="allow"), by="ann")
        assert await asyncio.gather(*both) == ["written"] * 2

    run(scenario())


def test_what_may_be_written_is_the_place_that_was_looked_at(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path / "root")
        (tmp_path / "root" / "sub").mkdir(parents=True)
        session = await stage.open()
        await approved(stage, writing("sub/a.txt"))
        async with session.agent.permits.write("sub/a.txt", "new\n") as real:
            (tmp_path / "root" / "sub").rmdir()
            (tmp_path / "root" / "sub").symlink_to(tmp_path)
            with pytest.raises(Invalid):
                await session.workspace.lane.run(session.workspace.write_text, "sub/a.txt", "new\n", real=real)
        assert not (tmp_path / "a.txt").exists()

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


@pytest.mark.parametrize("line", ["echo " + "a" * 4000, "e'c'h'o' " + "'x' " * 900 + "x", "'" + "echo x" * 600])
def test_a_command_is_found_among_many_open_calls_without_taking_each_apart(tmp_path: Path, line: str) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        for number in range(1000):
            stage.driver.say(update(sessionUpdate="tool_call", toolCallId=f"c{number}", title="Run", kind="execute",
                                    status="pending", rawInput={"command": line}))
        await session.snapshot()
        await until(lambda: len(session.fold.calls) == 1000)
        began = time.process_time()
        running = asyncio.create_task(execute(stage, "echo", *["x"] * 900, "y" if "'x'" not in line else "x x"))
        await until(lambda: bool(session.view().pending_approvals))
        assert time.process_time() - began < 0.5, "of our own time: taking one apart takes 2 ms"
        await session.approvals.decide(session.view().pending_approvals[0].request_id, Decision(decision="allow"), by="ann")
        assert await running == "ran"

    run(scenario())


@pytest.mark.parametrize("acts", ["written", "ran"])
@pytest.mark.parametrize(("others", "belongs"), [(1, True), (2, False)])
def test_what_belongs_to_a_call_is_looked_for_in_the_newest_ones(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: int, belongs: bool, acts: str) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(permits, "CALLS_LOOKED_UP", 2)
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        kind, done = ("edit", write(stage)) if acts == "written" else ("execute", execute(stage, "make", "a.txt"))
        names = ["a.txt", *(f"other-{number}" for number in range(others))]
        for name in names:
            told = {"rawInput": {"command": f"make {name}"}} if acts == "ran" else {}
            stage.driver.say(update(sessionUpdate="tool_call", toolCallId=name, title="Do", kind=kind, status="in_progress",
                                    locations=[{"path": name}], **told))
        await until(lambda: len(session.fold.calls) == len(names))
        asking = asyncio.create_task(done)
        await until(lambda: bool(session.view().pending_approvals))
        (view,) = session.view().pending_approvals
        assert (view.tool_call_id == "a.txt") is belongs
        await session.approvals.decide(view.request_id, Decision(decision="allow"), by="ann")
        assert await asking == acts

    run(scenario())


def test_of_two_calls_for_one_file_the_one_that_is_still_looked_for_is_asked_about(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(permits, "CALLS_LOOKED_UP", 1)
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        for name in ("old", "new"):
            stage.driver.say(update(sessionUpdate="tool_call", toolCallId=name, title="Edit", kind="edit", status="in_progress",
                                    locations=[{"path": "a.txt"}], rawInput={"path": "a.txt"}))
        await until(lambda: len(session.fold.calls) == 2)
        writing = asyncio.create_task(write(stage))
        await until(lambda: bool(session.view().pending_approvals))
        (view,) = session.view().pending_approvals
        assert view.tool_call_id == "new"
        await session.approvals.decide(view.request_id, Decision(decision="allow"), by="ann")
        assert await writing == "written"

    run(scenario())


def test_of_very_many_approved_calls_the_newest_still_allow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(grants, "KEPT_GRANTS", 2)
        stage = Stage(tmp_path)
        await stage.open()
        await approved(stage, *({"rawInput": {"command": f"make part{number}"}} for number in range(3)))
        assert await execute(stage, "make", "part1") == "ran"
        assert await execute(stage, "make", "part2") == "ran"
        await refused(stage, execute(stage, "make", "part0"))

    run(scenario())
