"""Rule 8: the hub's token is nobody's to read but its own, and an agent in a sandbox sees its folder and little else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import Report
from tests.tooling.hub_process import HubProcess, text_of
from tests.tooling.ordinary import ordinary

PRYING = Path(__file__).parents[1] / "tooling" / "prying.py"
TOKEN = "a-token-that-is-nowhere-else-71c3"
NewHub = Callable[..., HubProcess]

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, which Linux alone has")


def pry(hub: HubProcess, secret: str) -> Any:
    """What another program of the same user learns of a hub."""
    wanted = hub.root / "wanted"
    wanted.write_text(secret)
    done = subprocess.run([*ordinary(), sys.executable, str(PRYING), str(hub.pid), str(wanted)], capture_output=True, text=True,
                          timeout=60, check=True)
    return json.loads(done.stdout)


@linux_only
def test_a_token_of_the_environment_is_not_to_be_read_by_other_programs_of_the_same_user(new_hub: NewHub, report: Report) -> None:
    hub = new_hub(env={"TRUNKLINE_TOKEN": TOKEN}, before=ordinary())
    told = pry(hub, TOKEN)
    assert told == {"got": ["cmdline"], "found": []}
    report(8, "read the hub's token: variables, memory, descriptors, debugger", tried=6, held=6)


@linux_only
@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser may look into a hub")
def test_the_token_is_gone_from_the_block_of_variables_even_for_the_superuser(new_hub: NewHub) -> None:
    hub = new_hub(env={"TRUNKLINE_TOKEN": TOKEN})
    variables = Path(f"/proc/{hub.pid}/environ").read_bytes()
    assert f"HOME={hub.home}".encode() in variables, "this is the hub's own block"
    assert TOKEN.encode() not in variables and b"TRUNKLINE_TOKEN" not in variables


@linux_only
def test_a_generated_token_is_not_to_be_read_either_and_agents_are_debuggable_as_before(new_hub: NewHub) -> None:
    hub = new_hub(before=ordinary())
    assert pry(hub, hub.token) == {"got": ["cmdline"], "found": []}
    session = hub.new_session("puppet")
    agent = next(process for process in hub.left() if process.pid != hub.pid)
    looked = subprocess.run([*ordinary(), "cat", f"/proc/{agent.pid}/environ"], capture_output=True, check=False)
    assert looked.returncode == 0 and f"HOME={hub.home}".encode() in looked.stdout
    assert b"TRUNKLINE" not in looked.stdout
    session.delete()


@linux_only
def test_a_hub_that_is_closed_reads_and_writes_its_sessions_files_as_before(new_hub: NewHub) -> None:
    hub = new_hub(before=ordinary())
    session = hub.new_session("trusted")
    (session.folder / "there.txt").write_text("as it was")
    (session.folder / "way-out").symlink_to(hub.data)
    packets = session.say(json.dumps([
        ["ask", "fs/read_text_file", {"path": str(session.folder / "there.txt")}],
        ["ask", "fs/write_text_file", {"path": str(session.folder / "new.txt"), "content": "written"}],
        ["ask", "fs/read_text_file", {"path": str(session.folder / "way-out" / "token")}],
    ]))
    read, wrote, out = map(json.loads, text_of(packets).splitlines())
    assert read == {"result": {"content": "as it was"}} and "result" in wrote and "error" in out
    assert (session.folder / "new.txt").read_text() == "written"


@linux_only
def test_who_debugs_a_hub_can_open_it_again(new_hub: NewHub) -> None:
    hub = new_hub("--debuggable", env={"TRUNKLINE_TOKEN": TOKEN}, before=ordinary())
    told = pry(hub, TOKEN)
    assert "memory" in told["got"]
    assert "environ" not in told["found"], "the block of variables stays wiped"
