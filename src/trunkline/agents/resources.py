"""What one agent may take of the machine: memory, processes, open files. By catalog, and by session.

Rule 1: a limit counts for the agent and all that it starts together, but for files, which the kernel counts per process.
Rule 2: memory and processes are looked at by the agent's keeper, which ends the agent that is over. The kernel's own limits do
not do: one on address space stops every JavaScript engine at its start, and the one on processes counts all of the user's, not
the agent's, and not root's at all.
Rule 3: the exit of an agent that is ended for a limit names the limit, and what was used.
"""

from __future__ import annotations

import resource
from typing import Annotated

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Invalid

MIB = 1 << 20

MEMORY_LEAST_MB = 64
"""Below this not even a small agent starts."""

FILES_LEAST = 32
"""Below this an interpreter cannot load its own libraries."""

_Positive = Annotated[int, msgspec.Meta(ge=1)]


class Resources(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """Limits of one agent; what is None has none."""

    memory_mb: Annotated[int, msgspec.Meta(ge=MEMORY_LEAST_MB)] | None = None
    """Mebibytes that it and what it starts may hold in memory, without what they share with others."""
    processes: _Positive | None = None
    """Processes, itself included."""
    files: Annotated[int, msgspec.Meta(ge=FILES_LEAST)] | None = None
    """Descriptors that one process may have open."""

    def over(self, before: Resources) -> Resources:
        """These, and those of ``before`` that are not given here."""
        given = {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}
        return msgspec.structs.replace(before, **given)

    def as_wishes(self) -> dict[str, int]:
        """As a keeper takes them."""
        wished = {"memory": self.memory_mb and self.memory_mb * MIB, "processes": self.processes, "files": self.files}
        return {name: amount for name, amount in wished.items() if amount}

    def reached(self, name: str, used: int) -> str:
        """Which limit was reached, in words."""
        if name == "memory":
            return f"its memory limit of {self.memory_mb} MB was reached: it and what it started held {used // MIB} MB"
        return f"its limit of {self.processes} processes was reached: it and what it started were {used}"


def check_resources(wanted: Resources) -> Resources:
    """Invalid for what this machine cannot give."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if wanted.files is not None and most != resource.RLIM_INFINITY and wanted.files > most:
        raise Invalid(f"resources.files must be at most {most}, the hub's own limit, not {wanted.files}",
                      details={"field": "resources.files"})
    return wanted


def resources_from_table(table: dict[str, int]) -> Resources:
    """The ``resources`` of a catalog's file, whose keys are written with ``_``; Invalid names the field."""
    names = dict(zip(Resources.__struct_fields__, Resources.__struct_encode_fields__, strict=True))
    try:
        return decoders.convert({names.get(name, name): amount for name, amount in table.items()}, Resources)
    except BROKEN as error:
        raise Invalid(f"resources: {error}", details={"field": "resources"}) from None
