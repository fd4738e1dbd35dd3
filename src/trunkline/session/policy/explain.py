"""What a policy saw in an ask, in words for people: the commands of its line, what stands behind each, what keeps an allow away.

Rule: this looks through the same eyes as the rules do (``Subject``), and decides nothing.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from trunkline.session.policy.commands import as_written, doubt
from trunkline.session.policy.options import changing
from trunkline.session.policy.subject import PolicyAsk, Subject

PIECES: Final = 50
"""Commands of one line that are listed; of a line of more, the first."""


class Piece(Struct, rename="camel", kw_only=True, omit_defaults=True):
    """One simple command of a line, as rules see it."""

    text: str
    """What a pattern that allows has to match."""
    also: list[str] = []
    """What it is under other names (``git p`` after ``alias.p=push``): a rule that denies sees these as well."""
    runs: list[str] = []
    """What it may run in turn, as far as its words say: that is asked where a rule denies it."""
    runs_unknown: bool = False
    """It may run what its words do not say: that is asked where any rule denies a command."""
    changing: list[str] = []
    """Options that change what is run: a pattern that allows has to name them, ``*`` does not cover them."""
    doubt: str = ""
    """Why no pattern covers it at all."""


def pieces_of(ask: PolicyAsk) -> list[Piece]:
    """The commands of an ask; none where it has none, or its line cannot be read."""
    subject = Subject(ask)
    found: list[Piece] = []
    for one in subject.commands[:PIECES]:
        behind = subject.behind[id(one)]
        found.append(Piece(
            text=as_written(one), also=list(behind.names), runs=list(behind.texts), runs_unknown=subject.runs_unknown(one),
            changing=list(dict.fromkeys(changing(one, ask.root, subject.base, ask.home))), doubt=doubt(one)))
    return found


def remarks_on(piece: Piece) -> list[str]:
    """What there is to know of a command, beside its text."""
    lines = [f"is also: {name}" for name in piece.also[:3]] + [f"may run: {text}" for text in piece.runs[:3]]
    lines += ["may run what its words do not say"] if piece.runs_unknown else []
    lines += [f"{option} changes what is run: a pattern has to name it" for option in piece.changing]
    return lines + ([f"no pattern covers it: {piece.doubt}"] if piece.doubt else [])
