"""A hub with something of everything on it: sessions in every state, tools of every kind. For tests, and for pictures.

Rule: what is said here is always the same; only times and ids differ.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.page.journal import history, tell, wait_until_idle
from tests.tooling.hub_process import PUPPET, TRUSTED, HubProcess, Session
from tests.tooling.processes import eventually
from tests.tooling.stores import STORES, move

Json = dict[str, Any]
Steps = list[list[Any]]

FIX = "The login test fails now and then. Find out why and fix it."
PLAN = "Plan the move to the new settings format."
BUILD = "Build the release and publish it."
LONG = "Rename the module."
WATCH = "Watch the build until it is green."
DRAW = "Draw the orders of this week."
SAID = re.compile("run: touch [a-z0-9]+")
"""What was said in recorded sessions of other programs."""

ANSWER = """## What was wrong

The test compared **wall-clock** times. Between `issue()` and `check()` the clock can step over a second:

| step | clock | token says |
|---|---:|---|
| `issue()` | 12:00:00.998 | valid until 12:00:01 |
| `check()` | 12:00:01.002 | *expired* |

I gave `Login` a clock of its own:

```python
class Login:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock

    def check(self, code: str) -> bool:
        return self._codes[code] > self._clock()
```

- [x] reproduce it: 3 of 200 runs failed
- [x] fix it
- [ ] look at `test_logout.py`, which does the same

See the [notes on clocks](https://docs.example.org/clocks) for more.
"""

BEFORE = """import time


class Login:
    def __init__(self):
        self._codes = {}

    def issue(self, code, lifetime):
        self._codes[code] = time.time() + lifetime

    def check(self, code):
        return self._codes[code] > time.time()
"""
AFTER = """import time
from collections.abc import Callable


class Login:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._codes: dict[str, float] = {}
        self._clock = clock

    def issue(self, code: str, lifetime: float) -> None:
        self._codes[code] = self._clock() + lifetime

    def check(self, code: str) -> bool:
        return self._codes[code] > self._clock()
"""
ORDERS = {"Mon": 42, "Tue": 57, "Wed": 38, "Thu": 71, "Fri": 96, "Sat": 64, "Sun": 29}
REPORT = "reports/orders.html"
BARS = "".join(f'  <span>{day}</span><span class="bar" style="width: {count}%">{count}</span>\n' for day, count in ORDERS.items())
CHART = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Orders of this week</title>
<style>
  body {{ margin: 2rem; font: 16px/1.5 system-ui, sans-serif; color: #1d2430; background: #fff }}
  .bars {{ display: grid; grid-template-columns: 3rem 1fr; gap: .5rem; align-items: center; max-width: 32rem }}
  .bar {{ padding: .15rem .5rem; border-radius: .25rem; color: #fff; background: #2457c5; text-align: right }}
</style>
<h1>Orders of this week</h1>
<div class="bars">
{BARS}</div>
<p>Friday was the best day since the sale in March.</p>
</html>
"""
COLOURS = ("\x1b[1mtests/test_login.py\x1b[0m \x1b[32m....\x1b[31mF\x1b[32m...\x1b[0m\n\n"
           "\x1b[31mE   assert False\x1b[0m\n\x1b[31mE    +  where False = check('a-code')\x1b[0m\n\n"
           "\x1b[33m1 failed\x1b[0m, \x1b[32m199 passed\x1b[0m in 4.21s\n")
OPTIONS = [
    {"optionId": "yes", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


def update(what: str, **fields: Any) -> list[Any]:
    """One ``session/update`` as a step of the puppet's."""
    return ["update", {"sessionUpdate": what, **fields}]


def think(text: str) -> list[Any]:
    """A thought."""
    return update("agent_thought_chunk", content={"type": "text", "text": text})


def call(number: int, title: str, kind: str, raw_input: Json, *, content: list[Json] | None = None, output: Json | None = None,
         status: str = "completed", **more: Any) -> Steps:
    """A tool call from its beginning to its end."""
    call_id = f"call-{number}"
    ended: Json = {"status": status, **({"content": content} if content else {}), **({"rawOutput": output} if output else {})}
    return [
        update("tool_call", toolCallId=call_id, title=title, kind=kind, status="pending", rawInput=raw_input, **more),
        update("tool_call_update", toolCallId=call_id, status="in_progress"),
        update("tool_call_update", toolCallId=call_id, **ended),
    ]


def text_content(text: str) -> list[Json]:
    """A call's output as text."""
    return [{"type": "content", "content": {"type": "text", "text": text}}]


def permission(number: int, title: str, kind: str, raw_input: Json, content: list[Json] | None = None) -> list[Any]:
    """A request that waits for somebody."""
    tool_call = {"toolCallId": f"call-{number}", "title": title, "kind": kind, "status": "pending", "rawInput": raw_input,
                 **({"content": content} if content else {})}
    return ["request", "session/request_permission", {"toolCall": tool_call, "options": OPTIONS}]


def plays(folder: str) -> dict[str, Steps]:
    """What the agent of the stage does when it is told one of the prompts; paths are below ``folder``."""
    login = f"{folder}/src/login.py"
    numbered = "".join(f"{number}\t{line}\n" for number, line in enumerate(BEFORE.splitlines(), 1))
    diff = [{"type": "diff", "path": login, "oldText": BEFORE, "newText": AFTER}]
    todos = [("Reproduce it", "completed"), ("Find the cause", "completed"), ("Fix it", "in_progress"),
             ("Run all tests", "pending")]
    fix: Steps = [
        update("session_info_update", title="Fix the flaky login test"),
        think("It fails now and then, so time or order is in play. I look for clocks first."),
        update("plan", entries=[{"content": text, "priority": "medium", "status": status} for text, status in todos]),
        *call(1, "grep \"time.time\" src", "search", {"pattern": "time.time", "path": "src"},
              content=text_content("src/login.py:9:        self._codes[code] = time.time() + lifetime\n"
                                   "src/login.py:12:        return self._codes[code] > time.time()\n")),
        *call(2, "Read src/login.py", "read", {"filePath": login, "path": login}, content=text_content(numbered),
              locations=[{"path": login}]),
        *call(3, "pytest tests/test_login.py --count 200", "execute", {"command": "pytest tests/test_login.py --count 200"},
              content=text_content(COLOURS), output={"output": COLOURS, "exit_code": 1}),
        *call(4, "Read src/clock.py", "read", {"filePath": f"{folder}/src/clock.py"}, status="failed",
              content=text_content("Error: File not found: src/clock.py")),
        *call(5, "Edit src/login.py", "edit", {"filePath": login, "oldString": BEFORE, "newString": AFTER}, content=diff,
              locations=[{"path": login}]),
        *call(6, "Fetch https://docs.example.org/clocks", "fetch", {"url": "https://docs.example.org/clocks"},
              content=text_content("# Clocks\n\nUse `time.monotonic` for durations.")),
        update("usage_update", used=48_200, size=200_000, cost={"amount": 0.42, "currency": "USD"}),
        *[["say", piece] for piece in ANSWER.splitlines(keepends=True)],
        update("plan", entries=[{"content": text, "priority": "medium", "status": "completed"} for text, _ in todos]),
        update("usage_update", used=61_900, size=200_000, cost={"amount": 0.61, "currency": "USD"}),
    ]
    build: Steps = [
        update("session_info_update", title="Publish release 2.4"),
        ["say", "The build is done. Publishing replaces what is there, so I ask first."],
        permission(1, "rm -rf dist && npm publish --force", "execute",
                   {"command": "rm -rf dist && npm publish --force", "description": "Publish over the old release"}),
        permission(2, "Edit src/login.py", "edit", {"filePath": login, "oldString": BEFORE, "newString": AFTER}, diff),
        ["wait"],
    ]
    long: Steps = [
        update("session_info_update", title="Rename com.example.enterprise.settings.legacy.AbstractSettingsLoaderFactory and "
                                            "whatever refers to it in all of the four modules"),
        *call(1, "git mv " + "very/" * 20 + "long_path.py " + "x" * 120, "execute", {"command": "git mv " + "very/" * 30 + "a b"},
              output={"output": "y" * 400, "exit_code": 0}),
        ["say", "Done: `" + "AVeryLongNameWithoutAnySpace" * 8 + "` is gone.\n\n| a | b | c | d | e | f |\n"
                "|---|---|---|---|---|---|\n| " + " | ".join(["a cell with some words"] * 6) + " |\n"],
    ]
    plan: Steps = [
        update("session_info_update", title="Move to the new settings format"),
        ["say", "Three files read settings. I would move them one by one, oldest first."],
    ]
    watch: Steps = [
        update("session_info_update", title="Watch the build"),
        think("The build takes some minutes."),
        update("tool_call", toolCallId="call-1", title="make watch", kind="execute", status="in_progress",
               rawInput={"command": "make watch"}),
        update("tool_call_update", toolCallId="call-1", content=text_content("compiling 412 of 1208 …\n")),
        ["wait"],
    ]
    draw: Steps = [
        update("session_info_update", title="Draw the orders of this week"),
        ["await", str(Path(folder).parent / REPORT)],
        *call(1, "Write orders.html", "edit", {"filePath": "orders.html", "content": CHART},
              content=[{"type": "diff", "path": "orders.html", "oldText": None, "newText": CHART}]),
        ["say", "`orders.html` has one bar for each day. **Friday** was the best one."],
    ]
    return {FIX: fix, BUILD: build, LONG: long, PLAN: plan, WATCH: watch, DRAW: draw}


class Stage:
    """The sessions that stand on it."""

    def __init__(self, root: Path, *flags: str, agents: Mapping[str, str] | None = None, **more: Any) -> None:
        self.project = root / "hub" / "home" / "webshop"
        (self.project / "src").mkdir(parents=True)
        (self.project / "src" / "login.py").write_text(AFTER)
        (self.project / "README.md").write_text("# Webshop\n\nSells webs.\n")
        (root / "plays.json").write_text(json.dumps(plays(str(self.project))))
        actor = f"{PUPPET} --plays {shlex.quote(str(root / 'plays.json'))}"
        self.hub = HubProcess(root / "hub", *flags, agents={"actor": actor, **(agents or {})}, **more)

    def clear(self) -> None:
        """As it was in the beginning: no sessions, the first policy."""
        wire = self.hub.wire
        while sessions := wire.get("/sessions")["sessions"]:
            for view in sessions:
                wire.ask("DELETE", f"/sessions/{view['id']}").expect(204)
        if wire.get("/policy")["text"] != TRUSTED:
            wire.ask("PUT", "/policy", {"text": TRUSTED}).expect(200)

    def act(self, prompt: str, folder: Path | None = None) -> Session:
        """A session with the stage's agent that was told the prompt, in a folder, or in that of the project."""
        session = self.hub.new_session("actor", folder or self.project)
        tell(session, prompt)
        return session

    def fixed(self) -> Session:
        """A turn that is over, with something of everything."""
        session = self.act(FIX)
        wait_until_idle(session)
        return session

    def publishing(self) -> Session:
        """Two approvals wait: a dangerous command and an edit."""
        session = self.act(BUILD)
        eventually(lambda: len(session.view()["pendingApprovals"]) == 2, "both approvals wait")
        return session

    def followed(self) -> Session:
        """Two other programs have a session each; one of them runs, and is followed here."""
        running, ended = (STORES[name](self.hub.home) for name in ("copilot", "gemini"))
        for made, words in ((running, "Make the search quicker"), (ended, "Why is the build slow?")):
            for file in made.file.parent.iterdir():
                file.write_text(SAID.sub(words, file.read_text()))
            move(made, self.project)
        running.file.with_name(f"inuse.{os.getpid()}.lock").touch()
        view = self.hub.wire.post(f"/adapters/{running.agent}/sessions/{running.session_id}/attach", {"watch": True})
        return Session(self.hub, str(view["id"]), self.project)

    def watching(self) -> Session:
        """A turn that goes on and on."""
        session = self.act(WATCH)
        eventually(lambda: "make watch" in json.dumps(history(session)), "the build has begun")
        return session

    def renamed(self) -> Session:
        """Long names everywhere."""
        session = self.act(LONG)
        wait_until_idle(session)
        return session

    def planned(self) -> Session:
        """A short turn that is over."""
        session = self.act(PLAN)
        wait_until_idle(session)
        return session

    def drawn(self) -> Session:
        """A page was made."""
        report = self.project.parent / REPORT
        report.unlink(missing_ok=True)
        report.parent.mkdir(exist_ok=True)
        session = self.act(DRAW, report.parent)
        eventually(lambda: session.view()["title"] == "Draw the orders of this week", "the turn has begun")
        report.write_text(CHART)  # only what is made during a turn is the agent's
        wait_until_idle(session)
        return session

    def asking(self) -> Session:
        """A question waits."""
        session = self.hub.new_session("fast", self.project, title="Choose how to go on")
        tell(session, "/question")
        eventually(lambda: session.view()["pendingQuestions"], "the question waits")
        return session

    def failed(self) -> Session:
        """The agent crashed in the middle of a turn."""
        session = self.hub.new_session("fast", self.project, title="Import the old orders")
        tell(session, "/crash 3")
        eventually(lambda: session.view()["turn"] is None, "the turn is over")
        return session

    def toured(self) -> Session:
        """The demo's whole tour, with everything allowed."""
        session = self.hub.new_session("fast", self.project, mode="auto")
        tell(session, "Show me around")
        wait_until_idle(session)
        return session
