"""``trunkline status`` and ``stop``: the hub as it is, and its end."""

from __future__ import annotations

import json

from tests.cli.conftest import Place
from tests.cli.person import WITHIN_S


def test_status_and_stop_follow_the_hub(place: Place) -> None:
    before = place.call_here("status", "--json")
    assert (before.returncode, json.loads(before.stdout)["running"]) == (1, False)
    child, url = place.serve()
    status = place.call_here("status", "--json")
    facts = json.loads(status.stdout)
    assert (status.returncode, facts["running"], facts["url"], facts["pid"]) == (0, True, url, child.pid)
    stopped = place.call_here("stop")
    assert stopped.stdout.decode() == f"stopped the hub (process {child.pid})\n"
    assert child.wait(timeout=WITHIN_S) == 0
    assert place.call_here("stop").stdout == b"no hub is running\n"
