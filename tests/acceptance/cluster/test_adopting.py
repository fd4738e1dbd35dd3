"""Pools that share their folders and their agents' files: what is on a node that is away goes on at another one, by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.cluster.farm import farm
from tests.tooling.hub_process import Session, text_of
from tests.tooling.nats import until
from tests.tooling.processes import eventually


@pytest.mark.slow
def test_a_shared_pool_takes_over_by_itself(tmp_path: Path) -> None:
    with farm(tmp_path, flags=("--pool-shared",)) as nodes, nodes.add("mill", "--pool", "farm"):  # mill does not share
        nodes.all_there("web", "mill")
        sessions = [nodes["box"].new_session(node="box") for _ in range(3)]
        for session in sessions:
            session.say("/echo hello")
            nodes.known("web", session, "box")
        until(lambda: nodes.node("web", "box")["lag"] == 0, "all of it is in the stream")
        nodes["box"].kill()
        eventually(lambda: all(nodes.owner("web", session) == "den" for session in sessions), "den has them", within_s=150)
        for session in sessions:
            moved = Session(nodes["web"], session.id, session.folder)
            assert text_of(moved.say("/echo on")) == "on"
        nodes["box"].start()
        eventually(lambda: nodes["box"].wire.get("/cluster")["nodes"][0]["taken"] == 3, "it has learned of it")
        assert [nodes.owner("web", session) for session in sessions] == ["den"] * 3
