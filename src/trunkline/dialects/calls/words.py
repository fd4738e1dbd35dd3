"""What an ask says only in words: a command in a sentence, the arguments as the JSON of a text.

Rule: nothing is made up. A text counts as arguments where it is a JSON object, and as a command where a word that announces one
stands before it. What comes from here is never sure.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from trunkline.dialects import late_re as re
from trunkline.dialects.outside import BROKEN

WORDS_CHARS: Final = 16 << 10
"""Characters of a text that are looked through."""
_ANNOUNCED: Final = re.compile(
    r"(?:^|\s)(?:running|run|execute|executing|command|shell)(?: (?:command|the command))?: *`{0,3}([^\n`]+)", re.IGNORECASE)

_FENCED: Final = re.compile(r"\A\s*```(?:sh|bash|zsh|shell|console)[ \t]*\n(?:\$ )?(.{1,1000}?)\n?```\s*\Z", re.DOTALL)
_QUOTED: Final = re.compile(r"\A\s*[$>] ([^\n]{1,1000})\s*\Z")
_CUT: Final = ("…", "...")


def arguments_in(text: str) -> dict[str, Any]:
    """The members of an input that is given as a text; empty where it is none."""
    stripped = text.strip()
    if len(stripped) > WORDS_CHARS or stripped[:1] != "{":
        return {}
    try:
        found = msgspec.json.decode(stripped)
    except BROKEN:
        return {}
    return found if isinstance(found, dict) else {}


def input_in(text: str) -> object:
    """An input that is given as a text, of any length: what is in it where that is JSON, else the text."""
    if text.strip()[:1] not in ("{", "["):
        return text
    try:
        return msgspec.json.decode(text)
    except BROKEN:
        return text


def command_in(text: str) -> str:
    """The command that a sentence announces, else ""."""
    found = _ANNOUNCED.search(text[:WORDS_CHARS])
    return found[1].strip() if found is not None else ""


def command_shown(text: str) -> str:
    """The command line that a text is: in a block for a shell, or behind a prompt; else "".

    Of a call that runs something this is what it says that it runs."""
    found = _FENCED.match(text[:WORDS_CHARS]) or _QUOTED.match(text[:WORDS_CHARS])
    return found[1].strip() if found is not None else ""


def is_cut(text: str) -> bool:
    """Whether words have only the beginning of a command: some agents show its first fifty characters and a sign for the rest."""
    return text.endswith(_CUT)


def is_in_command(text: str, command: str) -> bool:
    """Whether words name this command: all of it, or its beginning."""
    beginning = text.removesuffix("…") if text.endswith("…") else text.removesuffix("...")
    return text == command or (is_cut(text) and len(beginning) > 0 and command.startswith(beginning))
