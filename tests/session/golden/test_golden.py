"""Every recorded session folds to the events that were read by eye once."""

from __future__ import annotations

import json

from tests.session.golden import (
    FILE_STORY,
    FOLDER,
    STREAM_STORY,
    TEXT_MOST,
    lines_of,
    lines_of_file,
    lines_of_stream,
    shortened,
)
from tests.tooling.rows import every_row
from tests.tooling.transcripts import AGENTS


@every_row("story", [*AGENTS, FILE_STORY, STREAM_STORY])
def test_a_recorded_agent_folds_to_its_golden_events(story: str) -> None:
    kept = (FOLDER / f"{story}.jsonl").read_text(encoding="utf-8").splitlines()
    made = {FILE_STORY: lines_of_file, STREAM_STORY: lines_of_stream}.get(story, lambda: lines_of(story))()
    for number, (was, now) in enumerate(zip(kept, made, strict=False), 1):
        assert json.loads(now) == json.loads(was), f"line {number}; right? python -m tests.session.golden, and read the diff"
    assert len(made) == len(kept)


def test_there_is_a_golden_file_for_every_transcript_and_no_other() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.jsonl")) == sorted([*AGENTS, FILE_STORY, STREAM_STORY])


def test_what_is_written_down_is_short_and_the_same_every_time() -> None:
    event = {"seq": 7, "sessionId": "s", "timestamp": "t", "type": "message:delta", "messageId": "m", "delta": "x" * 500}
    first, = shortened([event, {**event, "seq": 8}])
    assert first["deltas"] == 2 and len(first["delta"]) < TEXT_MOST + 40
    assert set(first) == {"type", "messageId", "delta", "deltas"}
