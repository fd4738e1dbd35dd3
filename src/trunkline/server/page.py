"""The page at ``/`` and its assets, which come with the package.

Rule 1: no script is inline and nothing comes from elsewhere; the page's policy says so.
Rule 2: only files that are in the folder at start are served, each under a validator.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from starlette.responses import Response

from trunkline.errors import NotFound
from trunkline.server.call import Call, Reply
from trunkline.server.content import media_type

FOLDER = Path(__file__).parent / "static"
POLICY = "; ".join((
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "font-src 'self'",
    "connect-src 'self'", "frame-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'none'",
    "frame-ancestors 'none'",
))
PAGE_HEADERS = {"Content-Security-Policy": POLICY, "Cross-Origin-Opener-Policy": "same-origin"}


async def index(call: Call) -> Reply:
    """The page."""
    return _file(call, "index.html", PAGE_HEADERS)


async def asset(call: Call) -> Reply:
    """A part of the page."""
    return _file(call, call.part("path"), {})


@cache
def _assets() -> dict[str, tuple[bytes, str]]:
    """Every file of the page with its validator, read once: together they are small."""
    found = {}
    for path in sorted(FOLDER.rglob("*")):
        if path.is_file():
            body = path.read_bytes()
            found[path.relative_to(FOLDER).as_posix()] = (body, f'"{hashlib.sha256(body).hexdigest()[:24]}"')
    return found


def _file(call: Call, name: str, headers: dict[str, str]) -> Response:
    if name not in _assets():
        raise NotFound(f"no such asset: {name[:100]}")
    body, etag = _assets()[name]
    headers = {**headers, "ETag": etag, "Cache-Control": "no-cache"}
    if call.request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    kind = media_type(name)
    return Response(body, headers=headers, media_type=kind)
