"""Files, artifacts and pictures: what goes out, what comes back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from tests.client.calls.routes import Row, check_route
from tests.tooling.rows import every_row
from trunkline.client import Client

CALLS: list[Row] = [
    ("image", lambda hub: hub.image("s1", 7), "GET /sessions/s1/images/7", None, {}),
    ("artifact", lambda hub: hub.artifact("s1", "a"), "GET /sessions/s1/artifacts/a", None, {"id": "a", "preview_url": None}),
    ("preview", lambda hub: hub.preview("s1", "a", live=True), "POST /sessions/s1/artifacts/a/preview", {"live": True},
     {"preview_url": "/preview/0/"}),
    ("files", lambda hub: hub.files("s1", "src"), "GET /sessions/s1/files?path=src", None, {"path": "src", "entries": []}),
    ("content", lambda hub: hub.file_content("s1", "a b"), "GET /sessions/s1/files/content?path=a+b", None, {}),
    ("find in a folder", lambda hub: hub.find_in_folder("/a", "x"), "GET /folders/find?path=%2Fa&q=x&limit=50", None,
     {"query": "x"}),
    ("find", lambda hub: hub.find_files("s1", "x"), "GET /sessions/s1/files/find?q=x&limit=50", None, {"query": "x"}),
    ("upload", lambda hub: hub.upload("s1", "f", b"{}"), "POST /sessions/s1/files?path=f", {}, {"files": []}),
    ("diff", lambda hub: hub.diff("s1"), "GET /sessions/s1/diff", None, {}),
    ("artifacts", lambda hub: hub.artifacts("s1"), "GET /sessions/s1/artifacts", None, [{"id": "a"}]),
]


@every_row(("call", "target", "body", "answer"), [row[1:] for row in CALLS])
def test_every_call_sends_its_route_and_reads_the_answer(
    call: Callable[[Client], Awaitable[Any]], target: str, body: object, answer: object
) -> None:
    check_route(call, target, body, answer)
