"""One session's sandbox: whether it can be had on this machine, and its commands.

Rule 1: it is tried before it is relied on. Whether ``bwrap`` is there says nothing: systems forbid what it needs.
Rule 2: what makes the sandbox runs outside of it, so it is never a program that the session could have put there.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from trunkline.agents.process import ChildCommand
from trunkline.agents.sandbox.bwrap import Access, BoundPlace, bwrap_words, is_in
from trunkline.agents.sandbox.places import Wish, places
from trunkline.errors import SandboxUnavailable, TrunklineError
from trunkline.threads import Lane

PROBE_S = 10.0
"""How long the trial may take; it takes some hundredths of a second."""

INSTALL = "Install the package bubblewrap (apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap)."
ALLOW = ("The system has to let programs make user namespaces: neither sysctl user.max_user_namespaces nor "
         "kernel.unprivileged_userns_clone may be 0; where AppArmor restricts them (Ubuntu 24.04) bwrap needs a profile, or "
         "kernel.apparmor_restrict_unprivileged_userns=0. In a container, whoever runs that has to allow it.")

_worked: set[tuple[str, bool]] = set()
"""Programs that were tried and worked, with or without a network of the sandbox's own."""


class Cell:
    """Implements ``Confine`` for one session."""

    def __init__(self, find_wish: Callable[[], Wish], *, network: bool) -> None:
        """``find_wish`` looks at the disk."""
        self._find_wish = find_wish
        self._network = network
        self._lane = Lane()

    async def __call__(self, command: Sequence[str], *, cwd: str, reads: Sequence[str] = ()) -> Sequence[str]:
        """The same command in the sandbox; SandboxUnavailable where there is none to be had."""
        wish = await self._lane.run(self._find_wish)
        laid = await self._lane.run(places, replace(wish, reads=[*wish.reads, *reads]))
        program = await self._lane.run(find_program, wish)
        await try_out(program, wish.env, network=self._network)
        return bwrap_words(program, laid, command, cwd=cwd, network=self._network)


def find_program(wish: Wish) -> str:
    """Where ``bwrap`` is; SandboxUnavailable says how to get it. What lies where the session may write is not looked at, nor is a
    folder that depends on where the hub was started."""
    if sys.platform != "linux":
        raise SandboxUnavailable("a sandbox takes Linux: bubblewrap is not for this system")
    written = [os.path.realpath(path) for path in (*wish.roots, *wish.own)]
    for folder in (wish.env.get("PATH") or os.defpath).split(os.pathsep):
        found = shutil.which("bwrap", path=folder) if os.path.isabs(folder) else None
        program = os.path.realpath(found) if found is not None else None
        places_of_it = (program, os.path.realpath(folder))
        if program is not None and not any(path and is_in(path, place) for place in written for path in places_of_it):
            return program
    raise SandboxUnavailable(f"there is no sandbox here: the program bwrap was not found on PATH. {INSTALL}")


async def try_out(program: str, env: Mapping[str, str], *, network: bool) -> None:
    """Run nothing in a sandbox, once; SandboxUnavailable says what the system forbids."""
    if (program, network) in _worked:
        return
    words = bwrap_words(program, [BoundPlace("/tmp", Access.EMPTY)], ["true"], cwd="/", network=network)
    try:
        child = await ChildCommand.spawn(words[0], words[1:], cwd="/", env=dict(env))
    except TrunklineError as error:
        raise SandboxUnavailable(f"a sandbox cannot be made here: {error}. {ALLOW}") from error
    try:
        async with asyncio.timeout(PROBE_S):
            ended = await child.wait()
    except TimeoutError as error:
        raise SandboxUnavailable(f"a sandbox cannot be made here: bwrap did not end within {PROBE_S:g} s. {ALLOW}") from error
    finally:
        output = child.output().strip()
        await child.release()
    if ended.code != 0:
        raise SandboxUnavailable(f"a sandbox cannot be made here: {output or ended}. {ALLOW}", details={"output": output})
    _worked.add((program, network))
