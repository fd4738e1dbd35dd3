"""What a check says, and what all of them look at: gathered once, whatever state the machine is in."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

import msgspec

from trunkline.cli.hosting.datadir import DataDir, HubRecord
from trunkline.cli.hosting.locate import answers, connected, find, running
from trunkline.cli.read_settings import load
from trunkline.client import Client, Endpoint
from trunkline.errors import Invalid, TrunklineError
from trunkline.settings import Settings
from trunkline.threads import Lane

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

P = ParamSpec("P")
T = TypeVar("T")


class Finding(msgspec.Struct, omit_defaults=True):
    """What one check found: ``ok``, a ``note`` (worth knowing, nothing wrong) or ``bad``; and what to do about it."""

    check: str
    state: Literal["ok", "note", "bad"]
    what: str
    fix: str = ""


def ok(check: str, what: str) -> Finding:
    """All is well."""
    return Finding(check, "ok", what)


def note(check: str, what: str, fix: str = "") -> Finding:
    """Worth knowing."""
    return Finding(check, "note", what, fix)


def bad(check: str, what: str, fix: str = "") -> Finding:
    """To be mended."""
    return Finding(check, "bad", what, fix)


@dataclass
class Scene:
    """What the checks look at. ``endpoint`` is the hub that answers; ``hub_trouble`` why nobody can say whether one does."""

    settings: Settings
    settings_problem: str = ""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    endpoint: Endpoint | None = None
    record: HubRecord | None = None
    holder: int | None = None
    hub_trouble: str = ""
    is_closed: bool = False
    """Whether the data folder is there and cannot be looked into: it is somebody else's."""
    _lane: Lane = field(default_factory=lambda: Lane(8))

    @property
    def folder(self) -> DataDir:
        """The data folder."""
        return DataDir(self.settings.data)

    async def off_loop(self, work: Callable[P, T], *args: P.args, **how: P.kwargs) -> T:
        """A look at a disk, which may not answer."""
        return await self._lane.run(work, *args, **how)

    @asynccontextmanager
    async def asked(self) -> AsyncIterator[Client]:
        """The hub that answers, for its own word on something."""
        assert self.endpoint is not None
        async with connected(self.endpoint, self.settings) as hub:
            yield hub

    def close(self) -> None:
        """Let go what started programs for us."""
        from trunkline.agents.process import close_nursery

        close_nursery()


async def look(flags: Mapping[str, Any]) -> Scene:
    """The settings and the hub, as far as they can be read."""
    scene = _with_settings(flags)
    scene.is_closed = await scene.off_loop(_is_closed, scene.settings.data)
    try:
        scene.endpoint = await find(scene.settings)
        if scene.endpoint is not None and not await answers(scene.endpoint):
            scene.hub_trouble, scene.endpoint = f"{scene.endpoint.url} does not answer", None
        if scene.settings.url is None:
            scene.record, scene.holder = running(scene.folder), scene.folder.holder()
    except TrunklineError as error:
        scene.hub_trouble = error.message
    except OSError as error:
        scene.hub_trouble = f"{scene.folder.lock_path}: {error.strerror}"
    except ValueError:
        scene.hub_trouble = f"{scene.folder.lock_path} does not say which process has it"
    return scene


def _is_closed(data: Path) -> bool:
    return os.path.lexists(data) and not os.access(data, os.R_OK | os.X_OK)


def _with_settings(flags: Mapping[str, Any]) -> Scene:
    try:
        return Scene(load(flags))
    except Invalid as error:
        return Scene(_most_of(flags), settings_problem=error.message)


def _most_of(flags: Mapping[str, Any]) -> Settings:
    """The settings without the file, and without what cannot be read."""
    kept = {name: value for name, value in flags.items() if name == "data"}
    home = {name: os.environ[name] for name in ("HOME", "XDG_DATA_HOME", "TRUNKLINE_DATA") if name in os.environ}
    return load({**kept, "config": os.devnull}, home)
