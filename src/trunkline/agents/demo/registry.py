"""Slash prompts by their names, and what their scripts share."""

from __future__ import annotations

from collections.abc import Callable

from trunkline.agents.demo.turn import DemoTurn
from trunkline.agents.demo.wire import Refused
from trunkline.dialects.error_codes import ErrorCode

Script = Callable[[DemoTurn, str], None]

SCRIPTS: dict[str, Script] = {}
"""What plays each prompt, by its name; it gets the turn and the arguments as one text."""


def script(name: str) -> Callable[[Script], Script]:
    """Marks the function that plays a prompt."""

    def register(play: Script) -> Script:
        SCRIPTS[name] = play
        return play

    return register


def number(words: list[str], index: int, name: str, *, least: int = 0) -> int:
    """One of the arguments as a number."""
    try:
        value = int(words[index])
    except (IndexError, ValueError):
        raise Refused(ErrorCode.INVALID_PARAMS, f"{name} must be a number") from None
    if value < least:
        raise Refused(ErrorCode.INVALID_PARAMS, f"{name} must be {least} or more")
    return value
