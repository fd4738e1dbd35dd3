"""Bytes into a peer and messages out of it, in a form that tests can compare."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable

import msgspec
from hypothesis import strategies as st
from msgspec import Raw

from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.reading.aliases import CLIENT_METHODS
from trunkline.dialects.jsonrpc import (
    Message,
    Peer,
)

BEFORE = b'{"jsonrpc":"2.0","method":"before"}\n'
AFTER = b'{"jsonrpc":"2.0","method":"after","params":{"n":1}}\n'


def received(data: bytes, peer: Peer | None = None) -> list[Message]:
    peer = peer or Peer()
    peer.receive_data(data)
    return peer.messages_received()


def sent(peer: Peer) -> list[dict[str, object]]:
    return [json.loads(line) for line in peer.data_to_send()]


def comparable(messages: list[Message]) -> list[object]:
    """Messages as plain values: Raw compares by bytes."""
    return [_plain(message) for message in messages]


def _plain(value: object) -> object:
    if isinstance(value, Raw):
        return bytes(value)
    if isinstance(value, msgspec.Struct):
        return (type(value).__name__, *(_plain(getattr(value, name)) for name in value.__struct_fields__))
    return value


def in_pieces(data: bytes, cuts: list[int], make: Callable[[], Peer] = Peer) -> list[object]:
    peer = make()
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    for start, end in itertools.pairwise(edges):
        peer.receive_data(data[start:end])
    peer.receive_eof()
    return comparable(peer.messages_received())


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)

members = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0"),
        "id": values,
        "method": st.text(max_size=10) | st.just("session/update") | values,
        "params": values,
        "result": values,
        "error": values,
    },
)

lines = st.one_of(
    members.map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")),
    members.map(lambda value: json.dumps(value).encode()),
    st.lists(members, max_size=2).map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=40),
    st.sampled_from([b"", b"\r", b"\xef\xbb\xbf{}", b'{"method":"m"}\r', b"\xef\xbb\xbf", b'"\\ud800"']),
)

streams = st.lists(lines, max_size=12).map(b"\n".join)

cuts = st.lists(st.integers(0, 10_000), max_size=12)



def on_wire(**message: object) -> tuple[jsonrpc.Peer, list[jsonrpc.Message]]:
    peer = jsonrpc.Peer(methods=CLIENT_METHODS)
    peer.receive_data(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")
    return peer, peer.messages_received()
