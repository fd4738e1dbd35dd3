"""What the servers keep for a cluster: whether every stream is there, set as it should be, on enough servers, and with room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trunkline.cli.commands.doctor.finding import Finding, bad, note, ok
from trunkline.cli.common import counted, shown_bytes

if TYPE_CHECKING:
    from trunkline.cluster.survey.streams import Stream

FULL: Final = 0.9
FILLING: Final = 0.7
SIZE_FLAGS: Final = {"TL_J": "--journal-size", "TL_B": "--parts-size", "TL_K": "--checkpoints-size"}
INIT: Final = "trunkline cluster init, with the key of an admin"


def of_streams(found: list[Stream], servers: str) -> list[Finding]:
    """Whether they are there, and whole; ``servers`` is the name of the servers' own cluster, where they are one."""
    missing = [each.name for each in found if each.state == "missing"]
    if missing:
        return [bad("streams", f"not there: {', '.join(missing)}", f"{INIT}, makes them")]
    there = [each for each in found if each.state == "there"]
    silent = [each.name for each in found if each.state == "silent"]
    wrong = [*_not_as_set(there), *_not_whole(there)]
    if silent:
        wrong.append(bad("streams", f"without a leader, so that nothing is stored: {', '.join(silent)}",
                         "they find one within seconds while two of three servers run: look again then"))
    return wrong or [_all_well(there, len(found) - len(there), servers)]


def _not_as_set(found: list[Stream]) -> list[Finding]:
    told = [bad("streams", f"{each.name} is not set as it should be: {', '.join(each.wrong)}", f"{INIT}, sets it right")
            for each in found if each.wrong]
    told += [bad("streams", f"{each.name} has no limit, and may fill the servers' disks", f"{INIT}, gives it one")
             for each in found if each.most <= 0]
    copies = {each.replicas for each in found}
    if len(copies) > 1:
        fewest = ", ".join(each.name for each in found if each.replicas == min(copies))
        told.append(bad("streams", f"on fewer servers ({min(copies)}) than the others ({max(copies)}): {fewest}",
                        f"{INIT} and --replicas {max(copies)}"))
    return told


def _not_whole(found: list[Stream]) -> list[Finding]:
    behind: dict[str, list[str]] = {}
    for stream in found:
        for copy in stream.copies:
            if not copy.is_current:
                behind.setdefault(copy.server, []).append(stream.name)
    told = [bad("streams", f"server {server} does not have everything of {', '.join(names)}",
                "look whether it runs and has room: its log; it catches up by itself") for server, names in behind.items()]
    return told


def _all_well(found: list[Stream], hidden: int, servers: str) -> Finding:
    copies = max(each.replicas for each in found)
    what = f"{len(found)} are there, {copies} of {copies} replicas current"
    what += f"; {counted(hidden, 'other')} not for this key to see" if hidden else ""
    if copies == 1 and servers:
        return note("streams", f"{what}: what is on one server of {servers} is lost with it", f"{INIT} and --replicas 3")
    return ok("streams", what)


def of_room(found: list[Stream]) -> list[Finding]:
    """Whether what comes will be stored."""
    there = sorted((each for each in found if each.state == "there"), key=lambda each: -each.part)
    told = []
    for stream in there:
        what = f"{stream.name} has {shown_bytes(stream.bytes)} of {shown_bytes(max(stream.most, 0))}, {stream.part:.0%}"
        fix = f"{INIT} and {SIZE_FLAGS.get(stream.name, '--tables-size')} twice as large; or delete sessions"
        if stream.part >= FULL:
            told.append(bad("room", f"{what}: soon it takes nothing, and what hubs do is not seen elsewhere", fix))
        elif stream.part >= FILLING:
            told.append(note("room", what, fix))
    return told or [ok("room", f"the fullest is {each.name}: {shown_bytes(each.bytes)} of {shown_bytes(max(each.most, 0))}")
                    for each in there[:1]]
