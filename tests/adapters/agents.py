"""Agents with sessions of their own, and a library that knows them."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import trunkline
from trunkline.adapters import Library
from trunkline.dialects.context.types import StartSessionOptions

PUPPET = f"{sys.executable} {shlex.quote(str(Path(__file__).parents[1] / 'tooling' / 'puppet.py'))}"
DEMO = f"{sys.executable} -m trunkline.agents.demo --fast"


def text(words: str, kind: str = "agent_message_chunk") -> dict[str, Any]:
    """One chunk of text, as an update."""
    return {"sessionUpdate": kind, "content": {"type": "text", "text": words}}


HISTORY = [
    text("Make it ", "user_message_chunk"), text("blue.", "user_message_chunk"), text("Blue it is. "), text("Done."),
    {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "ls", "kind": "execute", "status": "completed",
     "rawInput": {"command": "ls"}},
    text("And red?", "user_message_chunk"), text("Red too."),
]


def store(tmp_path: Path, *offers: str, sessions: int = 1, page_size: int = 100, history: list[dict[str, Any]] | None = None,
          name: str = "store.json", scoped: bool = False) -> str:
    """The command of an agent that has some sessions of its own in the folder ``project``, and offers these methods."""
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    infos = [{"sessionId": f"own-{number}", "cwd": str(project), "title": f"Session {number}",
              "updatedAt": f"2026-01-{number + 1:02d}T00:00:00+00:00"} for number in range(sessions)]
    told = {info["sessionId"]: HISTORY if history is None else history for info in infos}
    path = tmp_path / name
    path.write_text(json.dumps({"offers": offers, "sessions": infos, "pageSize": page_size, "history": told, "scoped": scoped}))
    return f"{PUPPET} --store {shlex.quote(str(path))}"


def library(tmp_path: Path, data_dir: Path | None = None, environ: Mapping[str, str] | None = None, **agents: str) -> Library:
    """A library whose home is in the test's folder."""
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    here = {"PATH": os.environ["PATH"], "HOME": str(home), **(environ or {})}
    return trunkline.open(data_dir, agents={"demo-fast": DEMO, **agents}, environ=here)


def options(tmp_path: Path, prompt: str) -> StartSessionOptions:
    """A session in a folder, with its first prompt."""
    return StartSessionOptions(project_path=str(tmp_path), prompt=prompt)
