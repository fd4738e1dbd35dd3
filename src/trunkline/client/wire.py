"""Asking the hub and reading its answer: what every call shares.

Rule 1: errors are those of ``trunkline.errors``, by the code that the hub answered.
Rule 2: a hub that moved is looked for once, and only asked again what it may hear twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from trunkline.client.faults import error_of
from trunkline.client.http import Endpoint, Pool, Request, Response
from trunkline.client.records import read_as
from trunkline.errors import Unavailable

TIMEOUT_S = 30.0
START_TIMEOUT_S = 180.0
"""Starting a session starts an agent, and some are fetched from a registry on their first start."""
RECONNECT_S = 60.0

JSON_BODY = (("Content-Type", "application/json"), ("Accept", "application/json"))

T = TypeVar("T")


class Wire:
    """A hub that can be asked."""

    def __init__(self, url: str, token: str | None = None, *, certificate: str | None = None, timeout_s: float = TIMEOUT_S,
                 reconnect_s: float = RECONNECT_S, find: Callable[[], Awaitable[Endpoint]] | None = None) -> None:
        endpoint = Endpoint(url.rstrip("/"), token, certificate)
        endpoint.parts()
        self._pool = Pool(endpoint)
        self._timeout_s = timeout_s
        self._reconnect_s = reconnect_s
        self._find = find

    @property
    def endpoint(self) -> Endpoint:
        """Where the hub was last found."""
        return self._pool.endpoint

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close idle connections; streams close with their iterators."""
        await self._pool.close()

    async def _get(self, path: str, type_: type[T]) -> T:
        return read(await self._ask(Request("GET", path)), type_)

    async def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        response = await self._ask(post(path, body))
        return read(response, dict[str, Any]) if response.body else {}

    async def _ask(self, request: Request, *, timeout_s: float | None = None) -> Response:
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        try:
            response = await self._pool.ask(request, timeout_s=limit_s)
        except Unavailable:
            if self._find is None or not request.repeatable():
                raise
            await self._relocate()
            response = await self._pool.ask(request, timeout_s=limit_s)
        if not 200 <= response.status < 300:
            raise error_of(response)
        return response

    async def _relocate(self) -> None:
        if self._find is not None:
            await self._pool.move(await self._find())


def read(response: Response, kind: type[T]) -> T:
    """An answer's body as ``kind``; Unavailable where it is none, as from a proxy that answers in the hub's place."""
    return read_as(response.body, kind)


def json_of(body: Mapping[str, Any]) -> bytes:
    """A body."""
    return msgspec.json.encode(body)


def post(path: str, body: Mapping[str, Any]) -> Request:
    """A request with a body."""
    return Request("POST", path, json_of(body), JSON_BODY)


def path_of(*parts: str, **query: str | int | None) -> str:
    """An address: its parts are quoted; what is None is left out."""
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    given = {key: value for key, value in query.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path
