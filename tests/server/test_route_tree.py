"""Paths and what is behind them."""

from __future__ import annotations

import pytest

from trunkline.server.route_tree import PathTree

PATTERNS = ["/", "/sessions", "/sessions/{id}", "/sessions/{id}/queue", "/sessions/{id}/queue/{turnId}", "/assets/{path:path}",
            "/preview/{key}/{path:path}", "/auth/login"]


@pytest.fixture
def tree() -> PathTree[str]:
    tree: PathTree[str] = PathTree()
    for pattern in PATTERNS:
        tree.add(pattern, pattern)
    return tree


@pytest.mark.parametrize(("path", "pattern", "parts"), [
    ("/", "/", {}),
    ("/sessions", "/sessions", {}),
    ("/sessions/s1", "/sessions/{id}", {"id": "s1"}),
    ("/sessions/queue/queue", "/sessions/{id}/queue", {"id": "queue"}),
    ("/sessions/s1/queue/t1", "/sessions/{id}/queue/{turnId}", {"id": "s1", "turnId": "t1"}),
    ("/assets/", "/assets/{path:path}", {"path": ""}),
    ("/assets/a/b.js", "/assets/{path:path}", {"path": "a/b.js"}),
    ("/preview/k/", "/preview/{key}/{path:path}", {"key": "k", "path": ""}),
    ("/preview/k//x/", "/preview/{key}/{path:path}", {"key": "k", "path": "/x/"}),
])
def test_a_path_is_found_with_its_variable_parts(
        tree: PathTree[str], path: str, pattern: str, parts: dict[str, str]) -> None:
    assert tree.find(path) == (pattern, parts)


@pytest.mark.parametrize("path", ["", "/sessions/", "/sessions//queue", "/sessions/s1/", "/sessions/s1/other", "/assets",
                                  "/preview/k", "/preview//x", "/auth", "/auth/login/x", "//", "sessions", "/SESSIONS"])
def test_what_no_pattern_fits_is_not_found(tree: PathTree[str], path: str) -> None:
    assert tree.find(path) is None
