"""A request and an answer, as handlers know them: of Starlette's as much as they use, in its words and with its bytes.

Starlette's own bring forms, sessions and what streams with them: a tenth of what a hub loaded before its first answer. Whoever
needs those takes them from there (forms, an export, a redirect); they fit, since all of them are ASGI.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, overload
from urllib.parse import parse_qsl

from starlette.types import Message, Receive, Scope, Send

RawHeaders = list[tuple[bytes, bytes]]
"""Names in small letters, in the order in which they came or go."""


class Headers:
    """What came with a request, by name in any letters."""

    __slots__ = ("raw",)

    def __init__(self, raw: RawHeaders) -> None:
        self.raw = raw

    def getlist(self, name: str) -> list[str]:
        """All that came under a name."""
        wanted = name.lower().encode("latin-1")
        return [value.decode("latin-1") for each, value in self.raw if each == wanted]

    @overload
    def get(self, name: str) -> str | None: ...

    @overload
    def get(self, name: str, default: str) -> str: ...

    def get(self, name: str, default: str | None = None) -> str | None:
        """The first that came under a name, else ``default``."""
        wanted = name.lower().encode("latin-1")
        for each, value in self.raw:
            if each == wanted:
                return value.decode("latin-1")
        return default

    def __getitem__(self, name: str) -> str:
        found = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter([name.decode("latin-1") for name, _ in self.raw])

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None


class HTTPConnection:
    """The head of a request, also of one that asks for a WebSocket."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._query: list[tuple[str, str]] | None = None

    @property
    def headers(self) -> Headers:
        """Its headers."""
        return Headers(self.scope["headers"])

    @property
    def query(self) -> list[tuple[str, str]]:
        """The parameters of its query, in order."""
        if self._query is None:
            self._query = parse_qsl(self.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        return self._query

    @property
    def query_params(self) -> dict[str, str]:
        """The same by name; of several of one name the last."""
        return dict(self.query)

    @property
    def path_params(self) -> dict[str, str]:
        """The variable parts of its path."""
        found: dict[str, str] = self.scope.get("path_params", {})
        return found


async def _no_receive() -> Message:
    raise RuntimeError("this request has no body")


class Request(HTTPConnection):
    """A request, and the way to its body."""

    def __init__(self, scope: Scope, receive: Receive = _no_receive) -> None:
        self.scope = scope
        self.receive = receive
        self._query = None

    @property
    def method(self) -> str:
        """What it wants done."""
        return str(self.scope["method"])


class Response:
    """An answer that is known to its end."""

    def __init__(self, content: bytes | str | None = None, status_code: int = 200, headers: Mapping[str, str] | None = None,
                 media_type: str | None = None) -> None:
        self.status_code = status_code
        self.body = content.encode() if isinstance(content, str) else content or b""
        self.raw_headers: RawHeaders = [(name.lower().encode("latin-1"), value.encode("latin-1"))
                                        for name, value in (headers or {}).items()]
        named = {name for name, _ in self.raw_headers}
        if b"content-length" not in named and status_code >= 200 and status_code not in (204, 304):
            self.raw_headers.append((b"content-length", b"%d" % len(self.body)))
        if media_type is not None and b"content-type" not in named:
            is_bare = media_type.startswith("text/") and "charset=" not in media_type.lower()
            self.raw_headers.append((b"content-type", (media_type + "; charset=utf-8" * is_bare).encode("latin-1")))

    def set_cookie(self, name: str, value: str = "", *, max_age: int, path: str, secure: bool,
                   expires: int | None = None) -> None:
        """Give a browser a cookie that no script sees and that goes to our own pages alone."""
        from http.cookies import SimpleCookie  # few hubs have a browser that logs in

        cookie: SimpleCookie = SimpleCookie({name: value})
        said: dict[str, Any] = {"max-age": max_age, "path": path, "httponly": True, "samesite": "strict", "secure": secure,
                                "expires": "" if expires is None else expires}
        cookie[name].update(said)
        self.raw_headers.append((b"set-cookie", cookie.output(header="").strip().encode("latin-1")))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request; where that asked for a WebSocket, it is refused with this."""
        kind = "websocket." if scope["type"] == "websocket" else ""
        await send({"type": kind + "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": kind + "http.response.body", "body": self.body})
