"""Which capability flags a run shows: each flag has an event, or a word of the agent's, that only the thing itself gives.

``python -m tests.adapters.evidence`` prints what the recorded runs show, as the catalog writes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from tests.session.golden import FILE_AGENT, STREAM_AGENT, events_of, lines_of_file, played_run
from tests.tooling.claude_runs import runs, sent_image
from tests.tooling.transcripts import AGENTS, greetings, stories
from trunkline.agents import catalog
from trunkline.dialects.acp.initialize import InitializeResponse
from trunkline.dialects.acp.reading.lenient import read_lenient

Event = dict[str, Any]
Events = Sequence[Event]


def _has(kind: str) -> Callable[[Events], bool]:
    return lambda events: any(event["type"] == kind for event in events)


def _streams(kind: str) -> Callable[[Events], bool]:
    """A message, or a thought, of the agent's came in more than one piece."""

    def is_shown(events: Events) -> bool:
        pieces = Counter(event["messageId"] for event in events if event["type"] == kind and event.get("role") != "user")
        return any(count > 1 for count in pieces.values())

    return is_shown


def _cancelled(events: Events) -> bool:
    return any(event["type"] == "session:status_changed" and event.get("reason") == "cancelled" for event in events)


def _searched(events: Events) -> bool:
    return any(event["type"] == "web:operation" and event["operation"]["kind"] == "search" for event in events)


def _previewed(events: Events) -> bool:
    return any(event["type"] == "approval:requested" and "preview" in event for event in events)


def _shows_diff(events: Events) -> bool:
    return any(event["type"] == "file:change" and event.get("diff") for event in events)


SHOWN: dict[str, Callable[[Events], bool]] = {
    "streaming.messages": _streams("message:delta"), "streaming.toolArgs": _has("tool:args_delta"),
    "streaming.thinking": _streams("thinking:delta"),
    "approval.toolCalls": _has("approval:requested"), "approval.preview": _previewed, "sessionControl.cancel": _cancelled,
    "subAgents": _has("subagent:spawned"), "planning.todos": _has("progress:todo_update"),
    "planning.planMode": _has("progress:plan_mode"), "resources.tokenUsage": _has("resource:token_usage"),
    "resources.costTracking": _has("resource:cost"), "resources.contextWindow": _has("resource:context_window"),
    "fileOperations.diffs": _shows_diff, "fileOperations.batchedChanges": _has("file:batch"), "git": _has("git:operation"),
    "webSearch": _searched, "userInteraction.questions": _has("interaction:question"),
    "userInteraction.notifications": _has("interaction:notification"), "thinking": _has("thinking:complete"),
}
"""Flag by flag. ``multimodal`` is the agent's word at its greeting; pause and resume are the hub's own doing."""

RECORDED = [agent for agent in AGENTS if agent in catalog.load()]
"""Agents of the catalog that were recorded."""


def shown_by(events: Events) -> set[str]:
    """The flags that these events show."""
    return {flag for flag, is_shown in SHOWN.items() if is_shown(events)}


def shown_by_recording(agent: str) -> set[str]:
    """The flags that an agent's recorded runs show, in all of its sessions together."""
    flags: set[str] = set()
    for (run, session_id), steps in stories(agent).items():
        flags |= shown_by(events_of(agent, run, session_id, steps))
    return flags | ({"multimodal"} if any(map(_takes_images, greetings(agent).values())) else set())


def shown_by_stream() -> set[str]:
    """The flags that the recorded runs of the agent show that is driven by a stream of its own."""
    flags: set[str] = set()
    for run in runs():
        flags |= shown_by([msgspec.json.decode(entry.event) for entry in played_run(run).entries])
    return flags | ({"multimodal"} if any(sent_image(run) for run in runs()) else set())


def shown_by_file() -> set[str]:
    """The flags that following the recorded session file shows."""
    return shown_by([msgspec.json.decode(line) for line in lines_of_file()])


def _takes_images(greeting: bytes) -> bool:
    return read_lenient(greeting, InitializeResponse).capabilities.prompt.image


if __name__ == "__main__":
    for agent in RECORDED:
        print(agent, sorted(shown_by_recording(agent)))
    print(STREAM_AGENT, sorted(shown_by_stream()))
    print(FILE_AGENT, "by its file", sorted(shown_by_file()))
