"""What interpreting costs beside merely reading: the fold of an update against its msgspec decode, interleaved in one process."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import msgspec

from trunkline.dialects.signals import Signal, Update
from trunkline.session.fold import Fold
from trunkline.session.interpret import Interpreter

CHUNK = msgspec.json.encode({"sessionUpdate": "agent_message_chunk", "content": {
    "type": "text", "text": "some words of an answer that is being streamed, as long as they usually are: about two hundred and "
    "fifty bytes in all with what the protocol puts around them, no more and hardly any less."}})
CHUNKS = 2_000
RESULT_BYTES = 100_000
RESULTS = 60


def chunk_ratio(rounds: int) -> float:
    """Interpreting a plain chunk, in multiples of its decode."""
    signals = [Update(CHUNK)] * CHUNKS
    decode = msgspec.json.Decoder(dict[str, Any]).decode

    def interpret() -> None:
        session = _session()
        on_signals = _taking(session)
        for signal in signals:
            on_signals([signal])
        session.take()

    return ratio(interpret, lambda: [decode(CHUNK) for _ in range(CHUNKS)], rounds)


def result_ratio(rounds: int) -> float:
    """Interpreting a tool's result of 100 KB, in multiples of its decode."""
    text = "\n".join(f"line {number}: what a command printed, neither short nor long" for number in range(1800))[:RESULT_BYTES]
    results = [msgspec.json.encode({
        "sessionUpdate": "tool_call_update", "toolCallId": f"c{number}", "status": "completed",
        "content": [{"type": "content", "content": {"type": "text", "text": text}}]}) for number in range(RESULTS)]
    starts: list[Signal] = [Update(msgspec.json.encode({
        "sessionUpdate": "tool_call", "toolCallId": f"c{number}", "title": "List", "kind": "execute", "status": "in_progress",
        "rawInput": {"command": "ls -l"}})) for number in range(RESULTS)]
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    sessions: list[Interpreter] = []

    def prepare() -> None:
        sessions[:] = [_session()]
        _taking(sessions[0])(starts)
        sessions[0].take()

    def interpret() -> None:
        on_signals = _taking(sessions[0])
        for result in results:
            on_signals([Update(result)])
        sessions[0].take()

    def read() -> None:
        # One after the other: to keep all of them takes fresh memory each time in one process and none in another, three times as
        # long or not, by what was allocated before.
        for result in results:
            decode(result)

    return ratio(interpret, read, rounds, prepare)


def _session() -> Interpreter:
    session = Interpreter(Fold(session_id="ses_1", agent="bench", cwd="/project", created_at=0, updated_at=0))
    session.at(1_790_000_000_000_000).turns.start("turn_1", [msgspec.Raw(b'{"type":"text","text":"go"}')], by="bench")
    session.take()
    return session


def _taking(session: Interpreter) -> Callable[[list[Signal]], object]:
    """How it takes signals: an older tree, which these benchmarks also run on, has another name for it."""
    taking: Callable[[list[Signal]], object] = getattr(session, "on_signals", None) or getattr(session, "hear")  # noqa: B009
    return taking


def ratio(one: Callable[[], object], other: Callable[[], object], rounds: int,
          prepare: Callable[[], None] = lambda: None) -> float:
    """Medians of both, each as often first as second: whoever comes second finds memory that is warm already. Both run once
    before that: how much a process has in hand for 2,000 small objects depends on what it has loaded, not our question."""
    took: tuple[list[float], list[float]] = ([], [])
    prepare()
    one()
    other()
    for number in range(rounds * 4):
        prepare()
        for which in (0, 1) if number % 2 else (1, 0):
            took[which].append(_timed((one, other)[which]))
    return statistics.median(took[0]) / statistics.median(took[1])


def _timed(work: Callable[[], object]) -> float:
    start = time.process_time()  # on the wall, the longer of two would wait more often for whoever else wants the core
    work()
    return time.process_time() - start
