"""One method per route, and every public name is there."""

from __future__ import annotations

import re

from tests.client.calls import test_files, test_hub, test_sessions, test_steering, test_turns
from trunkline import client as public
from trunkline.client import Packet
from trunkline.server.routes import ROUTES


def test_a_packet_reads_like_a_dict_and_keeps_its_bytes() -> None:
    raw = b'{"type": "prompt_response",  "n": 1}'
    packet = Packet(raw)
    assert (packet.type, packet["n"], dict(packet), len(packet), packet.raw) == (
        "prompt_response", 1, {"type": "prompt_response", "n": 1}, 2, raw)
    assert packet.ends_turn()
    assert not Packet(b'{"type":"agent_message_chunk"}').ends_turn()


TABLES = (test_hub.CALLS, test_sessions.CALLS, test_turns.CALLS, test_steering.CALLS, test_files.CALLS)

NOT_CALLS = {
    "GET /", "GET /assets/{path:path}", "GET /icons/{path:path}", "GET /sw.js", "GET /manifest.webmanifest",
    "GET /licenses", "GET /preview/{key}/{path:path}", "GET /docs", "GET /openapi.json", "GET /metrics", "GET /readyz",
    "POST /auth/login", "POST /auth/logout", "GET /auth/tokens", "POST /auth/tokens",
    "DELETE /auth/tokens/{tokenId}", "GET /sessions/{id}/queue/{turnId}", "POST /pair/claim", "GET /sessions/{id}/export",
    "GET /push", "POST /push", "DELETE /push",
    "POST /acp", "GET /acp", "DELETE /acp", "POST /cluster/sessions/{id}/let-go", "POST /cluster/sessions/{id}/take-in",
}
"""What is for browsers, operators and editors, and what another call gives as well."""

ELSEWHERE = {"GET /sessions/{id}/packets", "GET /sessions/{id}/events", "GET /sessions/{id}/history", "GET /events", "GET /ws",
             "GET /sessions/{id}/snapshot", "POST /sessions/{id}/commands"}
"""Tested in test_streams.py and test_link.py."""


def test_every_route_has_a_call_unless_it_is_no_business_of_programs() -> None:
    called = [row[2].partition("?")[0] for table in TABLES for row in table]

    def is_called(route: str) -> bool:
        pattern = re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(route)))
        return any(pattern.fullmatch(target) for target in called)

    routes = {f"{route.method} {route.path}" for route in ROUTES}
    assert {route for route in routes if not is_called(route)} == NOT_CALLS | ELSEWHERE


def test_the_public_names_are_sorted_and_there() -> None:
    assert public.__all__ == sorted(public.__all__)
    assert all(hasattr(public, name) for name in public.__all__)
