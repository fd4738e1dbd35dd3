"""The page and its assets, from a small build that was made up."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.aio import run
from tests.server.ops.test_ops import Page
from tests.server.site import site
from trunkline.server import page

INDEX = b'<!doctype html><title>Trunkline</title><script type="module" src="/assets/index-Ab3_xY-9.js"></script>'
SCRIPT = b"console.log('a page');" * 20


def write_build(folder: Path, index: bytes = INDEX) -> None:
    """A build as Vite and its packing leave it."""
    for name, body in {"index.html": index, "assets/index-Ab3_xY-9.js": SCRIPT, "assets/plain.js": SCRIPT, "sw.js": b"self;",
                       "manifest.webmanifest": b"{}", "icons/icon.svg": b"<svg/>"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(body)
    (folder / "assets/index-Ab3_xY-9.js.br").write_bytes(b"brotli stands here")
    (folder / "assets/index-Ab3_xY-9.js.gz").write_bytes(gzip.compress(SCRIPT))
    (folder / "weight.json").write_bytes(b"{}")


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a build in it."""
    folder = tmp_path / "page"
    write_build(folder)
    monkeypatch.setattr(page, "BUILT", folder)
    yield folder


def test_the_page_and_all_that_it_needs_come_without_a_token(tmp_path: Path, built: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            kinds = {"/": "text/html; charset=utf-8", "/assets/index-Ab3_xY-9.js": "text/javascript; charset=utf-8",
                     "/sw.js": "text/javascript; charset=utf-8", "/manifest.webmanifest": "application/manifest+json",
                     "/icons/icon.svg": "image/svg+xml", "/assets/docs.css": "text/css; charset=utf-8"}
            for path, kind in kinds.items():
                answer = await hub.ask("GET", path, token=None)
                assert (answer.status, answer.header("content-type")) == (200, kind), path

    run(check())


def test_what_the_browser_takes_is_sent_compressed_and_nothing_else_is(tmp_path: Path, built: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            for accepted, encoding, body in (
                ("gzip, deflate, br", "br", b"brotli stands here"), ("br;q=0, gzip;q=0.5", "gzip", gzip.compress(SCRIPT)),
                ("identity", None, SCRIPT), ("brotli", None, SCRIPT), ("gzip;q=0.0", None, SCRIPT),
            ):
                answer = await hub.ask("GET", "/assets/index-Ab3_xY-9.js", token=None, headers={"accept-encoding": accepted})
                assert (answer.status, answer.header("content-encoding")) == (200, encoding), accepted
                assert answer.header("vary") == "Accept-Encoding"
                assert len(answer.body) == len(body)
                assert answer.header("content-type") == "text/javascript; charset=utf-8"
            plain = await hub.ask("GET", "/assets/plain.js", token=None, headers={"accept-encoding": "br"})
            assert (plain.header("content-encoding"), plain.header("vary"), plain.body) == (None, None, SCRIPT)

    run(check())


def test_only_a_name_with_a_hash_is_kept_for_ever_and_the_rest_is_asked_about_each_time(tmp_path: Path, built: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            hashed = await hub.ask("GET", "/assets/index-Ab3_xY-9.js", token=None)
            assert hashed.header("cache-control") == "public, max-age=31536000, immutable"
            for path in ("/", "/sw.js", "/manifest.webmanifest", "/assets/plain.js", "/assets/docs.css"):
                answer = await hub.ask("GET", path, token=None)
                assert answer.header("cache-control") == "no-cache", path
                tag = answer.header("etag") or ""
                for said in (tag, f'"other", W/{tag}'):
                    again = await hub.ask("GET", path, token=None, headers={"if-none-match": said})
                    assert (again.status, again.body) == (304, b""), path

    run(check())


def test_the_pages_policy_allows_nothing_inline_nothing_from_elsewhere_no_text_as_a_script(tmp_path: Path, built: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            policy = (await hub.ask("GET", "/", token=None)).header("content-security-policy") or ""
            said = dict(part.split(" ", 1) for part in policy.split("; "))
            assert "unsafe" not in policy
            assert "http:" not in policy
            assert "https:" not in policy
            assert (said["default-src"], said["script-src"], said["style-src"]) == ("'none'", "localhost:7420/assets/", "'self'")
            # What agents made lies under the same origin: it is framed, and never a script or a worker.
            assert (said["worker-src"], said["frame-src"]) == (
                "localhost:7420/assets/ localhost:7420/sw.js", "localhost:7420/preview/")
            assert said["require-trusted-types-for"] == "'script'"
            assert said["trusted-types"] == "trunkline dompurify"
            worker = (await hub.ask("GET", "/sw.js", token=None)).header("content-security-policy") or ""
            assert worker == "default-src 'none'; script-src localhost:7420/assets/; connect-src 'self'; frame-ancestors 'none'"

    run(check())


@pytest.mark.parametrize(("host", "scripts"), [
    ("Hub.Example", "hub.example/assets/"), ("192.168.0.7:7420", "192.168.0.7:7420/assets/"), ("[::1]:7420", "'self'"),
    ("evil; script-src *", "'self'"),
])
def test_the_policy_names_the_host_under_which_the_page_is_seen_where_it_can_be_named(host: str, scripts: str) -> None:
    said = dict(part.split(" ", 1) for part in page.page_policy(host).split("; "))
    assert said["script-src"] == scripts
    assert f"script-src {scripts};" in page.worker_policy(host)


def test_assets_are_only_what_is_in_the_folder(tmp_path: Path, built: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            for path in ("assets/none.css", "assets/../index.html", "assets/..%2findex.html", "assets//etc/passwd", "assets/",
                         "assets/.", "assets/index-Ab3_xY-9.js.br", "icons/../weight.json", "weight.json", "index.html"):
                assert (await hub.ask("GET", f"/{path}", token=None)).status in (404, 401), path

    run(check())


def test_without_a_build_the_page_says_how_to_make_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "BUILT", tmp_path / "nothing")

    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("GET", "/", token=None)
            assert (answer.status, answer.header("cache-control")) == (503, "no-store")
            said = Page(answer.body.decode())
            assert "The page was not built" in said.text
            assert "make page" in said.text
            assert (await hub.ask("GET", "/sw.js", token=None)).status == 404
            assert (await hub.ask("GET", "/assets/docs.css", token=None)).status == 200

    run(check())


def test_a_page_that_is_built_anew_is_served_without_a_restart(tmp_path: Path, built: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            assert (await hub.ask("GET", "/", token=None)).body == INDEX
            write_build(built, index=b"<!doctype html><title>newer</title>")
            os.utime(built / "weight.json", ns=(1, 1))
            assert (await hub.ask("GET", "/", token=None)).body == b"<!doctype html><title>newer</title>"

    run(check())


def test_the_licences_of_what_the_page_is_built_from_come_without_a_token(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("GET", "/licenses", token=None)
            assert answer.status == 200 and (answer.header("content-type") or "").startswith("text/plain")
            assert b"preact" in answer.body and b"WITHOUT WARRANTY OF ANY KIND" in answer.body

    run(check())
