"""How much an agent may have the hub do at once."""

from __future__ import annotations

import msgspec
import pytest

from trunkline.dialects.acp.methods import FS_READ_TEXT_FILE, FS_WRITE_TEXT_FILE, TERMINAL_OUTPUT
from trunkline.dialects.acp.reading.large import LARGE_UPDATE, large_write
from trunkline.errors import Invalid
from trunkline.session.driver.acp import limits as served


def test_what_an_agent_has_the_hub_do_carries_only_so_much_together() -> None:
    work = served.Served()
    assert work.refusal(FS_WRITE_TEXT_FILE, served.SERVED_BYTES) is None, "one longest line fits"
    work.begin(served.SERVED_BYTES - 10)
    assert work.refusal(FS_WRITE_TEXT_FILE, 11) is not None
    work.end(served.SERVED_BYTES - 10)
    assert work.refusal(FS_WRITE_TEXT_FILE, 11) is None
    for _ in range(served.SERVED_AT_ONCE):
        work.begin(0)
    assert work.refusal(TERMINAL_OUTPUT, 0) is not None


def test_a_request_without_a_text_says_only_so_much() -> None:
    assert served.Served().refusal(FS_READ_TEXT_FILE, served.REQUEST_BYTES) is None
    assert served.Served().refusal(FS_READ_TEXT_FILE, served.REQUEST_BYTES + 1) is not None


def test_paths_and_commands_are_refused_beyond_what_a_system_takes() -> None:
    served.check_path("p" * served.PATH_BYTES)
    for path in ("p" * (served.PATH_BYTES + 1), "\u00e9" * served.PATH_BYTES):
        with pytest.raises(Invalid, match="4096 bytes"):
            served.check_path(path)
    served.check_command("true", ["x" * 1000], {"A": "x"})
    for args, env in ((["x" * served.COMMAND_BYTES], {}), ([], {"A": "x" * served.COMMAND_BYTES})):
        with pytest.raises(Invalid, match="128 KiB"):
            served.check_command("true", args, env)


def test_a_long_write_to_too_long_a_path_is_not_read() -> None:
    ask = {"sessionId": "s", "path": "p" * LARGE_UPDATE, "content": "x"}
    with pytest.raises(Invalid, match="a path"):
        large_write(msgspec.json.encode(ask))
    assert large_write(msgspec.json.encode({**ask, "path": "a/b", "content": "x" * LARGE_UPDATE})).path == "a/b"
