"""How far a token must go for an act that depends on what it says.

Rule: who may approve may decide what is asked now, for this turn and for this session. What outlives the session (a rule in the
policy file), ends a turn, lifts a cap, or has something else done than what is asked is steering, and needs the scope for that.
"""

from __future__ import annotations

from trunkline.dialects.acp.permission import is_other, option_ends_turn
from trunkline.dialects.context.commands import AnswerQuestionCommand, ApproveToolCallCommand, Command, DenyToolCallCommand
from trunkline.server.auth.tokens import TokenScope
from trunkline.session.fold import Fold


def command_scope(command: Command, fold: Fold) -> TokenScope:
    """What a token needs to send this command to this session."""
    match command:
        case ApproveToolCallCommand() | DenyToolCallCommand():
            meta = command.meta if isinstance(command.meta, dict) else {}
            if meta.get("interrupt"):
                return "control"
            return decision_scope(fold, command.request_id, meta.get("scope"), meta.get("optionId"),
                                  edited=meta.get("updatedInput") is not None)
        case AnswerQuestionCommand():
            return answer_scope(fold, command.question_id)
        case _:
            return "control"


def decision_scope(fold: Fold, request_id: str, scope: object, option_id: object, *, edited: bool = False) -> TokenScope:
    """What a token needs to decide an approval like this; ``edited`` with an input that nobody asked about."""
    view = fold.approvals.get(request_id)
    options = view.options if view is not None else []
    lasts = any(option.kind.endswith("_always") for option in options if option.option_id == option_id)
    reaches_further = lasts or option_ends_turn(options, option_id) or is_other(options, option_id)
    return "control" if edited or scope == "always" or reaches_further else "approve"


def answer_scope(fold: Fold, question_id: str) -> TokenScope:
    """What a token needs to answer a question."""
    view = fold.questions.get(question_id)
    return "control" if view is not None and view.cap is not None else "approve"
