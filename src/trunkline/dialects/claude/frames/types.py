"""What the CLI writes on stdout (``--output-format stream-json``): one JSON object per line, by ``type`` and ``subtype``.

Rule 1: a type or subtype that nobody knows is ``Unknown``, never an error: the set grows weekly.
Rule 2: every member may be missing. Members that differ from tool to tool and from build to build (messages' content,
records of tools) are left as they are.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from trunkline.dialects.outside import Whole


class Frame(msgspec.Struct, kw_only=True, gc=False, tag_field="type"):
    """What every frame may have."""

    session_id: str = ""
    uuid: str = ""
    timestamp: str = ""
    parent_tool_use_id: str | None = None


class Message(msgspec.Struct, kw_only=True):
    """A message of the Messages API; ``content`` is a string or blocks."""

    id: str = ""
    model: str = ""
    content: Any = None
    stop_reason: str | None = None
    usage: Any = None


class AssistantFrame(Frame, tag="assistant", kw_only=True):
    """One complete block of an answer (newer builds), or a whole answer."""

    message: Message = msgspec.field(default_factory=Message)
    error: str | None = None
    aborted: bool = False
    tool_use_meta: Any = None
    agent_id: str | None = None
    subagent_type: str | None = None


class UserFrame(Frame, tag="user", kw_only=True):
    """Results of tools, and what the CLI itself says in the person's name."""

    message: Message = msgspec.field(default_factory=Message)
    tool_use_result: Any = None
    tool_result_meta: Any = None
    is_replay: bool = msgspec.field(name="isReplay", default=False)
    is_synthetic: bool = msgspec.field(name="isSynthetic", default=False)


class StreamEvent(msgspec.Struct, kw_only=True, gc=False):
    """One server-sent event of the Messages API."""

    type: str = ""
    index: Whole = 0
    message: Message | None = None
    content_block: Any = None
    delta: Any = None
    usage: Any = None


class StreamFrame(Frame, tag="stream_event", kw_only=True):
    """A piece of an answer, while the model writes it."""

    event: StreamEvent = msgspec.field(default_factory=StreamEvent)


class Origin(msgspec.Struct):
    """Why a turn ran, where no prompt asked for it."""

    kind: str = ""


class ResultFrame(Frame, tag="result", kw_only=True):
    """A turn is over."""

    subtype: str = ""
    is_error: bool = False
    stop_reason: str | None = None
    terminal_reason: str | None = None
    result: str | None = None
    errors: list[Any] | None = None
    total_cost_usd: float | None = None
    usage: Any = None
    model_usage: Any = msgspec.field(name="modelUsage", default=None)
    model_usage_since_last_result: Any = None
    user_message_uuid: str | None = None
    user_message_uuids: list[str] | None = None
    origin: Origin | None = None
    local_command: str | None = None
    api_error_status: Whole | None = None
    startup_failure_reason: str | None = None
    permission_denials: Any = None
    num_turns: Whole | None = None


class ControlRequestFrame(Frame, tag="control_request", kw_only=True):
    """The CLI asks something of us."""

    request_id: str = ""
    request: Any = None


class ControlResponse(msgspec.Struct, kw_only=True):
    """What the CLI answers to a request of ours."""

    subtype: str = ""
    request_id: str = ""
    response: msgspec.Raw = msgspec.Raw(b"null")
    error: str | None = None
    error_code: str | None = None
    pending_permission_requests: Any = None


class ControlResponseFrame(Frame, tag="control_response", kw_only=True):
    """An answer to a control request of ours."""

    response: ControlResponse = msgspec.field(default_factory=ControlResponse)


class ControlCancelFrame(Frame, tag="control_cancel_request", kw_only=True):
    """The CLI takes a control request of its own back."""

    request_id: str = ""


class ConversationResetFrame(Frame, tag="conversation_reset", kw_only=True):
    """``/clear``: another conversation begins, under another id."""

    new_conversation_id: str = ""
    trigger: str = ""


class CommandLifecycleFrame(Frame, tag="command_lifecycle", kw_only=True):
    """What became of a prompt that was sent with a uuid: queued, started, completed, cancelled, discarded, refused."""

    command_uuid: str = ""
    state: str = ""


class ToolProgressFrame(Frame, tag="tool_progress", kw_only=True):
    """A tool still runs."""

    tool_use_id: str = ""
    tool_name: str = ""
    elapsed_time_seconds: float | None = None


class RateLimitInfo(msgspec.Struct, rename="camel", kw_only=True):
    """How close the account is to a limit; ``resets_at`` in seconds since 1970."""

    status: str = ""
    resets_at: float | None = None
    rate_limit_type: str | None = None


class RateLimitFrame(Frame, tag="rate_limit_event", kw_only=True):
    """The account's limits."""

    rate_limit_info: RateLimitInfo = msgspec.field(default_factory=RateLimitInfo)


class AuthStatusFrame(Frame, tag="auth_status", kw_only=True):
    """A login is under way, or failed."""

    is_authenticating: bool = msgspec.field(name="isAuthenticating", default=False)
    output: Any = None
    error: str | None = None


class ToolUseSummaryFrame(Frame, tag="tool_use_summary", kw_only=True):
    """What a row of calls came to."""

    summary: str = ""


class PromptSuggestionFrame(Frame, tag="prompt_suggestion", kw_only=True):
    """What the person might say next."""

    suggestion: str = ""


class ActiveGoalFrame(Frame, tag="active_goal", kw_only=True):
    """What the CLI works towards on its own."""

    goal: Any = None


class KeepAliveFrame(Frame, tag="keep_alive", kw_only=True):
    """Nothing."""


class SystemFrame(Frame, tag="system", kw_only=True):
    """Any ``system`` frame, before its subtype is looked at."""

    subtype: str = ""


class System(msgspec.Struct, kw_only=True):
    """Base of the frames that ``system`` subtypes stand for."""

    session_id: str = ""
    uuid: str = ""


class InitFrame(System, kw_only=True):
    """Every turn begins with it."""

    cwd: str = ""
    model: str = ""
    permission_mode: str | None = msgspec.field(name="permissionMode", default=None)
    tools: list[str] | None = None
    slash_commands: list[str] | None = None
    terminal_slash_commands: list[str] | None = None
    claude_code_version: str = ""
    api_key_source: str | None = msgspec.field(name="apiKeySource", default=None)
    capabilities: list[str] | None = None
    mcp_servers: Any = None


class StatusFrame(System, kw_only=True):
    """What the CLI is about, and the mode that it works in."""

    status: str | None = None
    permission_mode: str | None = msgspec.field(name="permissionMode", default=None)
    compact_result: str | None = None
    compact_error: str | None = None
    user_message_uuids: list[str] | None = None


class CompactMetadata(msgspec.Struct, kw_only=True):
    """How much a compaction left out."""

    trigger: str = ""
    pre_tokens: Whole | None = None
    post_tokens: Whole | None = None
    preserved_messages: Any = None


class CompactBoundaryFrame(System, kw_only=True):
    """What came before is from now on known by its summary only."""

    compact_metadata: CompactMetadata = msgspec.field(default_factory=CompactMetadata)


class ApiRetryFrame(System, kw_only=True):
    """The model is asked again."""

    attempt: Whole = 1
    max_retries: Whole | None = None
    retry_delay_ms: float | None = None
    error_status: Whole | None = None
    error: str | None = None


class InformationalFrame(System, kw_only=True):
    """A remark for the person."""

    content: str = ""
    level: str = ""


class NotificationFrame(System, kw_only=True):
    """A remark for the person, by its other name."""

    text: str = ""
    message: str = ""
    title: str = ""
    level: str = ""
    priority: str = ""


class LocalCommandOutputFrame(System, kw_only=True):
    """What a slash command that runs in the CLI printed."""

    content: str = ""


class PermissionDeniedFrame(System, kw_only=True):
    """A call was denied without anybody being asked."""

    tool_name: str = ""
    tool_use_id: str = ""
    message: str = ""


class HookFrame(System, kw_only=True):
    """A hook of the person's own settings: started, moves on, has run."""

    hook_id: str = ""
    hook_name: str = ""
    hook_event: str = ""
    output: str = ""
    stdout: str = ""
    stderr: str = ""
    exit_code: Whole | None = None
    outcome: str = ""


class TaskFrame(System, kw_only=True):
    """A sub-agent or a command in the background: started, moves on, changed, ended."""

    task_id: str = ""
    tool_use_id: str = ""
    description: str = ""
    task_type: str = ""
    subagent_type: str = ""
    is_backgrounded: bool = False
    last_tool_name: str = ""
    status: str = ""
    summary: str = ""
    prompt: str = ""


class TitleFrame(System, kw_only=True):
    """The conversation is called something else now."""

    title: str = ""


class SessionStateFrame(System, kw_only=True):
    """``idle``, ``running`` or ``requires_action``."""

    state: str = ""


class CommandsChangedFrame(System, kw_only=True):
    """Other slash commands are on offer."""

    commands: Any = None
    slash_commands: Any = None


class RefusalFrame(System, kw_only=True):
    """The model would not answer, and another one is asked, or none."""

    message: str = ""
    content: str = ""
    fallback_model: str = ""


class QuietFrame(System, kw_only=True):
    """Known, and nothing in it that a session needs."""


SYSTEM: Final[dict[str, type[System]]] = {
    "init": InitFrame, "status": StatusFrame, "compact_boundary": CompactBoundaryFrame, "api_retry": ApiRetryFrame,
    "informational": InformationalFrame, "notification": NotificationFrame, "local_command_output": LocalCommandOutputFrame,
    "permission_denied": PermissionDeniedFrame, "hook_started": HookFrame, "hook_progress": HookFrame,
    "hook_response": HookFrame, "task_started": TaskFrame, "task_progress": TaskFrame, "task_updated": TaskFrame,
    "task_notification": TaskFrame, "session_title_changed": TitleFrame, "session_state_changed": SessionStateFrame,
    "commands_changed": CommandsChangedFrame, "model_refusal_fallback": RefusalFrame,
    "model_refusal_no_fallback": RefusalFrame, "background_tasks_changed": QuietFrame, "thinking_tokens": QuietFrame,
    "files_persisted": QuietFrame, "memory_recall": QuietFrame, "elicitation_complete": QuietFrame,
    "plugin_install": QuietFrame, "control_request_progress": QuietFrame, "worker_shutting_down": QuietFrame,
    "session_writes_lost": QuietFrame,
}
"""Every subtype of ``system`` that was seen or is declared."""


class UnknownFrame(msgspec.Struct, frozen=True):
    """A frame of a type or subtype that nobody described to us."""

    kind: str


class Broken(msgspec.Struct, frozen=True):
    """A line that is no frame at all."""

    why: str


Known = (
    AssistantFrame | UserFrame | StreamFrame | ResultFrame | ControlRequestFrame | ControlResponseFrame | ControlCancelFrame
    | ConversationResetFrame | CommandLifecycleFrame | ToolProgressFrame | RateLimitFrame | AuthStatusFrame
    | ToolUseSummaryFrame | PromptSuggestionFrame | ActiveGoalFrame | KeepAliveFrame | SystemFrame
)
"""The frames that are distinguished by their type alone."""
