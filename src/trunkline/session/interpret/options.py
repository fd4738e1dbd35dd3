"""What an agent's own settings say in words that are the same for all agents: which model, which mode.

Rule: an option is known by its ``category``, never by its id or name, which every agent chooses for itself.
"""

from __future__ import annotations

import msgspec

from trunkline import decoders
from trunkline.dialects.acp.options import SessionConfigOption, SessionConfigSelect
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.context.types import EnvironmentModel
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Invalid


class _Model(msgspec.Struct, rename="camel"):
    model_id: str
    name: str | None = None


class _Models(msgspec.Struct, rename="camel"):
    """``models`` on a session that was opened: not in the stable schema, sent by four of ten agents."""

    current_model_id: str
    available_models: list[_Model] = msgspec.field(default_factory=list)


def choice_of(config_options: msgspec.Raw, category: str) -> str | None:
    """The value of the option of a category; None where the agent has none."""
    option = _select(config_options, category)
    return option.current_value if option is not None else None


def model_of(config_options: msgspec.Raw) -> EnvironmentModel | None:
    """The model that the agent's options name."""
    option = _select(config_options, "model")
    if option is None:
        return None
    entries = [inner for entry in option.options for inner in (entry.options or [entry])]
    name = next((entry.name for entry in entries if entry.value == option.current_value), None)
    return _named(option.current_value, name)


def current_model(models: msgspec.Raw | None) -> EnvironmentModel | None:
    """The model that an agent names when it opens a session."""
    if models is None:
        return None
    try:
        offered = decoders.decode(models, _Models)
    except BROKEN:
        return None
    name = next((model.name for model in offered.available_models if model.model_id == offered.current_model_id), None)
    return _named(offered.current_model_id, name)


def _named(model_id: str, name: str | None) -> EnvironmentModel:
    return EnvironmentModel(id=model_id, display_name=name if name and name != model_id else msgspec.UNSET)


def _select(config_options: msgspec.Raw, category: str) -> SessionConfigSelect | None:
    try:
        options = read_lenient(bytes(config_options), list[SessionConfigOption])
    except Invalid:
        return None
    return next((option for option in options
                 if isinstance(option, SessionConfigSelect) and option.category == category), None)
