"""Who belongs to an agent: its process group, its descendants, and whatever carries its marker; and how all of them end.

Rule 1: a process is signalled only after its identity (pid and start time) was checked on an open pidfd, so a pid that the
kernel gave to somebody else is never hit.
Rule 2: who is there is looked up in ``process_table``. Where there is no ``/proc`` (macOS) a family that left its group and
cleared its environment is not found.

It is for what no keeper knows (``keeper``): agents of a hub and keepers that were killed, and systems without subreapers.
"""

from __future__ import annotations

import asyncio
import math
import os
import signal
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import starmap

from trunkline.agents.keeper.proc import daemon_index
from trunkline.agents.process_table import Identity, ProcessTable, command_line, parent_of, scan, start_time, ticks_now, ticks_of

TERM_S = 1.0
"""How long leftovers of an ended agent get between SIGTERM and SIGKILL: nobody waits for their work any more."""

KILL_S = 2.0
"""How long a process may take to go after SIGKILL; longer means it hangs in the kernel, and waiting would not help."""

POLL_S = 0.02
"""Leftovers are not our children, so nothing wakes us when they go; this is how often we look."""

NEWBORN_S = 2
"""How old a process without an environment may be to be looked at again."""

ROUNDS = 5
"""Scans after which we give up on a family that keeps forking."""

KEEPER_PROGRAM = "trunkline.agents.keeper.nursery"
"""Stands in the command line of the nursery and so of every keeper, its fork."""


def signal_group(pid: int, number: int) -> None:
    """Signal the process group that ``pid`` leads; a group that is gone already is fine."""
    # macOS answers PermissionError for a group that only holds zombies.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def members(
    table: ProcessTable, leader: int, marker: str, *, known: Iterable[Identity] = (), born_before: float = math.inf
) -> set[Identity]:
    """Everyone in ``table`` who belongs to the agent that ``leader`` headed, without ourselves.

    ``known`` were seen in the family before. ``born_before`` is the tick at which the leader was reaped: whoever is in a group
    of that number and began later may be a stranger, since the kernel can give the number away again.
    """
    family = {pid for pid, began in known if pid in table and table[pid].start_time == began}
    for member in table.values():
        in_group = leader in (member.group, member.session) and member.start_time <= born_before
        if in_group or member.carries(marker):
            family.add(member.pid)
    while children := {m.pid for m in table.values() if m.parent in family} - family:
        family |= children
    return {table[pid].identity for pid in family - {os.getpid()}}


async def end_leftovers(
    leader: int, marker: str, *, known: Iterable[Identity] = (), born_before: float = math.inf, term_s: float = TERM_S,
    spared: Sequence[Sequence[str]] = (),
) -> bool:
    """End what ``members`` finds, and look again until nothing is left; True when there was anything to end.

    ``spared`` are the command lines of shared daemons, which go on."""
    found_any = False
    for _ in range(ROUNDS):
        table = await asyncio.to_thread(scan)
        if family := _without(spared, members(table, leader, marker, known=known, born_before=born_before)):
            found_any = True
            await _end(family, term_s)
        elif _has_newborn(table):
            await asyncio.sleep(POLL_S)
        else:
            break
    return found_any


def wake(identity: Identity) -> None:
    """Let a process go on that somebody may have stopped."""
    _signal({identity}, signal.SIGCONT)


async def end_process(identity: Identity) -> None:
    """Kill one process, if it still is that one."""
    await asyncio.to_thread(_signal, {identity}, signal.SIGKILL)


async def end_below(keepers: Sequence[Identity], *, term_s: float = TERM_S, spared: Sequence[Sequence[str]] = ()) -> bool:
    """End everybody below these, and not them: who is orphaned meanwhile comes to them, though they be stopped."""
    found_any = False
    for _ in range(ROUNDS):
        table = await asyncio.to_thread(scan)
        if not (family := _without(spared, _below(table, keepers))):
            break
        found_any = True
        await _end(family, term_s)
    return found_any


async def end_leftover(pid: int, start_time: int | None, marker: str, *, keepers: Sequence[tuple[int, int]] = (),
                       term_s: float = 3.0, spared: Sequence[Sequence[str]] = ()) -> bool:
    """End an agent that a crashed hub left behind; True when something was ended.

    ``keepers`` were above it. They end all by themselves when their hub goes, unless somebody stopped them: then what they have
    below them is ended, and they.

    The process ``pid`` and its group count as ours only while pid and start time match what was recorded and the marker, where
    we may read it, is the recorded one. Whoever carries the marker is ended in any case.
    """
    leader = (await asyncio.to_thread(scan)).get(pid)
    is_ours = leader is not None and leader.start_time == start_time and (leader.marker is None or leader.carries(marker))
    ended = await end_leftovers(pid, marker, born_before=math.inf if is_ours else -1, term_s=term_s, spared=spared)
    # A nursery that is our own child was not left behind: it serves others.
    ours = [each for each in starmap(Identity, keepers) if _is_keeper(each) and parent_of(each.pid) != os.getpid()]
    ended |= await end_below(ours, term_s=term_s, spared=spared)
    for identity in ours:  # the keeper before the nursery, to which its last orphans go
        await end_process(identity)
    return ended


def keepers_of(pid: int) -> list[Identity]:
    """Who is above an agent of ours: its keeper and, where that is still there, the nursery. Blocks."""
    keeper = parent_of(pid)
    nursery = parent_of(keeper) if keeper is not None else None
    found = [Identity(each, start_time(each) or -1) for each in (keeper, nursery) if each is not None]
    return [identity for identity in found if _is_keeper(identity)]


def _is_keeper(identity: Identity) -> bool:
    """Whether it is that process and runs our program: after a restart of the machine numbers and times may be another's."""
    is_there = start_time(identity.pid) == identity.start_time
    return is_there and any(KEEPER_PROGRAM in word for word in command_line(identity.pid))


def _below(table: ProcessTable, above: Sequence[Identity]) -> set[Identity]:
    """All that descend from these, without them."""
    top = {pid for pid, began in above if pid in table and table[pid].start_time == began}
    family = set(top)
    while children := {member.pid for member in table.values() if member.parent in family} - family:
        family |= children
    return {table[pid].identity for pid in family - top}


def _has_newborn(table: ProcessTable) -> bool:
    """Whether somebody may be in the middle of ``exec``, when a process has no environment yet and so cannot be recognised.

    Its parent goes on before that is over, and may be gone by now. Kernel threads (group 0) never have an environment.
    """
    recently = ticks_now() - ticks_of(NEWBORN_S)
    return any(member.marker == "" and member.group and member.start_time > recently for member in table.values())


def _without(spared: Sequence[Sequence[str]], family: set[Identity]) -> set[Identity]:
    if not spared:
        return family
    daemons = [list(words) for words in spared]
    return {identity for identity in family if daemon_index(command_line(identity.pid), daemons) is None}


async def _end(family: set[Identity], term_s: float) -> None:
    _signal(family, signal.SIGTERM)
    stubborn = await _wait_gone(family, term_s)
    _signal(stubborn, signal.SIGKILL)
    await _wait_gone(stubborn, KILL_S)


async def _wait_gone(family: set[Identity], limit_s: float) -> set[Identity]:
    """Wait until all are gone or the time is up; those still there."""
    deadline = time.monotonic() + limit_s
    left = {identity for identity in family if _is_alive(identity)}
    while left and time.monotonic() < deadline:
        await asyncio.sleep(POLL_S)
        left = {identity for identity in left if _is_alive(identity)}
    return left


def _is_alive(identity: Identity) -> bool:
    _reap_if_ours(identity.pid)
    return start_time(identity.pid) == identity.start_time


def _reap_if_ours(pid: int) -> None:
    """A hub that is process 1 of a container inherits orphans; nobody else would reap them."""
    if os.getpid() == 1:
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def _signal(family: set[Identity], number: int) -> None:
    for identity in family:
        # Gone between the look and the signal, or another user's (a setuid child): nothing for us to do.
        with suppress(OSError):
            _signal_checked(identity, number)


def _signal_checked(identity: Identity, number: int) -> None:
    try:
        handle = os.pidfd_open(identity.pid)
    except ProcessLookupError:
        return
    except (OSError, AttributeError):  # macOS, a sandbox without pidfd: a look and a signal, as close together as we can
        if start_time(identity.pid) == identity.start_time:
            os.kill(identity.pid, number)
        return
    try:
        if start_time(identity.pid) == identity.start_time:
            signal.pidfd_send_signal(handle, number)
    finally:
        os.close(handle)
