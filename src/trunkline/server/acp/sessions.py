"""An editor's requests about sessions: open, list and end them, and work in them.

Rule: the reply to a request that opens a session comes before the first message of that session.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from trunkline.dialects.acp.methods import (
    CANCEL_REQUEST,
    SESSION_CANCEL,
    SESSION_CLOSE,
    SESSION_DELETE,
    SESSION_LIST,
    SESSION_LOAD,
    SESSION_NEW,
    SESSION_PROMPT,
    SESSION_RESUME,
    SESSION_SET_CONFIG_OPTION,
    SESSION_SET_MODE,
)
from trunkline.dialects.acp.reading.decode import decode_params
from trunkline.dialects.acp.sessions import (
    CancelNotification,
    ListSessionsRequest,
    LoadSessionRequest,
    McpServer,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    ResumeSessionRequest,
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
    SetSessionModeRequest,
)
from trunkline.errors import Invalid, SessionNotFound, Unsupported
from trunkline.hub import Hub, NewSession
from trunkline.server.acp.attachment.attachment import EditorAttachment
from trunkline.server.acp.attachment.attachments import Attachments
from trunkline.server.acp.attachment.prompts import OpenPrompt
from trunkline.server.acp.attachment.settings import modes_of, settings_of
from trunkline.server.acp.connection import EditorLine, EditorRequest
from trunkline.server.acp.handshake import Handshake
from trunkline.server.acp.listing import Listing
from trunkline.server.acp.offers import OurMeta, encoded_servers, ours_of, usable
from trunkline.server.acp.tasks import EditorTasks
from trunkline.server.auth.credentials import check_scope
from trunkline.server.auth.tokens import allows

if TYPE_CHECKING:
    from trunkline.hub import Session
    from trunkline.hub.sight import Sight


class SessionRequests:
    """Serves the requests of one editor that name a session, or make one."""

    def __init__(self, hub: Hub, line: EditorLine, handshake: Handshake, attachments: Attachments, tasks: EditorTasks,
                 sight: Sight) -> None:
        self._hub = hub
        self._line = line
        self._handshake = handshake
        self._attachments = attachments
        self._tasks = tasks
        self._listing = Listing(hub, sight)

    async def new(self, request: EditorRequest) -> None:
        """Make a session."""
        ask: NewSessionRequest = decode_params(SESSION_NEW, request.params)
        ours = ours_of(ask.meta)
        spec = await self._handshake.spec(ours.agent)
        wanted = NewSession(agent=spec.name, cwd=ask.cwd, title=ours.title, env=ours.env,
                            mcp_servers=encoded_servers(ask.mcp_servers))
        session = await self._hub.create(wanted, by=self._handshake.by)
        attached = await self._opened(request, session)
        attached.follow(0)

    async def fork(self, request: EditorRequest) -> None:
        """Make a session that goes on where another one is."""
        ask: ResumeSessionRequest = decode_params(SESSION_RESUME, request.params)  # the same shape
        session = await self._hub.fork(ask.session_id, cwd=ask.cwd, env=ours_of(ask.meta).env, by=self._handshake.by,
                                       mcp_servers=encoded_servers(ask.mcp_servers or []))
        await self._opened(request, session)
        async with self._attachments.opening(session) as attached:
            newest = (await session.snapshot()).last_seq  # who forks knows what there is so far
            await attached.send_commands(newest)
            attached.follow(newest)

    async def _opened(self, request: EditorRequest, session: Session) -> EditorAttachment:
        """A session is there that was not before: the editor learns its id before anything of it."""
        attached = self._attachments.attach(session)
        settings = settings_of(session.fold, self._line.offers)
        answer = NewSessionResponse(
            session_id=session.id, modes=settings.modes, config_options=settings.config_options,
            meta={"trunkline": {"agent": session.fold.agent}})
        await self._line.reply(request, answer)
        return attached

    async def load(self, request: EditorRequest) -> None:
        """Open a session, with all that was."""
        ask: LoadSessionRequest = decode_params(SESSION_LOAD, request.params)
        after = ours_of(ask.meta).after
        session = await self._taken_up(ask.session_id, ask.mcp_servers, ours_of(ask.meta))
        async with self._attachments.opening(session) as attached:
            until = (await session.snapshot()).last_seq
            followed = attached.following
            try:
                await attached.replay(min(after or 0, until), until, request.stream, lost_since=after)
                await self._line.reply(request, settings_of(session.fold, self._line.offers))
            except BaseException:
                if followed:  # broken off, or taken back: the editor's prompts in there still want their answers
                    await attached.go_on()
                raise
            attached.follow(until)

    async def resume(self, request: EditorRequest) -> None:
        """Open a session where it stands, or after what the editor knows."""
        ask: ResumeSessionRequest = decode_params(SESSION_RESUME, request.params)
        ours = ours_of(ask.meta)
        session = await self._taken_up(ask.session_id, ask.mcp_servers or [], ours)
        async with self._attachments.opening(session) as attached:
            newest = (await session.snapshot()).last_seq
            await self._line.reply(request, settings_of(session.fold, self._line.offers))
            if ours.after is not None:
                await attached.rewind(min(ours.after, newest))
            elif not attached.following:
                await attached.send_commands(newest)
                attached.follow(newest)

    async def _taken_up(self, session_id: str, servers: list[McpServer], ours: OurMeta) -> Session:
        """A session that somebody opens again: what came with it counts when its agent is started next, if it may steer it."""
        session = await self._hub.session(session_id)
        if allows(self._handshake.caller.scope, "control"):
            self._hub.lend_env(session, ours.env)
            taken = usable(servers, session.fold.agent_capabilities)
            if taken:
                session.agent.set_mcp_servers(encoded_servers(taken))
        return session

    async def list_page(self, request: EditorRequest) -> None:
        """The sessions, a page at a time."""
        ask: ListSessionsRequest = decode_params(SESSION_LIST, request.params)
        await self._line.reply(request, await self._listing.page(ask.cwd, ask.cursor))

    async def close(self, request: EditorRequest) -> None:
        """Stop the agent, for everybody; what is written stays."""
        session = await self._hub.session(decode_params(SESSION_CLOSE, request.params).session_id)
        await self._tasks.carry_out(self._end(session))
        await self._line.reply(request, {})

    async def _end(self, session: Session) -> None:
        await session.turns.terminate(by=self._handshake.by)
        await self._attachments.detach(session)

    async def delete(self, request: EditorRequest) -> None:
        """Delete a session."""
        session_id = decode_params(SESSION_DELETE, request.params).session_id
        await self._tasks.carry_out(self._erase(session_id))
        await self._line.reply(request, {})

    async def _erase(self, session_id: str) -> None:
        try:
            await self._hub.delete(session_id)
        except SessionNotFound:
            pass  # the protocol wants it so: who deletes twice has what it wants
        attached = self._attachments.get(session_id)
        if attached is not None:
            await self._attachments.detach(attached.session)

    async def prompt(self, request: EditorRequest) -> None:
        """Send a prompt; it is answered when its turn ends."""
        ask: PromptRequest = decode_params(SESSION_PROMPT, request.params)
        attached = await self._attachments.joined(ask.session_id)
        prompt = OpenPrompt(request.id, ours_of(ask.meta).key or secrets.token_hex(16))
        await attached.prompt(prompt, ask.prompt)

    async def cancel(self, request: EditorRequest) -> None:
        """A cancel that wants an answer."""
        await self.cancel_turn(request.params)
        await self._line.reply(request, {})

    async def cancel_turn(self, params: bytes | None) -> None:
        """Stop what the editor began."""
        check_scope(self._handshake.caller, "control")
        ask: CancelNotification = decode_params(SESSION_CANCEL, params)
        await (await self._attachments.joined(ask.session_id)).prompts.cancel(ours_of(ask.meta).key)

    async def cancel_request(self, params: bytes | None) -> None:
        """The editor takes a request back: a prompt ends as cancelled, anything else is broken off."""
        wanted = bytes(decode_params(CANCEL_REQUEST, params).request_id)
        for attached in self._attachments:
            prompt = attached.prompts.find(wanted)
            if prompt is not None:
                check_scope(self._handshake.caller, "control")
                await attached.prompts.cancel_prompt(prompt)
                return
        self._tasks.cancel_request(wanted)

    async def set_mode(self, request: EditorRequest) -> None:
        """Set a session's mode."""
        ask: SetSessionModeRequest = decode_params(SESSION_SET_MODE, request.params)
        session = (await self._attachments.joined(ask.session_id)).session
        modes = modes_of(session.fold)
        known = [mode.id for mode in modes.available_modes] if modes is not None else []
        if ask.mode_id not in known:
            raise Invalid(f"no mode {ask.mode_id!r}; there are: {', '.join(known) or 'none'}")
        await session.settings.set_mode(ask.mode_id, by=self._handshake.by)
        await self._line.reply(request, {})

    async def set_option(self, request: EditorRequest) -> None:
        """Set one of a session's options."""
        ask: SetSessionConfigOptionRequest = decode_params(SESSION_SET_CONFIG_OPTION, request.params)
        session = (await self._attachments.joined(ask.session_id)).session
        await session.settings.set_config(ask.config_id, ask.value, by=self._handshake.by)
        options = settings_of(session.fold, self._line.offers).config_options
        if options is None:
            raise Unsupported(f"{session.fold.agent} has no options")
        await self._line.reply(request, SetSessionConfigOptionResponse(config_options=options))
