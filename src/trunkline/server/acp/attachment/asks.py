"""What an agent asks of people, put to one editor as requests, and raced with everybody else who may answer.

Rule 1: an ask is a request that waits for an answer. The first answer counts, wherever it comes from; the others' is taken back.
Rule 2: an editor that joins is asked what is open.
Rule 3: "always" of something that no rule can be about counts once: an editor has no way to learn so. Other faces refuse it.
Rule 4: an ask about no call of its own is shown as one while it waits, with all that it is about, and ends with its answer.
Rule 5: an editor is asked only what it can show and its token may answer, with the answers that its token may give.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

import msgspec

from trunkline import decoders
from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.acp.methods import ELICITATION_CREATE, SESSION_REQUEST_PERMISSION
from trunkline.dialects.acp.permission import OTHER, SelectedOutcome
from trunkline.dialects.acp.reading.decode import read_outcome, tool_call_members
from trunkline.dialects.acp.tools import Content, ToolCallContent
from trunkline.dialects.acp.updates import ToolCallUpdate
from trunkline.dialects.context.unions import DescriptionPreview
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.signals import PermissionOption
from trunkline.errors import AlreadyResolved, Expired, Forbidden, Invalid, LocalError, NotFound, Unsupported
from trunkline.hub import Answer, Decision
from trunkline.server.acp.attachment.updates import UpdateView
from trunkline.server.acp.connection import GONE, EditorLine
from trunkline.server.acp.tasks import Spawn
from trunkline.server.auth.scopes import answer_scope, decision_scope
from trunkline.server.auth.tokens import TokenScope, allows
from trunkline.session.fold import ApprovalView, QuestionView, for_clients

if TYPE_CHECKING:
    from trunkline.hub import Session

TRIES = 3
"""How often a question is put again to an editor whose answer does not fit it."""

_encode = msgspec.json.Encoder().encode


class _EditorAnswer(msgspec.Struct):
    """An editor's answer to a question."""

    action: str = "cancel"
    content: dict[str, Any] | None = None


class EditorAsks:
    """The asks of one session that one editor has before it."""

    def __init__(self, session: Session, line: EditorLine, view: UpdateView, by: str, spawn: Spawn,
                 scope: TokenScope) -> None:
        self._session = session
        self._line = line
        self._view = view
        self._by = by
        self._spawn = spawn
        self._scope = scope
        self._open: dict[str, int] = {}
        self._put_count: dict[str, int] = {}
        """How often each was put; also those that are settled, while the session has them open."""
        self._stands_for_itself: dict[str, str] = {}
        """The ids under which asks are shown that are about no call of their own."""

    def everything(self) -> list[bytes]:
        """Ask what is open now."""
        fold = self._session.fold
        lines: list[bytes] = []
        for request_id in fold.approvals:
            lines += self.permission(request_id)
        for question_id in fold.questions:
            lines += self.question(question_id)
        return lines

    def permission(self, request_id: str) -> list[bytes]:
        """Ask for a permission, unless it is settled already or was asked for."""
        view = self._session.fold.approvals.get(request_id)
        if view is None or request_id in self._put_count or not self._offered(view):
            return []
        lines = self._view.announced(view.tool_call_id)
        if view.tool_call_id not in self._session.fold.calls:
            self._stands_for_itself[request_id] = view.tool_call_id
        return lines + self._put(request_id, SESSION_REQUEST_PERMISSION, self._permission_params(view), self._on_permission)

    def question(self, question_id: str) -> list[bytes]:
        """Ask a question, unless it is settled already or was asked, or the editor has no way to ask it."""
        view = self._session.fold.questions.get(question_id)
        if view is None or question_id in self._put_count or not self._shows(view) or not self._may_answer(question_id):
            return []
        return self._put(question_id, ELICITATION_CREATE, self._question_params(view), self._on_question_answer)

    def settled(self, ask_id: str) -> list[bytes]:
        """Somebody answered, or nobody needs to any more: the editor need not."""
        self._put_count.pop(ask_id, None)
        rpc_id = self._open.pop(ask_id, None)
        call_id = self._stands_for_itself.pop(ask_id, None)
        ended = self._view.completed(call_id) if call_id is not None else []
        return ended if rpc_id is None else [*self._line.take_back(rpc_id), *ended]

    def _put(self, ask_id: str, method: str, params: dict[str, Any], on_result: Callable[[str, bytes], Coroutine[Any, Any, None]]
             ) -> list[bytes]:
        def on_answer(message: jsonrpc.Response) -> None:
            self._open.pop(ask_id, None)
            if message.error is None:
                self._spawn(on_result(ask_id, bytes(message.result) if message.result is not None else b"{}"))
            elif message.error.code != GONE:
                self._on_refusal(ask_id, message.error)

        self._put_count[ask_id] = self._put_count.get(ask_id, 0) + 1
        self._open[ask_id], lines = self._line.ask(method, _encode(params), on_answer)
        return lines

    def _on_refusal(self, ask_id: str, error: jsonrpc.RpcError) -> None:
        """The editor cannot answer: somebody else may, until its time is up."""
        note = {"askId": ask_id, "code": error.code, "message": error.message[:500]}
        self._spawn(self._session.note("editor_refused_ask", note, by=self._by))

    async def _on_permission(self, request_id: str, result: bytes) -> None:
        view = self._session.fold.approvals.get(request_id)
        if view is None:
            return
        try:
            outcome = read_outcome(result, self._offered(view))
            decision = (Decision(option_id=outcome.option_id) if isinstance(outcome, SelectedOutcome)
                        else Decision(decision="deny", reason="the editor cancelled the request"))
        except LocalError as error:
            decision = Decision(decision="deny", reason=f"the editor's answer cannot be read: {error.message}")
        try:
            await self._settle(lambda: self._session.approvals.decide(request_id, decision, by=self._by))
        except (Invalid, Unsupported):
            # "Always" of something that no rule can be about: it counts once.
            allow = next(option.kind for option in view.options if option.option_id == decision.option_id).startswith("allow")
            once = Decision(decision="allow" if allow else "deny")
            await self._settle(lambda: self._session.approvals.decide(request_id, once, by=self._by))

    async def _on_question_answer(self, question_id: str, result: bytes) -> None:
        try:
            given = decoders.decode(result, _EditorAnswer)
            action = given.action if given.action in ("accept", "decline") else "cancel"
            answer = Answer(action=action, content=given.content if action == "accept" else None)  # type: ignore[arg-type]
            await self._settle(lambda: self._session.approvals.answer(question_id, answer, by=self._by))
        except (Invalid, *BROKEN) as error:
            await self._again(question_id, str(error))

    async def _again(self, question_id: str, why: str) -> None:
        """The answer does not fit the question: put it once more, with what is wrong."""
        view = self._session.fold.questions.get(question_id)
        if view is None or self._put_count.get(question_id, TRIES) >= TRIES:
            return
        params = self._question_params(view)
        params["message"] = f"{view.question}\n({why})"
        await self._line.send(self._put(question_id, ELICITATION_CREATE, params, self._on_question_answer), self._session.id)

    async def _settle(self, decide: Callable[[], Awaitable[object]]) -> None:
        try:
            await decide()
        except (AlreadyResolved, Expired, Forbidden, NotFound):
            return  # somebody, the clock or a rule was first; the journal says who

    def _permission_params(self, view: ApprovalView) -> dict[str, Any]:
        call = self._session.fold.calls.get(view.tool_call_id)
        state = call.state if call is not None else CallState(tool_call_id=view.tool_call_id)
        call_shown = ToolCallUpdate(
            tool_call_id=view.tool_call_id, title=state.title or view.title, name=state.name,
            kind=state.kind, status=state.status,  # type: ignore[arg-type]  # the state has the schema's words
            content=self._view.shown(state.content, b"") if call is not None else _in_words(view), locations=state.locations,
            raw_input=msgspec.Raw(state.raw_input) if state.raw_input is not None else view.tool_input)
        options = [{"optionId": option.option_id, "name": option.name, "kind": option.kind} for option in self._offered(view)]
        about = {"requestId": view.request_id, "riskLevel": view.risk_level, "riskReason": view.risk_reason,
                 "expiresAt": view.expires_at, **({} if view.sure else {"sure": False, "doubts": view.doubts}),
                 **({"calls": for_clients(view).calls} if view.calls else {})}
        return {"sessionId": self._session.id, "toolCall": msgspec.Raw(tool_call_members(call_shown)), "options": options,
                "_meta": {"trunkline": about}}

    def _offered(self, view: ApprovalView) -> list[PermissionOption]:
        """The options that this editor may choose; those of a kind that the schema does not have it could not read."""
        fold = self._session.fold
        return [option for option in view.options if option.kind != OTHER
                and allows(self._scope, decision_scope(fold, view.request_id, None, option.option_id))]

    def _may_answer(self, question_id: str) -> bool:
        return allows(self._scope, answer_scope(self._session.fold, question_id))

    def _shows(self, view: QuestionView) -> bool:
        offered = self._line.offers.elicitation
        if offered is None:
            return False
        return offered.url is not None if view.url is not None else offered.form is not None and view.schema is not msgspec.UNSET

    def _question_params(self, view: QuestionView) -> dict[str, Any]:
        params: dict[str, Any] = {"sessionId": self._session.id, "message": view.question}
        if view.tool_call_id is not None:
            params["toolCallId"] = view.tool_call_id
        if view.url is not None:
            return {**params, "mode": "url", "elicitationId": view.question_id, "url": view.url}
        return {**params, "mode": "form", "requestedSchema": view.schema}


def _in_words(view: ApprovalView) -> list[ToolCallContent] | None:
    """What an ask without a call of its own is about."""
    text = view.preview.text if isinstance(view.preview, DescriptionPreview) else ""
    return [Content(content=TextContent(text=text))] if text else None
