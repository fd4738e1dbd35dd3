"""How the hub writes its log: one record, one line.

Rule: a name, a path or an error's text from outside cannot write a line of its own, nor tell a terminal anything.
"""

from __future__ import annotations

import logging
from typing import Final, TextIO

from trunkline.dialects.visible import shown

_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_OTHER_NAMES: Final = {"uvicorn.error": "uvicorn"}
"""Its log of what goes well, too: nobody who starts a hub should read of an error."""
_LINE_ENDS: Final = str.maketrans({"\n": "␊", "\r": "␍"})


class LineFormatter(logging.Formatter):
    """The record on one line; a traceback follows it on lines of its own."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line, whatever the record's text has in it."""
        record.name = _OTHER_NAMES.get(record.name, record.name)
        return shown(super().formatMessage(record)).translate(_LINE_ENDS)

    def formatException(self, ei: object) -> str:
        """The traceback: its last line has the error's own text."""
        return shown(super().formatException(ei))  # type: ignore[arg-type]  # typeshed names a private alias


def log_to(stream: TextIO, level: str) -> None:
    """Write records of this level and above to ``stream`` from now on."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter(_FORMAT))
    logging.basicConfig(level=level, handlers=[handler])
