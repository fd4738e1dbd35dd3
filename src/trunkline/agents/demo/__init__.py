"""The agent that ships with Trunkline: an Agent Client Protocol agent on stdio that needs no key and no network.

``python -m trunkline.agents.demo`` runs it. Any prompt without a slash plays the tour (``tour``). A prompt with a slash asks for
one exact behaviour, good or bad (``scripts``), so that tests and benchmarks can have any; ``DEMO_PROMPTS`` lists them all.

It keeps no state: any session id can be loaded (there is nothing to replay) or resumed. Modes: ``ask`` (asks once before the
tour writes or runs anything), ``auto`` (does not ask), ``plan`` (only reads). Options for tests: ``--fast`` (no pauses),
``--speed N`` (pauses divided by N), ``--fault NAME`` (misbehave at start, see ``FAULTS``).

Rule 1: it is a program of its own. Nothing in the hub imports more of it than this module, and it imports nothing of the hub.
Rule 2: it starts fast: what only a prompt needs is imported when the prompt comes.
Rule 3: outside of the behaviour that was asked for, every message is valid by the protocol's schema.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DEMO_PROMPTS", "FAULTS", "REJECTED", "DemoPrompt"]

REJECTED = "Error: The user rejected permission to use this specific tool call."
"""What a rejected call has as ``rawOutput.error``."""

NOT_APPROVED = "Not approved."
ANSWERS = {"allow-once": "Approved.", "allow-always": "Approved for good.", "reject-once": NOT_APPROVED,
           "reject-always": "Not approved, for good."}
"""What ``/ask`` says of an answer, by its option: an agent does not learn whether a person, a rule or the clock gave it."""


class DemoPrompt(NamedTuple):
    """One slash prompt: its name without the slash, its arguments, and what the agent does."""

    name: str
    arguments: str
    does: str


DEMO_PROMPTS = (
    DemoPrompt("help", "", "lists these prompts"),
    DemoPrompt("tour", "[S]", "plays the tour, as words do; with S it waits that many seconds for its permission"),
    DemoPrompt("echo", "TEXT", "answers with TEXT in one chunk"),
    DemoPrompt(
        "burst", "N SIZE [RATE]", "N numbered message chunks of SIZE text bytes and nothing else; RATE a second, if given"
    ),
    DemoPrompt("slow", "S", "a chunk a second for S seconds; can be cancelled"),
    DemoPrompt("ask", "[N]", "asks permission to run a command; N asks are open at the same time"),
    DemoPrompt("question", "[url]", "asks the person something: a form, or a page to visit"),
    DemoPrompt("fail", "", "one tool fails, one is rejected"),
    DemoPrompt("limit", "[S]", "meets a rate limit: tells of it and of its retry, waits S seconds, tells what it cost"),
    DemoPrompt("plan", "", "plans first: enters plan mode, shows the plan, asks before it leaves plan mode"),
    DemoPrompt("note", "KIND JSON", "sends one note (`_trunkline/note`), whatever it is"),
    DemoPrompt("leave", "", "ends its answer, then exits in good order"),
    DemoPrompt("crash", "[CODE]", "says why on stderr and exits in the middle of its answer, with code 1 or CODE"),
    DemoPrompt("silent", "", "says nothing until cancelled"),
    DemoPrompt("deaf", "", "says so, then nothing more; ignores cancel, end of input and SIGTERM from then on"),
    DemoPrompt("junk", "", "noise, invalid UTF-8, broken JSON, a batch, unknown messages; then ends normally"),
    DemoPrompt("big", "BYTES", "one tool result whose output has BYTES bytes"),
    DemoPrompt("late", "", "goes on with updates after the prompt was answered"),
    DemoPrompt("twice", "", "answers the prompt twice"),
    DemoPrompt("refuse", "", "ends with stop reason refusal"),
    DemoPrompt("error", "[CODE]", "answers the prompt with an error, -32603 or CODE"),
    DemoPrompt("spawn", "", "starts `sleep 600` in a session of its own, tells its pid and ends"),
    DemoPrompt("stderr", "BYTES", "writes BYTES to stderr"),
    DemoPrompt("read", "PATH", "reads a file through the client (fs/read_text_file)"),
    DemoPrompt("write", "PATH TEXT", "writes a file through the client (fs/write_text_file)"),
    DemoPrompt("terminal", "COMMAND", "runs a shell command in a terminal of the client (terminal/*)"),
    DemoPrompt("raw", "JSON", "sends JSON as one session/update, whatever it is"),
)

FAULTS = {
    "exit": "says why on stderr and exits with code 1 before it answers anything",
    "silent": "never answers initialize",
    "version": "answers initialize with protocol version 99",
    "auth": "refuses session/new with -32000 until authenticate was called",
    "locked": "refuses session/new with -32000, and authenticate too",
}
"""What ``--fault NAME`` makes it do."""
