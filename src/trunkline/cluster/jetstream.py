"""What we ask of JetStream, over a node's own connection: publish under a fence, one batch, pages of a subject, the last message.

The library has no batch and no pages, and its ``publish_async`` never ends when the answer is an error: all of it is asked here.

Rule 1: a refusal is a value. Most of them are no failure: a fence that moved is how two writers learn of each other.
Rule 2: whoever decides about a fence asks the stream's leader (``last_message``). Pages come from any replica, which may lag.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec
from nats.aio.msg import Msg

from trunkline import decoders
from trunkline.cluster.connection import ANSWER_WITHIN_S, Connection
from trunkline.cluster.headers import WAS_AT, parse_headers
from trunkline.errors import ClusterUnavailable

API: Final = "$JS.API."
FENCE: Final = "Nats-Expected-Last-Subject-Sequence"
EXPECTED_STREAM: Final = "Nats-Expected-Stream"
MSG_ID: Final = "Nats-Msg-Id"

WRONG_LAST: Final = 10071
"""The fence moved."""
IN_FLIGHT: Final = 10164
"""Another message with this fence is in flight; on three replicas also told to a lone writer, who tries again."""
DUPLICATE_IN_PROCESS: Final = 10158
STREAM_FULL: Final = 10077
ACCOUNT_FULL: Final = 10047
NO_MESSAGE: Final = 10037
NO_STREAM: Final = 10059
NAME_IN_USE: Final = 10058

END_OF_PAGE: Final = "204"
NOTHING_THERE: Final = "404"


class Refusal(msgspec.Struct, frozen=True):
    """What JetStream said instead of doing it."""

    code: int = 0
    err_code: int = 0
    description: str = ""


class Ack(msgspec.Struct, frozen=True):
    """It is stored, under this number."""

    seq: int
    duplicate: bool = False
    count: int = 0
    """Messages of the batch that this is about; 0: it is about one message."""


class _Answer(msgspec.Struct):
    seq: int = 0
    duplicate: bool = False
    count: int = 0
    error: Refusal | None = None


class Stored(msgspec.Struct, frozen=True):
    """A message as a stream has it."""

    subject: str
    seq: int
    data: bytes
    headers: dict[str, str]


class Page(msgspec.Struct, frozen=True):
    """Some of a subject's messages, in order; ``more``: how many follow."""

    messages: list[Stored]
    more: int


_answer = decoders.of(_Answer)
T = TypeVar("T")


async def publish(connection: Connection, subject: str, body: bytes, headers: dict[str, str], *,
                  within_s: float = ANSWER_WITHIN_S) -> Ack | Refusal:
    """Store one message. Errors as for ``Connection.request``: NodeAway here means that no stream or no leader is there."""
    return _read_ack(await connection.request(subject, body, headers=headers, within_s=within_s))


async def publish_batch(connection: Connection, batch_id: str, messages: Sequence[tuple[str, bytes, dict[str, str]]], *,
                        within_s: float = ANSWER_WITHIN_S) -> Ack | Refusal:
    """Store all of these or none. The answer's seq is the last one's; the numbers are consecutive."""
    for number, (subject, body, headers) in enumerate(messages[:-1], 1):
        await connection.publish(subject, body, headers={**headers, **_batch_place(batch_id, number)})
    subject, body, headers = messages[-1]
    last = {**headers, **_batch_place(batch_id, len(messages)), "Nats-Batch-Commit": "1"}
    return await publish(connection, subject, body, last, within_s=within_s)


async def read_page(connection: Connection, stream: str, subject: str, *, from_seq: int, batch: int, max_bytes: int) -> Page:
    """The first messages of a subject (which may have wildcards) that are numbered ``from_seq`` or above."""
    asked = msgspec.json.encode({"seq": max(from_seq, 1), "next_by_subj": subject, "batch": batch, "max_bytes": max_bytes})
    messages: list[Stored] = []
    more = 0

    def take(message: Msg) -> bool:
        nonlocal more
        headers = message.headers or {}
        if WAS_AT in headers:
            messages.append(_stored(message, headers))
            return False
        status = headers.get("Status", "")
        if status not in (END_OF_PAGE, NOTHING_THERE):
            raise ClusterUnavailable(f"{stream} cannot be read: {status} {headers.get('Description', '')}")
        more = int(headers.get("Nats-Num-Pending", "0"))
        return True

    await connection.request_many(f"{API}DIRECT.GET.{stream}", asked, take)
    return Page(messages, more)


async def last_message(connection: Connection, stream: str, subject: str) -> Stored | None:
    """The subject's last message, as the stream's leader has it."""
    answer = await ask(connection, f"STREAM.MSG.GET.{stream}", {"last_by_subj": subject})
    if isinstance(answer, Refusal):
        if answer.err_code == NO_MESSAGE:
            return None
        raise ClusterUnavailable(f"{stream} cannot be read: {answer.description}")
    found = answer["message"]
    headers = parse_headers(base64.b64decode(found.get("hdrs", "")))
    return Stored(found["subject"], found["seq"], base64.b64decode(found.get("data", "")), headers)


async def last_near(connection: Connection, stream: str, subject: str) -> Stored | None:
    """The same as any replica has it. The subject is in the call's own subject, so that a key can be confined to it."""
    answer = await connection.request(f"{API}DIRECT.GET.{stream}.{subject}")
    headers = answer.headers or {}
    if WAS_AT in headers:
        return _stored(answer, headers)
    if (status := headers.get("Status", "")) != NOTHING_THERE:
        raise ClusterUnavailable(f"{stream} cannot be read: {status} {headers.get('Description', '')}")
    return None


async def ask(connection: Connection, what: str, asked: Mapping[str, object] | None = None) -> dict[str, Any] | Refusal:
    """A call of JetStream's own interface."""
    body = msgspec.json.encode(asked) if asked is not None else b""
    answer: dict[str, Any] = msgspec.json.decode((await connection.request(API + what, body)).data)
    return decoders.convert(answer["error"], Refusal) if "error" in answer else answer


def accepted(answer: T | Refusal, what: str) -> T:
    """The answer; ClusterUnavailable where it is a refusal."""
    if isinstance(answer, Refusal):
        raise ClusterUnavailable(f"{what}: {answer.description} ({answer.err_code})")
    return answer


def _batch_place(batch_id: str, number: int) -> dict[str, str]:
    return {"Nats-Batch-Id": batch_id, "Nats-Batch-Sequence": str(number)}


def _read_ack(answer: Msg) -> Ack | Refusal:
    read = _answer.decode(answer.data)
    return read.error if read.error is not None else Ack(read.seq, read.duplicate, read.count)


def _stored(message: Msg, headers: dict[str, str]) -> Stored:
    return Stored(headers[WAS_AT], int(headers["Nats-Sequence"]), message.data, headers)
