"""What an agent can do, as the flags of the Agent Context Protocol's capabilities.

Rule 1: a flag that an entry of the catalog sets was seen: a recorded or live run of that agent gave the thing
(``tests/adapters/test_evidence.py`` reads the flags and the runs). Nobody takes an agent's word for it, nor ours.
Rule 2: what every agent of a protocol has by that protocol is set for all of them, and only that.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, get_type_hints

import msgspec

from trunkline import decoders
from trunkline.dialects.context.capabilities import Features

BY_PROTOCOL: Final = ("streaming.messages", "sessionControl.cancel", "sessionControl.pause", "sessionControl.resume")
"""What the Agent Client Protocol, or the hub itself, gives to every agent that is driven."""

NAMESPACES: Final = ("acp", "agent", "trunkline")
"""The namespaces of ``custom`` events: updates without an event of their own, an agent's extras, the hub's own."""


def _flags(kind: type[msgspec.Struct], before: str = "") -> list[str]:
    found: list[str] = []
    hints = get_type_hints(kind)
    for field in msgspec.structs.fields(kind):
        name = before + field.encode_name
        if hints[field.name] is bool:
            found.append(name)
        elif isinstance(hints[field.name], type) and issubclass(hints[field.name], msgspec.Struct):
            found += _flags(hints[field.name], name + ".")
    return found


FLAGS: Final = tuple(_flags(Features))
"""Every flag there is, by its path: ``approval.preview``, ``git`` …"""


def features_of(shown: Collection[str], *, namespaces: Collection[str] = NAMESPACES) -> Features:
    """The features object in which exactly these flags are set."""
    tree: dict[str, Any] = {"customEvents": sorted(namespaces)}
    for flag in FLAGS:
        group, _, name = flag.rpartition(".")
        (tree.setdefault(group, {}) if group else tree)[name] = flag in shown
    return decoders.convert(tree, Features)


def flags_of(features: Features) -> set[str]:
    """The flags that are set in a features object: the way back."""
    tree = msgspec.to_builtins(features)
    values = {flag: tree[group][name] if group else tree[name]
              for flag in FLAGS for group, _, name in [flag.rpartition(".")]}
    return {flag for flag, value in values.items() if value}
