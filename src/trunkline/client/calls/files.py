"""Calls about files: those in a session's folders, and what its agent made or changed."""

from __future__ import annotations

from typing import Any

from trunkline.client.http import HttpRequest, HubRequests, path_of, post, read
from trunkline.client.views import (
    Artifact,
    FileList,
    FilesFound,
    PreviewAddress,
    Uploads,
)


class FileCalls(HubRequests):
    """Files, artifacts and pictures of a session."""

    async def image(self, session_id: str, seq: int) -> bytes:
        """The picture that the entry ``seq`` carries; events only have the address of a large one."""
        return (await self._ask(HttpRequest("GET", path_of("sessions", session_id, "images", str(seq))))).body

    async def artifacts(self, session_id: str) -> list[Artifact]:
        """What the agent made."""
        return await self._get(path_of("sessions", session_id, "artifacts"), list[Artifact])

    async def artifact(self, session_id: str, artifact_id: str) -> Artifact:
        """One thing that the agent made."""
        return await self._get(path_of("sessions", session_id, "artifacts", artifact_id), Artifact)

    async def preview(self, session_id: str, artifact_id: str, *, live: bool = False) -> str | None:
        """The path under which an artifact can be seen for a while; None where there is nothing to show. With ``live`` its
        scripts run there, and it may load from elsewhere."""
        response = await self._ask(post(path_of("sessions", session_id, "artifacts", artifact_id, "preview"), {"live": live}))
        return read(response, PreviewAddress).preview_url

    async def files(self, session_id: str, path: str | None = None) -> FileList:
        """A folder inside the session's roots; the session's own when no path is given."""
        return await self._get(path_of("sessions", session_id, "files", path=path), FileList)

    async def file_content(self, session_id: str, path: str) -> bytes:
        """A file inside the session's roots."""
        return (await self._ask(HttpRequest("GET", path_of("sessions", session_id, "files", "content", path=path)))).body

    async def find_in_folder(self, path: str, query: str, *, limit: int = 50) -> FilesFound:
        """Files below any folder of the hub's machine by a part of their path, for a first prompt that names them."""
        return await self._get(path_of("folders", "find", path=path, q=query, limit=limit), FilesFound)

    async def find_files(self, session_id: str, query: str, *, limit: int = 50) -> FilesFound:
        """Files by a part of their path."""
        return await self._get(path_of("sessions", session_id, "files", "find", q=query, limit=limit), FilesFound)

    async def upload(self, session_id: str, path: str, content: bytes) -> Uploads:
        """Store a file inside the session's roots."""
        headers = (("Content-Type", "application/octet-stream"),)
        request = HttpRequest("POST", path_of("sessions", session_id, "files", path=path), content, headers)
        return read(await self._ask(request), Uploads)

    async def diff(self, session_id: str) -> dict[str, Any]:
        """What changed in the session's folder."""
        return await self._get(path_of("sessions", session_id, "diff"), dict[str, Any])
