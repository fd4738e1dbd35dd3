"""What an agent says about itself: plan, mode, options, commands, usage, title, notices.

Rule: an update that means nothing to us travels whole, as a ``custom`` event and as the update that it is.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trunkline import decoders
from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.options import SessionModeState
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.acp.shape import encode_acp
from trunkline.dialects.acp.updates import (
    AvailableCommandsUpdate,
    CompactionSummaryChunk,
    CompactionUpdate,
    ConfigOptionUpdate,
    CurrentModeUpdate,
    Notice,
    Plan,
    SessionInfoUpdate,
    SessionUpdate,
    UnknownUpdate,
    UsageUpdate,
)
from trunkline.dialects.context.events import NotificationEvent, PlanModeEvent
from trunkline.dialects.context.types import PermissionPolicy, as_object, to_raw
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.packets.derive import commands_packet, mode_packet, usage_packet
from trunkline.errors import Invalid
from trunkline.session.commands.requests import TITLE_MOST
from trunkline.session.fold import Sandboxed, Waits
from trunkline.session.fold.caps import Caps
from trunkline.session.interpret.lifecycle import LifecycleInterpreter
from trunkline.session.interpret.options import choice_of, current_model, model_of
from trunkline.session.interpret.plans import write_plan
from trunkline.session.interpret.usage import UsageInterpreter
from trunkline.session.interpret.writer import TEXT_LIMIT, Writer

OFFERED_BYTES = 1 << 20
"""Bytes of an agent's modes, options, or what it says of itself, that are kept: they are in every row of the session."""

MODE_CHARS = 1024
"""Characters of the name of a mode; a longer one names none that could be chosen."""


class ConditionInterpreter:
    """The agent's standing, beyond what it says and does."""

    def __init__(self, writer: Writer, usage: UsageInterpreter, lifecycle: LifecycleInterpreter) -> None:
        self._writer = writer
        self._usage = usage
        self._lifecycle = lifecycle

    def on_update(self, update: SessionUpdate | UnknownUpdate, wire: bytes, raw: bytes | None) -> None:
        """One update that is neither text nor a tool call."""
        match update:
            case Plan():
                write_plan(self._writer, update.entries, wire, raw)
            case CurrentModeUpdate() if len(update.current_mode_id) <= MODE_CHARS:
                self.mode(update.current_mode_id, wire, raw)
            case UsageUpdate():
                packet = usage_packet(update.used, update.size, update.cost, self._writer.at)
                self._usage.window(update, wire, packet, raw)
            case AvailableCommandsUpdate():
                self._commands(update, wire, raw)
            case ConfigOptionUpdate():
                self.keep_options(to_raw(update.config_options))
                self._custom("config_option_update", wire, raw)
                self.settle()
            case SessionInfoUpdate():
                self._info(update, wire, raw)
            case Notice():
                self._notice(update, wire, raw)
            case UnknownUpdate():
                self._custom(update.kind or "unknown", wire, raw)
            case CurrentModeUpdate():
                self._custom("current_mode_update", wire, raw)
            case CompactionUpdate():
                self._custom("compaction_update", wire, raw)
            case CompactionSummaryChunk():
                self._custom("compaction_summary_chunk", wire, raw)
            case _:
                raise AssertionError(f"text and tool calls are handled elsewhere: {type(update).__name__}")

    def mode(self, mode_id: str, wire: bytes | None, raw: bytes | None = None, *, by: str | None = None) -> None:
        """The agent works in another mode now."""
        writer = self._writer
        meta = {"modeId": mode_id, "by": by} if by is not None else {"modeId": mode_id}
        fold = writer.fold
        fold.mode = mode_id
        fold.modes = _with_current(fold.modes, mode_id)
        packet = mode_packet(mode_id, writer.at)
        if fold.plan_mode != _is_plan(mode_id):
            self._plan_mode(meta, update=wire, packet=packet, raw=raw)
        else:
            writer.custom("current_mode_update", {"currentModeId": mode_id}, namespace="acp", update=wire, packet=packet, raw=raw,
                          meta=meta)

    def settle(self) -> None:
        """Follow what the agent's modes and options say now: the model, and whether it only plans."""
        fold = self._writer.fold
        model = model_of(fold.config_options)
        if model is not None and model != fold.model:
            self._lifecycle.model(model)
        mode = fold.mode or choice_of(fold.config_options, "mode")
        if fold.plan_mode != _is_plan(mode):
            self._plan_mode({"modeId": mode})

    def plan_shown(self, call: CallState) -> None:
        """A call that would leave plan mode shows the plan that it asks a person to agree to."""
        fold = self._writer.fold
        plan = _plan_in(call)
        if plan is None or fold.plan_call == call.tool_call_id:
            return
        fold.plan_call = call.tool_call_id
        text, cut = self._writer.cut(plan)
        self._writer.add(PlanModeEvent(
            active=fold.plan_mode, plan=text, meta={"toolCallId": call.tool_call_id, **(cut or {})}))

    def _plan_mode(self, meta: dict[str, Any], *, update: bytes | None = None, packet: bytes | None = None,
                   raw: bytes | None = None) -> None:
        """Plan mode begins, or ends with the plan that came of it."""
        fold = self._writer.fold
        fold.plan_mode = not fold.plan_mode
        call = fold.calls.get(fold.plan_call or "") if not fold.plan_mode else None
        plan = _plan_in(call.state) if call is not None else None
        text, cut = self._writer.cut(plan or "")
        self._writer.add(PlanModeEvent(active=fold.plan_mode, plan=text or msgspec.UNSET, meta={**meta, **(cut or {})}),
                         update=update, packet=packet, raw=raw)

    def config(self, config_id: str, value: str | bool, options: msgspec.Raw | None, *, by: str) -> None:
        """Somebody set an option; ``options`` are all of them now, where the agent lists them."""
        fold = self._writer.fold
        fold.chosen_options[config_id] = value
        options = options or fold.config_options
        self.keep_options(options)
        update = b'{"sessionUpdate":"config_option_update","configOptions":%b}' % bytes(options)
        self._writer.custom("config_option_update", {"by": by}, namespace="acp", update=update, meta={"by": by})
        self.settle()

    def keep_mode(self, mode_id: str) -> None:
        """An agent that came back was given the mode that it had."""
        self._writer.fold.mode = mode_id

    def keep_options(self, options: msgspec.Raw | None) -> None:
        """These are the agent's options now, where it lists them and they are not too many."""
        self._writer.fold.config_options = if_small(options) or self._writer.fold.config_options

    def agent_opened(self, how: str, agent_session_id: str, *, agent_info: msgspec.Raw | None, capabilities: msgspec.Raw | None,
                     modes: msgspec.Raw | None, config_options: msgspec.Raw | None, models: msgspec.Raw | None) -> str | None:
        """The agent has opened its session, and this is what it says of itself; returns the session that it had before. Nothing
        is written: whether it began or came back is (``lifecycle``)."""
        fold = self._writer.fold
        previous, fold.agent_session_id = fold.agent_session_id, agent_session_id
        fold.agent_start = how
        fold.agent_info = if_small(agent_info) or fold.agent_info
        fold.agent_capabilities = if_small(capabilities) or fold.agent_capabilities
        fold.modes = if_small(modes) or fold.modes
        self.keep_options(config_options)
        fold.mode = _current_mode(modes) or fold.mode
        fold.model = model_of(fold.config_options) or current_model(models) or fold.model
        return previous

    def mcp_servers(self, servers: list[msgspec.Raw]) -> None:
        """The agent is given these when it is started next."""
        self._writer.fold.mcp_servers = servers

    def sandbox(self, sandbox: Sandboxed | None) -> None:
        """What the session's agent is confined by from its next start on."""
        self._writer.fold.sandbox = sandbox

    def limits(self, caps: Caps | None, waits: Waits | None, *, by: str) -> None:
        """Somebody set what may be spent and how long approvals wait; None leaves it as it is."""
        fold = self._writer.fold
        if waits is not None:
            fold.waits = waits
        data = {"caps": caps if caps is not None else fold.caps, "waits": fold.waits}
        self._writer.custom("limits_set", data, meta={"by": by})

    def caps(self, caps: Caps | None) -> None:
        """These hold from now on. That somebody set them is written elsewhere (``limits``, or the answer to a question)."""
        self._writer.fold.caps = caps

    def permission_policy(self, policy: PermissionPolicy, *, by: str) -> None:
        """Somebody set the rules by which this session's approvals are answered."""
        self._writer.fold.permission_policy = policy
        self._writer.custom("permission_policy_set", {"policy": policy}, meta={"by": by})

    def title(self, title: str, *, by: str) -> None:
        """A person named the session; the agent's own titles no longer count."""
        self._writer.fold.title = title
        self._writer.fold.titled_by_user = True
        update = to_raw({"sessionUpdate": "session_info_update", "title": title})
        self._writer.custom("session_renamed", {"title": title}, update=bytes(update), meta={"by": by})

    def _commands(self, update: AvailableCommandsUpdate, wire: bytes, raw: bytes | None) -> None:
        writer = self._writer
        data = {"count": len(update.available_commands)}
        writer.fold.commands_seq = writer.fold.seq + 1
        writer.custom("available_commands_update", data, namespace="acp", update=wire, raw=raw,
                      packet=commands_packet(update.available_commands, writer.at))

    def _info(self, update: SessionInfoUpdate, wire: bytes, raw: bytes | None) -> None:
        fold = self._writer.fold
        if isinstance(update.title, str) and update.title and not fold.titled_by_user:
            fold.title = update.title[:TITLE_MOST]
        self._custom("session_info_update", wire, raw)

    def _notice(self, update: Notice, wire: bytes, raw: bytes | None) -> None:
        level = update.severity if update.severity in ("info", "warning", "error", "success") else "info"
        message = update.description if isinstance(update.description, str) else ""
        event = NotificationEvent(level=level, title=update.title, message=message)  # type: ignore[arg-type]
        self._writer.add(event, update=wire, raw=raw)

    def _custom(self, name: str, wire: bytes, raw: bytes | None) -> None:
        whole = len(wire) <= TEXT_LIMIT
        data = as_object(wire) if whole else {"bytes": len(wire)}
        cut = {} if whole else self._writer.truncated(len(wire), has_packet=False)
        self._writer.custom(name, data, namespace="acp", update=wire, raw=raw, meta=cut)


def if_small(value: msgspec.Raw | None) -> msgspec.Raw | None:
    """What an agent says of itself or offers, where it is not too much to be kept."""
    return value if value is not None and len(memoryview(value)) <= OFFERED_BYTES else None


def _with_current(modes: msgspec.Raw, mode_id: str) -> msgspec.Raw:
    """The agent's list of modes with the current one marked."""
    try:
        listed = read_lenient(bytes(modes), SessionModeState)
    except Invalid:
        return modes
    return msgspec.Raw(encode_acp(msgspec.structs.replace(listed, current_mode_id=mode_id)))


def _current_mode(modes: msgspec.Raw | None) -> str | None:
    if modes is None:
        return None
    try:
        return read_lenient(bytes(modes), SessionModeState).current_mode_id
    except Invalid:
        return None


class _PlanInput(msgspec.Struct):
    plan: str = ""


def _plan_in(call: CallState) -> str | None:
    """The plan in the input of a call that switches modes; None in any other."""
    if call.kind != "switch_mode" or call.raw_input is None:
        return None
    try:
        return decoders.decode(call.raw_input, _PlanInput).plan or None
    except BROKEN:
        return None


def _is_plan(mode_id: str | None) -> bool:
    return mode_id is not None and mode_id.rsplit("#", 1)[-1].lower() in ("plan", "planning", "architect")
