"""Whether the token counts that an agent tells at the end of a turn are of that turn or of the whole session, as they show.

    falls, or stays      of the turn: a count of the whole session cannot fall while the agent runs
    rises again          of the session: it holds the earlier total and what came on top. A rise that the turn's own work does
                         not explain (no more was said and called than in the turn before) counts more
    is what was told     of the turn; is that and the earlier total: of the session

Rule 1: what an agent's catalog file says of it is the first guess and no more.
Rule 2: both readings are summed. When the other one turns out to be right, the session's total is set to it, and that is told.
Rule 3: an agent that was started again may begin at zero: a count that falls then proves nothing.
"""

from __future__ import annotations

from typing import Final

from msgspec import UNSET, UnsetType

from trunkline.dialects.context.types import TokenUsage
from trunkline.session.fold import TokenReports

EXPLAINED: Final = 2
UNEXPLAINED: Final = 4
"""What a rise of every count is worth, after a turn with more work than the one before, and after one without."""

ENOUGH: Final = 6
"""What rises in a row have to be worth together: one alone is as often chance, three are seldom."""

SURE: Final = 20
"""From here on a fall is an agent that began anew, not one that counts by turns."""

NOTHING: Final = TokenUsage(input_tokens=0, output_tokens=0)


def take(reports: TokenReports, now: TokenUsage, already: TokenUsage | None, *, first_guess: bool,
         work: int = 0) -> TokenUsage:
    """Count one report; returns how much the session has spent by all of them. ``already`` was told while the turn ran,
    ``work`` is how many bytes were said and given to tools in it."""
    _find_out(reports, now, already, first_guess=first_guess, work=work)
    before = reports.last
    reports.last, reports.last_work, reports.began_anew = now, work, False
    reports.as_turns = add(reports.as_turns, beyond(already, now))
    reports.as_session = add(reports.as_session, beyond(already, _since(before, now)))
    return reports.as_session if reports.of_session else reports.as_turns


def _find_out(reports: TokenReports, now: TokenUsage, already: TokenUsage | None, *, first_guess: bool, work: int) -> None:
    before = reports.last
    if before is None:
        reports.of_session = first_guess
    elif already is not None:
        # It counts while it works: only a count that is exactly all of it says more than that.
        reports.rose = reports.rose + UNEXPLAINED if _same(now, add(before, already)) else 0
        reports.of_session = reports.rose >= ENOUGH or (first_guess and not _same(now, already))
    elif now.input_tokens > before.input_tokens and now.output_tokens > before.output_tokens:
        reports.rose += EXPLAINED if work > reports.last_work else UNEXPLAINED
        reports.of_session = reports.of_session or reports.rose >= ENOUGH
    elif not reports.began_anew and reports.rose < SURE:
        reports.of_session, reports.rose = first_guess and now != before, 0


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
