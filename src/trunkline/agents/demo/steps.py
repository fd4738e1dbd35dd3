"""The steps of the tour, as data. ``tour`` walks through them."""

from __future__ import annotations

from typing import NamedTuple

from trunkline.agents.demo.turn import OPTIONS

FOLDER = "trunkline-demo"

TODOS = (
    ("Look around", "Looking around"),
    ("Write a small program", "Writing a small program"),
    ("Improve it", "Improving it"),
    ("Ask a sub-agent and read a page", "Asking a sub-agent and reading a page"),
    ("Say what happened", "Saying what happened"),
)

CHANGING = (1, 2)
"""The todos that change something; they stay open where that is not allowed."""

PROGRAM = '''"""Says hello, and how long the line is."""


def greet(name: str) -> str:
    return "Hello " + name


print(greet("Trunkline"))
'''

NOTES = """# Hello

A program of three lines that a tour wrote. It greets whom it is told to greet.
"""

PLAN = """1. Look around, and read what is worth reading.
2. Write a small program into `{folder}/` and commit it.
3. Improve it, and write down what it does.
4. Ask a sub-agent, and read a page.
5. Say what happened.
"""

PAGE = (
    "data:text/html;charset=utf-8,%3Ch1%3EOne%20line%20to%20every%20agent%3C/h1%3E"
    "%0A%3Cp%3EThis%20page%20is%20its%20own%20address.%3C/p%3E"
)

TOUR_OPTIONS = (
    {**OPTIONS[0], "name": f"Allow this tour to write and run in {FOLDER}/"},
    {**OPTIONS[1], "name": "Always allow that"},
    {**OPTIONS[2], "name": "No, only read"},
)


class Think(NamedTuple):
    """Streams a thought."""

    text: str


class Say(NamedTuple):
    """Streams a message; it may name what the tour knows by then, such as ``{file}``."""

    text: str


class Progress(NamedTuple):
    """Shows the plan with so many entries done, by a todo list too when ``listed``."""

    done: int
    listed: bool = False


class Use(NamedTuple):
    """Uses a tool. One that ``changes`` the disk, or needs what was changed, is left out without permission."""

    tool: str
    kind: str
    changes: bool = False


class ShowUsage(NamedTuple):
    """Reports what was used so far: the context, and the tokens since the last time."""


class ShowPlan(NamedTuple):
    """Begins to plan, or shows the plan and goes to work. A session that is in plan mode anyway stays in it."""

    begins: bool


class ShowNotice(NamedTuple):
    """Sends a person a notice beside the conversation."""

    severity: str
    title: str
    description: str


Step = Think | Say | Progress | Use | ShowUsage | ShowPlan | ShowNotice

STEPS: tuple[Step, ...] = (
    Think("Somebody wants to see what I can do. I look around first, ask before I change anything, and keep it short."),
    Say(
        "## Welcome to Trunkline\n\nI am the **demo agent**: no key, no network, every word scripted. "
        "What you see is real, though:\n\n- the tools below really read and write in `{root}`\n"
        "- everything is stored *before* you see it, so reload whenever you like\n{attachments}\n"
    ),
    ShowPlan(begins=True),
    Progress(0, listed=True),
    ShowUsage(),
    Use("glob", "search"),
    Use("grep", "search"),
    Use("read", "read"),
    Progress(1),
    ShowPlan(begins=False),
    Say("Now I write a small program into `{folder}/`. {permission}\n\n"),
    Use("write", "edit", changes=True),
    Use("git init", "execute", changes=True),
    Use("git commit", "execute", changes=True),
    Progress(2),
    ShowUsage(),
    Think("The greeting glues strings together; an f-string reads better. And it should say how long the line is."),
    Use("read again", "read", changes=True),
    Use("edit", "edit", changes=True),
    Use("apply_patch", "edit", changes=True),
    Use("run", "execute", changes=True),
    Use("git log", "execute", changes=True),
    Progress(3),
    Say("Two helpers before I finish: a sub-agent that counts, and a page that needs no network since its address holds it.\n\n"),
    Use("task", "think"),
    Use("webfetch", "fetch"),
    Progress(4),
    Say(
        "### What happened\n\n| step | result |\n|---|---|\n| looked around | {found} |\n| changed | {changed} |\n"
        "| sub-agent | {counted} |\n\n{cleanup}Try `/help` for everything else I can do.\n"
    ),
    Progress(5, listed=True),
    ShowUsage(),
    ShowNotice("success", "The tour is over", "Everything it did stays in this session."),
)
