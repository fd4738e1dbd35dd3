"""Notes as values: read by their kind, kept whole where they are not understood, and written in the docs."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from tests.tooling.rows import every_row
from trunkline.dialects.notes import NOTES, AgentNote, CustomNote, HookRan, OwnTurn, Retried, read_note, read_note_params


def test_a_note_is_read_by_its_kind_and_keeps_what_was_sent() -> None:
    note = read_note("retry", b'{"attempt":2,"more":true}')
    assert note == AgentNote(Retried(2), sent=b'{"attempt":2,"more":true}')
    assert (note.kind, note.to_json()) == ("retry", b'{"attempt":2,"more":true}')


def test_a_note_that_a_dialect_made_is_written_without_what_it_does_not_know() -> None:
    assert json.loads(AgentNote(OwnTurn("ended", origin="task")).to_json()) == {"state": "ended", "origin": "task"}
    assert json.loads(AgentNote(HookRan("lint"), frame=b'{"exit":0}').to_json()) == {
        "name": "lint", "level": "info", "frame": {"exit": 0}}


@pytest.mark.parametrize(("kind", "data"), [("tomorrow", b"{}"), ("retry", b'{"attempt":"two"}'), ("hook", b"[]")])
def test_a_kind_or_a_body_that_we_do_not_know_is_kept_as_it_is(kind: str, data: bytes) -> None:
    assert read_note(kind, data) == CustomNote(kind, data)


@every_row("params", [b"null", b"[]", b'{"kind":7}', b"{}", b'{"data":{}}'])
def test_a_notification_that_is_no_note_is_none(params: bytes) -> None:
    assert read_note_params(params) is None


def test_a_note_that_was_sent_has_its_kind_and_its_data() -> None:
    sent = b'{"name":"n","more":1}'
    assert read_note_params(b'{"sessionId":"x","kind":"hook","data":%b}' % sent) == AgentNote(HookRan("n"), sent=sent)
    assert read_note_params(b'{"kind":"hook"}') == CustomNote("hook", b"{}"), "a hook has a name"
    assert read_note_params(b'{"kind":"tomorrow","data":[1]}') == CustomNote("tomorrow", b"[1]")


def test_every_note_is_in_the_docs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "interpretation.md").read_text(encoding="utf-8")
    for kind, body in NOTES.items():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{kind}` |")]
        fields = [field.encode_name for field in msgspec.structs.fields(body)]
        assert [field for field in fields if f"`{field}`" not in row] == []
