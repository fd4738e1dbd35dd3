"""``trunkline agents``: which are there, and what is known of them."""

from __future__ import annotations

from tests.cli.conftest import Place


def test_agents_lists_the_installed_ones_first(shared: Place) -> None:
    lines = shared.call_here("agents").stdout.decode().splitlines()
    assert lines[0].split()[:2] == ["AGENT", "NAME"]
    assert lines[1].startswith("demo")


def test_agents_says_which_of_them_were_seen_to_ask_before_they_act(shared: Place) -> None:
    head, *rows = shared.call_here("agents").stdout.decode().splitlines()
    at = head.index("ASKS FIRST")
    asks = {row.split()[0]: row[at:].split("  ")[0].strip() for row in rows}
    assert (asks["demo"], asks["gemini"], asks["codex-acp"]) == ("yes", "yes", "not seen")
