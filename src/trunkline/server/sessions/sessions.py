"""Sessions over HTTP: start, list, look at, steer, end.

Rule 1: a handler decodes, calls the session, encodes; what is allowed when is the session's business.
"""

from __future__ import annotations

import hashlib

import msgspec

from trunkline.errors import Invalid, NotClustered, NotFound
from trunkline.hub import Answer, Decision, NewSession, SessionView
from trunkline.hub.shapes import FoundView
from trunkline.journal.base import RowFilter
from trunkline.server.auth.credentials import check_scope
from trunkline.server.auth.guests import guest_of
from trunkline.server.auth.scopes import answer_scope, decision_scope
from trunkline.server.auth.tokens import GUESTS, allows
from trunkline.server.call import HttpCall, Reply, no_content, reply
from trunkline.server.sessions.prompt import EditQueued, prompt_blocks

LIST_MOST = 200
LIST_DEFAULT = 50
SKIPPED_MOST = 100_000


class SessionPage(msgspec.Struct):
    """Sessions, newest activity first; ``next`` goes into ``?before=`` for more, null at the end. ``found``, on the first page
    and only where it was asked for: those that other programs wrote and the hub does not have. ``missing``: the nodes of a
    cluster that did not say what they found."""

    sessions: list[SessionView]
    next: str | None
    found: list[FoundView] | msgspec.UnsetType = msgspec.UNSET
    missing: list[str] | msgspec.UnsetType = msgspec.UNSET


class Rename(msgspec.Struct, forbid_unknown_fields=True):
    """A new title."""

    title: str


class SetMode(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """One of the session's modes."""

    mode_id: str


class SetConfig(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """One of the session's options and its new value."""

    config_id: str
    value: str | bool


class Fork(msgspec.Struct, forbid_unknown_fields=True):
    """How a branch begins: in another folder, under another title, or as its source."""

    cwd: str | None = None
    title: str | None = None


class Cancelled(msgspec.Struct):
    """Whether there was a turn to cancel."""

    cancelled: bool


async def agents(call: HttpCall) -> Reply:
    """What can be run here."""
    return reply(await call.hub.agent_infos())


async def create(call: HttpCall) -> Reply:
    """Start a session: here, or in a cluster at the node that fits."""
    raw = await call.raw_body()
    new = call.decoded(raw, NewSession)
    if call.parts.elsewhere is not None and guest_of(call.request.scope) is None:
        from trunkline.server.cluster.placing import start  # a hub of its own has no use for it

        return await start(call, raw, new)
    if new.is_placed and call.parts.elsewhere is None:
        raise NotClustered("node, pool and labels choose a node of a cluster, and this hub is in none")
    return await start_here(call, new)


async def start_here(call: HttpCall, new: NewSession) -> Reply:
    """Start a session of this hub."""
    session = await call.hub.create(new, by=call.caller.name, key=start_key(call))
    return reply(session.view(), 201, {"Location": f"/sessions/{session.id}"})


def start_key(call: HttpCall) -> str | None:
    """The caller's key, which is nobody else's: two callers who chose the same one start two sessions. Through which node of a
    cluster somebody asks is all the same."""
    key, caller = call.idempotency_key(), call.caller.token_id.removeprefix(GUESTS)
    return None if key is None else hashlib.sha256(f"{caller} {key}".encode()).hexdigest()


async def listing(call: HttpCall) -> Reply:
    """A page of sessions."""
    limit = call.integer("limit", LIST_DEFAULT, least=1, most=LIST_MOST)
    skipped = call.integer("before", 0, most=SKIPPED_MOST)
    status = call.text("status")
    views, _ = await call.parts.sight.list_on(RowFilter(
        status=frozenset(status.split(",")) if status else None, agent=call.text("agent"), text=call.text("text"),
        limit=skipped + limit + 1,
    ), node=call.text("node"))
    more = len(views) > skipped + limit
    page = SessionPage([_with_command(call, view) for _, view in views[skipped:skipped + limit]],
                       str(skipped + limit) if more else None)
    if call.flag("found") and not skipped and not status and allows(call.caller.scope, "control"):
        await _add_found(call, page, limit)
    return reply(page)


def _with_command(call: HttpCall, view: SessionView) -> SessionView:
    """With what goes on with it in its agent's own program."""
    spec = call.hub.agents.get(view.agent)
    view.resume_command = spec.resume_command(view.agent_session_id, view.cwd) if spec is not None else None
    return view


async def _add_found(call: HttpCall, page: SessionPage, limit: int) -> None:
    """With what other programs wrote, for whoever may start agents: for others there is nothing to join."""
    from trunkline.server.sessions.found import found_page  # most lists are without

    found = await found_page(call, limit)
    page.found, page.missing = found.sessions, found.missing


async def show(call: HttpCall) -> Reply:
    """The state of one session, with every pending approval and question."""
    session = await call.shown()
    view = await session.snapshot()
    view.commands = await session.commands()
    return reply(_with_command(call, view))


async def rename(call: HttpCall) -> Reply:
    """Give the session another title."""
    session = await call.session()
    title = (await call.body(Rename)).title.strip()
    if not title:
        raise Invalid("title must not be empty", details={"field": "title"})
    await session.rename(title, by=call.caller.name)
    return reply(session.view())


async def delete(call: HttpCall) -> Reply:
    """Stop the session and forget it. In a cluster the answer says what became of its copy there."""
    removed = await call.hub.delete(call.part("id"))
    return no_content() if removed is None else reply(removed)


async def fork(call: HttpCall) -> Reply:
    """Branch a session off this one."""
    source = await call.session()
    how = await call.body(Fork, default=Fork())
    session = await call.hub.fork(source.id, cwd=how.cwd, title=how.title, by=call.caller.name)
    return reply(session.view(), 201, {"Location": f"/sessions/{session.id}"})


async def cancel(call: HttpCall) -> Reply:
    """Ask the agent to end its turn."""
    session = await call.session()
    return reply(Cancelled(await session.turns.cancel(by=call.caller.name)))


async def set_mode(call: HttpCall) -> Reply:
    """Switch the mode."""
    session = await call.session()
    body = await call.body(SetMode)
    await session.settings.set_mode(body.mode_id, by=call.caller.name)
    return reply(session.view())


async def set_config(call: HttpCall) -> Reply:
    """Set an option."""
    session = await call.session()
    body = await call.body(SetConfig)
    await session.settings.set_config(body.config_id, body.value, by=call.caller.name)
    return reply(session.view())


async def queue(call: HttpCall) -> Reply:
    """The prompts that wait."""
    return reply((await call.session()).view().queue)


async def queued(call: HttpCall) -> Reply:
    """One prompt that waits."""
    turn_id = call.part("turnId")
    for prompt in (await call.session()).view().queue:
        if prompt.turn_id == turn_id:
            return reply(prompt)
    raise NotFound(f"no prompt {turn_id} is waiting")


async def edit_queued(call: HttpCall) -> Reply:
    """Change what a waiting prompt says."""
    session = await call.session()
    body = await call.body(EditQueued)
    await session.turns.edit_queued(call.part("turnId"), prompt_blocks(body.content), by=call.caller.name)
    return reply(session.view().queue)


async def drop_queued(call: HttpCall) -> Reply:
    """Take a prompt out of the queue."""
    await (await call.session()).turns.drop_queued(call.part("turnId"), by=call.caller.name)
    return no_content()


async def clear_queue(call: HttpCall) -> Reply:
    """Take every prompt out of the queue."""
    session = await call.session()
    for prompt in session.view().queue:
        await session.turns.drop_queued(prompt.turn_id, by=call.caller.name)
    return no_content()


async def decide(call: HttpCall) -> Reply:
    """Answer a permission."""
    session = await call.session()
    decision = await call.body(Decision)
    if (decision.option_id is None) == (decision.decision is None):
        raise Invalid("exactly one of optionId and decision is needed", details={"field": "decision"})
    request_id = call.part("requestId")
    check_scope(call.caller, decision_scope(session.fold, request_id, decision.scope, decision.option_id,
                                            edited=decision.updated_input is not None))
    await session.approvals.decide(request_id, decision, by=call.caller.name)
    return reply(session.view())


async def answer(call: HttpCall) -> Reply:
    """Answer a question."""
    session = await call.session()
    question_id = call.part("questionId")
    check_scope(call.caller, answer_scope(session.fold, question_id))
    answer = await call.body(Answer)
    await session.approvals.answer(question_id, answer, by=call.caller.name)
    return reply(session.view())
