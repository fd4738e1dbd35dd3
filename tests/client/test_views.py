"""What the client reads of a session is what the hub writes."""

from __future__ import annotations

import msgspec

from tests.aio import run
from tests.client.calls.routes import SESSION
from tests.client.scripted import served
from tests.tooling.rows import every_row
from trunkline.client import Client, views
from trunkline.server.files import preview
from trunkline.session import fold


def test_answers_are_typed_and_fields_of_tomorrow_are_skipped() -> None:
    async def scene() -> None:
        async with served(lambda exchange: exchange.json(200, SESSION)) as hub, Client(hub.url + "/") as client:
            view = await client.session("s1")
        assert (view.id, view.status, view.pending_approvals) == ("s1", "idle", [])

    run(scene())


SHARED = ["SessionView", "Changes", "TurnView", "ApprovalView", "QuestionView", "QueuedPrompt", "Todo", "Usage", "Cost"]


@every_row("name", SHARED)
def test_what_the_client_reads_is_what_the_hub_writes(name: str) -> None:
    reads = {field.encode_name for field in msgspec.structs.fields(getattr(views, name))}
    writes = {field.encode_name for field in msgspec.structs.fields(getattr(fold, name))}
    assert reads == writes


def test_an_artifact_is_read_as_the_server_writes_it() -> None:
    made = preview.ArtifactView(id="a", session_id="s", type="web_app", name="site", path="out/site", preview_url="/preview/k/",
                                version=2, created_at="then", updated_at="now")
    read = msgspec.json.decode(msgspec.json.encode(made), type=views.Artifact)
    assert msgspec.structs.asdict(read) == msgspec.structs.asdict(made)
    assert read.preview_url == "/preview/k/"
