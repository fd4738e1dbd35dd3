"""What an agent says about itself: plan, mode, options, commands, usage, title, notices.

Rule: an update that means nothing to us travels whole, as a ``custom`` event and as the update that it is.
"""

from __future__ import annotations

import msgspec

from trunkline.dialects import acp, context, packets
from trunkline.errors import Invalid
from trunkline.session.fold import Cost, Usage
from trunkline.session.interpret.tools import write_plan
from trunkline.session.interpret.writer import TEXT_LIMIT, Writer

TITLE_MOST = 500
"""Characters of a title; it is written with every change of a session and shown in every list."""


class ConditionStory:
    """The agent's standing, beyond what it says and does."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def told(self, update: acp.SessionUpdate | acp.UnknownUpdate, wire: bytes, raw: bytes | None) -> None:
        """One update that is neither text nor a tool call."""
        match update:
            case acp.Plan():
                write_plan(self._writer, update.entries, wire, raw)
            case acp.CurrentModeUpdate():
                self.mode(update.current_mode_id, wire, raw)
            case acp.UsageUpdate():
                self._usage(update, wire, raw)
            case acp.AvailableCommandsUpdate():
                self._commands(update, wire, raw)
            case acp.ConfigOptionUpdate():
                self._writer.fold.config_options = context.to_raw(update.config_options)
                self._custom("config_option_update", wire, raw)
            case acp.SessionInfoUpdate():
                self._info(update, wire, raw)
            case acp.Notice():
                self._notice(update, wire, raw)
            case acp.UnknownUpdate():
                self._custom(update.kind or "unknown", wire, raw)
            case acp.CompactionUpdate():
                self._custom("compaction_update", wire, raw)
            case acp.CompactionSummaryChunk():
                self._custom("compaction_summary_chunk", wire, raw)
            case _:
                raise AssertionError(f"text and tool calls are told elsewhere: {type(update).__name__}")

    def mode(self, mode_id: str, wire: bytes | None, raw: bytes | None = None, *, by: str | None = None) -> None:
        """The agent works in another mode now."""
        writer = self._writer
        meta = {"modeId": mode_id, "by": by} if by is not None else {"modeId": mode_id}
        planned, plans = _is_plan(writer.fold.mode), _is_plan(mode_id)
        writer.fold.mode = mode_id
        writer.fold.modes = _with_current(writer.fold.modes, mode_id)
        packet = packets.mode_packet(mode_id, writer.at)
        if planned != plans:
            writer.add(context.PlanModeEvent(active=plans, meta=meta), update=wire, packet=packet, raw=raw)
        else:
            writer.custom("current_mode_update", {"currentModeId": mode_id}, namespace="acp", update=wire, packet=packet, raw=raw,
                          meta=meta)

    def config(self, options: msgspec.Raw, *, by: str) -> None:
        """Somebody set an option; these are all of them now."""
        self._writer.fold.config_options = options
        update = b'{"sessionUpdate":"config_option_update","configOptions":%b}' % bytes(options)
        self._writer.custom("config_option_update", {"by": by}, namespace="acp", update=update, meta={"by": by})

    def title(self, title: str, *, by: str) -> None:
        """A person named the session; the agent's own titles no longer count."""
        self._writer.fold.title = title
        self._writer.fold.titled_by_user = True
        update = context.to_raw({"sessionUpdate": "session_info_update", "title": title})
        self._writer.custom("session_renamed", {"title": title}, update=bytes(update), meta={"by": by})

    def _usage(self, update: acp.UsageUpdate, wire: bytes, raw: bytes | None) -> None:
        writer = self._writer
        writer.fold.usage = Usage(update.used, update.size)
        percentage = round(100 * update.used / update.size, 1) if update.size else 0
        event = context.ContextWindowEvent(used=update.used, limit=update.size, percentage=percentage)
        writer.add(event, update=wire, packet=packets.usage_packet(update.used, update.size, update.cost, writer.at), raw=raw)
        if update.cost is not None:
            self._cost(update.cost.amount, update.cost.currency)

    def _cost(self, amount: float, currency: str) -> None:
        before = self._writer.fold.cost
        spent = amount - before.amount if before is not None and before.currency == currency else amount
        if before is not None and spent == 0:
            return
        self._writer.fold.cost = Cost(amount, currency)
        self._writer.add(context.CostUpdateEvent(
            delta=context.CostBreakdown(total=spent, input=0, output=0, currency=currency),
            cumulative=context.CostBreakdown(total=amount, input=0, output=0, currency=currency),
        ))

    def _commands(self, update: acp.AvailableCommandsUpdate, wire: bytes, raw: bytes | None) -> None:
        writer = self._writer
        data = {"count": len(update.available_commands)}
        writer.fold.commands_seq = writer.fold.seq + 1
        writer.custom("available_commands_update", data, namespace="acp", update=wire, raw=raw,
                      packet=packets.commands_packet(update.available_commands, writer.at))

    def _info(self, update: acp.SessionInfoUpdate, wire: bytes, raw: bytes | None) -> None:
        fold = self._writer.fold
        if isinstance(update.title, str) and update.title and not fold.titled_by_user:
            fold.title = update.title[:TITLE_MOST]
        self._custom("session_info_update", wire, raw)

    def _notice(self, update: acp.Notice, wire: bytes, raw: bytes | None) -> None:
        level = update.severity if update.severity in ("info", "warning", "error") else "info"
        message = update.description if isinstance(update.description, str) else ""
        event = context.NotificationEvent(level=level, title=update.title, message=message)  # type: ignore[arg-type]
        self._writer.add(event, update=wire, raw=raw)

    def _custom(self, name: str, wire: bytes, raw: bytes | None) -> None:
        data = context.as_object(wire) if len(wire) <= TEXT_LIMIT else {"bytes": len(wire)}
        self._writer.custom(name, data, namespace="acp", update=wire, raw=raw)


def _with_current(modes: msgspec.Raw, mode_id: str) -> msgspec.Raw:
    """The agent's list of modes with the current one marked."""
    try:
        listed = acp.read(bytes(modes), acp.SessionModeState)
    except Invalid:
        return modes
    return msgspec.Raw(acp.encode(msgspec.structs.replace(listed, current_mode_id=mode_id)))


def _is_plan(mode_id: str | None) -> bool:
    return mode_id is not None and mode_id.rsplit("#", 1)[-1].lower() in ("plan", "planning", "architect")
