"""Requests as bytes: whose length, head and sender must be beyond doubt, whatever server serves.

A proxy before the hub and the hub itself must read the same requests in the same bytes: where they do not, somebody's bytes
become somebody else's request.
"""

from __future__ import annotations

import socket
from contextlib import suppress

import pytest

from tests.tooling.hub_process import HubProcess
from tests.tooling.strangers import talk

HOST = "Host: localhost\r\n"
CLOSE = "Connection: close\r\n"
HIDDEN = "GET /sessions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
LOGIN = "POST /auth/login HTTP/1.1\r\n"
LARGE = 1 << 20


def say(hub: HubProcess, *pieces: str | bytes) -> bytes:
    """All that is answered."""
    return talk(hub.wire.host, hub.wire.port, *(each.encode("latin-1") if isinstance(each, str) else each for each in pieces))


def statuses(answered: bytes) -> list[int]:
    """The status of each answer."""
    return [int(part[:3]) for part in answered.split(b"HTTP/1.1 ")[1:]]


def bearer(hub: HubProcess) -> str:
    """The header of the hub's own token."""
    return f"Authorization: Bearer {hub.token}\r\n"


UNCLEAR = {
    "both lengths": f"{LOGIN}{HOST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "both lengths, the other way round": f"{LOGIN}{HOST}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n{HIDDEN}",
    "two lengths": f"{LOGIN}{HOST}Content-Length: 0\r\nContent-Length: {len(HIDDEN)}\r\n\r\n{HIDDEN}",
    "the same length twice": f"{LOGIN}{HOST}Content-Length: 0\r\nContent-Length: 0\r\n\r\n{HIDDEN}",
    "a list of lengths": f"{LOGIN}{HOST}Content-Length: 0, 0\r\n\r\n{HIDDEN}",
    "a signed length": f"{LOGIN}{HOST}Content-Length: +0\r\n\r\n{HIDDEN}",
    "a hexadecimal length": f"{LOGIN}{HOST}Content-Length: 0x0\r\n\r\n{HIDDEN}",
    "a length of many digits": f"{LOGIN}{HOST}Content-Length: {'9' * 40}\r\n\r\n{HIDDEN}",
    "an empty length": f"{LOGIN}{HOST}Content-Length: \r\n\r\n{HIDDEN}",
    "another coding": f"{LOGIN}{HOST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "a coding that is none": f"{LOGIN}{HOST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "chunked twice": f"{LOGIN}{HOST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "chunked and then identity": f"{LOGIN}{HOST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n{HIDDEN}",
    "chunked in HTTP/1.0": f"POST /auth/login HTTP/1.0\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "a space before the colon": f"{LOGIN}{HOST}Content-Length : 0\r\n\r\n{HIDDEN}",
    "a tab before the colon": f"{LOGIN}{HOST}Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "a header that goes on in the next line": f"{LOGIN}{HOST}X-Long: a\r\n b\r\nContent-Length: 0\r\n\r\n{HIDDEN}",
    "a coding that goes on in the next line": f"{LOGIN}{HOST}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "a first header that is indented": f"{LOGIN} {HOST}Content-Length: 0\r\n\r\n{HIDDEN}",
    "a bare CR in a value": f"{LOGIN}{HOST}X-A: a\rContent-Length: 4\r\n\r\n{HIDDEN}",
    "a NUL in a value": f"{LOGIN}{HOST}X-A: a\0b\r\n\r\n{HIDDEN}",
    "lines that end in LF": f"{LOGIN}{HOST}Content-Length: 0\r\n\r\n{HIDDEN}".replace("\r\n", "\n"),
    "one line that ends in LF": f"{LOGIN}Host: localhost\nContent-Length: 0\r\n\r\n{HIDDEN}",
    "a chunk size that is none": f"{LOGIN}{HOST}Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n{HIDDEN}",
    "a negative chunk size": f"{LOGIN}{HOST}Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n{HIDDEN}",
    "a chunk size with 0x": f"{LOGIN}{HOST}Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n{HIDDEN}",
    "a chunk size of many digits": f"{LOGIN}{HOST}Transfer-Encoding: chunked\r\n\r\n{'f' * 40}\r\nx\r\n{HIDDEN}",
    "a chunk that is longer than its size": f"{LOGIN}{HOST}Transfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n0\r\n\r\n{HIDDEN}",
    "a chunk that ends in LF": f"{LOGIN}{HOST}Transfer-Encoding: chunked\r\n\r\n1\nx\n0\n\n{HIDDEN}",
    "no version": f"GET /healthz\r\n{HOST}\r\n{HIDDEN}",
    "another protocol": f"GET /healthz HTTP/2.0\r\n{HOST}\r\n{HIDDEN}",
    "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "two hosts": f"GET /healthz HTTP/1.1\r\n{HOST}Host: evil.example\r\n{CLOSE}\r\n",
    "no host": f"GET /healthz HTTP/1.1\r\n{CLOSE}\r\n",
    "an address of another host": f"GET http://evil.example/healthz HTTP/1.1\r\n{HOST}{CLOSE}\r\n",
    "an address of our host, asked of another": f"GET http://localhost/healthz HTTP/1.1\r\nHost: evil.example\r\n{CLOSE}\r\n",
    "a host with a name before it": f"GET http://localhost@evil.example/healthz HTTP/1.1\r\n{HOST}{CLOSE}\r\n",
    "a tunnel": f"CONNECT evil.example:443 HTTP/1.1\r\n{HOST}{CLOSE}\r\n",
}


@pytest.mark.parametrize("what", UNCLEAR)
def test_a_request_that_two_servers_could_read_in_two_ways_is_refused_with_all_behind_it(hub: HubProcess, what: str) -> None:
    found = statuses(say(hub, UNCLEAR[what]))
    assert found and found[0] in (400, 403, 405, 501) and len(found) == 1, found


@pytest.mark.parametrize("header", [
    "Authorization: Bearer {token}", "Cookie: {cookie}", "Host: evil.example", "Origin: https://evil.example",
])
def test_what_follows_a_chunked_body_is_no_header(hub: HubProcess, header: str) -> None:
    trailer = header.format(token=hub.token, cookie="trunkline=x")
    plain = f"{LOGIN}{HOST}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n{trailer}\r\n\r\n"
    guarded = f"POST /policy/explain HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n{trailer}\r\n\r\n"
    last = f"GET /healthz HTTP/1.1\r\n{HOST}{CLOSE}\r\n"
    assert statuses(say(hub, plain + guarded + last)) == [400, 401, 200]


@pytest.mark.parametrize("header", ["Content-Length: 1", "Transfer-Encoding: gzip", "Connection: close"])
def test_what_follows_a_chunked_body_does_not_say_how_long_it_is(hub: HubProcess, header: str) -> None:
    asked = f"{LOGIN}{HOST}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n{header}\r\n\r\n"
    assert statuses(say(hub, asked + HIDDEN)) == [400]


def test_a_trailer_does_not_replace_what_the_head_said(hub: HubProcess) -> None:
    asked = f"POST /policy/explain HTTP/1.1\r\n{HOST}{bearer(hub)}{CLOSE}Transfer-Encoding: chunked\r\n\r\n"
    body = '{"agent":"demo","command":"ls"}'
    chunk = f"{len(body):x}\r\n{body}\r\n0\r\n"
    assert statuses(say(hub, f"{asked}{chunk}Authorization: Bearer wrong\r\nHost: evil.example\r\n\r\n")) == [200]


def test_each_request_of_a_connection_has_its_own_credential(hub: HubProcess) -> None:
    known, unknown = f"GET /sessions HTTP/1.1\r\n{HOST}{bearer(hub)}\r\n", f"GET /sessions HTTP/1.1\r\n{HOST}\r\n"
    wrong = f"GET /sessions HTTP/1.1\r\n{HOST}Authorization: Bearer wrong\r\n\r\n"
    last = f"GET /healthz HTTP/1.1\r\n{HOST}{CLOSE}\r\n"
    assert statuses(say(hub, known + unknown + known + wrong + unknown + last)) == [200, 401, 200, 401, 401, 200]
    assert statuses(say(hub, *(known + unknown + known + wrong + unknown + last))) == [200, 401, 200, 401, 401, 200]


def test_many_requests_at_once_are_answered_in_order_or_refused(hub: HubProcess) -> None:
    some = statuses(say(hub, f"GET /healthz HTTP/1.1\r\n{HOST}\r\n" * 10 + f"GET /nothing HTTP/1.1\r\n{HOST}{CLOSE}\r\n"))
    assert some == [200] * 10 + [404]
    assert statuses(say(hub, f"GET /healthz HTTP/1.1\r\n{HOST}\r\n" * 5_000)).count(200) <= 100


def test_the_body_of_a_request_for_an_upgrade_is_no_request(hub: HubProcess) -> None:
    for name in ("websocket", "h2c"):
        wish = f"Connection: Upgrade\r\nUpgrade: {name}\r\nContent-Length: {len(HIDDEN)}\r\n"
        for path in ("/auth/login", "/ws"):
            with socket.create_connection((hub.wire.host, hub.wire.port), 10) as connection:
                connection.sendall(f"POST {path} HTTP/1.1\r\n{HOST}{wish}\r\n".encode())
                answered = connection.recv(1 << 16)  # so that what follows comes by itself
                with suppress(ConnectionError):
                    connection.sendall(HIDDEN.encode())
                    while data := connection.recv(1 << 16):
                        answered += data
            assert statuses(answered) == [400]


def test_an_upgrade_that_is_not_granted_is_a_request_like_any_other(hub: HubProcess) -> None:
    wish = "Connection: Upgrade\r\nUpgrade: {}\r\n"
    last = f"GET /nothing HTTP/1.1\r\n{HOST}{CLOSE}\r\n"
    for name in ("websocket", "h2c", "trunkline"):
        plain = f"GET /healthz HTTP/1.1\r\n{HOST}{wish.format(name)}\r\n"
        assert statuses(say(hub, plain, last)) in ([200, 404], [200]), name
        assert statuses(say(hub, plain + last)) in ([200, 404], [200]), name


def test_an_old_client_is_answered_and_let_go(hub: HubProcess) -> None:
    found = say(hub, f"GET /healthz HTTP/1.0\r\n{HOST}Connection: keep-alive\r\n\r\n{HIDDEN}")
    assert statuses(found) == [200] and b"connection: close" in found.lower()


def test_an_address_with_our_own_host_in_it_is_ours(hub: HubProcess) -> None:
    assert statuses(say(hub, f"GET http://localhost/healthz HTTP/1.1\r\n{HOST}{CLOSE}\r\n")) == [200]


@pytest.mark.parametrize("what", ["address", "header", "headers", "trailer", "chunk size", "blank lines"])
def test_what_has_no_end_is_cut_off(hub: HubProcess, what: str) -> None:
    chunked = f"{LOGIN}{HOST}Transfer-Encoding: chunked\r\n\r\n"
    endless = {
        "address": ("GET /", "a"), "header": (f"GET /healthz HTTP/1.1\r\n{HOST}X-A: ", "a"),
        "headers": (f"GET /healthz HTTP/1.1\r\n{HOST}", "X-A: aaaaaaaa\r\n"),
        "trailer": (f"{chunked}2\r\n{{}}\r\n0\r\nX-A: ", "a"),
        "chunk size": (f"{chunked}1;", "a"), "blank lines": ("", "\r\n"),
    }
    first, more = endless[what]
    found = statuses(say(hub, first, more * LARGE))
    assert found in ([], [400]), found  # reset where it was still sending


def test_a_large_body_of_nobody_is_refused_before_it_is_here(hub: HubProcess) -> None:
    with socket.create_connection((hub.wire.host, hub.wire.port), 10) as connection:
        connection.sendall(f"{LOGIN}{HOST}Content-Length: 1000000\r\n\r\n{{".encode())
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 413")
