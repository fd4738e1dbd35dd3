"""Files that clients put into a session's folder.

Rule 1: a body is written as it comes, into a file beside its place; it appears under its name only when it is whole.
Rule 2: a form's file names are the sender's; only the last part counts, cleaned, and nothing is overwritten by them.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from trunkline.errors import Invalid
from trunkline.server.call import Call, Reply, reply, too_large
from trunkline.server.content import resolve, unusable
from trunkline.session.workspace import Workspace

FILES_MOST = 20
FIELDS_MOST = 20
NAME_LENGTH = 120


class Uploaded(msgspec.Struct):
    """A file that is in the session's folder now."""

    name: str
    path: str
    size: int


class Uploads(msgspec.Struct):
    """Every file of one upload."""

    files: list[Uploaded]


async def upload(call: Call) -> Reply:
    """Put files into the session's folder: a form with files, or one file as the body under ``?path=``."""
    session = await call.session()
    space = session.workspace
    if call.request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        files = await _take_form(call, space)
    else:
        files = [await _take_body(call, space)]
    for file in files:
        session.uploaded(str(space.resolve(file.path)))
    return reply(Uploads(files), 201)


async def _take_body(call: Call, space: Workspace) -> Uploaded:
    wanted = call.text("path")
    if wanted is None:
        raise Invalid("path is needed: where the file goes", details={"field": "path"})
    path = resolve(space, wanted)
    async with _NewFile(path) as file:
        async for chunk in call.chunks(call.parts.options.upload_limit):
            await asyncio.to_thread(file.write, chunk)
    return Uploaded(path.name, space.relative(path), file.size)


async def _take_form(call: Call, space: Workspace) -> list[Uploaded]:
    limits = call.parts.options
    folder = resolve(space, call.text("path") or ".")
    body = call.chunks(limits.upload_total_limit)
    try:
        form = await MultiPartParser(call.request.headers, body, max_files=FILES_MOST, max_fields=FIELDS_MOST).parse()
    except MultiPartException as error:
        raise Invalid(f"body: {error.message}") from error
    try:
        parts = [part for _, part in form.multi_items() if isinstance(part, UploadFile)]
        if not parts:
            raise Invalid("the form has no file", details={"field": "file"})
        if any((part.size or 0) > limits.upload_limit for part in parts):
            raise too_large(limits.upload_limit)
        return [await _keep(space, folder, part) for part in parts]
    finally:
        await form.close()


async def _keep(space: Workspace, folder: Path, part: UploadFile) -> Uploaded:
    path = await asyncio.to_thread(free_path, folder, safe_name(part.filename or ""))
    async with _NewFile(path) as file:
        await asyncio.to_thread(shutil.copyfileobj, part.file, file)
    return Uploaded(path.name, space.relative(path), file.size)


def safe_name(name: str) -> str:
    """A sender's file name with nothing in it that a path or a shell could mind."""
    last = re.split(r"[/\\]", name)[-1]
    clean = re.sub(r"[^\w.-]+", "_", last).lstrip(".")
    stem, dot, suffix = clean.rpartition(".")
    if not dot:
        return clean[:NAME_LENGTH] or "file"
    return f"{stem[:NAME_LENGTH - 20]}.{suffix[:19]}"


def free_path(folder: Path, name: str) -> Path:
    """A path that is not taken: ``name``, else ``name_1`` and so on."""
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        stem, suffix = name, ""
    path, number = folder / name, 0
    while path.exists() or path.is_symlink():
        number += 1
        path = folder / f"{stem}_{number}{dot}{suffix}"
    return path


class _NewFile:
    """A file that is being written beside its place; leaving without an error puts it there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._half = path.with_name(f".{secrets.token_hex(8)}.part")
        self.size = 0

    def write(self, chunk: bytes) -> int:
        """Add to it."""
        written = self._file.write(chunk)
        self.size += written
        return written

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._open)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        await asyncio.to_thread(self._close, error is None)

    def _open(self) -> None:
        try:
            if self._path.is_dir():
                raise Invalid(f"{self._path.name} is a folder", details={"field": "path"})
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(self._half, "xb")
        except OSError as error:
            raise unusable(str(self._path), error) from error

    def _close(self, whole: bool) -> None:
        self._file.close()
        try:
            if whole:
                os.replace(self._half, self._path)
            else:
                self._half.unlink()
        except OSError as error:
            raise unusable(str(self._path), error) from error
