"""The protocol's version, and which one is spoken with a peer that offers several.

Rule: a patch release never changes the wire, so only major and minor decide whether two sides understand each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from trunkline.errors import Invalid

ACP_VERSION: Final = "1.0.0"
ACP_MIN_VERSION: Final = "1.0.0"

_VERSION = re.compile(r"(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?")


def negotiate_version(offered: Sequence[str]) -> str:
    """The newest version that both sides speak; ``Invalid`` names what was offered and what is spoken here."""
    spoken = [number for number in map(_number, offered) if number and _OLDEST[:2] <= number[:2] <= _OURS[:2]]
    if not spoken:
        raise _nothing_common([version[:40] for version in offered[:8]])
    return ".".join(map(str, min(max(spoken), _OURS)))


def _nothing_common(offered: list[str]) -> Invalid:
    return Invalid(
        f"no common version of the Agent Context Protocol: offered {', '.join(map(repr, offered)) or 'none'}, "
        f"spoken here {ACP_MIN_VERSION} to {ACP_VERSION}",
        details={"offered": offered, "minVersion": ACP_MIN_VERSION, "version": ACP_VERSION},
    )


def _number(version: str) -> tuple[int, ...]:
    """``1.2`` as (1, 2, 0); what is no version as ()."""
    match = _VERSION.fullmatch(version)
    return tuple(int(part or 0) for part in match.groups()) if match else ()


_OURS: Final = _number(ACP_VERSION)
_OLDEST: Final = _number(ACP_MIN_VERSION)
