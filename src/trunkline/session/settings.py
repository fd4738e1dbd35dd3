"""What people set in a session: its agent's mode and options, its limits, its permission policy."""

from __future__ import annotations

import msgspec

from trunkline.dialects.context.types import PermissionPolicy
from trunkline.errors import TooManyRequests
from trunkline.session.approvals.approvals import Approvals
from trunkline.session.driver.link import AgentLink
from trunkline.session.fold import KEPT_RULES, Waits
from trunkline.session.fold.caps import Caps
from trunkline.session.policy.text import check_permission_policy
from trunkline.session.recorder import Recorder
from trunkline.session.turns.hold import Hold
from trunkline.session.turns.spending import Spending
from trunkline.session.turns.turn import TurnPlayer

_encode = msgspec.json.Encoder().encode


class SessionSettings:
    """The settings of one session, for whoever steers it. Reached as ``session.settings``, which lets in whom it may."""

    def __init__(self, recorder: Recorder, link: AgentLink, approvals: Approvals, player: TurnPlayer, hold: Hold,
                 spending: Spending) -> None:
        self._recorder = recorder
        self._link = link
        self._approvals = approvals
        self._player = player
        self._hold = hold
        self._spending = spending

    async def set_mode(self, mode_id: str, *, by: str) -> None:
        """Switch the agent's mode."""
        await self._ensure_agent()
        await self._link.driver.set_mode(mode_id)
        if self._recorder.fold.mode != mode_id:
            update = b'{"sessionUpdate":"current_mode_update","currentModeId":%b}' % _encode(mode_id)
            self._recorder.at().conditions.mode(mode_id, update, by=by)
        await self._recorder.write_and_store()

    async def set_config(self, config_id: str, value: str | bool, *, by: str) -> None:
        """Set one of the agent's options."""
        await self._ensure_agent()
        chosen = self._recorder.fold.chosen_options
        if config_id not in chosen and len(chosen) >= KEPT_RULES:
            raise TooManyRequests(f"{KEPT_RULES} options of this session were set already")
        options = await self._link.driver.set_config(config_id, value)
        self._recorder.at().conditions.config(config_id, value, options, by=by)
        await self._recorder.write_and_store()

    async def set_limits(self, caps: Caps | None, waits: Waits | None, *, by: str) -> None:
        """Set what the session may spend, and how long its approvals wait."""
        self._recorder.at().conditions.limits(caps, waits, by=by)
        if caps is not None:
            self._spending.set(caps)
        await self._recorder.write_and_store()

    async def set_permission_policy(self, policy: PermissionPolicy, *, by: str) -> None:
        """Answer this session's approvals by these rules from now on, those that wait included."""
        self._recorder.at().conditions.permission_policy(check_permission_policy(policy), by=by)
        await self._recorder.write_and_store()
        self._approvals.look_again()

    async def _ensure_agent(self) -> None:
        """The agent runs; it is stopped again if nobody uses it."""
        await self._hold.settled()
        await self._link.ensure()
        if self._recorder.fold.turn is None:
            self._player.rest()
