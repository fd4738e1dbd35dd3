"""What the session spends: tokens, money, room in the model's context.

Rule 1: ``delta`` is what was spent since it was last told, ``cumulative`` what the session spent in all. Whichever of the two an
agent reports, the other is computed, and nothing is counted twice.
Rule 2: an agent that counts from its own start begins at zero again when it comes back; the session's own sum goes on.
Rule 3: each currency has its own sum. ``cumulative`` is of the one that is told now; the others are in ``_meta.otherCosts``.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from trunkline.dialects import acp, context
from trunkline.dialects.acp.usage import TokenCount
from trunkline.dialects.context import CostBreakdown, TokenUsage
from trunkline.dialects.outside import BROKEN
from trunkline.session.fold import KEPT_CURRENCIES, Account, Cost, Fold, Usage, remember
from trunkline.session.interpret.writer import NOTHING_CARRIED, Carried, Writer

MONEY_DIGITS = 12
"""Places to which money is told apart: sums of floats are off by less, and no provider charges less."""


CURRENCY_CHARS = 16
"""Characters of the name of a currency; ISO 4217 has three."""


class UsageStory:
    """The session's account."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def window(self, update: acp.UsageUpdate, wire: bytes, packet: bytes, raw: bytes | None) -> None:
        """How full the model's context is, and what the session cost by now."""
        self._writer.fold.usage = Usage(update.used, update.size)
        percentage = round(100 * update.used / update.size, 1) if update.size else 0
        event = context.ContextWindowEvent(used=update.used, limit=update.size, percentage=percentage)
        self._writer.add(event, update=wire, packet=packet, raw=raw)
        if update.cost is not None:
            self.cost_so_far(update.cost.amount, update.cost.currency)

    def cost_so_far(self, total: float, currency: str) -> None:
        """The agent's own total; what is new in it was spent just now."""
        currency = currency[:CURRENCY_CHARS]
        fold = self._writer.fold
        known = fold.cost is not None and fold.cost.currency == currency
        self._turn_to(currency)
        before, fold.cost_reported = fold.cost_reported, total
        spent = round(total - before, MONEY_DIGITS)
        if spent < 0:
            spent = total
        if spent or not known:
            self.spent(CostBreakdown(total=spent, input=0, output=0, currency=currency))

    def spent(self, more: CostBreakdown) -> None:
        """So much money, just now."""
        fold = self._writer.fold
        before = self._turn_to(more.currency)
        cost = fold.cost = Cost(_added(before.amount, more.total), more.currency, _added(before.input, more.input),
                                _added(before.output, more.output))
        self._writer.add(context.CostUpdateEvent(delta=more, cumulative=breakdown_of(cost), meta=other_costs(fold) or UNSET))

    def _turn_to(self, currency: str) -> Cost:
        """The sum in a currency, from now on the one that is told."""
        fold = self._writer.fold
        if fold.cost is not None and fold.cost.currency == currency:
            return fold.cost
        if fold.cost is not None:
            remember(fold.other_costs, fold.cost.currency, Account(fold.cost, fold.cost_reported), KEPT_CURRENCIES)
        account = fold.other_costs.pop(currency, None) or Account(Cost(0, currency))
        fold.cost, fold.cost_reported = account.cost, account.reported
        return fold.cost

    def tokens(self, more: TokenUsage, *, message_id: str | None = None, thought: int | None = None,
               carried: Carried = NOTHING_CARRIED) -> None:
        """So many tokens, just now. What a turn is told of in this way is not counted again at its end."""
        fold = self._writer.fold
        if fold.turn is not None:
            fold.turn.tokens = _sum(fold.turn.tokens, more)
        total = fold.tokens = _sum(fold.tokens, more)
        self._writer.add(
            context.TokenUsageEvent(message_id=message_id or UNSET, delta=more, cumulative=total,
                                    meta={"thoughtTokens": thought} if thought else UNSET),
            update=carried.update, packet=carried.packet, raw=carried.raw)

    def turn_took(self, raw: bytes, already: TokenUsage | None, *, of_session: bool) -> None:
        """What the answer to the prompt says; ``already`` is what was told while the turn ran."""
        try:
            count = msgspec.json.decode(raw, type=TokenCount)
        except BROKEN:
            self._writer.custom("unreadable_usage", context.as_object(raw), namespace="acp")
            return
        took = usage_of(count)
        if of_session:
            before, self._writer.fold.tokens_reported = self._writer.fold.tokens_reported, took
            took = _since(before, took)
        more = _beyond(already, took)
        if _is_any(more):
            self.tokens(more, thought=count.thought_tokens)


def breakdown_of(cost: Cost) -> CostBreakdown:
    """A sum in the Agent Context Protocol's words."""
    return CostBreakdown(total=cost.amount, input=cost.input, output=cost.output, currency=cost.currency)


def other_costs(fold: Fold) -> dict[str, list[CostBreakdown]]:
    """What ``_meta`` says of money in other currencies; {} where there is none."""
    others = [breakdown_of(account.cost) for account in fold.other_costs.values()]
    return {"otherCosts": others} if others else {}


def usage_of(count: TokenCount) -> TokenUsage:
    """An agent's count in the Agent Context Protocol's words."""
    return TokenUsage(input_tokens=count.input_tokens, output_tokens=count.output_tokens,
                      cache_read_tokens=count.cached_read_tokens or UNSET, cache_write_tokens=count.cached_write_tokens or UNSET)


def _sum(before: TokenUsage | None, more: TokenUsage) -> TokenUsage:
    if before is None:
        return more
    return TokenUsage(
        input_tokens=before.input_tokens + more.input_tokens, output_tokens=before.output_tokens + more.output_tokens,
        cache_read_tokens=_plus(before.cache_read_tokens, more.cache_read_tokens),
        cache_write_tokens=_plus(before.cache_write_tokens, more.cache_write_tokens),
    )


def _since(before: TokenUsage | None, now: TokenUsage) -> TokenUsage:
    """What a count that only grows grew by; one that shrank has begun anew."""
    if before is None or before.input_tokens > now.input_tokens or before.output_tokens > now.output_tokens:
        return now
    return _beyond(before, now)


def _beyond(known: TokenUsage | None, whole: TokenUsage) -> TokenUsage:
    """What of the whole is not known yet."""
    if known is None:
        return whole
    return TokenUsage(
        input_tokens=max(0, whole.input_tokens - known.input_tokens),
        output_tokens=max(0, whole.output_tokens - known.output_tokens),
        cache_read_tokens=_minus(whole.cache_read_tokens, known.cache_read_tokens),
        cache_write_tokens=_minus(whole.cache_write_tokens, known.cache_write_tokens),
    )


def _is_any(usage: TokenUsage) -> bool:
    return bool(usage.input_tokens or usage.output_tokens or (usage.cache_read_tokens or 0) or (usage.cache_write_tokens or 0))


def _plus(a: int | UnsetType, b: int | UnsetType) -> int | UnsetType:
    if a is UNSET:
        return b
    return a if b is UNSET else a + b


def _minus(a: int | UnsetType, b: int | UnsetType) -> int | UnsetType:
    if a is UNSET or b is UNSET:
        return a
    return max(0, a - b) or UNSET


def _added(a: float, b: float) -> float:
    return round(a + b, MONEY_DIGITS)
