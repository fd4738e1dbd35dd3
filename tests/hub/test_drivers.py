"""Which driver a session gets, and what is known of an agent without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from trunkline.agents import catalog
from trunkline.agents.catalog import adhoc
from trunkline.agents.pid_files import PidFiles
from trunkline.agents.sandbox import as_is, nothing_hidden
from trunkline.dialects.calls import ToolNames
from trunkline.errors import NotFound
from trunkline.hub.drivers import Drivers
from trunkline.session.fold import Fold, Sandboxed

GONE = Fold(session_id="s", agent="gone", cwd="/work", created_at=0, updated_at=0)


def drivers(tmp_path: Path) -> Drivers:
    agents = {**catalog.load(), "mine": adhoc("mine", "my-agent --acp")}
    return Drivers(agents, {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}, PidFiles(None), lambda prefix: f"{prefix}_1")


def test_an_agent_is_found_by_name_and_an_unknown_one_is_refused_with_those_there_are(tmp_path: Path) -> None:
    assert drivers(tmp_path).spec("mine").command == ("my-agent", "--acp")
    with pytest.raises(NotFound, match=r"no agent 'gone'; known are: .*mine"):
        drivers(tmp_path).spec("gone")


def test_a_session_whose_agent_left_the_catalog_is_still_read(tmp_path: Path) -> None:
    of = drivers(tmp_path)
    assert (of.kind_of("mine"), of.kind_of("gone")) == ("acp", "acp")
    assert of.tool_names("gone") == ToolNames()


def test_only_a_session_in_a_sandbox_is_confined_also_when_its_agent_is_gone(tmp_path: Path) -> None:
    of = drivers(tmp_path)
    assert of.confine(GONE, {}) is as_is and of.hider(GONE, {}) is nothing_hidden
    boxed = Fold(session_id="s", agent="gone", cwd=str(tmp_path), created_at=0, updated_at=0, sandbox=Sandboxed())
    assert of.confine(boxed, {}) is not as_is
