"""The registry's JSON: from a file, or from an address that somebody typed.

Rule 1: an address is asked once, over https (plain http only on this machine): what comes says which program is run later, and
nobody on the way may change it. A redirect does not lead out of that.
Rule 2: what comes is bounded in size and time.
"""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from http.client import HTTPException, HTTPMessage, HTTPResponse
from typing import IO
from urllib.parse import urlsplit

from trunkline import __version__
from trunkline.client.http import is_loopback
from trunkline.disk.reading import read_whole
from trunkline.errors import Invalid, NotFound, Unavailable

REGISTRY_BYTES = 8 << 20
"""The public registry has some 100 KiB."""

FETCH_S = 20.0
_PIECE_BYTES = 1 << 16


def content_of(source: str) -> bytes:
    """The bytes of a file or an address; an error names what is wrong with it."""
    if "://" in source:
        return _fetched(source)
    try:
        return read_whole(source, REGISTRY_BYTES, follow=True)
    except FileNotFoundError:
        raise NotFound(f"there is no file {source}") from None
    except OSError as error:
        raise Invalid(f"cannot read {source}: {error.strerror}") from error


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows a redirect only to where one could have asked at once."""

    def redirect_request(self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage,
                         newurl: str) -> urllib.request.Request | None:
        _check_address(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _fetched(url: str) -> bytes:
    _check_address(url)
    opener = urllib.request.build_opener(_SafeRedirects)
    request = urllib.request.Request(url, headers={"User-Agent": f"trunkline/{__version__}", "Accept": "application/json"})
    try:
        with opener.open(request, timeout=FETCH_S) as answer:
            content = _read(answer, url)
    except urllib.error.HTTPError as error:
        with error:
            raise Unavailable(f"{url} answered {error.code}") from error
    except (OSError, HTTPException) as error:
        raise Unavailable(f"cannot fetch {url}: {getattr(error, 'reason', None) or error}") from error
    return content


def _read(answer: HTTPResponse, url: str) -> bytes:
    """All of it; who sends a little now and then is not waited for longer than who sends nothing."""
    content, until = bytearray(), time.monotonic() + FETCH_S
    while piece := answer.read1(_PIECE_BYTES):
        content += piece
        if len(content) > REGISTRY_BYTES:
            raise Invalid(f"{url} is longer than {REGISTRY_BYTES >> 20} MiB")
        if time.monotonic() > until:
            raise TimeoutError(f"it took longer than {FETCH_S:g} s")
    return bytes(content)


def _check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError as error:
        raise Invalid(f"{url!r} is no address: {error}") from None
    if not host or (parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host))):
        raise Invalid(f"{url!r}: only https is asked (http only on this machine): what comes says what is run")
