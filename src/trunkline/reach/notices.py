"""What people are told of a terminal that cannot be answered from here: notices, like the hub's own."""

from __future__ import annotations

from typing import Final

import msgspec

from trunkline.agents.catalog import AgentSpec
from trunkline.dialects.signals import Update

ABOUT_MOST: Final = 1000
"""Characters of what it waits for."""

_encode = msgspec.json.Encoder().encode


def waits_there(spec: AgentSpec | None, about: str) -> Update:
    """It waits for its person, and only for that one."""
    return _notice(f"{_name(spec)} waits for you in its terminal", about[:ABOUT_MOST])


def not_reached(spec: AgentSpec) -> Update:
    """What was answered here did not get there."""
    return _notice(f"The answer did not reach {_name(spec)}",
                   "Its pane does not show that prompt, or a key changed nothing there. Answer it in the terminal.")


def _name(spec: AgentSpec | None) -> str:
    return spec.display_name if spec is not None else "The agent"


def _notice(title: str, description: str) -> Update:
    return Update(_encode({"sessionUpdate": "notice", "severity": "warning", "title": title, "description": description}))
