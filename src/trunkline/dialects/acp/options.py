"""What a person can set on a session: modes, configuration options, slash commands."""

from __future__ import annotations

from typing import Annotated

from trunkline.dialects.acp.shape import SKIP, Shape


class SessionMode(Shape, frozen=True, kw_only=True):
    """One way for the agent to work (ask, plan, code …)."""

    id: str
    name: str
    description: str | None = None


class SessionModeState(Shape, frozen=True, kw_only=True):
    """The modes on offer and the one in force."""

    current_mode_id: str
    available_modes: Annotated[list[SessionMode], SKIP]


class SessionConfigSelectEntry(Shape, frozen=True, kw_only=True):
    """One choice (``value`` is set), or a titled group of them (``group`` and ``options`` are)."""

    name: str
    value: str | None = None
    description: str | None = None
    group: str | None = None
    options: Annotated[list[SessionConfigSelectEntry] | None, SKIP] = None

    def __post_init__(self) -> None:
        if self.value is None and (self.group is None or self.options is None):
            raise ValueError("a choice needs value, a group of them group and options")
        if any(option.value is None for option in self.options or []):
            raise ValueError("a group has choices, not groups")


class SessionConfigSelect(Shape, frozen=True, kw_only=True, tag_field="type", tag="select"):
    """An option with a list of choices; ``category`` is mode, model, model_config, thought_level or anything else."""

    id: str
    name: str
    current_value: str
    options: list[SessionConfigSelectEntry]
    description: str | None = None
    category: str | None = None

    def __post_init__(self) -> None:
        if len({option.value is None for option in self.options}) > 1:
            raise ValueError("options are all choices or all groups")


class SessionConfigBoolean(Shape, frozen=True, kw_only=True, tag_field="type", tag="boolean"):
    """An option that is on or off."""

    id: str
    name: str
    current_value: bool
    description: str | None = None
    category: str | None = None


SessionConfigOption = SessionConfigSelect | SessionConfigBoolean


class AvailableCommandInput(Shape, frozen=True, kw_only=True):
    """What may follow a slash command."""

    hint: str


class AvailableCommand(Shape, frozen=True, kw_only=True):
    """A slash command of the agent."""

    name: str
    description: str
    input: AvailableCommandInput | None = None
