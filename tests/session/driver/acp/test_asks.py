"""Asks on the wire: by their size, before they are read."""

from __future__ import annotations

from tests.dialects.jsonrpc.peers import on_wire
from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.methods import SESSION_REQUEST_PERMISSION
from trunkline.dialects.signals import Malformed
from trunkline.session.driver.acp.asks import AcpAsks
from trunkline.session.interpret.asks import waiting


def test_a_line_that_says_too_much_of_an_ask_is_not_read() -> None:
    peer, (message,) = on_wire(id=1, method=SESSION_REQUEST_PERMISSION, params={"_meta": "p" * waiting.ASK_BYTES})
    assert isinstance(message, jsonrpc.Request)
    heard = AcpAsks(peer, lambda: "req", lambda session_id: True).on_request(SESSION_REQUEST_PERMISSION, message)
    assert isinstance(heard, Malformed) and len(heard.line) <= 4096
    assert b"at most 8 MiB" in b"".join(peer.data_to_send())
