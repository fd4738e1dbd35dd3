"""Files that clients put into a session's folder.

Rule 1: a body is written as it comes, into a file beside its place; it appears under its name only when it is whole.
Rule 2: a form's file names are the sender's; only the last part counts, cleaned, and nothing is overwritten by them.
Rule 3: where a file goes is resolved once; its folder is held by descriptor from then on (``Workspace.new_file``).
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

import msgspec
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from trunkline.disk.writing import NewFile
from trunkline.errors import Invalid
from trunkline.server.call import HttpCall, Reply, reply, too_large
from trunkline.server.files.content import resolve, unusable
from trunkline.session.workspace.files import Workspace

FILES_MOST = 20
FIELDS_MOST = 20
NAME_LENGTH = 120
NAMES_MOST = 10_000
"""Names that are tried for one file of a form."""

PIECE = 1 << 20

P = ParamSpec("P")
T = TypeVar("T")


class Uploaded(msgspec.Struct):
    """A file that is in the session's folder now."""

    name: str
    path: str
    size: int


class Uploads(msgspec.Struct):
    """Every file of one upload."""

    files: list[Uploaded]


async def upload(call: HttpCall) -> Reply:
    """Put files into the session's folder: a form with files, or one file as the body under ``?path=``."""
    session = await call.session()
    space = session.workspace
    if call.request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        files = await _take_form(call, space)
    else:
        files = [await _take_body(call, space)]
    for file in files:
        await session.uploaded(os.path.join(space.roots[0], file.path))
    return reply(Uploads(files), 201)


async def _take_body(call: HttpCall, space: Workspace) -> Uploaded:
    wanted = call.text("path")
    if wanted is None:
        raise Invalid("path is needed: where the file goes", details={"field": "path"})
    async with _Upload(space, wanted) as file:
        async for chunk in call.chunks(call.parts.options.upload_limit):
            await file.write(chunk)
        return await file.put()


async def _take_form(call: HttpCall, space: Workspace) -> list[Uploaded]:
    limits = call.parts.options
    folder = call.text("path") or "."
    await space.lane.run(resolve, space, folder)  # a bad path is refused before the body is read
    head, body = Headers(raw=call.request.headers.raw), call.chunks(limits.upload_total_limit)
    try:
        form = await MultiPartParser(head, body, max_files=FILES_MOST, max_fields=FIELDS_MOST).parse()
    except MultiPartException as error:
        raise Invalid(f"body: {error.message}") from error
    except UnicodeError as error:  # of a charset that decodes nothing, such as Python's own "undefined"
        raise Invalid(f"body: {error}") from error
    try:
        parts = [part for _, part in form.multi_items() if isinstance(part, UploadFile)]
        if not parts:
            raise Invalid("the form has no file", details={"field": "file"})
        if any((part.size or 0) > limits.upload_limit for part in parts):
            raise too_large(limits.upload_limit)
        return [await _keep(space, folder, part) for part in parts]
    finally:
        await form.close()


async def _keep(space: Workspace, folder: str, part: UploadFile) -> Uploaded:
    name = safe_name(part.filename or "")
    async with _Upload(space, folder, name) as file:
        while chunk := await part.read(PIECE):
            await file.write(chunk)
        return await file.put(free_names(name))


def safe_name(name: str) -> str:
    """A sender's file name with nothing in it that a path or a shell could mind."""
    last = re.split(r"[/\\]", name)[-1]
    clean = re.sub(r"[^\w.-]+", "_", last).lstrip(".")
    stem, dot, suffix = clean.rpartition(".")
    if not dot:
        return clean[:NAME_LENGTH] or "file"
    return f"{stem[:NAME_LENGTH - 20]}.{suffix[:19]}"


def free_names(name: str) -> Iterator[str]:
    """Names to try until one is not taken: ``name``, then ``name_1`` and so on."""
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        stem, suffix = name, ""
    yield name
    for number in range(1, NAMES_MOST):
        yield f"{stem}_{number}{dot}{suffix}"


def _drop(beginning: asyncio.Future[tuple[Path, NewFile]]) -> None:
    if not beginning.cancelled() and beginning.exception() is None:
        Thread(target=beginning.result()[1].drop, daemon=True).start()


class _Upload:
    """A file that is being written beside its place; leaving before it was put there leaves nothing."""

    def __init__(self, space: Workspace, wanted: str, name: str | None = None) -> None:
        """``wanted`` is the place of the file; with a ``name``, of its folder."""
        self._space = space
        self._wanted = wanted
        self._name = name
        self._kept = False

    async def write(self, chunk: bytes) -> None:
        """Add to it."""
        await self._run(self._file.write, chunk)

    async def put(self, names: Iterator[str] | None = None) -> Uploaded:
        """Let it stand in its place, or under the first of these names that is free."""
        self._kept = True
        real = self._real
        if names is None:
            await self._run(self._file.put, real.name)
        else:
            real = real.with_name(await self._run(self._file.put_beside, names))
        return Uploaded(real.name, self._space.relative(real), self._file.size)

    async def __aenter__(self) -> Self:
        beginning = asyncio.ensure_future(self._run(self._begin))
        try:
            self._real, self._file = await asyncio.shield(beginning)
        except asyncio.CancelledError:
            beginning.add_done_callback(_drop)  # the sender is gone, and the file comes all the same
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        if not self._kept:
            await self._run(self._file.drop)

    async def _run(self, work: Callable[P, T], *args: P.args, **how: P.kwargs) -> T:
        try:
            return await self._space.lane.run(work, *args, **how)
        except OSError as error:
            raise unusable(self._wanted, error) from error

    def _begin(self) -> tuple[Path, NewFile]:
        real = resolve(self._space, self._wanted)
        if self._name is not None:
            real = real / self._name
        else:
            self._space.check_writable(real, self._wanted)
        return real, self._space.new_file(real)
