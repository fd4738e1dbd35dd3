"""Calls that steer a session: cancel, set, decide, answer, and change what waits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from trunkline.client.calls.turns import Content
from trunkline.client.http import JSON_BODY, HttpRequest, HubRequests, json_of, path_of
from trunkline.client.views import (
    QueuedPrompt,
)

Scope = Literal["once", "turn", "session", "always"]
"""For how long a decision counts."""


class SteeringCalls(HubRequests):
    """A running session, steered."""

    async def cancel(self, session_id: str) -> bool:
        """Cancel the running turn; False when none was running."""
        answer = await self._post(path_of("sessions", session_id, "cancel"), {})
        return bool(answer.get("cancelled", True))

    async def set_mode(self, session_id: str, mode_id: str) -> None:
        """Switch the agent's mode."""
        await self._post(path_of("sessions", session_id, "mode"), {"modeId": mode_id})

    async def set_config(self, session_id: str, config_id: str, value: str | bool) -> None:
        """Set one of the agent's options."""
        await self._post(path_of("sessions", session_id, "config"), {"configId": config_id, "value": value})

    async def queue(self, session_id: str) -> list[QueuedPrompt]:
        """Prompts that wait for their turn."""
        return await self._get(path_of("sessions", session_id, "queue"), list[QueuedPrompt])

    async def edit_queued(self, session_id: str, turn_id: str, content: Content) -> None:
        """Change a prompt that still waits."""
        path = path_of("sessions", session_id, "queue", turn_id)
        await self._ask(HttpRequest("PATCH", path, json_of({"content": content}), JSON_BODY))

    async def clear_queue(self, session_id: str) -> None:
        """Remove every prompt that still waits."""
        await self._ask(HttpRequest("DELETE", path_of("sessions", session_id, "queue")))

    async def drop_queued(self, session_id: str, turn_id: str) -> None:
        """Remove a prompt that still waits."""
        await self._ask(HttpRequest("DELETE", path_of("sessions", session_id, "queue", turn_id)))

    async def decide(self, session_id: str, request_id: str, *, allow: bool | None = None, option_id: str | None = None,
                     scope: Scope = "once", reason: str | None = None, updated_input: Mapping[str, Any] | None = None) -> None:
        """Answer a permission, by one of the agent's options or by allow; ``scope`` says for how long.

        ``updated_input`` runs the tool with another input, once, where the approval is ``editable``."""
        body: dict[str, Any] = {"optionId": option_id} if option_id is not None else {"decision": "allow" if allow else "deny"}
        if option_id is None or scope != "once":
            body["scope"] = scope
        if reason is not None:
            body["reason"] = reason
        if updated_input is not None:
            body["updatedInput"] = dict(updated_input)
        await self._post(path_of("sessions", session_id, "permissions", request_id), body)

    async def answer_question(self, session_id: str, question_id: str, content: Mapping[str, Any] | None, *,
                              action: Literal["accept", "decline", "cancel"] = "accept") -> None:
        """Answer a question with the form's fields, or decline it."""
        body = {"action": action} | ({"content": dict(content)} if content is not None else {})
        await self._post(path_of("sessions", session_id, "questions", question_id), body)
