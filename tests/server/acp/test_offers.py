"""What an editor's requests may hold beyond the protocol."""

from __future__ import annotations

import msgspec
import pytest

from trunkline.dialects.acp.sessions import McpServerHttp, McpServerStdio
from trunkline.errors import Invalid
from trunkline.server.acp.offers import OurMeta, encoded_servers, ours_of, usable

STDIO = McpServerStdio(name="a", command="/bin/a", args=[], env=[])
HTTP = McpServerHttp(name="b", url="https://b.example", headers=[])


def test_our_own_members_are_read_and_what_is_absent_has_its_default() -> None:
    assert ours_of(None) == ours_of({"other": 1}) == OurMeta()
    assert ours_of({"trunkline": {"after": 5, "key": "k", "unknown": 1}}) == OurMeta(after=5, key="k")
    with pytest.raises(Invalid, match=r"_meta\.trunkline"):
        ours_of({"trunkline": {"after": "five"}})


def test_only_servers_that_the_agent_takes_are_kept() -> None:
    takes_http = msgspec.Raw(b'{"mcpCapabilities":{"http":true}}')
    assert usable([STDIO, HTTP], msgspec.Raw(b"null")) == [STDIO]
    assert usable([STDIO, HTTP], takes_http) == [STDIO, HTTP]
    assert [msgspec.json.decode(each)["name"] for each in encoded_servers([STDIO, HTTP])] == ["a", "b"]
