"""What reading bytes from outside can raise, and numbers as others write them: one place, for every boundary.

Rule 1: whoever decodes JSON that somebody else wrote catches ``BROKEN``, all of it, and makes a value or an error of ours of it.
A list of its own would miss a kind sooner or later: text that is no UTF-8 is neither a DecodeError nor a RecursionError.
Rule 2: digits from outside become a number here and nowhere else (``tests/test_tree.py`` holds it). ``str.isdigit`` takes ``²``,
which ``int`` does not; ``int`` takes ``1_0`` and digits of every script, and over 4,300 of them it raises.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from trunkline.errors import Invalid

Json = dict[str, Any]
"""A JSON object that nobody has given a type."""

BROKEN: Final = (msgspec.DecodeError, UnicodeError, RecursionError)
"""What decoding JSON raises: for another shape or no JSON; for what is no UTF-8, or half a character; for too deep a nesting."""

NOT_TOML: Final = (ValueError, RecursionError)
"""What decoding TOML raises: TOMLDecodeError and UnicodeDecodeError are ValueErrors, and so is a number of too many digits."""

NOT_JSON: Final = (ValueError, RecursionError)
"""What the standard library's JSON raises: it takes half a surrogate pair, which BROKEN's decoder does not."""

NOT_PYTHON: Final = (SyntaxError, ValueError, MemoryError, RecursionError, SystemError)
"""What parsing Python raises: a null character is a ValueError, too deep a nesting one of the next two; and where two threads
parse at once, Python 3.11 may lose count of its own depth."""

DIGITS_MOST: Final = 18
"""Every such number is below 2**63, which is what SQLite and most readers of JSON can hold."""


Whole = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
"""A whole number in JSON that somebody counts with. Without bounds it may have 4,300 digits, and no division takes that."""

Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
"""The same where it can be none below 0."""

MOMENT_MOST: Final = 253_402_300_799_999_999
"""The end of the year 9999, UTC, microseconds: what is behind it cannot be shown as a date."""

Moment = Annotated[int, msgspec.Meta(ge=0, le=MOMENT_MOST)]


def is_whole_number(text: str | bytes) -> bool:
    """Whether this is written as a number that ``int`` can be trusted with: plain digits, and not too many."""
    return len(text) <= DIGITS_MOST and text.isascii() and text.isdigit()


def whole_number(name: str, text: str, *, least: int = 0, most: int | None = None) -> int:
    """``text`` as a number within bounds, or Invalid naming it."""
    if not is_whole_number(text):
        raise Invalid(f"{name} must be a whole number, not {text[:40]!r}", details={"field": name})
    number = int(text)
    if number < least or (most is not None and number > most):
        bounds = f"at least {least}" if most is None else f"between {least} and {most}"
        raise Invalid(f"{name} must be {bounds}, not {number}", details={"field": name})
    return number
