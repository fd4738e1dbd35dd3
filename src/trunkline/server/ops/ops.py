"""Operations: is it up, can it work, what does it do, what can be asked of it.

Rule 1: ``/healthz`` needs no token and says nothing but that somebody is there.
Rule 2: the docs page is made on the server from the OpenAPI document; it needs no script.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from trunkline import __version__
from trunkline.hub.loading import load
from trunkline.journal.base import RowFilter
from trunkline.server.call import HttpCall, Parts, Reply, reply
from trunkline.server.http.messages import Response
from trunkline.server.openapi import document
from trunkline.server.ops.journal import check_writable
from trunkline.server.page import page_headers

if TYPE_CHECKING:
    from prometheus_client.core import Metric

DOCS_PAGE = "trunkline.server.ops.docs_page"
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
    return reply(await _described(call))


async def docs(call: HttpCall) -> Reply:
    """This API as a page to read."""
    await load(DOCS_PAGE)
    from trunkline.server.ops.docs_page import docs_page

    return Response(docs_page(await _described(call)), headers=page_headers(call), media_type="text/html")


async def metrics(call: HttpCall) -> Reply:
    """Counters and gauges in Prometheus' text format."""
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest  # not needed to start a hub

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(call.parts))
    ProcessCollector(registry=registry)
    return Response(generate_latest(registry), headers={"Content-Type": EXPOSITION})


async def _described(call: HttpCall) -> dict[str, Any]:
    """What can be asked, with all that answers it loaded: its types are in there."""
    await load(*{route.handler.__module__ for route in call.parts.routes})
    return document(call.parts.routes)


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
