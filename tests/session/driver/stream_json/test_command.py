"""How the CLI is launched."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import msgspec

from trunkline.session.driver.stream_json.command import LEAST, Way, flags, may_bypass, mcp_config, read_version, write_mcp_config

SERVERS = [
    msgspec.Raw(b'{"name":"files","command":"/bin/files","args":["-x"],"env":[{"name":"KEY","value":"secret"}]}'),
    msgspec.Raw(b'{"type":"http","name":"web","url":"https://x.example/mcp","headers":[{"name":"Authorization","value":"B t"}]}'),
    msgspec.Raw(b'{"type":"sse","name":"old","url":"https://x.example/sse","headers":[]}'),
]


def words(way: Way, version: str = "2.1.325", **how: object) -> list[str]:
    return flags(way, version=read_version(version), **{"bypass": False, "mcp_config": None, **how})  # type: ignore[arg-type]


def test_a_new_conversation_gets_the_id_that_we_chose() -> None:
    assert words(Way("new", "id-1"))[-1] == "--session-id=id-1"


def test_a_conversation_is_resumed_by_its_id_in_one_word_with_the_flag() -> None:
    assert words(Way("resume", "id-1"))[-1] == "--resume=id-1"


def test_a_fork_begins_with_its_source_and_gets_an_id_of_its_own() -> None:
    assert words(Way("fork", "id-2", "id-1"))[-3:] == ["--resume=id-1", "--fork-session", "--session-id=id-2"]


def test_asks_come_on_the_stream() -> None:
    given = words(Way("new", "id-1"))
    assert given[given.index("--permission-prompt-tool") + 1] == "stdio"
    assert "--include-partial-messages" in given and "--verbose" in given


def test_an_old_or_unknown_version_gets_no_flag_that_it_may_not_know() -> None:
    assert "--include-hook-events" in words(Way("new", "i"), "2.1.112")
    assert "--include-hook-events" not in words(Way("new", "i"), "2.0.77")
    assert "--include-hook-events" not in words(Way("new", "i"), "nonsense")


def test_versions_are_compared_as_numbers() -> None:
    assert read_version("2.1.9 (Claude Code)") == (2, 1, 9)
    assert (2, 0, 9) < LEAST <= (2, 0, 77) < (2, 1, 9) < (2, 1, 112)
    assert read_version(None) is None


def test_nobody_is_asked_nothing_as_superuser_except_in_a_sandbox() -> None:
    assert may_bypass({}, 1000)
    assert not may_bypass({}, 0)
    assert may_bypass({"IS_SANDBOX": "1"}, 0)
    assert "--allow-dangerously-skip-permissions" in words(Way("new", "i"), bypass=True)
    assert "--allow-dangerously-skip-permissions" not in words(Way("new", "i"))


def test_mcp_servers_are_told_in_the_clis_own_words() -> None:
    assert mcp_config(SERVERS) == {"mcpServers": {
        "files": {"type": "stdio", "command": "/bin/files", "args": ["-x"], "env": {"KEY": "secret"}},
        "web": {"type": "http", "url": "https://x.example/mcp", "headers": {"Authorization": "B t"}},
        "old": {"type": "sse", "url": "https://x.example/sse", "headers": {}},
    }}


def test_their_secrets_go_into_a_private_file_and_not_onto_the_command_line() -> None:
    path = write_mcp_config(SERVERS)
    assert path is not None
    try:
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert json.loads(Path(path).read_text()) == mcp_config(SERVERS)
        assert "secret" not in " ".join(words(Way("new", "i"), mcp_config=path))
    finally:
        os.unlink(path)
    assert write_mcp_config([]) is None
