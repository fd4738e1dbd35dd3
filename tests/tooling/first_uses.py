"""A program in which one thread uses a type while another still looks into it: ``python -m tests.tooling.first_uses HOW WHICH``.

``HOW`` is by whom: ``decoders`` or ``msgspec``, which crashes. ``WHICH`` is the type: ``Outer``, the very same, or ``Middle``,
which lies in a field of it. It says ``held`` where it lived."""

from __future__ import annotations

import resource
import sys
from threading import Event, Thread
from typing import Any, Final

import msgspec

from trunkline import decoders

FOUND, USED = Event(), Event()
PATIENCE_S: Final = {"decoders": 0.1, "msgspec": 10.0}
"""How long the first waits for the second: not long where that waits for the first, and long where it crashes."""


def slow_type() -> type[int]:
    """Stands in the midst of the first look: what has this in a field is known by then, and not what its fields are."""
    FOUND.set()
    USED.wait(PATIENCE_S[sys.argv[1]])
    return int


Inner = msgspec.defstruct("Inner", [("number", "slow_type()")], module=__name__)
Middle = msgspec.defstruct("Middle", [("inner", Inner), ("name", str)], module=__name__)
Outer = msgspec.defstruct("Outer", [("middle", Middle)], module=__name__)
MIDDLE: Final = {"inner": {"number": 1}, "name": "a"}
VALUES: Final[dict[str, tuple[Any, Any]]] = {"Middle": (MIDDLE, Middle), "Outer": ({"middle": MIDDLE}, Outer)}


def main(how: str, which: str) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    convert = decoders.convert if how == "decoders" else msgspec.convert
    first = Thread(target=convert, args=VALUES["Outer"])
    first.start()
    FOUND.wait()
    read = convert(*VALUES[which])
    USED.set()
    first.join()
    print("held", msgspec.to_builtins(read) == VALUES[which][0])


if __name__ == "__main__":
    main(*sys.argv[1:])
