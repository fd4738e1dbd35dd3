"""The tour: what the demo shows when it is asked anything. The steps are data (``steps``); ``play`` walks through them.

Rule 1: it asks once, before the first thing that changes the disk, and goes on whatever the answer is, or without one.
Rule 2: it changes nothing outside of ``trunkline-demo/`` in the session's directory, and makes two new files a time.
Rule 3: it takes about eight seconds, and waits for an answer as long as that takes (``/tour S``: S seconds). It always ends.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from trunkline.agents.demo import REJECTED, tools
from trunkline.agents.demo.steps import (
    CHANGING,
    FOLDER,
    NOTES,
    PAGE,
    PLAN,
    PROGRAM,
    STEPS,
    TODOS,
    TOUR_OPTIONS,
    Progress,
    Say,
    ShowNotice,
    ShowPlan,
    ShowUsage,
    Step,
    Think,
    Use,
)
from trunkline.agents.demo.tools import Result, ToolFailed
from trunkline.agents.demo.turn import DemoCall, DemoTurn
from trunkline.agents.demo.wire import Json

WORD_S = 0.016
CALL_S = 0.08
RUN_S = 0.15
STEP_S = 0.05

UNANSWERED = "Error: Nobody answered in time, so this tool call was not made."

PIECE = 24
"""Characters of a call's input that are shown at a time while it is being written."""


def play(turn: DemoTurn, answer_s: float | None = None) -> None:
    """Play the tour in the session's directory. Without ``answer_s`` it waits for its answer as long as it takes."""
    tour = _Tour(turn, answer_s)
    turn.update("session_info_update", title="A tour of Trunkline")
    try:
        for step in STEPS:
            tour.take(step)
            turn.pause(STEP_S)
    finally:
        tour.stop_planning()


class _Tour:
    """One playing of the tour: what it knows so far."""

    def __init__(self, turn: DemoTurn, answer_s: float | None) -> None:
        self._turn = turn
        self._answer_s = answer_s
        self._was_answered = False
        self._is_planning = False
        self._running = ""
        self._root = Path(turn.session.cwd)
        self._file = _free_name(self._root)
        self._notes = str(Path(self._file).with_suffix(".md"))
        self._has_git = shutil.which("git") is not None
        self._is_allowed = {"auto": True, "plan": False}.get(turn.session.mode, turn.session.is_trusted or None)
        attachments = f"- you sent {turn.attachments} attachments; I looked at them fondly\n" if turn.attachments else ""
        self._facts = {
            "root": str(self._root),
            "folder": FOLDER,
            "attachments": attachments,
            "permission": self._announcement(),
            "found": "0 files",
            "changed": "nothing",
            "counted": "–",
            "cleanup": "",
        }

    def take(self, step: Step) -> None:
        """Show one step."""
        match step:
            case Think(text):
                self._turn.stream(self._turn.think, text, WORD_S)
            case Say(text):
                self._turn.stream(self._turn.say, text.format(**self._facts), WORD_S)
            case Progress(done, listed):
                self._progress(done, listed)
            case ShowUsage():
                self._turn.usage()
                self._turn.tokens()
            case ShowPlan(begins):
                self._plan(begins)
            case ShowNotice(severity, title, description):
                self._turn.notice(severity, title, description)
            case Use(name, kind, changes):
                if not changes or self._is_allowed is not False:
                    self._use(name, kind, changes)

    def _announcement(self) -> str:
        if self._is_allowed is None:
            waits = "" if self._answer_s is None else f" (I wait {self._answer_s:.0f} s, then I only read)"
            return f"I ask once, before the first change{waits}:"
        return "You let me do that without asking." if self._is_allowed else "Or rather, I would: in this mode I only read."

    def _progress(self, done: int, listed: bool) -> None:
        states = ["completed" if i < done else "in_progress" if i == done else "pending" for i in range(len(TODOS))]
        if self._is_allowed is False:
            states = ["pending" if i in CHANGING else state for i, state in enumerate(states)]
        if listed:
            todos: list[Json] = [
                {"content": content, "status": state, "activeForm": active}
                for (content, active), state in zip(TODOS, states, strict=True)
            ]
            self._run(self._turn.call("todowrite", "other"), {"todos": todos}, lambda: tools.todowrite(todos))
        entries = [
            {"content": content, "priority": "medium", "status": state} for (content, _), state in zip(TODOS, states, strict=True)
        ]
        self._turn.update("plan", entries=entries)
        self._turn.note("progress", label="Tour", current=done, total=len(TODOS))

    def _plan(self, begins: bool) -> None:
        if self._turn.session.mode == "plan":
            return
        if begins:
            self._is_planning = True
            self._turn.mode("plan")
            return
        call = self._turn.call("plan_exit", "switch_mode")
        self._run(call, {"plan": PLAN.format(folder=FOLDER)}, tools.plan_exit)
        self.stop_planning()

    def stop_planning(self) -> None:
        """Work in the session's own mode again."""
        if self._is_planning:
            self._is_planning = False
            self._turn.mode(self._turn.session.mode)

    def _use(self, name: str, kind: str, changes: bool) -> None:
        prepared = _PREPARED[name](self)
        if prepared is None:
            return
        tool, raw_input, run = prepared
        call = self._turn.call(tool, kind)
        self._write_out(call, raw_input)
        if changes and self._is_allowed is None and not self._ask(call, raw_input):
            call.fail(REJECTED if self._was_answered else UNANSWERED)
            why = "You said no" if self._was_answered else "Nobody answered"
            self._turn.stream(self._turn.say, f"{why}, so I only read from here on.\n\n", WORD_S)
            return
        self._run(call, raw_input, run)

    def _write_out(self, call: DemoCall, raw_input: Json) -> None:
        """Show the input piece by piece, as a model writes it."""
        text = json.dumps(raw_input)
        pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
        for piece in pieces:
            self._turn.note("args_delta", toolCallId=call.id, delta=piece)
            self._turn.pause(CALL_S / len(pieces))

    def _run(self, call: DemoCall, raw_input: Json, run: Callable[[], Result]) -> None:
        self._running = call.id
        call.start(raw_input, [raw_input["filePath"]] if "filePath" in raw_input else [])
        self._turn.pause(RUN_S)
        try:
            result = run()
        except (ToolFailed, OSError) as error:
            call.fail(str(error))
        else:
            call.complete(result)

    def _ask(self, call: DemoCall, raw_input: Json) -> bool:
        path = raw_input["filePath"]
        preview = [{"type": "diff", "path": path, "oldText": None, "newText": raw_input["content"]}]
        ask = self._turn.begin_permission(
            call,
            TOUR_OPTIONS,
            title=f"Write {self._file} and work on it with git",
            kind="edit",
            rawInput=raw_input,
            locations=[{"path": path}],
            content=preview,
        )
        chosen = self._turn.finish_permission(ask, self._answer_s) or ""
        self._was_answered = bool(chosen)
        self._is_allowed = chosen.startswith("allow")
        self._turn.session.is_trusted = chosen == "allow-always"
        return self._is_allowed

    def glob(self) -> _Prepared:
        def run() -> Result:
            result = tools.glob(self._root, "**/*")
            count = result.raw_output["metadata"]["count"]
            self._facts["found"] = f"{count} file" if count == 1 else f"{count} files"
            return result

        return "glob", {"pattern": "**/*"}, run

    def grep(self) -> _Prepared:
        return "grep", {"pattern": "TODO|FIXME"}, lambda: tools.grep(self._root, "TODO|FIXME")

    def read(self) -> _Prepared | None:
        found = tools.first_readable(self._root)
        if found is None:
            return None
        return "read", {"filePath": str(self._root / found)}, lambda: tools.read(self._root, found)

    def read_again(self) -> _Prepared:
        return "read", {"filePath": str(self._root / self._file)}, lambda: tools.read(self._root, self._file)

    def write(self) -> _Prepared:
        def run() -> Result:
            result = tools.write(self._root, self._file, PROGRAM)
            self._facts["changed"] = self._changed(self._file)
            self._facts["cleanup"] = f"To clean up:\n\n```sh\nrm -r {FOLDER}\n```\n\n"
            return result

        return "write", {"filePath": str(self._root / self._file), "content": PROGRAM}, run

    def edit(self) -> _Prepared:
        old, new = '"Hello " + name', 'f"Hello {name}!"'
        raw_input = {"filePath": str(self._root / self._file), "old_string": old, "new_string": new}
        return "edit", raw_input, lambda: tools.edit(self._root, self._file, old, new)

    def apply_patch(self) -> _Prepared:
        notes = "".join(f"+{line}\n" for line in NOTES.splitlines())
        patch = (
            f"*** Begin Patch\n*** Update File: {self._file}\n@@\n"
            '-print(greet("Trunkline"))\n+line = greet("Trunkline")\n+print(line, f"({len(line)} characters)")\n'
            f"*** Add File: {self._notes}\n{notes}*** End Patch"
        )

        def run() -> Result:
            result = tools.apply_patch(self._root, patch)
            self._facts["changed"] = self._changed(self._file, self._notes)
            return result

        return "apply_patch", {"patchText": patch}, run

    def _changed(self, *files: str) -> str:
        where = ", committed with git" if self._has_git else "; there is no git here"
        return " and ".join(f"`{file}`" for file in files) + where

    def git_init(self) -> _Prepared | None:
        return self._git("git init --quiet", "Make a git repository")

    def git_commit(self) -> _Prepared | None:
        name = Path(self._file).name
        return self._git(f'git add {name} && git commit -m "Say hello"', "Commit the program")

    def git_log(self) -> _Prepared | None:
        name = Path(self._notes).name
        command = f'git add {name} && git commit --all -m "Say it better" && git log --oneline -2'
        return self._git(command, "Commit and show the log")

    def run(self) -> _Prepared:
        python = shutil.which("python3")
        command = f"cd {FOLDER} && " + (f"python3 {Path(self._file).name}" if python else f"cat {Path(self._file).name}")
        return self._bash(command, "Run the program" if python else "Show the program")

    def task(self) -> _Prepared:
        raw_input = {
            "prompt": f"Count the files below {self._root} by their ending.",
            "description": "Count the files",
            "subagent_type": "explore",
        }

        def run() -> Result:
            report = {"subAgentId": self._running, "state": "progress", "message": "I look into every folder", "progress": 50}
            self._turn.note("subagent", **report)
            result = tools.task(self._root, "Count the files", "explore")
            self._facts["counted"] = str(result.raw_output["output"]).partition("\n")[0]
            return result

        return "task", raw_input, run

    def webfetch(self) -> _Prepared:
        return "webfetch", {"url": PAGE, "format": "text"}, lambda: tools.webfetch(PAGE)

    def _git(self, command: str, description: str) -> _Prepared | None:
        return self._bash(f"cd {FOLDER} && {command}", description) if self._has_git else None

    def _bash(self, command: str, description: str) -> _Prepared:
        raw_input = {"command": command, "description": description}
        return "bash", raw_input, lambda: tools.bash(self._root, command, description)


_Prepared = tuple[str, Json, Callable[[], Result]]
"""A call about to be made: the tool's name, its input, and what really does it."""

_PREPARED: dict[str, Callable[[_Tour], _Prepared | None]] = {
    "glob": _Tour.glob,
    "grep": _Tour.grep,
    "read": _Tour.read,
    "write": _Tour.write,
    "git init": _Tour.git_init,
    "git commit": _Tour.git_commit,
    "read again": _Tour.read_again,
    "edit": _Tour.edit,
    "apply_patch": _Tour.apply_patch,
    "run": _Tour.run,
    "git log": _Tour.git_log,
    "task": _Tour.task,
    "webfetch": _Tour.webfetch,
}


def _free_name(root: Path) -> str:
    """A name in the tour's folder that is not taken yet: every tour makes files of its own."""
    number = 1
    while (root / FOLDER / (name := f"hello{number if number > 1 else ''}.py")).exists():
        number += 1
    return f"{FOLDER}/{name}"
