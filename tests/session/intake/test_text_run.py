"""A run of text does to a session what the common way does, to the byte, and ends with whatever else comes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.aio import run
from tests.session.driver.acp.wire import NotedProcess
from tests.session.script import Stage
from tests.tooling.examples import examples
from trunkline.agents.catalog import adhoc
from trunkline.agents.process import AgentProcess
from trunkline.dialects.signals import Signal
from trunkline.errors import StorageError
from trunkline.journal.base import Entry, Group
from trunkline.journal.stores.memory import MemoryJournal
from trunkline.server.live import follow_live
from trunkline.server.packets.frames import packet_frames
from trunkline.session.driver.acp.driver import AcpDriver
from trunkline.session.driver.acp.listing import NoCalls
from trunkline.session.driver.acp.usual_line import LINE_MOST
from trunkline.session.driver.base import TakesText
from trunkline.session.fold import checkpoint
from trunkline.session.fold.caps import Caps
from trunkline.session.intake import intake
from trunkline.session.intake.text_run import TextRun
from trunkline.session.interpret.writer import TEXT_LIMIT
from trunkline.session.session import Session


class Outlet:
    """A reader at the end that takes everything."""

    position = 0

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    def write_now(self, frames: bytes) -> bool:
        self.frames.append(frames)
        return True


class CommonWay:
    """The session's end of a driver, without runs."""

    def __init__(self, session: Session) -> None:
        self._agent = session.agent

    async def spawned(self, pid: int, start_time: int | None, marker: str) -> None:
        """There is no process."""

    def on_signals(self, signals: list[Signal]) -> None:
        self._agent.on_signals(signals)

    def text_run(self, update: bytes) -> tuple[bytes, TakesText] | None:
        return None

    def exited(self, exit: Any, stderr: str) -> None:
        """Nobody does."""


class Played(Stage):
    """A session whose agent's reads are played, at moments of their own."""

    now = 1_790_000_000_000_000

    async def begin(self, *, runs: bool = True) -> None:
        await self.open()
        await self.send()
        self.outlet = Outlet()
        self.driver_of_lines = AcpDriver(
            adhoc("quiet", "quiet"), cwd="/w", env={}, calls=NoCalls(), mcp_servers=[], new_id=lambda: "req-1", version="1",
            sink=self.session.agent if runs else CommonWay(self.session))
        connection = self.driver_of_lines._connection
        connection.process = cast("AgentProcess", NotedProcess())
        self.driver_of_lines._inbox.session_id = "s"
        self.driver_of_lines._deliver_early()
        self.read = connection.receive_data
        self.following = asyncio.get_running_loop().create_task(
            follow_live(self.session.feed, packet_frames, self.outlet, shares=True))
        await asyncio.sleep(0)

    def say(self, *reads: bytes) -> None:
        for data in reads:
            self.now += 700
            self.read(data)

    async def done(self) -> tuple[list[Entry], bytes, bytes]:
        """What is stored, what the session knows, and what a reader saw."""
        await self.session.snapshot()
        entries = await self.journal.read("ses-1", limit=100_000, max_bytes=1 << 30)
        self.following.cancel()
        return entries, checkpoint(self.session.fold), b"".join([*self.outlet.frames, *self._rest()])

    def _rest(self) -> Iterator[bytes]:
        """What the reader has not got: where a busy machine used up the time for calling readers, it goes on by itself."""
        position = self.outlet.position
        while position < self.session.feed.last_seq:
            found = self.session.feed.next_write(position, packet_frames, True)
            assert found is not None, "the tail has all of it"
            frames, position = found
            yield frames

    def _tick(self) -> int:
        return self.now


@pytest.fixture(autouse=True, scope="module")
def _nobody_else_has_a_turn() -> Iterator[None]:
    """On a busy machine the session would let others have theirs in the midst of it, and what follows would be a moment later."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intake, "HOLD_S", 3600.0)
        yield


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The texts that runs took."""
    return watch_runs(monkeypatch.setattr)


def watch_runs(setattr_: Callable[..., None]) -> list[bytes]:
    taken: list[bytes] = []
    goes_on = TextRun.goes_on

    def watched(self: TextRun, token: bytes, update: bytes) -> bool:
        took = goes_on(self, token, update)
        if took:
            taken.append(token)
        return took

    setattr_(TextRun, "goes_on", watched)
    return taken


def line(text: str, kind: str = "agent_message_chunk", session: str = "s", **more: Any) -> bytes:
    update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}, **more}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}}
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


CALL = (b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
        b'{"sessionUpdate":"tool_call","toolCallId":"c","title":"Look"}}}\n')

# -- the same to the byte ------------------------------------------------------------------------------------------------

TOKENS = st.one_of(
    st.text(max_size=12).map(json.dumps).map(str.encode),
    st.text(max_size=12).map(lambda text: json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")),
    st.sampled_from([rb'"\ud800"', rb'"\ud83d\ude00"', rb'"a\"}}}}"', rb'"text"', rb'"a\\"', rb'"a\"', b'"\xff"', b'"\xc3\xa9"',
                     b'"\xc3"', b'"a\tb"', b'""', b'"', b"7", b"null", b'"a" ', b' "a"',
                     b'"a","annotations":{"x":1}', b'"a\\u000a"']))


class Shape(NamedTuple):
    """Lines that differ in their text only."""

    before: bytes
    after: bytes


UPDATE = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
CHUNK = b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":'
SHAPES = [
    Shape(UPDATE + CHUNK, b"}}}}\n"),
    Shape(UPDATE + CHUNK.replace(b"message", b"thought"), b"}}}}\n"),
    Shape(UPDATE + CHUNK.replace(b"agent", b"user"), b"}}}}\n"),
    Shape(UPDATE + b'{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"text":', b',"type":"text"}}}}\n'),
    Shape(UPDATE + CHUNK, b'},"messageId":"m2"}}}\n'),
    Shape(UPDATE + b'{"content": {"text": ', b', "type": "text"}, "sessionUpdate": "agent_message_chunk"} } }\r\n'),
    Shape(UPDATE + CHUNK.replace(b"{", b'{"_meta":{"n":1},', 1), b"}}}}\n"),
    Shape(UPDATE + CHUNK, b'},"content":{"type":"text","text":"b"}}}}\n'),
    Shape(UPDATE.replace(b'"s"', b'"other"') + CHUNK, b"}}}}\n"),
    Shape(b'{"method":"session/update","params":{"update":' + CHUNK, b'}},"sessionId":"s"},"jsonrpc":"2.0"}\n'),
    Shape(b'{"jsonrpc":"2.0","method":', b',"params":{}}\n'),
]
LINES = st.one_of(
    st.tuples(st.sampled_from(SHAPES[:2]), TOKENS).map(lambda drawn: drawn[0].before + drawn[1] + drawn[0].after),
    st.tuples(st.sampled_from(SHAPES), TOKENS).map(lambda drawn: drawn[0].before + drawn[1] + drawn[0].after),
    st.sampled_from([CALL, b"no message\n", b"\n", b'{"id":99,"result":{}}\n', line("x" * 300)]),
)
SAME = st.tuples(LINES, st.integers(1, 6)).map(lambda drawn: [drawn[0]] * drawn[1])
RUNS = st.lists(SAME, max_size=12).map(lambda runs: [each for run in runs for each in run])
CUTS = st.sampled_from(["lines", "all at once", "bytes", "pairs", "halves"])


def cut(lines: list[bytes], how: str) -> list[bytes]:
    """The same bytes as a pipe may bring them."""
    if how == "all at once":
        return [b"".join(lines)]
    if how == "bytes":
        return [bytes([byte]) for each in lines for byte in each]
    if how == "pairs":
        return [b"".join(lines[start:start + 2]) for start in range(0, len(lines), 2)]
    if how == "halves":
        whole = b"".join(lines)
        return [whole[start:start + 90] for start in range(0, len(whole), 90)]
    return lines


async def played(folder: Path, reads: list[bytes], *, runs: bool) -> tuple[list[Entry], bytes, bytes]:
    stage = Played(folder)
    await stage.begin(runs=runs)
    stage.say(*reads)
    await stage.session.agent._intake.settled()
    return await stage.done()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples. Nothing lies in it: a session looks through its folder at each turn."""
    return tmp_path_factory.mktemp("empty")


@given(lines=RUNS, how=CUTS)
@settings(max_examples=examples(40, 375), deadline=None)
def test_both_ways_give_the_same_entries_state_and_frames(empty: Path, lines: list[bytes], how: str) -> None:
    async def compare() -> None:
        reads = cut(lines, how)
        assert await played(empty, reads, runs=True) == await played(empty, reads, runs=False)

    run(compare())


def test_a_run_takes_what_an_agent_says_word_by_word(tmp_path: Path, taken: list[bytes]) -> None:
    async def scenario() -> None:
        stage = Played(tmp_path)
        await stage.begin()
        stage.say(line("I "), line("say \u00e9\n"), line("it "), line("so."))
        stage.say(line("Hm", "agent_thought_chunk"), line(" yes", "agent_thought_chunk"))
        _, _, frames = await stage.done()
        assert taken == [rb'"say \u00e9\n"', b'"it "', b'"so."', b'" yes"']
        assert frames.count(b"event: message") == 7, "the prompt, and six words"
        assert stage.session.agent._watch.active_at > 0

    run(scenario())


def test_the_end_of_a_line_is_no_line_that_others_could_be_like(tmp_path: Path, taken: list[bytes]) -> None:
    async def scenario() -> None:
        stage = Played(tmp_path)
        await stage.begin()
        whole = line("a")
        stage.say(whole[:16], whole[16:], whole[16:], whole, whole)
        entries, _, _ = await stage.done()
        assert b'"malformed"' in b"".join(entry.event for entry in entries)
        assert taken == [b'"a"']

    run(scenario())


# -- what ends it --------------------------------------------------------------------------------------------------------


def test_what_is_done_for_the_agent_meanwhile_comes_before_its_next_word(tmp_path: Path, taken: list[bytes]) -> None:
    async def scenario() -> None:
        stage = Played(tmp_path)
        await stage.begin()
        stage.say(line("a"), line("b"))
        stage.driver_of_lines._emit_late([])
        stage.say(line("c"))
        assert taken == [b'"b"']

    run(scenario())


def test_a_text_that_somebody_closed_is_not_gone_on_with(tmp_path: Path, taken: list[bytes]) -> None:
    async def scenario() -> None:
        stage = Played(tmp_path)
        await stage.begin()
        stage.say(line("a"), line("b"))
        stage.session._recorder.at().text.close()
        stage.say(line("c"))
        entries, _, _ = await stage.done()
        assert taken == [b'"b"']
        types = [json.loads(entry.event)["type"] for entry in entries[-3:]]
        assert types == ["message:complete", "message:start", "message:delta"]

    run(scenario())


def test_what_waits_to_be_written_is_written_first(tmp_path: Path, taken: list[bytes]) -> None:
    async def scenario() -> None:
        stage = Played(tmp_path)
        await stage.begin()
        stage.say(line("a"), line("b"))
        stage.session._recorder.at().writer.custom("news", {})
        stage.say(line("c"), line("d"))
        entries, _, _ = await stage.done()
        assert [entry.seq for entry in entries] == [*range(1, len(entries) + 1)]
        assert entries[-2].step is not None, "what changed is stored with the chunk behind it"
        assert taken == [b'"b"', b'"d"']

    run(scenario())


def test_where_there_are_caps_each_chunk_has_them_looked_at(tmp_path: Path, taken: list[bytes]) -> None:
    async def scenario() -> None:
        stage = Played(tmp_path)
        await stage.begin()
        stage.say(line("a"), line("b"))
        await stage.session.settings.set_limits(Caps(tokens=1000), None, by="ann")
        stage.say(line("c"), line("d"))
        assert taken == [b'"b"']

    run(scenario())


def test_a_long_line_and_a_long_text_go_the_common_way(tmp_path: Path, taken: list[bytes]) -> None:
    async def scenario() -> None:
        stage = Played(tmp_path)
        await stage.begin()
        stage.say(line("a"), line("x" * LINE_MOST), line("b"), line("c"))
        assert taken == [b'"c"']
        stage.say(*[line("y" * 10_000)] * (TEXT_LIMIT // 10_000 + 2))
        took = len(taken)
        stage.say(line("d"), line("e"))
        assert len(taken) == took, "more than an event may carry: only the newest is kept"

    run(scenario())


# -- storing -------------------------------------------------------------------------------------------------------------


class Failing(MemoryJournal):
    """A journal that can refuse."""

    fails = False

    def append_now(self, group: Group) -> bool:
        if self.fails:
            raise StorageError("no room")
        return super().append_now(group)


def test_words_that_cannot_be_stored_are_kept_in_order_and_seen_by_nobody(tmp_path: Path) -> None:
    async def scenario() -> None:
        journal = Failing()
        stage = Played(tmp_path, journal=journal)
        await stage.begin()
        stage.say(line("a"), line("b"))
        seen = len(stage.outlet.frames)
        journal.fails = True
        stage.say(line("c"), line("d"))
        assert len(stage.outlet.frames) == seen and not stage.session._recorder.all_stored
        assert stage.committer.pending_bytes == 0
        journal.fails = False
        stage.session._recorder._offer_again()
        stage.say(line("e"))
        entries, _, frames = await stage.done()
        assert [entry.seq for entry in entries] == [*range(1, len(entries) + 1)]
        assert [json.loads(entry.event)["delta"] for entry in entries[-3:]] == ["c", "d", "e"]
        assert [frames.count(b'"text":"%c"' % word) for word in b"abcde"] == [1] * 5

    run(scenario())
