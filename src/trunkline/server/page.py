"""The web page: ``/``, its assets, its icons, the service worker and the manifest, as they were built into the package.

Rule 1: no script is inline, nothing comes from elsewhere, and no text becomes markup or a script but through a policy for Trusted
Types that we named; the page's policy says so. Of our own addresses, too, only those of the build are scripts and workers, and
only previews are framed: what an agent made lies under the same origin.
Rule 2: only files that are in the folder are served, each under a validator. A name with a hash in it never changes its content.
Rule 3: nothing is compressed here: the build lies there in br and in gzip, and what the browser takes is sent.
Rule 4: the disk is looked at in a lane: the files are read once, and each request looks only whether they were built anew.
"""

from __future__ import annotations

import hashlib
import re
import threading
from functools import lru_cache
from pathlib import Path

import msgspec

from trunkline.errors import NotFound
from trunkline.server.call import HttpCall, Reply
from trunkline.server.files.content import media_type
from trunkline.server.http.messages import Headers, Response
from trunkline.threads import check_off_loop

STATIC = Path(__file__).parent / "static"
BUILT = STATIC / "page"
"""What `make page` writes."""
NOTICES = STATIC / "notices.txt"
"""What `make notices` writes."""
STAMP = "weight.json"
"""The last file that a build writes."""
PAGE_HEADERS = {"Cross-Origin-Opener-Policy": "same-origin", "Permissions-Policy": "camera=(), microphone=(), geolocation=()"}
SCRIPTS, WORKERS, FRAMES = ("/assets/",), ("/assets/", "/sw.js"), ("/preview/",)
_reading = threading.Lock()
_NAMED_HOST = re.compile(r"[a-z0-9.-]+(:[0-9]+)?")
ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
"""What a browser may take, the smallest first, and how the file is called."""
FOREVER = "public, max-age=31536000, immutable"
HASHED = re.compile(r"assets/.+-[\w-]{8}\.\w+")
UNBUILT = """\
<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Trunkline</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/assets/docs.css"></head>
<body><main><h1>The page was not built</h1>
<p>This hub runs from its sources, and its web page has not been built yet. In the project's folder, run</p>
<pre>make page</pre>
<p>and load this address again. The hub itself works: so do the command line, editors and <a href="/docs">the API</a>.</p>
</main></body></html>
"""


def page_headers(call: HttpCall) -> dict[str, str]:
    """What a page of ours may do."""
    return {**PAGE_HEADERS, "Content-Security-Policy": page_policy(call.request.headers["host"])}


def page_policy(host: str) -> str:
    """The policy of a page that is seen under ``host``."""
    return "; ".join((
        "default-src 'none'", f"script-src {_own(host, SCRIPTS)}", "style-src 'self'", "img-src 'self' data: blob:",
        "media-src 'self' data: blob:", "font-src 'self'", "connect-src 'self'", f"frame-src {_own(host, FRAMES)}",
        f"worker-src {_own(host, WORKERS)}", "manifest-src 'self'", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types trunkline dompurify",
    ))


def worker_policy(host: str) -> str:
    """The policy of scripts: what a worker that is started from one may do."""
    return f"default-src 'none'; script-src {_own(host, SCRIPTS)}; connect-src 'self'; frame-ancestors 'none'"


def _own(host: str, paths: tuple[str, ...]) -> str:
    """Our addresses under these paths. Without a scheme it is the page's own, also behind a proxy that ends TLS."""
    host = host.lower()
    # A policy has no way to spell an IPv6 address. There the previews' own refusal to be a script has to do.
    return " ".join(host + path for path in paths) if _NAMED_HOST.fullmatch(host) else "'self'"


class File(msgspec.Struct, frozen=True):
    """A file of the page; ``packed`` is the same, compressed, by encoding."""

    body: bytes
    kind: str
    cache: str
    packed: dict[str, bytes]


async def index(call: HttpCall) -> Reply:
    """The page, or where it comes from."""
    found = (await _page(call)).get("index.html")
    if found is None:
        return Response(UNBUILT, 503, headers={**page_headers(call), "Cache-Control": "no-store"}, media_type="text/html")
    return _answer(call, found, page_headers(call))


async def asset(call: HttpCall) -> Reply:
    """A part of the page."""
    return await _file(call, f"assets/{call.part('path')}")


async def icon(call: HttpCall) -> Reply:
    """A picture of the page's."""
    return await _file(call, f"icons/{call.part('path')}")


async def service_worker(call: HttpCall) -> Reply:
    """The page's service worker; it lies at the top so that it may answer for the whole page."""
    return await _file(call, "sw.js")


async def manifest(call: HttpCall) -> Reply:
    """What a browser needs to install the page."""
    return await _file(call, "manifest.webmanifest")


async def licences(call: HttpCall) -> Reply:
    """The licences of what the page is built from."""
    text = await call.parts.page_lane.run(_notices)
    return Response(text, headers={"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}, media_type="text/plain")


async def _file(call: HttpCall, name: str) -> Response:
    found = (await _page(call)).get(name)
    if found is None:
        raise NotFound(f"no such asset: {name[:100]}")
    scripted = found.kind == "text/javascript"
    return _answer(call, found, {"Content-Security-Policy": worker_policy(call.request.headers["host"])} if scripted else {})


def _answer(call: HttpCall, file: File, headers: dict[str, str]) -> Response:
    request_headers = call.request.headers
    encoding = next((name for name in file.packed if _takes(request_headers, name)), None)
    body = file.packed[encoding] if encoding else file.body
    etag = f'"{hashlib.sha256(body).hexdigest()[:24]}"'
    headers = {**headers, "ETag": etag, "Cache-Control": file.cache}
    if file.packed:
        headers["Vary"] = "Accept-Encoding"
    if etag in [tag.strip() for tag in request_headers.get("if-none-match", "").replace("W/", "").split(",")]:
        return Response(status_code=304, headers=headers)
    if encoding:
        headers["Content-Encoding"] = encoding
    return Response(body, headers=headers, media_type=file.kind)


def _takes(request_headers: Headers, encoding: str) -> bool:
    """Whether the browser declared that it can read it; ``;q=0`` declares that it cannot."""
    for part in request_headers.get("accept-encoding", "").lower().split(","):
        name, _, quality = part.partition(";")
        if name.strip() == encoding:
            return re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", quality) is None
    return False


def _notices() -> bytes:
    check_off_loop()
    return NOTICES.read_bytes()


async def _page(call: HttpCall) -> dict[str, File]:
    """Every file of the page by its name, as it is now."""
    return await call.parts.page_lane.run(_look, BUILT)


def _look(folder: Path) -> dict[str, File]:
    check_off_loop()
    with _reading:  # two that ask at the same time read it once
        return _files(folder, _stamp(folder))


def _stamp(folder: Path) -> int:
    """When the page was built, 0 where it was not: a page that is built anew is served without a restart."""
    try:
        return (folder / STAMP).stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=1)
def _files(folder: Path, stamp: int) -> dict[str, File]:
    """Every file of the page, read once: together they are small."""
    found = {"assets/docs.css": _read(STATIC / "docs.css", "assets/docs.css")}
    if stamp:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix not in (".br", ".gz") and path.name != STAMP:
                name = path.relative_to(folder).as_posix()
                found[name] = _read(path, name)
    return found


def _read(path: Path, name: str) -> File:
    packed = {encoding: path.with_name(path.name + suffix) for encoding, suffix in ENCODINGS}
    return File(
        body=path.read_bytes(), kind=media_type(name), cache=FOREVER if HASHED.fullmatch(name) else "no-cache",
        packed={encoding: each.read_bytes() for encoding, each in packed.items() if each.exists()},
    )
