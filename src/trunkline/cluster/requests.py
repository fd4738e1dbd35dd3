"""Questions to others, and their answers: all of a node's answers come to one subject of its own.

Rule 1: a question ends: with its answers, at its deadline, when the server denies it, or when the connection goes.
Rule 2: no answer says nothing about whether it was done (NodeSilent). Nobody there to ask (NodeAway) and denied (ClusterDenied)
        say that it was not.
Rule 3: handlers do not wait: the answer's callback hands it on and returns.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable

import msgspec
from nats import errors as nats_errors
from nats.aio.msg import Msg

from trunkline.cluster.client import NodeClient
from trunkline.cluster.headers import WAS_IN
from trunkline.errors import ClusterDenied, ClusterUnavailable, NodeAway, NodeSilent, TrunklineError

NO_RESPONDERS = "503"
STATUS = "Status"


class _Question(msgspec.Struct, gc=False):
    """One that waits for its answers."""

    subject: str
    over: asyncio.Future[Msg]
    take: Callable[[Msg], bool] | None
    """Gets each answer where there may be several; True: it was the last."""


class Requests:
    """A node's open questions."""

    def __init__(self, client: NodeClient, prefix: str) -> None:
        self._client = client
        self._prefix = f"{prefix}.{secrets.token_hex(6)}."
        self._open: dict[str, _Question] = {}

    async def listen(self) -> None:
        """Needed once, when the connection first is up; it lasts over reconnects."""
        await self._client.subscribe(f"{self._prefix}*", cb=self._on_answer, pending_msgs_limit=-1, pending_bytes_limit=-1)

    async def ask(self, subject: str, body: bytes, headers: dict[str, str] | None, within_s: float) -> Msg:
        """The first answer."""
        return await self._ask(subject, body, headers, within_s, None)

    async def ask_many(self, subject: str, body: bytes, within_s: float, take: Callable[[Msg], bool]) -> None:
        """Hand each answer to ``take`` until it says that it was the last one."""
        await self._ask(subject, body, None, within_s, take)

    def deny(self, subject: str) -> None:
        """The server let nothing be published there; it names the subject in small letters."""
        self._fail(lambda each: each.subject.lower() == subject,
                   lambda each: ClusterDenied(f"this node may not publish to {each.subject}"))

    def lose(self) -> None:
        """The connection is gone."""
        self._fail(lambda each: True, lambda each: NodeSilent(f"the connection was lost before {each.subject} answered"))

    async def _ask(self, subject: str, body: bytes, headers: dict[str, str] | None, within_s: float,
                   take: Callable[[Msg], bool] | None) -> Msg:
        token = secrets.token_hex(8)  # who knows one question's cannot answer another
        over: asyncio.Future[Msg] = asyncio.get_running_loop().create_future()
        self._open[token] = _Question(subject, over, take)
        try:
            async with asyncio.timeout(within_s):
                await self._client.publish(subject, body, reply=self._prefix + token, headers=headers)
                return await over
        except TimeoutError:
            raise NodeSilent(f"no answer on {subject} within {within_s:g} s") from None
        except (nats_errors.Error, OSError) as error:
            raise ClusterUnavailable(f"cannot ask {subject}: {error}") from error
        finally:
            self._open.pop(token, None)

    async def _on_answer(self, answer: Msg) -> None:
        question = self._open.get(answer.subject.rpartition(".")[2])
        if question is None or question.over.done():
            return
        headers = answer.headers or {}
        if headers.get(STATUS) == NO_RESPONDERS and not answer.data and WAS_IN not in headers:  # a stored message may say so, too
            question.over.set_exception(NodeAway(f"nobody listens to {question.subject}"))
        elif question.take is None:
            question.over.set_result(answer)
        else:
            self._hand_on(question, question.take, answer)

    def _hand_on(self, question: _Question, take: Callable[[Msg], bool], answer: Msg) -> None:
        try:
            if take(answer):
                question.over.set_result(answer)
        except Exception as error:  # whoever asked must know, and not the client's own callback
            question.over.set_exception(error)

    def _fail(self, which: Callable[[_Question], bool], why: Callable[[_Question], TrunklineError]) -> None:
        for question in list(self._open.values()):
            if which(question) and not question.over.done():
                question.over.set_exception(why(question))
