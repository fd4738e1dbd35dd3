"""Operations: is it up, can it work, what does it do, what can be asked of it.

Rule 1: ``/healthz`` needs no token and says nothing but that somebody is there.
Rule 2: the docs page is made on the server from the OpenAPI document; it needs no script.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response

from trunkline import __version__
from trunkline.journal.base import RowFilter
from trunkline.server.call import HttpCall, Parts, Reply, reply
from trunkline.server.openapi import document
from trunkline.server.ops.journal import check_writable
from trunkline.server.page import page_headers

if TYPE_CHECKING:
    from prometheus_client.core import Metric

EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"


class Health(msgspec.Struct):
    """Somebody is there."""

    status: str


class Readiness(msgspec.Struct):
    """The hub can take work: the journal answers and can be written. ``busy`` while a turn runs or an approval waits;
    ``playground`` is a folder of the hub's own where an agent can be tried out."""

    status: str
    version: str
    busy: bool
    streams: int
    playground: str


async def healthz(call: HttpCall) -> Reply:
    """Whether the server answers at all."""
    return reply(Health("ok"))


async def readyz(call: HttpCall) -> Reply:
    """Whether the hub can work; 503 when its journal cannot be read, or not be written (a full disk)."""
    await call.hub.list(RowFilter(limit=1))
    await check_writable(call)
    playground = call.parts.options.playground
    return reply(Readiness("ready", __version__, call.hub.busy(), len(call.parts.streams), str(playground)))


async def openapi(call: HttpCall) -> Reply:
    """This API as an OpenAPI document."""
    return reply(document(call.parts.routes))


async def docs(call: HttpCall) -> Reply:
    """This API as a page to read."""
    return Response(docs_page(document(call.parts.routes)), headers=page_headers(call), media_type="text/html")


async def metrics(call: HttpCall) -> Reply:
    """Counters and gauges in Prometheus' text format."""
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest  # not needed to start a hub

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(call.parts))
    ProcessCollector(registry=registry)
    return Response(generate_latest(registry), headers={"Content-Type": EXPOSITION})


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


class _Collector:
    """The hub's plain numbers as Prometheus reads them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def collect(self) -> Iterator[Metric]:
        """Every number there is."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily

        now = self._parts.hub.metrics
        yield InfoMetricFamily("trunkline", "What runs.", value={"version": __version__})
        yield CounterMetricFamily("trunkline_commits", "Groups that the journal committed.", value=now.commits)
        yield GaugeMetricFamily("trunkline_entries", "Entries of the open sessions.", value=now.entries)
        yield GaugeMetricFamily("trunkline_sessions_open", "Sessions in memory.", value=now.sessions_open)
        yield GaugeMetricFamily("trunkline_agents_running", "Agent processes.", value=now.agents_running)
        yield GaugeMetricFamily("trunkline_readers_waiting", "Readers at the end of a feed.", value=now.readers_waiting)
        yield GaugeMetricFamily("trunkline_streams", "Open event streams.", value=len(self._parts.streams))
        turns = CounterMetricFamily("trunkline_turns", "Turns that ended, by outcome.", labels=["outcome"])
        for outcome, count in now.turns.items():
            turns.add_metric([outcome], count)
        yield turns
