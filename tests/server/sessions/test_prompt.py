"""A prompt on the wire: text or blocks, and never nothing."""

from __future__ import annotations

import msgspec
import pytest

from trunkline.dialects.acp.content import TextContent
from trunkline.errors import Invalid
from trunkline.server.sessions.prompt import SendMessage, prompt_blocks


def test_text_becomes_one_block_and_blocks_stay() -> None:
    assert prompt_blocks("hello") == [TextContent(text="hello")]
    body = msgspec.json.decode(b'{"content":[{"type":"text","text":"a"}],"whenBusy":"queue"}', type=SendMessage)
    assert (prompt_blocks(body.content), body.when_busy) == ([TextContent(text="a")], "queue")


def test_a_prompt_that_says_nothing_is_refused_by_name() -> None:
    for body in (b'{"content":""}', b'{"content":[]}'):
        with pytest.raises(Invalid) as refused:
            prompt_blocks(msgspec.json.decode(body, type=SendMessage).content)
        assert refused.value.details == {"field": "content"}
