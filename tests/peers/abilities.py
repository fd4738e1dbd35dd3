"""What runs of real programs in terminals have shown, as the table of ``docs/agents.md``: a column for each program.

    pytestmark = [pytest.mark.peers, pytest.mark.slow, pytest.mark.program("Qwen Code", "0.24.4")]

    @pytest.mark.shows("allowed from the hub")
    def test_…

Rule 1: a cell is what a test has shown in this run, or why it cannot be so (``NOT_POSSIBLE``), or why its test was skipped.
Rule 2: a run of some programs renews their columns, and leaves the others as they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

PROGRAMS = ("Claude Code", "Codex", "opencode", "Qwen Code", "Copilot CLI", "Gemini CLI", "goose")

ABILITIES = (
    "found, and shown as running",
    "shown live",
    "history equal to its store",
    "shown as waiting for an answer in the terminal",
    "allowed from the hub",
    "allowed on the page",
    "denied from the hub, and the model sees the reason",
    "allowed with a changed input",
    "question answered from the hub",
    "plan approved from the hub",
    "asked in the hub only while the person is away",
    "answered in its tmux pane from the hub",
    "answered in the terminal first, and taken back everywhere",
    "deny rule answers",
    "hub killed while it is asked: the terminal asks as usual",
    "hooks removed: settings as before",
    "prompted from the hub",
    "taken over while idle",
    "forked or refused while it runs",
    "given back",
)

_RACES = "the terminal and the hub are asked at once, so that nobody has to be away"
_BEFORE = "its hook runs before its own prompt, cannot allow, and would hide the prompt while it waits"
_AFTER = "its hook runs after the person's yes"
_UNANNOUNCED = "nothing announces its prompt, and a no takes several keys there"
_KEYS = "it takes prompts from its keyboard alone"
_HUB_ASKS = "the hub asks it over a channel of its own"

_WHOLE = "its files have a text once that is whole"
_ASKED = "what it asks is asked in the hub, too"
_PLAIN = "its answer is a yes or a no"
_OWN = "its terminal asks that by itself: it calls no hook, and tells no server"

NOT_POSSIBLE: Mapping[tuple[str, str], str] = {
    **{(name, "asked in the hub only while the person is away"): _RACES for name in PROGRAMS[:4]},
    **{(name, "answered in its tmux pane from the hub"): _HUB_ASKS for name in PROGRAMS[:5]},
    **{(name, "prompted from the hub"): _KEYS for name in ("Claude Code", "Copilot CLI", "Gemini CLI", "goose")},
    **{("Gemini CLI", ability): _BEFORE for ability in (
        "allowed from the hub", "allowed on the page", "denied from the hub, and the model sees the reason",
        "allowed with a changed input", "question answered from the hub", "plan approved from the hub",
        "asked in the hub only while the person is away")},
    **{("goose", ability): _AFTER for ability in (
        "allowed from the hub", "allowed on the page", "denied from the hub, and the model sees the reason",
        "allowed with a changed input", "question answered from the hub", "plan approved from the hub",
        "asked in the hub only while the person is away")},
    **{("goose", ability): _UNANNOUNCED for ability in (
        "shown as waiting for an answer in the terminal", "answered in the terminal first, and taken back everywhere",
        "answered in its tmux pane from the hub")},
    **{(name, "shown live"): _WHOLE for name in ("Claude Code", "Copilot CLI", "Gemini CLI", "goose")},
    **{(name, "shown as waiting for an answer in the terminal"): _ASKED for name in PROGRAMS[:4]},
    **{(name, "allowed with a changed input"): _PLAIN for name in ("opencode", "Qwen Code", "Copilot CLI")},
    ("Qwen Code", "question answered from the hub"): _PLAIN,
    ("Copilot CLI", "question answered from the hub"): _OWN,
    **{(name, "plan approved from the hub"): _OWN for name in ("Codex", "Copilot CLI")},
    ("Codex", "allowed with a changed input"): "it refuses an answer with one, and asks its own person",
    ("Gemini CLI", "taken over while idle"): "it may delete a session that is resumed",
    ("Gemini CLI", "given back"): "it may delete a session that is resumed",
}

START = "<!-- abilities: written by `make test-terminals` -->"
END = "<!-- end of abilities -->"
SEEN_ON = "seen on"
UNSEEN = "–"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Shown(NamedTuple):
    """What one test said: its outcome, and why it was skipped."""

    program: str
    version: str
    ability: str
    outcome: str
    reason: str = ""


Column = dict[str, str]
"""A program's cells, by ability; the versions stand at ``SEEN_ON``."""


def check_names(program: str, ability: str) -> None:
    """Refuse what is in no table: a name that is misspelled would never be seen."""
    if program not in PROGRAMS or ability not in ABILITIES:
        raise ValueError(f"tests/peers/abilities.py knows no {ability!r} of {program!r}")
    if (program, ability) in NOT_POSSIBLE:
        raise ValueError(f"{ability!r} is said to be impossible with {program!r}, and a test shows it: one of them is wrong")


def columns_of(shown: Iterable[Shown]) -> dict[str, Column]:
    """A column for each program that was run."""
    columns: dict[str, Column] = {}
    known = list(shown)
    for program in dict.fromkeys(each.program for each in known):
        mine = [each for each in known if each.program == program]
        ran = _versions(each for each in mine if each.outcome != "skipped")
        columns[program] = {SEEN_ON: ", ".join(ran) or UNSEEN} | {
            ability: _cell([each for each in mine if each.ability == ability], ran) for ability in ABILITIES}
    return columns


def as_markdown(columns: Mapping[str, Column]) -> str:
    """The table, and behind it why some of it cannot be."""
    reasons = list(dict.fromkeys(NOT_POSSIBLE.values()))
    lines = [["", *PROGRAMS], ["---"] * (len(PROGRAMS) + 1)]
    for row in (SEEN_ON, *ABILITIES):
        cells = []
        for program in PROGRAMS:
            why = NOT_POSSIBLE.get((program, row))
            cells.append(f"no ({_LETTERS[reasons.index(why)]})" if why else columns.get(program, {}).get(row, UNSEEN))
        lines.append([row, *cells])
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return table + "\n" + "".join(f"- ({_LETTERS[at]}) {why}\n" for at, why in enumerate(reasons))


def read_table(text: str) -> dict[str, Column]:
    """The columns that a document has."""
    rows = [[cell.strip() for cell in line.strip("|\n ").split(" | ")] for line in text.splitlines() if line.startswith("| ")]
    head = re.search(r"^\|  \| (.*) \|$", text, re.M)
    programs = [] if head is None else head[1].split(" | ")
    whole = [row for row in rows if len(row) == len(programs) + 1]
    return {program: {row[0]: row[at] for row in whole} for at, program in enumerate(programs, 1)}


def write_table(path: Path, shown: Sequence[Shown]) -> None:
    """Put the table between the two markers of a document."""
    text = path.read_text()
    before, _, rest = text.partition(START)
    old, _, after = rest.partition(END)
    path.write_text(f"{before}{START}\n\n{as_markdown(read_table(old) | columns_of(shown))}\n{END}{after}")


def _cell(tests: Sequence[Shown], ran: Sequence[str]) -> str:
    passed = _versions(each for each in tests if each.outcome == "passed")
    if any(each.outcome == "failed" for each in tests):
        return "failed"
    if passed:
        return "yes" if passed == list(ran) else f"yes ({', '.join(passed)})"
    skipped = [each.reason for each in tests if each.outcome == "skipped"]
    return f"skipped: {skipped[0].replace('|', '/')}" if skipped else UNSEEN


def _versions(tests: Iterable[Shown]) -> list[str]:
    """Newest first."""
    return sorted({each.version for each in tests}, key=lambda version: [int(part) for part in re.findall(r"\d+", version)],
                  reverse=True)
