"""Files and terminals: by the editor that sent the running prompt, if it offers them; else, or when it has left, by the hub."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.aio import run
from tests.server.acp.editor import TRUSTED, Editor, Json, editor, hub_site, result_of, when

FILES: dict[str, Any] = {"fs": {"readTextFile": True, "writeTextFile": True}}
TERMINAL: dict[str, Any] = {"terminal": True}


def step(method: str, **params: Any) -> list[Any]:
    """The puppet's step that asks its client for something and says the answer."""
    return ["ask", method, params]


def test_an_unsaved_buffer_is_what_the_agent_reads(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet", **FILES) as made:
            session_id = await made.new(site.folder)
            path = site.folder / "a.txt"
            path.write_text("on disk")
            made.serves["fs/read_text_file"] = lambda params: {"content": f"unsaved {params['path']} {params.get('line')}"}
            await made.play(session_id, step("fs/read_text_file", path=str(path), line=3))
            assert f"unsaved {path} 3" in made.text(session_id)
            asked = next(each["params"] for each in made.heard if each.get("method") == "fs/read_text_file")
            assert asked["sessionId"] == session_id, "under the session's id as the editor knows it"

    run(check())


def test_what_a_rule_denies_is_not_read_from_the_editor_either(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet", **FILES) as made:
            site.hub.policies.replace('[[rules]]\npath = ["**/.env"]\naction = "deny"\n')
            session_id = await made.new(site.folder)
            made.serves["fs/read_text_file"] = lambda params: {"content": "s3cret"}
            await made.play(session_id, step("fs/read_text_file", path=str(site.folder / ".env")),
                            step("fs/read_text_file", path=str(site.folder / "sub" / ".." / ".env")))
            assert "s3cret" not in made.text(session_id) and made.text(session_id).count("denies it") == 2
            assert not [each for each in made.heard if each.get("method") == "fs/read_text_file"], "nobody was asked"

    run(check())


def test_an_editor_is_asked_by_absolute_paths_also_where_the_agent_names_others(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "trusted", **FILES) as made:
            session_id = await made.new(site.folder)
            made.serves["fs/read_text_file"] = lambda params: {"content": "buffer"}
            made.serves["fs/write_text_file"] = lambda params: {}
            await made.play(session_id, step("fs/read_text_file", path="sub/../a.txt"),
                            step("fs/write_text_file", path="b.txt", content="x"))
            asked = [each["params"]["path"] for each in made.heard if str(each.get("method")).startswith("fs/")]
            assert asked == [f"{site.folder}/sub/../a.txt", f"{site.folder}/b.txt"]

    run(check())


def test_what_the_editor_does_not_offer_the_hub_does(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "trusted") as made:
            session_id = await made.new(site.folder)
            path = site.folder / "a.txt"
            await made.play(session_id, step("fs/write_text_file", path=str(path), content="by the hub"),
                            step("fs/read_text_file", path=str(path)))
            assert path.read_text() == "by the hub" and '"content": "by the hub"' in made.text(session_id)
            assert made.asks == []

    run(check())


def test_a_file_that_the_editor_has_not_is_read_from_the_disk(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet", **FILES) as made:
            session_id = await made.new(site.folder)
            path = site.folder / "a.txt"
            path.write_text("on disk")
            made.serves["fs/read_text_file"] = lambda params: Exception({"code": -32002, "message": "no buffer"})
            await made.play(session_id, step("fs/read_text_file", path=str(path)))
            assert '"content": "on disk"' in made.text(session_id)

    run(check())


def test_what_the_editor_will_not_write_is_not_written_behind_its_back(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "trusted", **FILES) as made:
            session_id = await made.new(site.folder)
            path = site.folder / "a.txt"
            made.serves["fs/write_text_file"] = lambda params: Exception({"code": -32603, "message": "read only"})
            await made.play(session_id, step("fs/write_text_file", path=str(path), content="x"))
            assert not path.exists() and "read only" in made.text(session_id)

    run(check())


def test_an_editor_serves_within_the_sessions_folder_and_the_rules(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet", **FILES, **TERMINAL) as made:
            session_id = await made.new(site.folder)
            made.serves["fs/read_text_file"] = lambda params: {"content": "secret"}
            made.serves["fs/write_text_file"] = lambda params: {}
            turn = made.play(session_id, step("fs/read_text_file", path="/etc/shadow"),
                             step("fs/write_text_file", path=str(site.folder / "a.txt"), content="x"))
            ask = await made.asked()
            assert ask["params"]["toolCall"]["title"].startswith("Write")
            made.answer(ask, {"outcome": {"outcome": "selected", "optionId": "reject"}})
            await turn
            assert "secret" not in made.text(session_id) and "outside the session's folders" in made.text(session_id)
            assert not [each for each in made.heard if each.get("method", "").startswith("fs/")]

    run(check())


def test_the_editor_whose_prompt_runs_is_the_one_that_serves(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet", **FILES) as one, editor(site, "puppet", **FILES) as two:
            session_id = await one.new(site.folder)
            await two.ask("session/resume", {"sessionId": session_id, "cwd": str(site.folder)})
            one.serves["fs/read_text_file"] = lambda params: {"content": "one's"}
            two.serves["fs/read_text_file"] = lambda params: {"content": "two's"}
            reading = step("fs/read_text_file", path=str(site.folder / "a"))
            first, second = one.play(session_id, reading), two.play(session_id, reading)
            await first
            await second
            await one.until(lambda: one.text(session_id).count("content") == 2)
            assert one.text(session_id).index("one's") < one.text(session_id).index("two's")

    run(check())


def test_when_the_editor_leaves_the_hub_serves_on(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site:
            path = site.folder / "a.txt"
            path.write_text("on disk")
            async with editor(site, "puppet", **FILES) as made:
                session_id = await made.new(site.folder)
                made.play(session_id, step("fs/read_text_file", path=str(path)), step("fs/read_text_file", path=str(path)))
                await made.asked("fs/read_text_file")
            session = await site.hub.session(session_id)
            await when(session, lambda: session.fold.turn is None)
            assert session.fold.last_text.count('"content": "on disk"') == 2

    run(check())


class Terminals:
    """The terminals of an editor: each prints what it was told to run, and ends when released."""

    def __init__(self, made: Editor, prefix: str = "t") -> None:
        self.made = made
        self.commands: dict[str, Json] = {}
        self.released: list[str] = []
        made.serves |= {
            "terminal/create": self._create,
            "terminal/output": lambda params: {"output": f"ran {self.commands[params['terminalId']]['command']}\n",
                                               "truncated": False, "exitStatus": {"exitCode": 0}},
            "terminal/wait_for_exit": lambda params: {"exitCode": 0}, "terminal/kill": lambda params: {},
            "terminal/release": self._release,
        }
        self._prefix = prefix

    def _release(self, params: Json) -> Json:
        self.released.append(params["terminalId"])
        return {}

    def _create(self, params: Json) -> Json:
        terminal_id = f"{self._prefix}{len(self.commands) + 1}"
        self.commands[terminal_id] = params
        return {"terminalId": terminal_id}


def test_a_command_runs_in_the_editors_terminal_and_is_shown_there_by_its_id(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, **TERMINAL) as made, editor(site) as other:
            site.hub.policies.replace(TRUSTED.replace("trusted", "fast"))
            session_id = await made.new(site.folder)
            await other.ask("session/resume", {"sessionId": session_id, "cwd": str(site.folder)})
            terminals = Terminals(made)
            await made.turn(session_id, "/terminal make")
            assert [each["cwd"] for each in terminals.commands.values()] == [str(site.folder)]
            assert terminals.released == ["t1"]
            shown = [item for each in made.updates(session_id) for item in each.get("content") or []
                     if isinstance(item, dict) and item.get("type") == "terminal"]
            assert {item["terminalId"] for item in shown} <= {"t1"}
            foreign = [item for each in other.updates(session_id) for item in each.get("content") or []
                       if isinstance(item, dict) and item.get("type") == "terminal"]
            assert foreign == [], "an editor hears of no terminal that it does not have"

    run(check())


def test_terminals_of_two_editors_do_not_mix_though_they_have_one_name(tmp_path: Path) -> None:
    async def check() -> None:
        async with (hub_site(tmp_path) as site, editor(site, "trusted", **TERMINAL) as one,
                    editor(site, "trusted", **TERMINAL) as two):
            session_id = await one.new(site.folder)
            Terminals(one)
            Terminals(two)
            ids = []
            for made in (one, two):
                await made.play(session_id, step("terminal/create", command=f"by {'one' if made is one else 'two'}"))
                ids.append(made.text(session_id).rpartition('"terminalId": "')[2].partition('"')[0])
            assert len(set(ids)) == 2
            await one.play(session_id, *(step("terminal/output", terminalId=each) for each in ids))
            assert "ran by one" in one.text(session_id) and "ran by two" in one.text(session_id)

    run(check())


def test_what_a_terminal_of_the_editor_printed_is_the_calls_result(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "trusted", **TERMINAL) as made, editor(site) as other:
            session_id = await made.new(site.folder)
            await other.ask("session/resume", {"sessionId": session_id, "cwd": str(site.folder)})
            Terminals(made)
            await made.play(session_id, step("terminal/create", command="make"))
            ours = made.text(session_id).rpartition('"terminalId": "')[2].partition('"')[0]
            terminal = [{"type": "terminal", "terminalId": ours}]
            call: Json = {"toolCallId": "c", "title": "make", "kind": "execute", "status": "in_progress"}
            await made.play(
                session_id, ["update", {"sessionUpdate": "tool_call", **call, "content": terminal}],
                step("terminal/wait_for_exit", terminalId=ours),
                ["update", {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", "content": terminal}])
            (last,) = made.updates(session_id, "tool_call_update")
            assert last["content"] == [{"type": "terminal", "terminalId": "t1"}]
            await other.until(lambda: other.updates(session_id, "tool_call_update"))
            (last,) = other.updates(session_id, "tool_call_update")
            assert last["content"] == [{"type": "content", "content": {"type": "text", "text": "ran make\n"}}]

    run(check())


def test_a_terminal_whose_editor_left_is_gone(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site:
            async with editor(site, "trusted", **TERMINAL) as made:
                session_id = await made.new(site.folder)
                Terminals(made)
                await made.play(session_id, step("terminal/create", command="make"))
                ours = made.text(session_id).rpartition('"terminalId": "')[2].partition('"')[0]
            async with editor(site, "trusted") as other:
                result_of(await other.play(session_id, step("terminal/output", terminalId=ours)))
                assert '"code": -32002' in other.text(session_id)

    run(check())


def test_an_editor_that_leaves_in_the_middle_of_a_wait_ends_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site:
            async with editor(site, "trusted", **TERMINAL) as made:
                session_id = await made.new(site.folder)
                Terminals(made)
                del made.serves["terminal/wait_for_exit"]
                await made.play(session_id, step("terminal/create", command="make"))
                ours = made.text(session_id).rpartition('"terminalId": "')[2].partition('"')[0]
                made.play(session_id, step("terminal/wait_for_exit", terminalId=ours))
                await made.asked("terminal/wait_for_exit")
            session = await site.hub.session(session_id)
            async with asyncio.timeout(60):
                await when(session, lambda: session.fold.turn is None)
            assert "has left" in session.fold.last_text

    run(check())
