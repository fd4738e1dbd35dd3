"""How a turn ended: the CLI's ``result`` as a stop reason or an error.

    terminal_reason    aborted_streaming, aborted_tools        cancelled
    stop_reason, error refusal, max_tokens, max_output_tokens  refusal, max_tokens
    subtype            error_max_turns, error_max_budget_usd   max_turn_requests
                       cancelled, max_tokens                   the same (no build writes these; harmless to know)
    is_error, or any other subtype than success                an error, in the CLI's own words
    anything else                                              end_turn

Rule 1: the first row that fits decides. A limit that the person set (turns, budget) is a stop, not an error.
Rule 2: an API error is ``success`` with ``is_error``: an error all the same. A missing login has the protocol's code for it.
Rule 3: before 2.1 an interrupted turn says so in a message only; whoever received it passes ``interrupted``.
Rule 4: a prompt that the CLI took out of its queue has no result. It says what became of it: ``cancelled``, or ``discarded`` or
``refused``, which is an error that says so.
"""

from __future__ import annotations

from typing import Final

import msgspec

from trunkline import decoders
from trunkline.dialects.claude.frames.types import ResultFrame
from trunkline.dialects.error_codes import ErrorCode
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.signals import AgentFault, StopReason, TurnEnd

ABORTED: Final = ("aborted_streaming", "aborted_tools")
_STOPS: Final[dict[str, StopReason]] = {
    "refusal": "refusal", "max_tokens": "max_tokens", "max_output_tokens": "max_tokens"}
_SUBTYPES: Final[dict[str, StopReason]] = {
    "error_max_turns": "max_turn_requests", "error_max_budget_usd": "max_turn_requests", "cancelled": "cancelled",
    "max_tokens": "max_tokens",
}
_NOT_WORKED_ON: Final = ("discarded", "refused")
_LOGIN: Final = ("authentication_failed", "oauth_org_not_allowed")
_DIAGNOSTIC: Final = "[ede_diagnostic]"
"""Begins an error text that only the CLI's makers can read."""


def stop_of(result: ResultFrame, *, interrupted: bool = False, error: str | None = None) -> TurnEnd:
    """The end of the turn. ``error`` is what the CLI called the failure when it showed it (``billing_error`` …)."""
    if result.terminal_reason in ABORTED or (interrupted and result.subtype != "success"):
        return TurnEnd(stop="cancelled")
    stop = _STOPS.get(result.stop_reason or "") or _STOPS.get(error or "") or _SUBTYPES.get(result.subtype)
    if stop is not None:
        return TurnEnd(stop=stop)
    if result.is_error or result.subtype not in ("success", ""):
        return TurnEnd(error=_fault(result, error))
    return TurnEnd(stop="end_turn", agent_stop="stop_sequence" if result.stop_reason == "stop_sequence" else None)


def withdrawal(state: str) -> TurnEnd | None:
    """The end of a prompt of which the CLI says what became of it; None where it goes on, or where its result ends it."""
    if state == "cancelled":
        return TurnEnd(stop="cancelled")
    if state not in _NOT_WORKED_ON:
        return None
    data = msgspec.json.encode({"error": f"prompt_{state}"})
    return TurnEnd(error=AgentFault(int(ErrorCode.INTERNAL_ERROR), f"the agent {state} the prompt; it was not answered", data))


def unqueued(body: bytes) -> list[str]:
    """The prompts that an interrupt took out of the queue, by its answer."""
    try:
        return decoders.decode(body, _Receipt).cancelled
    except BROKEN:  # an answer to something else
        return []


class _Receipt(msgspec.Struct):
    cancelled: list[str] = msgspec.field(default_factory=list)


def _fault(result: ResultFrame, error: str | None) -> AgentFault:
    text = _error_text(result) or result.terminal_reason or result.subtype or "the agent could not finish"
    reason = "prompt_too_long" if result.terminal_reason == "prompt_too_long" else _reason(result, error, text)
    code = ErrorCode.AUTH_REQUIRED if reason in _LOGIN else ErrorCode.INTERNAL_ERROR
    data = {"subtype": result.subtype, "terminalReason": result.terminal_reason, "apiErrorStatus": result.api_error_status,
            "error": reason, "errors": result.errors or None, "startupFailure": result.startup_failure_reason}
    return AgentFault(int(code), text, msgspec.json.encode({key: value for key, value in data.items() if value is not None}))


def _reason(result: ResultFrame, error: str | None, text: str) -> str:
    """What kind of failure it is; older builds say it in words only."""
    if error is not None and error != "unknown":
        return error
    if result.api_error_status == 401 or "/login" in text:
        return "authentication_failed"
    if result.api_error_status == 402 or "credit balance is too low" in text.lower():
        return "billing_error"
    return {429: "rate_limit", 529: "overloaded"}.get(result.api_error_status or 0, error or "unknown")


def _error_text(result: ResultFrame) -> str:
    """The error in the CLI's own words."""
    if result.result:
        return result.result.rstrip(". \n")
    errors = [each for each in result.errors or [] if isinstance(each, str) and not each.startswith(_DIAGNOSTIC)]
    return "; ".join(errors).rstrip(". \n")
