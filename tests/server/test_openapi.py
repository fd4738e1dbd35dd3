"""The API's description: complete, well formed, and true."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.aio import run
from tests.server.site import site
from tests.tooling.rows import every_row
from trunkline.server.openapi import document, plain_path
from trunkline.server.routes import ROUTES

NEWEST = jsonschema.Draft202012Validator
API: dict[str, Any] = json.loads(json.dumps(document(ROUTES)))
OPERATIONS = [(path, method, operation) for path, methods in API["paths"].items() for method, operation in methods.items()]


def refs(part: Any) -> Iterator[str]:
    """Every reference in a document."""
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for each in part.values():
            yield from refs(each)
    elif isinstance(part, list):
        for each in part:
            yield from refs(each)


def schema_of(path: str, method: str, status: str) -> dict[str, Any]:
    """The schema of an answer, standing on its own."""
    content = API["paths"][path][method]["responses"][status]["content"]["application/json"]["schema"]
    return {**content, "components": API["components"]}


def test_every_route_is_described_and_nothing_else() -> None:
    described = {(method.upper(), path) for path, method, _ in OPERATIONS}
    assert described == {(route.method, plain_path(route.path)) for route in ROUTES}


def test_it_is_an_openapi_3_1_document() -> None:
    assert API["openapi"] == "3.1.0"
    assert set(API["info"]) >= {"title", "version"}
    assert set(API) == {"openapi", "info", "paths", "components"}
    assert set(API["components"]) == {"schemas", "securitySchemes"}
    assert all(path.startswith("/") for path in API["paths"])


@every_row(("path", "method", "operation"), OPERATIONS)
def test_an_operation_is_well_formed(path: str, method: str, operation: dict[str, Any]) -> None:
    assert operation["summary"].endswith(".")
    in_path = [each["name"] for each in operation["parameters"] if each["in"] == "path"]
    assert in_path == re.findall(r"\{(\w+)\}", path)
    for parameter in operation["parameters"]:
        assert parameter["in"] in ("path", "query", "header")
        assert parameter["in"] != "path" or parameter["required"] is True
        assert parameter["schema"]["type"] in ("string", "integer", "boolean")
    assert "default" in operation["responses"]
    assert all(re.fullmatch(r"[1-5]\d\d|default", status) for status in operation["responses"])
    assert all(response["description"] for response in operation["responses"].values())
    assert method != "get" or "requestBody" not in operation
    assert ("x-scope" in operation) == bool(operation["security"])
    for scheme in operation["security"]:
        assert set(scheme) <= set(API["components"]["securitySchemes"])


def test_operation_ids_are_unique() -> None:
    ids = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len(ids) == len(set(ids))


def test_every_reference_leads_somewhere() -> None:
    found = set(refs(API))
    assert found
    for ref in found:
        assert ref.removeprefix("#/components/schemas/") in API["components"]["schemas"], ref


@every_row("name", sorted(API["components"]["schemas"]))
def test_every_type_is_a_valid_json_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(API["components"]["schemas"][name])


def test_what_is_answered_is_what_is_described(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            (hub.folder / "file.txt").write_text("x")
            session = await hub.session(title="Described")
            await hub.turn(session, "/fail")
            base, described = f"/sessions/{session.id}", "/sessions/{id}"
            for path, real in (
                ("/healthz", "/healthz"), ("/readyz", "/readyz"), ("/agents", "/agents"), ("/sessions", "/sessions"),
                (described, base), (f"{described}/messages", f"{base}/messages"), (f"{described}/queue", f"{base}/queue"),
                (f"{described}/files", f"{base}/files"), (f"{described}/files/find", f"{base}/files/find?q=file"),
                (f"{described}/diff", f"{base}/diff"), (f"{described}/artifacts", f"{base}/artifacts"),
                ("/auth/tokens", "/auth/tokens"), ("/openapi.json", "/openapi.json"),
            ):
                answer = await hub.ask("GET", real)
                assert answer.status == 200
                jsonschema.validate(answer.json(), schema_of(path, "get", "200"), NEWEST)
            failed = await hub.ask("GET", "/sessions/none")
            jsonschema.validate(failed.json(), schema_of(described, "get", "default"), NEWEST)
            sent = await hub.ask("POST", f"{base}/send-message", json_body={"content": "/echo x"})
            jsonschema.validate(sent.json(), schema_of(f"{described}/send-message", "post", "202"), NEWEST)

    run(check())


def test_the_prompts_schema_takes_text_and_blocks() -> None:
    schema = {**API["components"]["schemas"]["SendMessage"], "components": API["components"]}
    jsonschema.validate({"content": "hello"}, schema, NEWEST)
    jsonschema.validate({"content": [{"type": "text", "text": "hello"}], "whenBusy": "queue"}, schema, NEWEST)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"content": [{"type": "video"}]}, schema, NEWEST)
