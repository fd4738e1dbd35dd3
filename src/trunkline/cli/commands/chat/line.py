"""The line at the bottom of the terminal: what is typed there, and what is drawn above it while it changes.

Rule 1: prompt_toolkit is imported here and nowhere else, and this module by ``trunkline chat`` alone.
Rule 2: what is written above the line goes to the terminal's own scroll-back, once; what still grows is drawn with the line.
Rule 3: drawing waits for nothing: text that comes faster than DRAW_S is drawn together.
Rule 4: what is typed for an ask may be an agent's text (an input that is edited): it is drawn as the card shows it, with the
number of what is not seen. What is sent is the text itself.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import signal
import sys
from bisect import bisect_right
from collections.abc import AsyncGenerator, Awaitable, Coroutine, Iterable
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, has_completions
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples
from prompt_toolkit.formatted_text.utils import fragment_list_to_text
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import ConditionalContainer, Float, FloatContainer, HSplit, Layout, Window
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import (
    BeforeInput,
    ConditionalProcessor,
    Processor,
    Transformation,
    TransformationInput,
)
from prompt_toolkit.layout.utils import explode_text_fragments
from prompt_toolkit.output import ColorDepth

from trunkline.cli.commands.chat.completing import suggestions
from trunkline.cli.commands.chat.conversation import Conversation
from trunkline.cli.commands.chat.modes import Writing
from trunkline.dialects.visible import UNSEEN
from trunkline.errors import TrunklineError

DRAW_S = 0.05
SPIN_S = 0.25
MENU_LINES = 8
INPUT_LINES = 8
HISTORY_BYTES = 256 << 10
"""An older half of the lines typed is forgotten beyond this."""


class Above(StringIO):
    """What is to be written above the line, until it is."""

    encoding = "utf-8"

    def fileno(self) -> int:
        """The terminal that it is written to: it says how large the window is, whatever the environment says."""
        return sys.stdout.fileno()

    def taken(self) -> str:
        """All of it, which is forgotten here."""
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        return text


class Line:
    """The terminal of one conversation."""

    def __init__(self, above: Above, history: History, *, colour: bool) -> None:
        self._above = above
        self._talk: Conversation | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._buffer = Buffer(multiline=True, history=history, completer=_Suggesting(self), accept_handler=None,
                              complete_while_typing=Condition(self._is_writing))
        self.app: Application[int] = Application(
            layout=Layout(self._layout()), key_bindings=self._keys(), erase_when_done=True,
            color_depth=None if colour else ColorDepth.DEPTH_1_BIT)
        self.app.ttimeoutlen = self.app.timeoutlen = 0.05  # Escape is a key here, not only the beginning of one

    @property
    def talk(self) -> Conversation:
        """What goes on here."""
        assert self._talk is not None
        return self._talk

    def text(self) -> str:
        """What stands in the line."""
        return self._buffer.text

    def clear(self) -> None:
        """Empty the line."""
        self._buffer.reset()

    def leave(self) -> None:
        """End, and nothing else with it."""
        if self.app.is_running:
            self.app.exit(result=0)

    async def run(self, talk: Conversation) -> int:
        """Until somebody leaves; returns the exit code."""
        self._talk = talk
        try:
            async with asyncio.TaskGroup() as group:
                work = [group.create_task(each) for each in (talk.follow(), talk.look(), self._draw())]
                code = await self._typed()
                for task in (*work, *self._tasks):
                    task.cancel()
        except* TrunklineError as failed:
            trouble = failed
        else:
            return code
        raise _first(trouble)

    async def _typed(self) -> int:
        """Take keys until somebody leaves, or their terminal is gone."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self.leave)
        try:
            return await self.app.run_async()
        except EOFError:
            return 0

    def write_above(self) -> None:
        """Write what is finished above the line."""
        if self.talk.show.settle():
            self.talk.changed.set()
        text = self._above.taken()
        if not text or not self.app.is_running:
            return
        self.app.renderer.erase()
        self.app.output.write_raw(text.replace("\n", "\r\n"))
        self.app.output.flush()
        self.app.renderer.request_absolute_cursor_position()

    def write_rest(self) -> None:
        """The application is over: write what is left, as any program does."""
        self.talk.show.end_text()
        print(self._above.taken(), end="", flush=True)

    async def _draw(self) -> None:
        """Draw what has changed; where nothing comes, only what turns and counts, and nothing where nothing does."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(SPIN_S if self.talk.is_lively() else None):
                    await self.talk.changed.wait()
            self.talk.changed.clear()
            self.talk.see_window()
            self.write_above()
            self.app.invalidate()
            await asyncio.sleep(DRAW_S)

    # What is seen

    def _layout(self) -> FloatContainer:
        growing = ConditionalContainer(Window(FormattedTextControl(self._growing), dont_extend_height=True),
                                       filter=Condition(lambda: bool(self.talk.show.growing())))
        status = _line_of(lambda: self.talk.status())
        waiting = _line_of(lambda: self.talk.waiting())
        revealing = ConditionalProcessor(Revealing(), Condition(lambda: not self._is_writing()))
        typed = Window(BufferControl(self._buffer, input_processors=[revealing, BeforeInput(self._label)]), wrap_lines=True,
                       dont_extend_height=True, height=Dimension(min=1, max=INPUT_LINES))
        room = ConditionalContainer(Window(height=MENU_LINES), filter=has_completions)
        footer = Window(FormattedTextControl(lambda: ANSI(self.talk.footer())), height=1)
        menu = Float(CompletionsMenu(max_height=MENU_LINES, scroll_offset=1), xcursor=True, ycursor=True)
        return FloatContainer(HSplit([growing, status, waiting, typed, room, footer]), [menu])

    def _growing(self) -> ANSI:
        """The end of what grows, as much as leaves room for the rest."""
        room = max(shutil.get_terminal_size().lines - INPUT_LINES - 4, 3)
        return ANSI("\n".join(self.talk.show.growing().split("\n")[-room:]))

    def _label(self) -> ANSI:
        return ANSI(self.talk.screen.styled(self.talk.mode().label, colour="cyan", bold=True))

    def _is_writing(self) -> bool:
        return self._talk is not None and isinstance(self._talk.mode(), Writing)

    # What is typed

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        by_letters = Condition(lambda: self.talk.mode().by_letters)
        keys.add("enter")(self._enter)
        keys.add("escape", "enter")(lambda event: self._buffer.newline())
        keys.add("c-j")(lambda event: self._buffer.newline())
        keys.add("escape", eager=False)(self._escape)
        keys.add("c-c")(self._interrupt)
        keys.add(Keys.SIGINT)(self._interrupt)
        keys.add("c-d")(self._end_of_input)
        keys.add("s-tab", filter=~has_completions)(lambda event: self._do(self.talk.next_mode()))
        keys.add("c-l")(self._clear_window)
        keys.add(Keys.Any, filter=by_letters)(lambda event: self._do(self.talk.press(event.data)))
        keys.add("c-z")(lambda event: event.app.suspend_to_background())
        return keys

    def _enter(self, event: KeyPressEvent) -> None:
        state = self._buffer.complete_state
        if state and state.current_completion:
            self._buffer.apply_completion(state.current_completion)
            return
        text, mode = self._buffer.text, self.talk.mode()
        if not mode.by_letters:
            self._buffer.reset(append_to_history=isinstance(mode, Writing))
        self._do(self.talk.enter(text, mode))

    def _escape(self, event: KeyPressEvent) -> None:
        if self._buffer.complete_state:
            self._buffer.cancel_completion()
        else:
            mode = self.talk.mode()
            mode.back()
            self._begin_line()

    def _interrupt(self, event: KeyPressEvent) -> None:
        if self._buffer.text:
            self._buffer.reset()
        else:
            self._do(self.talk.interrupt())

    def _clear_window(self, event: KeyPressEvent) -> None:
        event.app.renderer.clear()
        self.talk.was_cleared()

    def _end_of_input(self, event: KeyPressEvent) -> None:
        if self._buffer.text:
            self._buffer.delete()
        else:
            self.leave()

    def _begin_line(self) -> None:
        """Put in what the mode begins with."""
        first = self.talk.mode().first
        if first and not self._buffer.text:
            self._buffer.document = Document(first, len(first))

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(self._done(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _done(self, work: Awaitable[None]) -> None:
        await work
        self._begin_line()
        self.talk.changed.set()


class Revealing(Processor):
    """The number of every character that is not seen, where it stands in the line."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """Draw a line."""
        fragments = explode_text_fragments(transformation_input.fragments)
        text = fragment_list_to_text(fragments)
        unseen = {found.start() for found in UNSEEN.finditer(text)}
        if not unseen:
            return Transformation(transformation_input.fragments)
        pieces = [f"[U+{ord(each):04X}]" if at in unseen else each for at, each in enumerate(text)]
        ends = [*itertools.accumulate(map(len, pieces), initial=0)]
        ends.append(ends[-1] + 1)  # the caret may stand behind the line
        drawn: StyleAndTextTuples = [(fragment[0], piece) for fragment, piece in zip(fragments, pieces, strict=True)]
        return Transformation(drawn, source_to_display=lambda at: ends[at],
                              display_to_source=lambda at: bisect_right(ends, at) - 1)


class _Suggesting(Completer):
    """What ``completing`` suggests, as the library wants it."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Nothing without asking the hub."""
        return ()

    async def get_completions_async(self, document: Document, complete_event: CompleteEvent) -> AsyncGenerator[Completion, None]:
        """What fits at the caret."""
        async for each in suggestions(self._line.talk, document.text_before_cursor):
            yield Completion(each.word, -each.back, display=each.word.strip(), display_meta=each.about)


def kept_history(path: Path) -> History:
    """The lines that were typed in earlier chats, in a file that only its owner reads; none where it cannot be written."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600))
        text = path.read_bytes()
        if len(text) > HISTORY_BYTES:
            path.write_bytes(text[text.find(b"\n# ", len(text) // 2) + 1:])
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))


def _first(group: BaseExceptionGroup[TrunklineError]) -> TrunklineError:
    return next(error for error in group.exceptions if isinstance(error, TrunklineError))


def _line_of(text: Any) -> ConditionalContainer:
    """One line, where there is something to say."""
    window = Window(FormattedTextControl(lambda: ANSI(text())), height=1)
    return ConditionalContainer(window, filter=Condition(lambda: bool(text())))
