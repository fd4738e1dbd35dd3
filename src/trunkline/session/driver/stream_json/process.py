"""One process of the Claude Code CLI: its lines in and out, and the control requests that wait for their answers.

Rule 1: one reader for the life of the process. One read of the pipe becomes one list of signals, in the order of the lines.
A line of many megabytes is read in steps; meanwhile the pipe waits, and what came behind it.
Rule 2: every control request has a timeout: old versions never answer what they do not know.
Rule 3: it ends in this order, so that no command of its tools is left behind: interrupt, end of input, wait, SIGTERM, wait,
SIGKILL, then whatever it left. Its shell commands run in sessions of their own, and only an interrupt ends them on all versions.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from trunkline.agents.daemons import Daemon
from trunkline.agents.process import AgentProcess, Exit
from trunkline.agents.resources import Resources
from trunkline.dialects.claude.control import outgoing
from trunkline.dialects.claude.control.requests import AboutToRun, ControlAnswer, Ruling
from trunkline.dialects.claude.frames.large import LARGE_LINE
from trunkline.dialects.claude.translate import Translator
from trunkline.dialects.jsonrpc import MAX_LINE, LineSplitter
from trunkline.dialects.signals import Malformed, Signal
from trunkline.errors import AgentError, AgentExited, RemoteError

HOLD_S = 0.02
"""After this long others have their turn."""

GAP_S = 0.005
"""How long they have."""

CALL_TIMEOUT_S = 30.0
"""For control requests, which the CLI answers from memory."""

INTERRUPT_S = 2.0
"""How long an ending process may take to answer the interrupt; one that hangs is ended without."""

CLOSE_STDIN_S = 5.0
TERM_S = 5.0
"""A process that is ended sooner loses the last lines of its transcript."""

AT_ONCE_TERM_S = 1.0
"""What a process that had its grace already gets between SIGTERM and SIGKILL."""

STDERR_LINES = 20

log = logging.getLogger("trunkline.session")

ToolRuling = Callable[[str, bytes], Awaitable[Ruling | None]]
"""Takes a tool's name and its input, as JSON; it may have to look at the disk."""


class ClaudeProcess:
    """Implements what is the same whatever the conversation. ``emit`` gets signals, ``gone`` the one exit, ``stopped`` the
    process when its family is ended too."""

    def __init__(self, name: str, new_id: Callable[[str], str], emit: Callable[[list[Signal]], None],
                 gone: Callable[[Exit, str], None], gate: ToolRuling, stopped: Callable[[AgentProcess], None]) -> None:
        self.translator = Translator(new_id)
        self.ended: AgentExited | None = None
        """Set when the process is gone."""
        self._name = name
        self._new_id = new_id
        self._emit = emit
        self._gone = gone
        self._gate = gate
        self._stopped = stopped
        self._judging: set[asyncio.Task[None]] = set()
        self._splitter = LineSplitter(MAX_LINE, lends=True)
        self._lines: deque[bytes | Malformed] = deque()
        """What came behind a line that is being read."""
        self._reading: asyncio.Task[None] | None = None
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._process: AgentProcess | None = None
        self._waiting: dict[str, asyncio.Future[ControlAnswer]] = {}

    async def spawn(self, command: Sequence[str], *, cwd: str, env: Mapping[str, str], resources: Resources | None = None,
                    daemons: Sequence[Daemon] = ()) -> AgentProcess:
        """Start the CLI."""
        self._process = await AgentProcess.spawn(command, cwd=cwd, env=env, on_data=self._received, on_exit=self._exited,
                                                 resources=resources, daemons=daemons)
        return self._process

    @property
    def stderr(self) -> str:
        """Its last words."""
        return self._process.stderr_tail(STDERR_LINES) if self._process is not None else ""

    def write(self, line: bytes) -> None:
        """Send one whole line."""
        if self._process is not None and self.ended is None:
            self._process.write(line)

    def request(self, make_line: Callable[[str], bytes]) -> asyncio.Future[ControlAnswer]:
        """Send a control request at once; its answer is awaited elsewhere, or not at all."""
        request_id = self._new_id("ctl")
        answer: asyncio.Future[ControlAnswer] = asyncio.get_running_loop().create_future()
        line = make_line(request_id)
        self._waiting[request_id] = answer
        answer.add_done_callback(lambda settled: self._forget(request_id, settled))
        if self.ended is not None:
            answer.set_exception(self.ended)
        self.write(line)
        return answer

    async def ask(self, what: str, make_line: Callable[[str], bytes], *, within_s: float | None = None) -> bytes:
        """Send a control request and wait for its answer's body; AgentError where it is refused or not answered in time."""
        within_s = CALL_TIMEOUT_S if within_s is None else within_s
        answer = self.request(make_line)
        try:
            async with asyncio.timeout(within_s):
                response = await answer
        except TimeoutError:
            raise AgentError(f"{self._name} did not answer {what} within {within_s:.0f} s") from None
        return self.body_of(what, response)

    def body_of(self, what: str, response: ControlAnswer) -> bytes:
        """The body of an answer; AgentError where it is a refusal."""
        if not response.ok:
            raise AgentError(f"{self._name} refused {what}: {response.error or 'no reason given'}", details={"request": what})
        return response.body

    def pause_reading(self) -> None:
        """Stop taking its output for a while."""
        self._flowing.clear()
        if self._process is not None:
            self._process.pause_reading()

    def resume_reading(self) -> None:
        """Take it again."""
        self._flowing.set()
        if self._process is not None and self._reading is None:
            self._process.resume_reading()

    async def stop(self, *, at_once: bool = False) -> None:
        """End it and everything that it started; ``at_once``: it had its time already."""
        for judging in self._judging:
            judging.cancel()
        if self._process is None:
            return
        if at_once:
            await self._process.stop(close_stdin_s=0, term_s=AT_ONCE_TERM_S)
        else:
            await self._stop_in_order(self._process)
        self._stopped(self._process)

    async def _stop_in_order(self, process: AgentProcess) -> None:
        """Rule 3."""
        if self.ended is None:
            self.resume_reading()  # the answer stands behind what was not read
            try:
                await self.ask("interrupt", outgoing.interrupt, within_s=INTERRUPT_S)
            except RemoteError as error:
                log.info("%s is ended without an interrupt: %s", self._name, error.message)
        await process.stop(close_stdin_s=CLOSE_STDIN_S, term_s=TERM_S)
        if self._reading is not None:
            await asyncio.wait([self._reading])

    def _received(self, data: bytes) -> None:
        came = self._splitter.feed(data)
        lines: Sequence[bytes | Malformed] = came
        if self._splitter.cut:
            cut = self._splitter.cut
            lines = [Malformed(bytes(line), self._splitter.why_cut, cut[index]) if index in cut else line
                     for index, line in enumerate(came)]
        if self._reading is None and not self._splitter.had_large:
            self._take(lines)
            return
        self._lines.extend(lines)
        if self._reading is None:
            if self._process is not None:
                self._process.pause_reading()
            self._reading = asyncio.get_running_loop().create_task(self._read_on())

    def _take(self, lines: Iterable[bytes | Malformed]) -> None:
        signals: list[Signal] = []
        for line in lines:
            if isinstance(line, Malformed):
                signals.append(line)
            elif line:
                signals += self.translator.receive(line)
        self._act(signals)

    async def _read_on(self) -> None:
        """Read what waits, a long line in steps."""
        while self._lines:
            line = self._lines.popleft()
            try:
                if isinstance(line, Malformed) or len(line) <= LARGE_LINE:
                    self._take([line if isinstance(line, Malformed) else bytes(line)])
                else:
                    await self._take_large(line)
            except Exception:  # the line's boundary: what stands behind it must not wait for ever
                log.exception("a line of %s could not be read", self._name)
            del line
            await asyncio.sleep(GAP_S)
        self._reading = None
        if self._flowing.is_set():
            self.resume_reading()

    async def _take_large(self, line: bytes) -> None:
        clock = asyncio.get_running_loop().time
        until = clock() + HOLD_S
        for signals in self.translator.receive_large(line):
            self._act(signals)
            if clock() > until or not self._flowing.is_set():
                await asyncio.sleep(GAP_S)
                if self.ended is None:  # a CLI that is gone is not waited for
                    await self._flowing.wait()
                until = clock() + HOLD_S

    def _act(self, signals: list[Signal]) -> None:
        """Pass on what was sent, and do what it asks for."""
        self._settle()
        for about in self.translator.control.take_about_to_run():
            judging = asyncio.get_running_loop().create_task(self._judge(about))
            self._judging.add(judging)
            judging.add_done_callback(self._judging.discard)
        self._emit_signals(signals)

    async def _judge(self, about: AboutToRun) -> None:
        """Answer for a tool that the CLI holds back. What cannot be judged does not run."""
        try:
            ruling = await self._gate(about.tool, about.given)
        except Exception as error:  # the boundary: a CLI that is not answered hangs
            log.exception("%s could not be judged", about.tool)
            ruling = Ruling("deny", f"the rules could not be asked: {error!r}")
        self._emit_signals(self.translator.control.ruled(about, ruling))

    def _emit_signals(self, signals: list[Signal]) -> None:
        for line in self.translator.control.take_output():
            self.write(line)
        if signals:
            self._emit(signals)

    def _settle(self) -> None:
        for response in self.translator.control.take_answers():
            answer = self._waiting.get(response.request_id)
            if answer is not None and not answer.done():
                answer.set_result(response)

    def _exited(self, exit: Exit) -> None:
        stderr = self.stderr
        self.ended = AgentExited(f"{self._name} ended ({exit})",
                                 details={"exitCode": exit.code, "signal": exit.signal, "stderr": stderr})
        for answer in list(self._waiting.values()):
            if not answer.done():
                answer.set_exception(self.ended)
        self._flowing.set()
        if self._reading is None:
            self._gone(exit, stderr)
        else:
            self._reading.add_done_callback(lambda _: self._gone(exit, stderr))

    def _forget(self, request_id: str, answer: asyncio.Future[ControlAnswer]) -> None:
        self._waiting.pop(request_id, None)
        if not answer.cancelled():
            answer.exception()  # an exit that nobody waited for is reported by ``gone``
