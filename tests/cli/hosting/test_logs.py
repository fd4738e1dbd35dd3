"""One record is one line, whatever somebody put into it."""

from __future__ import annotations

import io
import logging

from trunkline.cli.hosting.logs import LineFormatter


def written(message: str, *args: object, error: Exception | None = None) -> str:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(LineFormatter("%(levelname)s %(message)s"))
    logger = logging.Logger("test")
    logger.addHandler(handler)
    logger.error(message, *args, exc_info=error)
    return out.getvalue()


def test_a_path_cannot_write_a_line_of_its_own() -> None:
    assert written("GET %s failed", "/x\r\nERROR forged") == "ERROR GET /x␍␊ERROR forged failed\n"


def test_nothing_in_a_record_or_its_traceback_speaks_to_a_terminal() -> None:
    text = written("%s", "\x1b]0;title\x07\u202e", error=ValueError("\x1b[2J\x9b\ud800"))
    assert not set(text) & set(map(chr, (*range(9), 11, 12, *range(14, 32), *range(0x7F, 0xA0), 0x202E)))
    text.encode()
    assert text.count("\n") == 2 and "ValueError: ␛[2J" in text


def test_what_goes_well_is_not_written_under_the_name_of_an_error() -> None:
    line = LineFormatter("%(levelname)s %(name)s: %(message)s")
    record = logging.LogRecord("uvicorn.error", logging.INFO, __file__, 1, "Started server process", None, None)
    assert line.format(record) == "INFO uvicorn: Started server process"
