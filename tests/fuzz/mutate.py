"""One input becomes another: bytes changed, pieces doubled, dropped and taken from other inputs, and tokens that once hurt."""

from __future__ import annotations

import random
from collections.abc import Sequence

MOST_BYTES = 16 << 10

TOKENS: tuple[bytes, ...] = (
    b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\0", b"\r\n", b"\n", b"\n\n", b"\\ud800", b"\\udc00\\ud800", b"\\u0000",
    "\u202e".encode(), "\u2028".encode(), "²".encode(), "٣".encode(), "é".encode(), "😀".encode(), b"\x1b[2J", b"\x9b",
    b"9" * 25, b"9" * 400, b"9" * 5000, b"-1", b"1e400", b"-1e309", b"1.0", b"0.5", b"NaN", b"Infinity", b"1_0",
    b"18446744073709551616",
    b"[" * 2000, b"{\"a\":" * 500, b"]" * 50, b"null", b"true", b"{}", b"[]", b'""', b'"', b"'", b"\\", b",", b":", b"{", b"}",
    b"bytes=0-", b"::1]", b"[::1]:80", b"http://[", b"localhost:99999", b"text/event-stream;q=0", b"; filename*=UTF-8''%ff",
    b"id: ", b"data: ", b"retry: ", b"\x78\x9c", b"\xdd\xff\xff\xff\xff", b"\xc4\xff", b"$(", b"`", b"<<E", b"${", b"**/", b"[!",
    b"{a,", b"=",
    b"[[rules]]\n", b"action = \"allow\"\n", b"'''", b'"""', b"1979-05-27T99:99:99Z", b"0001-01-01T00:00:00+23:59",
)


def mutated(dice: random.Random, pool: Sequence[bytes]) -> bytes:
    """An input made of one of the pool, by one to six changes."""
    data = bytearray(dice.choice(pool))
    for _ in range(dice.choice((1, 1, 2, 3, 6))):
        dice.choice(_CHANGES)(dice, data, pool)
    return bytes(data[:MOST_BYTES])


def _at(dice: random.Random, data: bytearray) -> int:
    return dice.randint(0, len(data))


def _span(dice: random.Random, data: bytes | bytearray) -> slice:
    start = dice.randint(0, len(data))
    return slice(start, start + dice.choice((1, 2, 4, 16, 64, 512)))


def _flip(dice: random.Random, data: bytearray, pool: Sequence[bytes]) -> None:
    if data:
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def _put_byte(dice: random.Random, data: bytearray, pool: Sequence[bytes]) -> None:
    data.insert(_at(dice, data), dice.randrange(256))


def _put_token(dice: random.Random, data: bytearray, pool: Sequence[bytes]) -> None:
    at = _at(dice, data)
    data[at:at + dice.choice((0, 0, 1, 4))] = dice.choice(TOKENS)


def _replace_value(dice: random.Random, data: bytearray, pool: Sequence[bytes]) -> None:
    """What stands between two signs becomes a token: the most telling change of JSON, TOML and headers."""
    signs = [at for at, byte in enumerate(data) if byte in b':,=[{ "']
    if signs:
        start = dice.choice(signs) + 1
        end = next((at for at in range(start, len(data)) if data[at] in b',]}\n"'), len(data))
        data[start:end] = dice.choice(TOKENS)


def _drop(dice: random.Random, data: bytearray, pool: Sequence[bytes]) -> None:
    del data[_span(dice, data)]


def _double(dice: random.Random, data: bytearray, pool: Sequence[bytes]) -> None:
    piece = bytes(data[_span(dice, data)])
    at = _at(dice, data)
    data[at:at] = piece * dice.choice((1, 2, 50))


def _splice(dice: random.Random, data: bytearray, pool: Sequence[bytes]) -> None:
    other = dice.choice(pool)
    at = _at(dice, data)
    data[at:at] = other[_span(dice, other)]


def _cut(dice: random.Random, data: bytearray, pool: Sequence[bytes]) -> None:
    del data[_at(dice, data):]


_CHANGES = (_flip, _put_byte, _put_token, _put_token, _replace_value, _replace_value, _drop, _double, _splice, _cut)
