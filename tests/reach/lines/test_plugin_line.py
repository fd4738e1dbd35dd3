"""The line of a plugin, from its connection to the session's journal: asks and their four ends, words, prompts, processes."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from tests.aio import eventually, run
from tests.reach.test_desk import data_folder
from tests.tooling.stores import opencode
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.context.envelope import decode_event
from trunkline.discovery.told import TOLD
from trunkline.hub import Answer, Decision, Hub, HubOptions, Session
from trunkline.journal.base import RowFilter
from trunkline.reach.door import Door
from trunkline.reach.install import RECORDS
from trunkline.reach.lines import plugin_line
from trunkline.reach.socket import SOCKET_FILE

SESSION = "ses_e1b22f15bffeR27A7NwqznbVUo"
DENY = '[[rules]]\ncommand = ["touch forbidden"]\nreason = "not that one"\naction = "deny"\n'
ALLOW = '[[rules]]\ncommand = ["touch *"]\naction = "allow"\n'
LATER = 1794841300000


class Program:
    """OpenCode with its store and our plugin, as far as the hub sees them."""

    def __init__(self, hub: Hub, data: Path, store: Path) -> None:
        self.hub = hub
        self._data = data
        self._store = store
        self._rows = 0

    async def connect(self) -> None:
        self._reader, self._writer = await asyncio.open_unix_connection(str(self._data / SOCKET_FILE))
        self._writer.write(f"trunkline 1 opencode line {os.getpid()} 0\n".encode())

    def tells(self, kind: str, session: str = SESSION, **properties: Any) -> None:
        self._writer.write(json.dumps({"type": kind, "properties": {"sessionID": session, **properties}}).encode() + b"\n")

    def asks(self, ask_id: str, command: str, **more: Any) -> None:
        self.tells("permission.asked", **{"id": ask_id, "permission": "bash", "metadata": {"command": command},
                                          "tool": {"messageID": "msg_2", "callID": f"call_{ask_id}"}, **more})

    async def order(self) -> Any:
        return json.loads(await self._reader.readline())

    def has_order(self) -> bool:
        return bool(self._reader._buffer)  # type: ignore[attr-defined]

    def hangs_up(self) -> None:
        self._writer.close()

    def stores(self, table: str, row_id: str, data: Any, message_id: str | None = None, session: str = SESSION) -> None:
        self._rows += 1
        at = LATER + self._rows
        row = {"id": row_id, "session_id": session, "time_created": at, "time_updated": at, "data": json.dumps(data),
               **({} if message_id is None else {"message_id": message_id})}
        with closing(sqlite3.connect(self._store)) as store, store:
            names = ", ".join(row)
            store.execute(f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))

    def prompts(self, text: str, message_id: str = "msg_1") -> None:
        self.stores("message", message_id, {"role": "user", "time": {"created": LATER}})
        self.stores("part", f"prt_{message_id}", {"type": "text", "text": text}, message_id)

    def begins(self, ask_id: str, command: str, message_id: str = "msg_2") -> None:
        """It stores a call that runs, or is about to."""
        self.stores("message", message_id, {"role": "assistant", "time": {"created": LATER}})
        self.stores("part", f"prt_{ask_id}", {"type": "tool", "tool": "bash", "callID": f"call_{ask_id}", "state": {
            "status": "running", "input": {"command": command}, "time": {"start": LATER}}}, message_id)

    def begins_sub_agent(self) -> str:
        """It stores a session that works for this one."""
        with closing(sqlite3.connect(self._store)) as store, store:
            columns = [row[1] for row in store.execute("PRAGMA table_info(session)")]
            names = ", ".join(name for name in columns if name not in ("id", "parent_id"))
            store.execute(f"INSERT INTO session (id, parent_id, {names}) SELECT 'ses_child', id, {names} FROM session")
        return "ses_child"

    def ends(self, ask_id: str, command: str, message_id: str = "msg_2") -> None:
        """It stores a call that ran."""
        self.stores("message", message_id, {"role": "assistant", "time": {"created": LATER}})
        self.stores("part", f"prt_{ask_id}", {"type": "tool", "tool": "bash", "callID": f"call_{ask_id}", "state": {
            "status": "completed", "input": {"command": command}, "time": {"start": LATER, "end": LATER}}}, message_id)

    async def has_call(self, call_id: str) -> None:
        """Wait until its session has that call."""
        self.tells("trunkline.shows")
        session = await self.followed()
        await eventually(lambda: call_id in session.fold.calls)

    async def pending(self) -> Any:
        await eventually(self.hub.pending)
        (ask,) = self.hub.pending()
        return ask

    def asked(self) -> list[str]:
        """The commands that wait."""
        asks: list[Any] = list(self.hub.pending())
        return [ask.approval.about.command for ask in asks]

    async def decide(self, ask: Any, **decision: Any) -> None:
        session = await self.hub.session(ask.session_id)
        await session.approvals.decide(ask.approval.request_id, Decision(**decision), by="somebody")

    async def followed(self) -> Session:
        """The session, once it has the line."""
        while True:
            for view in await self.hub.list(RowFilter(limit=10)):
                if view.agent_session_id == SESSION and view.line:
                    return await self.hub.session(view.id)
            await asyncio.sleep(0.05)

    async def events(self, session_id: str, kind: str) -> list[Any]:
        session = await self.hub.session(session_id)
        await session.snapshot()
        events = [decode_event(entry.event) for entry in await session.feed.read(after=0)]
        return [event for event in events if type(event).__name__ == kind]

    async def ended(self, ask: Any) -> Any:
        await eventually(lambda: not self.hub.pending())
        return (await self.events(ask.session_id, "ApprovalResolvedEvent"))[-1]


@asynccontextmanager
async def program(policy: str = "", **options: Any) -> AsyncIterator[Program]:
    with tempfile.TemporaryDirectory(prefix="tl-") as name:
        data, made = data_folder(name, policy), opencode(Path(name))
        async with Hub(HubOptions(data=data, **options), environ={"HOME": name, "PATH": os.defpath}) as hub:
            door = Door(hub, data)
            await door.open()
            there = Program(hub, data, made.file)
            await there.connect()
            try:
                yield there
            finally:
                there.hangs_up()
                await door.close()


def check(scenario: Callable[[Program], Any], policy: str = "", **options: Any) -> None:
    async def within() -> None:
        async with program(policy, **options) as there:
            await scenario(there)

    run(within())


def test_an_ask_is_about_the_call_that_is_stored_and_is_allowed_here() -> None:
    async def scenario(there: Program) -> None:
        there.prompts("please")
        there.asks("per_1", "touch a1")
        there.begins("per_1", "touch a1")  # the program stores it as it asks
        ask = await there.pending()
        assert (ask.approval.tool_call_id, ask.approval.about.command) == ("call_per_1", "touch a1")
        await there.decide(ask, decision="allow")
        assert await there.order() == {"do": "reply", "requestID": "per_1", "reply": "once"}
        end = await there.ended(ask)
        assert (end.approved, end.meta["by"]) == (True, "somebody")

    check(scenario)


def test_a_denial_goes_out_with_its_reason_and_always_as_once() -> None:
    async def scenario(there: Program) -> None:
        there.prompts("please")
        there.begins("per_1", "touch a1")
        there.asks("per_1", "touch a1")
        await there.decide(await there.pending(), decision="deny", reason="use a2")
        assert await there.order() == {"do": "reply", "requestID": "per_1", "reply": "reject", "message": "use a2"}
        there.begins("per_2", "touch a2", "msg_3")
        there.asks("per_2", "touch a2")
        await there.decide(await there.pending(), option_id="always")
        assert await there.order() == {"do": "reply", "requestID": "per_2", "reply": "once"}

    check(scenario)


def test_an_answer_in_the_terminal_ends_it_here_and_says_which() -> None:
    async def scenario(there: Program) -> None:
        there.prompts("please")
        for ask_id, reply, approved, words in (("per_1", "once", True, "allowed"), ("per_2", "reject", False, "not allowed")):
            there.begins(ask_id, f"touch {ask_id}", f"msg_{ask_id}")
            there.asks(ask_id, f"touch {ask_id}")
            ask = await there.pending()
            there.tells("permission.replied", requestID=ask_id, reply=reply)
            end = await there.ended(ask)
            assert (end.approved, end.reason, end.meta["by"]) == (approved, f"answered in the terminal: {words}", "terminal")

    check(scenario)


def test_a_line_that_is_lost_takes_its_asks_with_it_and_brings_them_back() -> None:
    async def scenario(there: Program) -> None:
        there.prompts("please")
        there.begins("per_1", "touch a1")
        there.asks("per_1", "touch a1")
        ask = await there.pending()
        there.hangs_up()
        end = await there.ended(ask)
        assert (end.approved, end.reason) == (False, "the line to its program was lost; it asks in its terminal")
        await there.connect()
        there.asks("per_1", "touch a1")
        await there.decide(await there.pending(), decision="allow")
        assert (await there.order())["reply"] == "once"

    check(scenario)


def test_a_rule_that_denies_answers_at_once_and_one_that_allows_only_where_nobody_else_may() -> None:
    async def denies(there: Program) -> None:
        there.prompts("please")
        there.begins("per_1", "touch forbidden")
        there.asks("per_1", "touch forbidden")
        assert (await there.order())["message"].endswith("not that one")

    async def asks(there: Program) -> None:
        there.prompts("please")
        there.begins("per_1", "touch a1")
        there.asks("per_1", "touch a1", alone=True)
        await there.pending()

    async def asks_not_alone(there: Program) -> None:
        there.prompts("please")
        there.begins("per_1", "touch a1")
        there.asks("per_1", "touch a1", alone=False)
        await there.pending()

    async def allows(there: Program) -> None:
        there.prompts("please")
        there.begins("per_1", "touch a1")
        there.asks("per_1", "touch a1", alone=True)
        assert (await there.order())["reply"] == "once"

    check(denies, DENY)
    check(asks, ALLOW)
    check(asks_not_alone, ALLOW, terminal_rules=True)
    check(allows, ALLOW, terminal_rules=True)


def test_whether_a_call_that_repeats_itself_goes_on_is_a_persons_to_say() -> None:
    def repeats(there: Program, command: str, **tool: Any) -> None:
        there.tells("permission.asked", id="per_1", permission="doom_loop", alone=True,
                    metadata={"tool": "bash", "input": {"command": command}}, **tool)

    async def asks(there: Program) -> None:
        there.prompts("please")
        there.begins("per_1", "touch a1")
        repeats(there, "touch a1", tool={"callID": "call_per_1"})
        ask = await there.pending()
        assert ask.approval.about.command == "touch a1" and ask.approval.title == "The same again: touch a1"

    async def asks_without_the_call(there: Program) -> None:
        there.prompts("please")
        repeats(there, "touch a1")
        assert (await there.pending()).approval.about.command == "touch a1"

    async def denies(there: Program) -> None:
        there.prompts("please")
        repeats(there, "touch forbidden")
        assert (await there.order())["message"].endswith("not that one")

    check(asks, ALLOW, terminal_rules=True)
    check(asks_without_the_call, ALLOW, terminal_rules=True)
    check(denies, DENY)


def test_a_question_is_answered_here() -> None:
    async def scenario(there: Program) -> None:
        there.prompts("please")
        question = {"question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]}
        there.tells("question.asked", id="que_1", questions=[question])
        ask = await there.pending()
        session = await there.hub.session(ask.session_id)
        await session.approvals.answer(ask.question.question_id, Answer(action="accept", content={"answer": "Blue"}), by="me")
        assert await there.order() == {"do": "answer", "requestID": "que_1", "answers": [["Blue"]]}

    check(scenario)


def test_words_are_told_before_they_are_stored_and_not_again_then() -> None:
    async def scenario(there: Program) -> None:
        there.prompts("please")
        there.tells("session.status", status={"type": "busy"})
        there.stores("message", "msg_2", {"role": "assistant", "time": {"created": LATER}})
        there.tells("trunkline.words", partID="prt_9", text="Hello", thinking=False)
        session = await there.followed()
        await eventually(lambda: session.fold.text is not None)
        there.tells("trunkline.words", partID="prt_9", text=" you.", thinking=False)
        there.tells("trunkline.whole", text="Hello you.")
        there.stores("part", "prt_9", {"type": "text", "text": "Hello you.", "time": {"start": 1, "end": 2}}, "msg_2")
        there.stores("message", "msg_2", {"role": "assistant", "finish": "stop", "time": {"completed": LATER + 9}})
        there.tells("session.idle")
        await eventually(lambda: session.fold.turn is None)
        texts = [event.content for event in await there.events(session.id, "MessageCompleteEvent")]
        assert json.dumps(texts[-1], default=str).count("Hello you.") == 1 and "Hello" not in json.dumps(texts[:-1], default=str)

    check(scenario)


def test_a_prompt_goes_out_and_comes_back_once_and_one_that_is_refused_is_told() -> None:
    async def scenario(there: Program) -> None:
        there.tells("trunkline.shows")
        session = await there.followed()
        accepted = await session.turns.send([TextContent(text="say hello")], by="me")
        order = await there.order()
        assert (order["do"], order["id"], order["parts"]) == ("prompt", accepted.turn_id, [{"type": "text", "text": "say hello"}])
        there.prompts("say hello")
        session.agent.look_again()
        await eventually(lambda: session.fold.turn is not None)
        assert session.fold.turn is not None and session.fold.turn.turn_id == accepted.turn_id
        await session.turns.cancel(by="me")
        assert await there.order() == {"do": "abort", "sessionID": SESSION}
        there.stores("message", "msg_2", {"role": "assistant", "error": {"name": "MessageAbortedError"}, "time": {}})
        session.agent.look_again()
        await eventually(lambda: session.fold.turn is None)
        accepted = await session.turns.send([TextContent(text="again")], by="me")
        await there.order()
        there.tells("trunkline.done", id=accepted.turn_id, ok=False, why="no such session")
        await eventually(lambda: not session.fold.ahead)
        assert session.fold.turn is None

    check(scenario)


def test_what_a_sub_agent_asks_is_asked_in_the_session_that_it_works_for() -> None:
    async def scenario(there: Program) -> None:
        there.begins_sub_agent()
        there.prompts("please")
        there.tells("permission.asked", "ses_child", id="per_1", permission="bash", metadata={"command": "touch a1"})
        there.tells("trunkline.words", "ses_child", partID="prt_c", text="of the sub-agent", thinking=False)
        ask = await there.pending()
        session = await there.hub.session(ask.session_id)
        assert session.fold.agent_session_id == SESSION and session.fold.text is None
        await there.decide(ask, decision="allow")
        assert (await there.order())["requestID"] == "per_1"

    check(scenario)


def test_a_call_that_has_ended_is_not_what_a_later_ask_of_the_same_id_is_about() -> None:
    async def scenario(there: Program) -> None:
        there.prompts("please")
        there.ends("per_1", "touch a1")
        await there.has_call("call_per_1")
        there.asks("per_2", "make other", tool={"messageID": "msg_3", "callID": "call_per_1"}, alone=True)
        await eventually(lambda: there.hub.pending() or there.has_order())
        assert there.asked() == ["make other"]

    check(scenario, ALLOW, terminal_rules=True)


def test_an_ask_of_a_sub_agent_is_not_about_the_call_of_the_same_id_that_its_session_has() -> None:
    async def scenario(there: Program) -> None:
        there.prompts("please")
        there.begins("per_1", "touch a1")
        await there.has_call("call_per_1")
        child = there.begins_sub_agent()
        there.asks("per_2", "make other", session=child, tool={"messageID": "msg_3", "callID": "call_per_1"}, alone=True)
        await eventually(lambda: there.hub.pending() or there.has_order())
        assert there.asked() == ["make other"]

    check(scenario, ALLOW, terminal_rules=True)


def test_which_program_has_a_session_is_known_while_its_line_is_open() -> None:
    async def scenario(there: Program) -> None:
        there.tells("trunkline.shows")
        await there.followed()
        assert TOLD.holder_of(SESSION) == os.getpid()
        there.tells("trunkline.shows", "")
        await eventually(lambda: TOLD.holder_of(SESSION) is None)
        assert TOLD.tells(os.getpid())
        there.tells("session.status", status={"type": "busy"})
        await eventually(lambda: TOLD.holder_of(SESSION) is not None)
        there.hangs_up()
        await eventually(lambda: not TOLD.tells(os.getpid()))

    check(scenario)


def test_junk_is_passed_over_and_a_session_that_is_nowhere_is_nobodys() -> None:
    async def scenario(there: Program) -> None:
        there._writer.write(b"junk\n\xff\xfe\n[]\n{}\nnull\n" + b"x" * 100_000 + b"\n")
        there.tells("permission.asked", "ses_nowhere", id="per_0", permission="bash", metadata={})
        there.prompts("please")
        there.begins("per_1", "touch a1")
        there.asks("per_1", "touch a1")
        ask = await there.pending()
        assert ask.approval.about.command == "touch a1"

    check(scenario)


def test_what_is_not_stored_in_time_is_asked_as_the_plugin_told_it() -> None:
    async def scenario(there: Program) -> None:
        there.prompts("please")
        there.asks("per_1", "touch a1")
        ask = await there.pending()
        assert ask.approval.about.command == "touch a1" and ask.approval.tool_call_id == "call_per_1"

    check(scenario)


def test_a_program_with_too_many_sessions_has_its_line_in_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(there: Program) -> None:
        there.tells("trunkline.shows")
        session = await there.followed()
        for number in range(2):
            there.tells("session.status", f"ses_other{number}", status={"type": "busy"})
        await eventually(lambda: not session.fold.line)

    monkeypatch.setattr(plugin_line, "SESSIONS_MOST", 2)
    check(scenario)


def test_a_plugin_that_tells_too_much_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(there: Program) -> None:
        for number in range(20):
            there.tells("trunkline.words", "ses_nowhere", partID="prt_1", text=f"{number}", thinking=False)
        assert await there._reader.read() == b""

    monkeypatch.setattr(plugin_line, "EVENTS_MOST", 10)
    check(scenario)


def test_a_plugin_that_tells_too_many_bytes_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(there: Program) -> None:
        for number in range(5):
            there.tells("trunkline.words", "ses_nowhere", partID="prt_1", text=f"{number}" * 300, thinking=False)
        assert await there._reader.read() == b""

    monkeypatch.setattr(plugin_line, "TOLD_BYTES", 1_000)
    check(scenario)


def test_a_plugin_that_is_taken_out_while_its_line_is_open_is_hung_up_on() -> None:
    async def scenario(there: Program) -> None:
        there.asks("per_1", "touch a1")
        await there.pending()
        (there._data / RECORDS / "opencode.json").unlink()
        reader, writer = await asyncio.open_unix_connection(str(there._data / SOCKET_FILE))
        writer.write(b"trunkline 1 - lines 0 0\n")
        assert (await reader.read()).endswith(b"looked")
        writer.close()
        assert await there._reader.read() == b""
        await eventually(lambda: not there.hub.pending())

    check(scenario)


def test_a_plugin_that_was_taken_out_is_hung_up_on_when_it_connects() -> None:
    async def scenario(there: Program) -> None:
        there.hangs_up()
        (there._data / RECORDS / "opencode.json").unlink()
        await there.connect()
        there.asks("per_1", "touch a1")
        assert await there._reader.read() == b"" and not there.hub.pending()

    check(scenario)


def test_what_a_sub_agent_asks_by_patterns_alone_is_shown_and_denied_by_them_and_never_allowed() -> None:
    denies = '[[rules]]\npath = ["**/.env"]\nreason = "not that one"\naction = "deny"\n'
    allows = '[[rules]]\ncategory = ["file_read"]\nrisk = ["low", "medium", "high"]\naction = "allow"\n'

    def asks(there: Program, path: str) -> None:
        there.begins_sub_agent()
        there.prompts("please")
        there.tells("permission.asked", "ses_child", id="per_1", permission="read", metadata={}, patterns=[path],
                    alone=True)

    async def is_denied(there: Program) -> None:
        asks(there, ".env")
        assert (await there.order())["message"].endswith("not that one")

    async def is_shown(there: Program) -> None:
        asks(there, "notes.txt")
        ask = await there.pending()
        assert any(path.endswith("/notes.txt") for path in ask.approval.about.paths) and not ask.approval.rules_allow

    check(is_denied, denies + allows, terminal_rules=True)
    check(is_shown, denies + allows, terminal_rules=True)
