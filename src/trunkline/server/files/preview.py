"""Artifacts, and their previews under unguessable addresses.

Rule 1: a preview's address is its permission: 128 random bits, good for an hour. It reads no cookie and no token.
Rule 2: a key ends with the token that it was made for. A key in a packet was made for everybody who reads the session; nobody can
say who has it, so it ends as soon as any token does, and who is still let in asks for the artifact again.
Rule 3: what is shown there is still: it runs no scripts and loads nothing but its own files, in a sandbox without an origin. Only
a key that somebody asked for with ``live`` runs scripts and loads what lies elsewhere. There is nothing between: a browser lets a
script that runs speak with others (WebRTC asks no policy), so who runs one lets it tell what it was shown.
Rule 4: what is shown there is never a script, a worker or a style of the hub's own page.
Rule 5: the hub never starts an app; an app without static output has no preview.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from starlette.datastructures import URL
from starlette.responses import RedirectResponse

from trunkline.errors import Forbidden, Invalid, NotFound
from trunkline.server.auth.credentials import own_origin
from trunkline.server.call import HttpCall, Reply, reply
from trunkline.server.files.content import FileReply, media_type, open_inside, resolve
from trunkline.session.fold import Artifact
from trunkline.session.workspace.artifacts import static_root
from trunkline.session.workspace.files import Workspace

if TYPE_CHECKING:
    from trunkline.hub import Session


class ArtifactView(msgspec.Struct, kw_only=True):
    """A file or app that the agent made. ``preview_url`` keeps the name it has in the ``artifact_created`` packet."""

    id: str
    session_id: str = msgspec.field(name="sessionId")
    type: str
    name: str
    path: str
    preview_url: str | None
    version: int
    created_at: str = msgspec.field(name="createdAt")
    updated_at: str = msgspec.field(name="updatedAt")


class NewPreview(msgspec.Struct, forbid_unknown_fields=True):
    """How an artifact is to be shown. ``live``: its scripts run, and it may load scripts, styles, pictures and fonts from
    elsewhere (https)."""

    live: bool = False


class PreviewAddress(msgspec.Struct):
    """Where an artifact can be seen for a while; null for an app without static output."""

    preview_url: str | None


async def artifacts(call: HttpCall) -> Reply:
    """What the agent made, oldest first."""
    session = await call.session()
    made = session.artifacts()
    shown = await _can_be_shown(session, made)
    return reply([_view(call, session, artifact, each) for artifact, each in zip(made, shown, strict=True)])


async def artifact(call: HttpCall) -> Reply:
    """One artifact."""
    session = await call.session()
    made = session.artifact(call.part("artifactId"))
    (shown,) = await _can_be_shown(session, [made])
    return reply(_view(call, session, made, shown))


async def new_preview(call: HttpCall) -> Reply:
    """An address to see one artifact at: still, or ``live``."""
    session = await call.session()
    wanted = await call.body(NewPreview, default=NewPreview())
    artifact = session.artifact(call.part("artifactId"))
    (shown,) = await _can_be_shown(session, [artifact])
    url = call.parts.previews.url(session.id, artifact, call.caller.token_id, live=wanted.live) if shown else None
    return reply(PreviewAddress(url), 201)


async def preview(call: HttpCall) -> Reply:
    """A file of an artifact, as a page without an origin."""
    key, path = call.part("key"), call.part("path")
    _check_use(call)
    shown = call.parts.previews.shown(key)
    session = await call.hub.session(shown.session_id)
    space = session.workspace
    answer = await space.lane.run(_file, call, session.artifact(shown.artifact_id), space, path)
    answer.raw_headers += preview_headers(f"{own_origin(call.request)}/preview/{key}/", live=shown.live)
    return answer


def preview_headers(prefix: str, *, live: bool = False) -> list[tuple[bytes, bytes]]:
    """The sandbox. ``prefix`` is the only address of ours that anything is loaded from; unless ``live``, the only one at all, and
    no script runs. Those that do run as nobody."""
    # A browser may connect before it asks the policy: Chromium does for the address of a frame.
    confined = [] if live else [(b"connection-allowlist", b"(response-origin)")]
    return [
        *confined,
        (b"content-security-policy", "; ".join(_live(prefix) if live else _still(prefix)).encode("latin-1", "replace")),
        # A name that is looked up is a message to who answers for it.
        (b"x-dns-prefetch-control", b"on" if live else b"off"),
        # The sandbox has no origin, so even its own fonts, modules and fetches are cross-origin requests.
        (b"access-control-allow-origin", b"*"),
        (b"cross-origin-resource-policy", b"cross-origin"),
    ]


def _still(prefix: str) -> tuple[str, ...]:
    own = f"{prefix} data: blob:"
    return (
        "sandbox", f"default-src {own}", "script-src 'none'", "worker-src 'none'", "connect-src 'none'",
        f"style-src {own} 'unsafe-inline'", f"base-uri {prefix}", "form-action 'none'", "frame-ancestors 'self'",
    )


def _live(prefix: str) -> tuple[str, ...]:
    own = f"{prefix} data: blob:"
    seen = f"{own} https:"
    return (
        "sandbox allow-scripts", f"default-src {own} 'unsafe-inline' 'unsafe-eval'",
        f"script-src {seen} 'unsafe-inline' 'unsafe-eval'", f"style-src {seen} 'unsafe-inline'",
        f"img-src {seen}", f"font-src {seen}", f"connect-src {own}", f"base-uri {prefix}", "form-action 'none'",
        "frame-ancestors 'self'",
    )


_SHOWN_AS = frozenset(("document", "iframe", "frame", "image", "empty"))


def _check_use(call: HttpCall) -> None:
    """Forbidden, where the hub's own page would take it for a part of itself. A sandbox has no origin, so it never says this."""
    headers = call.request.headers
    if headers.get("sec-fetch-site") == "same-origin" and headers.get("sec-fetch-dest", "document") not in _SHOWN_AS:
        raise Forbidden("what an agent made is no part of this page")


async def _can_be_shown(session: Session, made: Sequence[Artifact]) -> list[bool]:
    return await session.workspace.lane.run(lambda: [static_root(each) is not None for each in made])


def _view(call: HttpCall, session: Session, artifact: Artifact, can_be_shown: bool) -> ArtifactView:
    url = call.parts.previews.url(session.id, artifact, call.caller.token_id) if can_be_shown else None
    return ArtifactView(
        id=artifact.id, session_id=session.id, type=artifact.type, name=artifact.name, path=artifact.relative_path,
        preview_url=url, version=artifact.version,
        created_at=artifact.created_at, updated_at=artifact.updated_at,
    )


def _file(call: HttpCall, artifact: Artifact, space: Workspace, path: str) -> Reply:
    root = static_root(artifact)
    if root is None:
        raise NotFound("this app has no static output to show")
    try:
        real_root = str(space.resolve(root))
    except Invalid as error:  # it was swapped in the middle of our look
        raise NotFound(f"no such file: {artifact.name}") from error
    if artifact.type in ("file", "image"):
        if path not in ("", artifact.name):
            raise NotFound(f"no such file: {path}")
        return _reply_with(call, real_root, space.within(os.path.dirname(real_root)))
    return _from_folder(call, space.within(real_root), path)


def _from_folder(call: HttpCall, space: Workspace, path: str) -> Reply:
    if os.path.isdir(resolve(space, path or ".")):
        if path and not path.endswith("/"):
            return RedirectResponse(URL(scope=call.request.scope).path + "/")
        path = os.path.join(path or ".", "index.html")
    return _reply_with(call, path, space)


def _reply_with(call: HttpCall, path: str, space: Workspace) -> Reply:
    try:
        opened = open_inside(path, space)
    except Invalid as error:
        raise NotFound(error.message) from error
    kind = media_type(opened.name)
    charset = "; charset=utf-8" if kind.startswith("text/") else ""
    return FileReply(opened, call.request.headers, kind + charset, cache="no-store")
