"""Whether the token counts that an agent reports at the end of a turn are of that turn or of the whole session, as they show.

    falls, or stays        of the turn: a count of the whole session cannot fall while the agent runs
    rises by less          of the turn: every turn sends again what was said before it, so that what a count of the session rises
                           by never shrinks, and the first time is at least the first count itself
    rises by that or more  of the session, where it does so twice: it holds the earlier total and what came on top
    is what was reported   of the turn; is that and the earlier total, twice: of the session

Rule 1: what an agent's catalog file says of it is the first guess. Counts of the session, where it says so, are that with their
first rise, and of the turn where they stay the same before it.
Rule 2: once found out it stays so: a count of the session that falls then is an agent that began anew.
Rule 3: both readings are summed, and nothing is reported lower than before: what was counted twice before it was found out is
made up for by what comes.
"""

from __future__ import annotations

from typing import Final

from msgspec import UNSET, UnsetType

from trunkline.dialects.context.types import TokenUsage
from trunkline.session.fold import TokenReports

ENOUGH: Final = 2
"""Rises by the earlier total, one after the other, that no counts of single turns come to by chance."""

NOTHING: Final = TokenUsage(input_tokens=0, output_tokens=0)


def take(reports: TokenReports, now: TokenUsage, already: TokenUsage | None, *, first_guess: bool) -> TokenUsage:
    """Count one report; returns how much the session has spent by all of them. ``already`` was reported while the turn ran."""
    before, began_anew = reports.last, reports.began_anew
    if before is None:
        reports.of_session, reports.grew = first_guess, _all(now)
    elif not reports.found_out and not began_anew:
        _find_out(reports, before, now, already)
    reports.last, reports.began_anew = now, False
    if began_anew:
        reports.grew = _all(now)
    reports.as_turns = add(reports.as_turns, beyond(already, now))
    reports.as_session = add(reports.as_session, beyond(already, _since(before, now)))
    return reports.as_session if reports.of_session else reports.as_turns


def _find_out(reports: TokenReports, before: TokenUsage, now: TokenUsage, already: TokenUsage | None) -> None:
    rise, falls = _all(now) - _all(before), now.input_tokens < before.input_tokens or now.output_tokens < before.output_tokens
    if _all(before) == 0:
        reports.grew = _all(now)
        return
    if _all(now) == 0 or (already is not None and not _same(now, already) and not _same(now, add(before, already))):
        return
    if reports.of_session:  # by the catalog: a fall may be an agent that began anew
        is_turn = _same(now, before) or (already is not None and _same(now, already))
        reports.of_session, reports.found_out = not is_turn, is_turn or not falls
    elif falls or (already is not None and _same(now, already)) or rise < reports.grew or rise == 0:
        reports.found_out = True
    else:
        reports.rose, reports.grew = reports.rose + 1, rise
        reports.of_session = reports.found_out = reports.rose >= ENOUGH


def _all(usage: TokenUsage) -> int:
    """All that is counted: some agents report what was read from a cache apart, and some no output."""
    return usage.input_tokens + usage.output_tokens + (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)


def _since(before: TokenUsage | None, now: TokenUsage) -> TokenUsage:
    """What a count that only grows grew by; one that shrank has begun anew."""
    if before is None or before.input_tokens > now.input_tokens or before.output_tokens > now.output_tokens:
        return now
    return beyond(before, now)


def _same(one: TokenUsage, other: TokenUsage) -> bool:
    return (one.input_tokens, one.output_tokens) == (other.input_tokens, other.output_tokens)


def add(before: TokenUsage | None, more: TokenUsage) -> TokenUsage:
    """Both together."""
    if before is None:
        return more
    return TokenUsage(
        input_tokens=before.input_tokens + more.input_tokens, output_tokens=before.output_tokens + more.output_tokens,
        cache_read_tokens=_plus(before.cache_read_tokens, more.cache_read_tokens),
        cache_write_tokens=_plus(before.cache_write_tokens, more.cache_write_tokens),
    )


def beyond(known: TokenUsage | None, whole: TokenUsage) -> TokenUsage:
    """What of the whole is not known yet."""
    if known is None:
        return whole
    return TokenUsage(
        input_tokens=max(0, whole.input_tokens - known.input_tokens),
        output_tokens=max(0, whole.output_tokens - known.output_tokens),
        cache_read_tokens=_minus(whole.cache_read_tokens, known.cache_read_tokens),
        cache_write_tokens=_minus(whole.cache_write_tokens, known.cache_write_tokens),
    )


def _plus(a: int | UnsetType, b: int | UnsetType) -> int | UnsetType:
    if a is UNSET:
        return b
    return a if b is UNSET else a + b


def _minus(a: int | UnsetType, b: int | UnsetType) -> int | UnsetType:
    if a is UNSET or b is UNSET:
        return a
    return max(0, a - b) or UNSET
