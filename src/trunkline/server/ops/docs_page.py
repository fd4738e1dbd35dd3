"""The OpenAPI document as a page to read, without a script."""

from __future__ import annotations

import html
from typing import Any


def docs_page(api: dict[str, Any]) -> str:
    """The OpenAPI document as HTML."""
    sections: dict[str, list[str]] = {}
    for path, operations in api["paths"].items():
        for method, operation in operations.items():
            sections.setdefault(operation["tags"][0], []).append(_operation_html(method, path, operation))
    body = "".join(f"<section><h2>{html.escape(tag)}</h2>{''.join(each)}</section>" for tag, each in sections.items())
    schemas = "".join(_schema_html(name, schema) for name, schema in sorted(api["components"]["schemas"].items()))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Trunkline API</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/assets/docs.css">'
        f"</head><body><header><h1>Trunkline API</h1><p>Version {html.escape(api['info']['version'])} · "
        f'<a href="/openapi.json">openapi.json</a></p></header><main>{body}<section><h2>types</h2>{schemas}</section></main>'
        "</body></html>"
    )


def _operation_html(method: str, path: str, operation: dict[str, Any]) -> str:
    scope = operation.get("x-scope")
    parameters = "".join(
        f"<tr><td><code>{html.escape(each['name'])}</code></td><td>{each['in']}</td>"
        f"<td>{html.escape(each.get('description', ''))}</td></tr>" for each in operation["parameters"] if each["in"] != "path"
    )
    table = f"<table>{parameters}</table>" if parameters else ""
    body = _types_html("takes", operation.get("requestBody", {}).get("content", {}))
    status, success = next(iter(operation["responses"].items()))
    answer = _types_html(f"answers {status}", success.get("content", {})) or f"<p>answers {status}</p>"
    return (
        f'<article id="{operation["operationId"]}"><h3><span class="method {method}">{method.upper()}</span> '
        f'<code>{html.escape(path)}</code>{f" <em>{scope}</em>" if scope else ""}</h3>'
        f"<p>{html.escape(operation['summary'])}</p>{table}{body}{answer}</article>"
    )


def _types_html(label: str, content: dict[str, Any]) -> str:
    named = ", ".join(f"<code>{html.escape(media)}</code> {_type_html(each['schema'])}" for media, each in content.items())
    return f"<p>{label}: {named}</p>" if named else ""


def _type_html(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = html.escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#type-{name}">{name}</a>'
    if "anyOf" in schema:
        return " | ".join(_type_html(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(f"<code>{html.escape(repr(each))}</code>" for each in schema["enum"])
    if schema.get("type") == "array" and "items" in schema:
        return f"list of {_type_html(schema['items'])}"
    return html.escape(str(schema.get("type", "any")))


def _schema_html(name: str, schema: dict[str, Any]) -> str:
    needed = set(schema.get("required", ()))
    rows = "".join(
        f"<tr><td><code>{html.escape(field)}</code>{'' if field in needed else '?'}</td><td>{_type_html(each)}</td></tr>"
        for field, each in schema.get("properties", {}).items()
    )
    about = html.escape(schema.get("description", "").split("\n\n")[0])
    return f'<article id="type-{html.escape(name)}"><h3>{html.escape(name)}</h3><p>{about}</p><table>{rows}</table></article>'
