"""What the session spends: tokens, money, room in the model's context.

Rule 1: ``delta`` is what was spent since it was last reported, ``cumulative`` what the session spent in all. Whichever of the two
an agent reports, the other is computed, and nothing is counted twice.
Rule 2: whether an agent's counts are of the turn or of the session is found out (``token_reports.py``). An agent that counts
from its own start begins at zero again when it comes back; the session's own sum goes on.
Rule 3: what a cost is made of is reported only where the agent reported it: no part of it is made up, not as a zero either.
Rule 4: each currency has its own sum. ``cumulative`` is of the one that is reported now; the others are in ``_meta.otherCosts``.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from trunkline import decoders
from trunkline.dialects.acp.updates import UsageUpdate
from trunkline.dialects.acp.usage import TokenCount
from trunkline.dialects.context.events import ContextWindowEvent, CostUpdateEvent, TokenUsageEvent
from trunkline.dialects.context.types import CostBreakdown, TokenUsage, as_object
from trunkline.dialects.outside import BROKEN
from trunkline.session.fold import KEPT_CURRENCIES, Account, Cost, Fold, TokenReports, Turn, Usage, remember
from trunkline.session.interpret.token_reports import NOTHING, add, beyond, take
from trunkline.session.interpret.writer import NOTHING_CARRIED, Carried, Writer

MONEY_DIGITS = 12
"""Places to which amounts of money are compared: sums of floats are off by less, and no provider charges less."""


CURRENCY_CHARS = 16
"""Characters of the name of a currency; ISO 4217 has three."""


class UsageInterpreter:
    """The session's account."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def window(self, update: UsageUpdate, wire: bytes, packet: bytes, raw: bytes | None) -> None:
        """How full the model's context is, and what the session cost by now."""
        self._writer.fold.usage = Usage(update.used, update.size)
        percentage = round(100 * update.used / update.size, 1) if update.size else 0
        event = ContextWindowEvent(used=update.used, limit=update.size, percentage=percentage)
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
            self.spent(CostBreakdown(total=spent, currency=currency))

    def spent(self, more: CostBreakdown) -> None:
        """So much money, just now."""
        fold = self._writer.fold
        before = self._turn_to(more.currency)
        cost = fold.cost = Cost(_added(before.amount, more.total), more.currency, _added(before.input, _known(more.input)),
                                _added(before.output, _known(more.output)))
        self._writer.add(CostUpdateEvent(delta=more, cumulative=breakdown_of(cost), meta=other_costs(fold) or UNSET))

    def _turn_to(self, currency: str) -> Cost:
        """The sum in a currency, from now on the one that is reported."""
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
        """So many tokens, just now. What is reported of a turn in this way is not counted again at its end."""
        fold = self._writer.fold
        if fold.turn is not None:
            fold.turn.tokens = add(fold.turn.tokens, more)
        total = fold.tokens = add(fold.tokens, more)
        self._writer.add(
            TokenUsageEvent(message_id=message_id or UNSET, delta=more, cumulative=total,
                            meta={"thoughtTokens": thought} if thought else UNSET),
            update=carried.update, packet=carried.packet, raw=carried.raw)

    def turn_took(self, raw: bytes, turn: Turn, *, of_session: bool) -> None:
        """What the answer to the prompt says."""
        try:
            count = decoders.decode(raw, TokenCount)
        except BROKEN:
            self._writer.custom("unreadable_usage", as_object(raw), namespace="acp")
            return
        fold = self._writer.fold
        reports = fold.token_reports = msgspec.structs.replace(fold.token_reports or TokenReports())
        known = reports.spent or NOTHING
        by_all = take(reports, usage_of(count), turn.tokens, first_guess=of_session)
        more = beyond(known, by_all)
        reports.spent = add(known, more)
        if _is_any(more):
            self.tokens(more, thought=count.thought_tokens)


def breakdown_of(cost: Cost) -> CostBreakdown:
    """A sum in the Agent Context Protocol's words."""
    is_split = bool(cost.input or cost.output)
    return CostBreakdown(total=cost.amount, input=cost.input if is_split else UNSET, output=cost.output if is_split else UNSET,
                         currency=cost.currency)


def other_costs(fold: Fold) -> dict[str, list[CostBreakdown]]:
    """What ``_meta`` says of money in other currencies; {} where there is none."""
    others = [breakdown_of(account.cost) for account in fold.other_costs.values()]
    return {"otherCosts": others} if others else {}


def usage_of(count: TokenCount) -> TokenUsage:
    """An agent's count in the Agent Context Protocol's words."""
    return TokenUsage(input_tokens=count.input_tokens, output_tokens=count.output_tokens,
                      cache_read_tokens=count.cached_read_tokens or UNSET, cache_write_tokens=count.cached_write_tokens or UNSET)


def _is_any(usage: TokenUsage) -> bool:
    return bool(usage.input_tokens or usage.output_tokens or (usage.cache_read_tokens or 0) or (usage.cache_write_tokens or 0))


def _added(a: float, b: float) -> float:
    return round(a + b, MONEY_DIGITS)


def _known(part: float | UnsetType) -> float:
    return 0 if part is UNSET else part
