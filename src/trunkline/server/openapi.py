"""The API described: OpenAPI 3.1, made from the route table and the types that the handlers use.

Rule 1: nothing is described by hand that the table or a type already says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from trunkline import __version__
from trunkline.errors import TrunklineError
from trunkline.server.later import found_in

if TYPE_CHECKING:
    from trunkline.server.routes import Query, Route

REF = "#/components/schemas/{name}"


class ErrorBody(msgspec.Struct, rename="camel", omit_defaults=True):
    """What every error answers with: ``code`` is for programs, ``message`` for people."""

    code: str
    message: str
    recoverable: bool
    details: dict[str, Any] | None = None
    agent_code: str | None = None


def error_body(error: TrunklineError) -> ErrorBody:
    """An error as it is answered."""
    return ErrorBody(error.code, error.message, error.recoverable, error.details, error.agent_code)


def document(routes: Iterable[Route]) -> dict[str, Any]:
    """The OpenAPI document of these routes."""
    routes = list(routes)
    types = [found_in(kind) for route in routes for kind in (route.request, route.response) if kind is not None]
    schemas, components = msgspec.json.schema_components([*types, ErrorBody], ref_template=REF)
    by_type = {_key(kind): schema for kind, schema in zip([*types, ErrorBody], schemas, strict=True)}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(plain_path(route.path), {})[route.method.lower()] = _operation(route, by_type)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Trunkline", "version": __version__, "description": "One line to every coding agent."},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": _SCHEMES},
    }


_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "trunkline_<hub>",
               "description": "For requests from the hub's own page, below the path that the login answered with."},
}


def plain_path(path: str) -> str:
    """A path as the documentation writes it: ``{path:path}`` is ``{path}``."""
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", path)


def _key(kind: Any) -> str:
    return repr(found_in(kind))


def _operation(route: Route, schemas: Mapping[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": f"{route.handler.__module__.rpartition('.')[2]}_{route.handler.__name__}",
        "summary": route.summary,
        "tags": [route.handler.__module__.rpartition(".")[2]],
        "parameters": [*_path_parameters(route.path), *map(_query_parameter, route.query), *map(_header, route.headers)],
        "responses": {str(route.status): _success(route, schemas), "default": _failure(schemas)},
        "security": [{"bearer": []}, {"cookie": []}] if route.scope else [],
    }
    if route.scope:
        operation["x-scope"] = route.scope
    body = _request_body(route, schemas)
    return {**operation, "requestBody": body} if body else operation


def _path_parameters(path: str) -> list[dict[str, Any]]:
    names = re.findall(r"\{(\w+)", path)
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _query_parameter(query: Query) -> dict[str, Any]:
    return {"name": query.name, "in": "query", "required": query.required, "description": query.summary,
            "schema": {"type": query.type}}


def _header(query: Query) -> dict[str, Any]:
    return {**_query_parameter(query), "in": "header"}


def _request_body(route: Route, schemas: Mapping[str, Any]) -> dict[str, Any] | None:
    content = {media: {"schema": {"type": "string", "format": "binary"}} for media in route.takes}
    if route.request is not None:
        content["application/json"] = {"schema": schemas[_key(route.request)]}
    return {"required": True, "content": content} if content else None


def _success(route: Route, schemas: Mapping[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {media: {"schema": {"type": "string"}} for media in route.gives}
    if route.response is not None:
        content["application/json"] = {"schema": schemas[_key(route.response)]}
    return {"description": route.answers or route.summary, **({"content": content} if content else {})}


def _failure(schemas: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": "An error.", "content": {"application/json": {"schema": schemas[_key(ErrorBody)]}}}
