"""What is measured, a function per letter; each returns rows of (what, figure, target, met)."""

from __future__ import annotations

import http.client
import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from benchmarks.fold import chunk_ratio, result_ratio
from benchmarks.machine import HERE, START_S, BareAgent, HubProcess, cpu_s, rss_mb
from benchmarks.risk import SHORT_BYTES, growth, middle_and_worst, risk_ratio, risk_times
from benchmarks.wire import Api, connect, open_stream, prompt_request, stream_request

TEXT = 100
"""Bytes of text per chunk: a line of some 250 bytes, as agents send them."""

MARK = b"\nid: "

REST_S = 0.02


class Figure(NamedTuple):
    """One line of the report."""

    what: str
    value: str
    target: str
    met: bool | None


class Scale(NamedTuple):
    """How much of everything; ``--quick`` is a tenth."""

    rounds: int
    factor: float

    def of(self, count: int) -> int:
        """A count at this scale."""
        return max(1, int(count * self.factor))


class ReaderProcess:
    """Streams that are read in another process, as clients are."""

    def __init__(self, host: str, port: int, requests: list[bytes], wanted: int, within_s: float) -> None:
        self._process = subprocess.Popen([sys.executable, "-m", "benchmarks.readers"], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, cwd=HERE.parent)
        assert self._process.stdin is not None and self._process.stdout is not None
        job = {"host": host, "port": port, "requests": [request.decode() for request in requests], "wanted": wanted,
               "within_s": within_s}
        self._process.stdin.write(json.dumps(job).encode())
        self._process.stdin.close()
        if self._process.stdout.readline().strip() != b"ready":
            raise RuntimeError("the readers did not connect")

    def result(self) -> dict[str, Any]:
        """What they counted, once they are done."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        self._process.wait(30)
        found: dict[str, Any] = json.loads(line)
        return found


class FlatOut(NamedTuple):
    """Chunks per second through the hub and over a bare pipe, and the hub's CPU per chunk, each a figure per round."""

    carried: list[float]
    piped: list[float]
    cpu_us: list[float]
    lost: int

    @property
    def ratio(self) -> float:
        """Of the bare pipe's rate, that the hub reaches: the median of paired rounds."""
        return statistics.median(ours / pipe for ours, pipe in zip(self.carried, self.piped, strict=True))


def flat_out(scale: Scale) -> list[Figure]:
    """(a) chunks per second to a reader in another process against a bare pipe; (b) hub CPU per chunk against json.loads."""
    found = run_flat_out(scale)
    loads_us, per_chunk = _json_loads_us(), statistics.median(found.cpu_us)
    return [
        Figure("a  chunks/s, agent to SSE reader", f"{statistics.median(found.carried):,.0f}", "", None),
        Figure("a  chunks/s, bare pipe with json.loads", f"{statistics.median(found.piped):,.0f}", "", None),
        Figure("a  ratio", f"{found.ratio:.2f}", ">= 0.5", found.ratio >= 0.5),
        Figure("a  frames lost", str(found.lost), "0", found.lost == 0),
        Figure("b  hub CPU per chunk", f"{per_chunk:.1f} us = {per_chunk / loads_us:.1f} x json.loads", "<= 5 x",
               per_chunk <= 5 * loads_us),
    ]


def run_flat_out(scale: Scale) -> FlatOut:
    """As fast as it goes, the pipe and the hub in turns."""
    count = scale.of(100_000)
    piped, carried, cpu, lost = [], [], [], 0
    with HubProcess() as hub, BareAgent() as bare:
        api = Api(hub)
        session = api.new_session()
        for _ in range(scale.rounds):
            begin = time.perf_counter()
            bare.prompt(f"burst {count} {TEXT}")
            piped.append(count / (time.perf_counter() - begin))
            after = api.wait_idle(session)["lastSeq"]
            # One frame more than chunks: the prompt's own, and the turn's end.
            reader = ReaderProcess(hub.host, hub.port, [stream_request(hub, session, after)], count + 2, 120)
            used, begin = cpu_s(hub.pid), time.monotonic()
            api.send(session, f"burst {count} {TEXT}")
            seen = reader.result()
            carried.append(count / (seen["last_at"] - begin))
            cpu.append((cpu_s(hub.pid) - used) / count * 1e6)
            lost += count + 2 - seen["frames"][0]
    return FlatOut(carried, piped, cpu, lost)


def round_trip(scale: Scale) -> list[Figure]:
    """(c) what the hub adds to the time from a prompt to its echo while nothing else runs; beside it a hub without SQLite.

    A closed loop: the next prompt goes out when the turn before has ended. The last row is the same after some rest, when
    processor and caches have to be woken first, on either side."""
    turns = scale.of(300)
    with HubProcess() as hub, HubProcess(memory=True) as control, BareAgent() as bare:
        ours, theirs = Echo(hub), Echo(control)
        added: dict[str, list[float]] = {"ours": [], "theirs": [], "rested": []}
        ratios: dict[str, list[float]] = {"ours": [], "rested": []}
        for _ in range(10):
            base = statistics.median(bare.first_update_s("echo") for _ in range(turns // 10))
            added["ours"] += [1000 * (ours.once() - base) for _ in range(turns // 10)]
            ratios["ours"].append(1 + statistics.median(added["ours"][-(turns // 10):]) / 1000 / base)
            added["theirs"] += [1000 * (theirs.once() - base) for _ in range(turns // 10)]
            rested = [(bare.first_update_s("echo", REST_S), ours.once(REST_S)) for _ in range(turns // 30)]
            added["rested"] += [1000 * (through - without) for without, through in rested]
            ratios["rested"] += [through / without for without, through in rested]
    p50 = statistics.median(added["ours"])
    return [
        Figure("c  added round trip, p50", f"{p50:.2f} ms", "<= 1 ms", p50 <= 1.0),
        Figure("c  added round trip, p99", f"{_p99(added['ours']):.2f} ms", "reported", None),
        Figure("c  without SQLite, p50 / p99", f"{statistics.median(added['theirs']):.2f} / {_p99(added['theirs']):.2f} ms",
               "control", None),
        Figure(f"c  after {1000 * REST_S:.0f} ms of rest, p50", f"{statistics.median(added['rested']):.2f} ms", "reported", None),
        Figure("c  an echo, in echoes of a bare pipe", f"{statistics.median(ratios['ours']):.1f} x", "reported", None),
        Figure("c  the same after rest", f"{statistics.median(ratios['rested']):.1f} x", "reported", None),
    ]


def many_readers(scale: Scale) -> list[Figure]:
    """(d) 500 readers of one session at 200 chunks/s, against a raw server."""
    readers, rate, seconds = scale.of(500), 200, 5
    count = rate * seconds
    ours, raw, complete = [], [], True
    for _ in range(max(1, scale.rounds // 2)):
        with HubProcess() as hub:
            api = Api(hub)
            session = api.new_session()
            after = api.wait_idle(session)["lastSeq"]
            requests = [stream_request(hub, session, after)] * readers
            process = ReaderProcess(hub.host, hub.port, requests, count + 2, 60)
            api.send(session, f"pace {count} {TEXT} {rate}")
            seen = process.result()
            complete = complete and all(frames == count + 2 for frames in seen["frames"])
            ours.append(sum(seen["frames"]) / (seen["last_at"] - seen["first_at"]))
        raw.append(_raw_throughput(readers, count, rate))
    ratio = statistics.median(ours) / statistics.median(raw)
    return [
        Figure(f"d  frames/s to {readers} readers", f"{statistics.median(ours):,.0f}", "", None),
        Figure("d  frames/s, raw server", f"{statistics.median(raw):,.0f}", "", None),
        Figure("d  ratio", f"{ratio:.2f}", ">= 0.8", ratio >= 0.8),
        Figure("d  all delivered", str(complete), "True", complete),
    ]


def many_sessions(scale: Scale) -> list[Figure]:
    """(e) 200 sessions at 20 chunks/s each, one reader each: hub CPU per chunk."""
    sessions, rate, window_s, windows = scale.of(200), 20, 4, 5
    count = rate * (window_s * windows + 2)
    with HubProcess() as hub:
        api = Api(hub)
        ids = [api.new_session() for _ in range(sessions)]
        requests = [stream_request(hub, session, api.wait_idle(session)["lastSeq"]) for session in ids]
        process = ReaderProcess(hub.host, hub.port, requests, count + 2, 60)
        for session in ids:
            api.send(session, f"pace {count} {TEXT} {rate}")
        samples = []
        for _ in range(windows):
            used, begin = cpu_s(hub.pid), time.monotonic()
            time.sleep(window_s)
            samples.append((cpu_s(hub.pid) - used) / (sessions * rate * (time.monotonic() - begin)) * 1e6)
        per_chunk = statistics.median(samples)
        seen = process.result()
    complete = all(frames == count + 2 for frames in seen["frames"])
    return [
        Figure(f"e  hub CPU per chunk, {sessions} sessions paced", f"{per_chunk:.0f} us", "<= 90 us", per_chunk <= 90),
        Figure("e  all delivered", str(complete), "True", complete),
    ]


def replay(scale: Scale) -> list[Figure]:
    """(f) reading a long session back, and one a tenth as long: the cost is linear."""
    rates = {}
    with HubProcess() as hub:
        api = Api(hub)
        for count in (scale.of(10_000), scale.of(100_000)):
            session = api.new_session()
            api.send(session, f"burst {count} {TEXT}")
            api.wait_idle(session)
            took = []
            for _ in range(scale.rounds):
                seen = ReaderProcess(hub.host, hub.port, [stream_request(hub, session, 0)], count + 2, 120).result()
                took.append(seen["last_at"] - seen["asked_at"])
            rates[count] = count / statistics.median(took)
    (short, short_rate), (long, long_rate) = sorted(rates.items())
    return [
        Figure(f"f  replay of {short:,} entries", f"{short_rate:,.0f} entries/s", "", None),
        Figure(f"f  replay of {long:,} entries", f"{long_rate:,.0f} entries/s", "as fast", long_rate >= 0.6 * short_rate),
    ]


def at_rest(scale: Scale) -> list[Figure]:
    """(g) memory of an idle hub, and the time from its start to its first answer."""
    starts, idle = [], []
    for _ in range(scale.rounds):
        with HubProcess() as hub:
            starts.append(_first_answer_s(hub) * 1000)
            time.sleep(1.0)
            idle.append(rss_mb(hub.pid))
    start, memory = statistics.median(starts), statistics.median(idle)
    return [
        Figure("g  start to first answer", f"{start:.0f} ms", "<= 250 ms", start <= 250),
        Figure("g  idle memory", f"{memory:.1f} MB", "<= 40 MB", memory <= 40),
    ]


def stalled_reader(scale: Scale) -> list[Figure]:
    """(h) the same long run with and without a reader that stops reading."""
    count = scale.of(200_000)
    memory = {}
    for stalled in (False, True):
        with HubProcess() as hub:
            api = Api(hub)
            session = api.new_session()
            after = api.wait_idle(session)["lastSeq"]
            stuck = open_stream(hub, session, after, receive_buffer=4096) if stalled else None
            reader = ReaderProcess(hub.host, hub.port, [stream_request(hub, session, after)], count + 2, 120)
            api.send(session, f"burst {count} {TEXT}")
            reader.result()
            memory[stalled] = rss_mb(hub.pid)
            if stuck is not None:
                caught_up = _count_frames(stuck, count + 2)
    grown = memory[True] - memory[False]
    return [
        Figure("h  memory after a long run", f"{memory[False]:.0f} MB", "", None),
        Figure("h  more with a stalled reader", f"{grown:+.1f} MB", "<= 20 MB", grown <= 20),
        Figure("h  the stalled reader came back and got", f"{caught_up:,} of {count + 2:,}", "all", caught_up == count + 2),
    ]


def interpretation(scale: Scale) -> list[Figure]:
    """i: what the fold adds to reading an update."""
    rounds = max(1, int(scale.rounds * scale.factor))
    chunk, result, risk = chunk_ratio(rounds), result_ratio(rounds), risk_ratio(rounds)
    return [Figure("i  interpreting a chunk, in decodes of it", f"{chunk:.1f} x", "<= 6 x", chunk <= 6),
            Figure("i  interpreting a result of 100 KB", f"{result:.1f} x", "<= 9 x", result <= 9),
            Figure("i  judging 1 KB of tiny commands, in parses of it", f"{risk:.1f} x", "<= 12 x", risk <= 12)]


def judging(scale: Scale) -> list[Figure]:
    """o: what the risk of a short line and of a kilobyte of shell takes, for many shapes of it, and how it grows."""
    rounds = max(1, int(scale.rounds * scale.factor))
    short, _ = middle_and_worst(risk_times(rounds, SHORT_BYTES))
    times = risk_times(rounds)
    middle, worst = middle_and_worst(times)
    grows = growth(rounds)
    return [Figure("o  risk of 200 byte lines, median shape", f"{short:.2f} ms", "<= 0.5 ms", short <= 0.5),
            Figure("o  risk of 1 KB lines, median shape", f"{middle:.2f} ms", "<= 3 ms", middle <= 3),
            Figure(f"o  risk of 1 KB lines, worst: {worst}", f"{times[worst]:.2f} ms", "reported", None),
            Figure("o  risk of 4 KB, in risks of 1 KB", f"{grows:.1f} x", "<= 5 x", grows <= 5)]


def editors(scale: Scale) -> list[Figure]:
    """(j) what an update takes from the agent through the hub and ``trunkline acp`` to an editor, against a bare pipe."""
    chunks, many, rounds = scale.of(100), scale.of(20_000), 10
    bare_ms: list[float] = []
    ours_ms: list[float] = []
    rates = []
    with HubProcess() as hub, hub.editor() as editor, BareAgent() as bare:
        for _ in range(rounds):
            bare_ms += _latencies_ms(bare, chunks)
            ours_ms += _latencies_ms(editor, chunks)
        complete = True
        for _ in range(scale.rounds):
            begin = time.perf_counter()
            numbers = [int(text[:8]) for text in editor.texts(f"count {many} {TEXT}")]
            rates.append(many / (time.perf_counter() - begin))
            complete = complete and numbers == list(range(many))
    added = statistics.median(ours_ms) - statistics.median(bare_ms)
    return [
        Figure("j  update to an editor, bare pipe, p50", f"{statistics.median(bare_ms):.2f} ms", "", None),
        Figure("j  added by hub and trunkline acp, p50", f"{added:.2f} ms", "<= 1.5 ms", added <= 1.5),
        Figure("j  the same, p99 against p99", f"{_p99(ours_ms) - _p99(bare_ms):.2f} ms", "reported", None),
        Figure(f"j  {many:,} chunks, in order and complete", str(complete), "True", complete),
        Figure("j  chunks/s to an editor", f"{statistics.median(rates):,.0f}", "", None),
    ]


def _latencies_ms(agent: BareAgent, count: int) -> list[float]:
    return [(time.monotonic_ns() - int(text)) / 1e6 for text in agent.texts(f"stamp {count} 100")]


def long_line(scale: Scale) -> list[Figure]:
    """(p) one line of 64 MiB: the memory that it takes, and how long others wait."""
    size = max(16, scale.of(64))
    with HubProcess() as hub:
        api = Api(hub)
        session = api.new_session()
        api.send(session, "echo")
        api.wait_idle(session)
        before = _reset_peak_mb(hub.pid)
        with _Probe(hub) as probe:
            api.send(session, f"line {size}")
            api.wait_idle(session)
        times = (_peak_mb(hub.pid) - before) / size
    return [Figure(f"p  memory of a line of {size} MiB, in its size", f"{times:.1f} x", "<= 3 x", times <= 3),
            Figure(f"p  a line of {size} MiB, others wait", f"{probe.worst_ms:.0f} ms", "<= 100 ms", probe.worst_ms <= 100)]


def permissions(scale: Scale) -> list[Figure]:
    """(q) ten thousand permissions at once: what one costs the hub, in plain chunks of text, and how long others wait."""
    count = scale.of(10_000)
    with HubProcess() as hub:
        api = Api(hub)
        session = api.new_session()
        api.send(session, "echo")
        api.wait_idle(session)
        api.send(session, "asks 1")  # what judges commands is loaded with the first one
        api.wait_idle(session)
        chunks = 10 * count  # as many as the system's clock of a hundredth of a second needs
        chunk_us = _cpu_us_each(hub, lambda: api.send(session, f"burst {chunks} {TEXT}"), lambda: api.wait_idle(session), chunks)
        with _Probe(hub) as probe:
            ask_us = _cpu_us_each(hub, lambda: api.send(session, f"asks {count}"), lambda: api.wait_idle(session), count)
    ratio = ask_us / chunk_us
    return [Figure(f"q  {count:,} permissions, one in chunks of text", f"{ratio:.1f} x", "<= 100 x", ratio <= 100),
            Figure(f"q  {count:,} permissions, others wait", f"{probe.worst_ms:.0f} ms", "<= 100 ms", probe.worst_ms <= 100)]


class _Probe:
    """Asks for the hub's health meanwhile, in a process of its own."""

    def __init__(self, hub: HubProcess) -> None:
        self.worst_ms = 0.0
        program = HERE.parent / "tests" / "tooling" / "prober.py"
        self._words = [sys.executable, str(program), hub.host, str(hub.port), str(hub.pid), "/healthz", ""]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self._process.stdout.readline()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        out, _ = self._process.communicate(b"")
        self.worst_ms = json.loads(out)["worst_ms"]


def _cpu_us_each(hub: HubProcess, start: Callable[[], object], end: Callable[[], object], count: int) -> float:
    before = cpu_s(hub.pid)
    start()
    end()
    return (cpu_s(hub.pid) - before) / count * 1e6


def _reset_peak_mb(pid: int) -> float:
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    return _peak_mb(pid)


def _peak_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


SCENARIOS: dict[str, Callable[[Scale], list[Figure]]] = {
    "ab": flat_out, "c": round_trip, "d": many_readers, "e": many_sessions, "f": replay, "g": at_rest, "h": stalled_reader,
    "i": interpretation, "j": editors, "o": judging, "p": long_line, "q": permissions,
}


class Echo:
    """One hub, one session, one attached stream: prompt to echo."""

    def __init__(self, hub: HubProcess) -> None:
        api = Api(hub)
        session = api.new_session()
        self._stream = open_stream(hub, session, api.wait_idle(session)["lastSeq"])
        self._until(self._stream, b"\r\n\r\n")
        self._prompts = connect(hub)
        self._prompt = prompt_request(hub, session, "echo")

    def once(self, rest_s: float = 0.0) -> float:
        """Seconds from the prompt to its echo, after some rest; then the turn's end is awaited."""
        time.sleep(rest_s)
        begin = time.perf_counter()
        self._prompts.sendall(self._prompt)
        seen = self._until(self._stream, b'"agent_message_chunk"')
        took = time.perf_counter() - begin
        self._until(self._stream, b'"prompt_response"', seen)
        self._until(self._prompts, b'"turnId"')
        return took

    def _until(self, stream: socket.socket, wanted: bytes, seen: bytes = b"") -> bytes:
        while wanted not in seen:
            data = stream.recv(1 << 16)
            if not data:
                raise RuntimeError("the stream ended")
            seen += data
        return seen


def _raw_throughput(readers: int, count: int, rate: int) -> float:
    server = subprocess.Popen([sys.executable, "-m", "benchmarks.rawserver"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, cwd=HERE.parent)
    assert server.stdin is not None and server.stdout is not None
    port = int(server.stdout.readline())
    process = ReaderProcess("127.0.0.1", port, [b"GET / HTTP/1.1\r\n\r\n"] * readers, count, 60)
    server.stdin.write(f"{count} {TEXT} {rate} {readers}\n".encode())
    server.stdin.flush()
    seen = process.result()
    server.stdin.close()
    server.wait(10)
    throughput: float = sum(seen["frames"]) / (seen["last_at"] - seen["first_at"])
    return throughput


def _first_answer_s(hub: HubProcess) -> float:
    while time.monotonic() - hub.started_at < START_S:
        try:
            connection = http.client.HTTPConnection(hub.host, hub.port, timeout=5)
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            return time.monotonic() - hub.started_at
        except OSError:
            time.sleep(0.002)
    raise RuntimeError("the hub never answered")


def _count_frames(stream: Any, wanted: int) -> int:
    frames, rest = 0, b""
    while frames < wanted:
        data = stream.recv(1 << 20)
        if not data:
            break
        window = rest + data
        frames += window.count(MARK)
        rest = window[-(len(MARK) - 1):]
    return frames


def _json_loads_us() -> float:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x" * TEXT}}
    line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "bench-1", "update": update}},
                      separators=(",", ":"))
    samples = []
    for _ in range(7):
        begin = time.perf_counter()
        for _ in range(20_000):
            json.loads(line)
        samples.append((time.perf_counter() - begin) / 20_000 * 1e6)
    return statistics.median(samples)


def _p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]
