"""A run of text: chunk after chunk of one message, each alone on its way, as an agent says them.

A chunk that comes alone walks through some sixty functions by the common way, nearly all of them to find out that nothing has to
be done for it but to write it; and the processor has forgotten most of them since the last chunk. So whoever has read one chunk
and gets another of the same shape asks the run to take it.

Rule 1: it does to the session what the common way would do, to the byte, or nothing: ``goes_on`` says False then, and the common
        way does it (``tests/session/intake/test_text_run.py`` holds the two against each other).
Rule 2: it ends with whatever else comes from the agent (``Intake.take``). What others may have done meanwhile it looks at: is
        the same text open, does anything else wait to be written?
Rule 3: what the common way does after each piece, and a chunk cannot bring about, is not done. Where a session has caps, they are
        looked at after each piece, by the common way.
"""

from __future__ import annotations

import asyncio

from trunkline.dialects.context.envelope import DeltaPrefix
from trunkline.session.deadlines import SilenceWatch
from trunkline.session.fold import OpenText
from trunkline.session.recorder import Recorder


class TextRun:
    """The open text of a session, while nothing but chunks of it comes."""

    __slots__ = ("_clock", "_fold", "_interpret", "_loop_time", "_prefix", "_text", "_watch", "_write", "has_ended")

    def __init__(self, recorder: Recorder, watch: SilenceWatch, text: OpenText, prefix: DeltaPrefix) -> None:
        self._fold = recorder.fold
        self._interpret = recorder.at().text
        self._clock = recorder.clock
        self._write = recorder.write_one
        self._watch = watch
        self._loop_time = asyncio.get_running_loop().time
        self._text = text
        self._prefix = prefix
        self.has_ended = False

    def goes_on(self, token: bytes, update: bytes) -> bool:
        """Take another chunk: its text, a JSON string of valid UTF-8, and the update that has it. False: it is not taken."""
        if self.has_ended or self._fold.caps is not None:
            return False
        entry = self._interpret.goes_on(self._text, self._prefix, token, update, self._clock())
        if entry is None:
            return False
        self._watch.active_at = self._loop_time()
        self._write(entry, len(entry.event) + len(update))
        return True
