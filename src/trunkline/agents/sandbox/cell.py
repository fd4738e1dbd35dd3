"""One session's sandbox: whether it can be had on this machine, and its commands.

Rule: it is tried before it is relied on. Whether ``bwrap`` is there says nothing: systems forbid what it needs.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from trunkline.agents.process import ChildCommand
from trunkline.agents.sandbox.bwrap import Access, Place, bwrap_words
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
        program = await self._lane.run(find_program, wish.env)
        await try_out(program, wish.env, network=self._network)
        laid = await self._lane.run(places, replace(wish, reads=[*wish.reads, *reads]))
        return bwrap_words(program, laid, command, cwd=cwd, network=self._network)


def find_program(env: Mapping[str, str]) -> str:
    """Where ``bwrap`` is; SandboxUnavailable says how to get it."""
    if sys.platform != "linux":
        raise SandboxUnavailable("a sandbox takes Linux: bubblewrap is not for this system")
    found = shutil.which("bwrap", path=env.get("PATH") or os.defpath)
    if found is None:
        raise SandboxUnavailable(f"there is no sandbox here: the program bwrap was not found on PATH. {INSTALL}")
    return os.path.realpath(found)


async def try_out(program: str, env: Mapping[str, str], *, network: bool) -> None:
    """Run nothing in a sandbox, once; SandboxUnavailable says what the system forbids."""
    if (program, network) in _worked:
        return
    words = bwrap_words(program, [Place("/tmp", Access.EMPTY)], ["true"], cwd="/", network=network)
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
        said = child.output().strip()
        await child.release()
    if ended.code != 0:
        raise SandboxUnavailable(f"a sandbox cannot be made here: {said or ended}. {ALLOW}", details={"output": said})
    _worked.add((program, network))
