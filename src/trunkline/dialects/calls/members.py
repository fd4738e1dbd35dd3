"""Which members of an input say something that we do not understand.

Rule: a member counts as understood where somebody looks at it: as a command, a path, a pattern, a text to write. Of the others
only those count that are known to change nothing. One that is off (false, empty) says nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trunkline.dialects.calls.inputs import DEPTH, MEMBERS, bare_key, is_looked_at, is_of_command
from trunkline.dialects.calls.searches import words_of

_HARMLESS: Final = frozenset(
    "description timeout timeoutms timeoutseconds explanation justification reason runinbackground isbackground background limit "
    "offset headlimit line lines startline endline startlineonebased endlineonebasedinclusive shouldreadentirefile maxresults "
    "maxlines replaceall outputmode i n a b c casesensitive caseinsensitive multiline recursive depth maxdepth callid turnid "
    "processid source startedatms autoapproved variant contentlength wait yieldtimems maxoutputtokens maxtokens requiresapproval "
    "expectedreplacements respectgitignore pages page count index sortby context beforecontext aftercontext filetype url urls "
    "allowuseraction bytes size status alloweddomains blockeddomains recencydays viewrange insertline edits changes todos "
    "tool".split())
_HARMLESS_ENDS: Final = frozenset({"type", "mode", "encoding", "format", "language", "kind", "id"})


def unknown_members(value: Any, depth: int = DEPTH) -> Iterator[str]:
    """The names of members that nobody looks at and that are not known to change nothing."""
    if isinstance(value, Mapping):
        for key, inner in itertools.islice(value.items(), MEMBERS):
            if not inner or _is_harmless(str(key)):
                continue
            if isinstance(inner, Mapping | list | tuple) and depth and not is_looked_at(str(key)):
                yield from unknown_members(inner, depth - 1) if _holds_records(inner) else [str(key)]
            elif not is_looked_at(str(key)):
                yield str(key)
    elif isinstance(value, list | tuple) and depth:
        for inner in itertools.islice(value, MEMBERS):
            yield from unknown_members(inner, depth - 1)


def says_more(members: Mapping[str, Any]) -> bool:
    """Whether an input says more than a command, the folder that it runs in, and what changes nothing of it."""
    return any(value and not is_of_command(str(key)) and not _is_harmless(str(key)) for key, value in members.items())


def _holds_records(value: Any) -> bool:
    return isinstance(value, Mapping) or any(isinstance(inner, Mapping) for inner in value)


def _is_harmless(key: str) -> bool:
    words = words_of(key)
    return bare_key(key) in _HARMLESS or (len(words) > 0 and words[-1] in _HARMLESS_ENDS)
