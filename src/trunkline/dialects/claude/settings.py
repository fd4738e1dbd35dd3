"""What a person can set on the CLI (mode, model, thinking, effort) and its slash commands, as the Agent Client Protocol has them.

Rule 1: a model is known by its full name as soon as the CLI names it; people read the CLI's own names for its aliases (``opus``).
Rule 2: what did not change is not emitted again, though every turn of the CLI begins by reporting all of it.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from trunkline import decoders
from trunkline.dialects.claude.control import outgoing
from trunkline.dialects.claude.frames.types import CommandsChangedFrame, InitFrame
from trunkline.dialects.notes import AgentNote, ModelUsed
from trunkline.dialects.outside import BROKEN, Json
from trunkline.dialects.signals import Signal, Update
from trunkline.errors import Invalid

MODES: Final[dict[str, tuple[str, str]]] = {
    "default": ("Ask", "Asks before it changes files or runs commands"),
    "acceptEdits": ("Accept edits", "Changes files without asking; asks before it runs commands"),
    "plan": ("Plan", "Reads and plans; changes nothing"),
    "auto": ("Auto", "A classifier decides what needs asking"),
    "dontAsk": ("Don't ask", "Does what is allowed already, and nothing else"),
    "bypassPermissions": ("Bypass permissions", "Does everything without asking"),
}

THINKING: Final[dict[str, tuple[str, int | None]]] = {
    "auto": ("As the model does", None), "off": ("Off", 0), "4000": ("Up to 4,000 tokens", 4000),
    "10000": ("Up to 10,000 tokens", 10_000), "31999": ("Up to 31,999 tokens", 31_999),
}

NOT_HERE: Final = frozenset({"login", "logout", "exit", "keybindings-help", "release-notes", "todos", "output-style:new"})
"""Slash commands that need the CLI's own terminal, or have a better place here."""

DESCRIPTION_CHARS: Final = 300
SYNTHETIC: Final = "<synthetic>"

_encode = msgspec.json.Encoder().encode


class Model(msgspec.Struct, rename="camel"):
    """A model on offer, as the answer to ``initialize`` has it."""

    value: str = ""
    resolved_model: str | None = None
    display_name: str = ""
    description: str = ""
    supported_effort_levels: list[str] | None = None
    supports_auto_mode: bool = False


class SlashCommand(msgspec.Struct, rename="camel"):
    """A slash command."""

    name: str = ""
    description: str = ""
    argument_hint: Any = None


class Greeting(msgspec.Struct):
    """What matters of the answer to ``initialize``."""

    commands: list[SlashCommand] = []
    models: list[Model] = []
    current_permission_mode: str | None = None


class _ModeSet(msgspec.Struct, forbid_unknown_fields=True):
    mode: str


class ClaudeSettings:
    """The settings of one CLI process."""

    def __init__(self) -> None:
        self.mode = "default"
        self._mode_sent = False
        self._models: list[Model] = []
        self._model = ""
        self._thinking = "auto"
        self._effort = "auto"
        self._commands: dict[str, SlashCommand] = {}
        self._terminal_only: frozenset[str] = frozenset()
        self._commands_sent: bytes = b""

    def greeted(self, body: bytes) -> list[Signal]:
        """The CLI reported what it has."""
        greeting = _greeting(body)
        self._models = _distinct(greeting.models)
        self._commands = {command.name: command for command in greeting.commands if command.name}
        if greeting.current_permission_mode:
            self.mode, self._mode_sent = greeting.current_permission_mode, True
        if self._models:
            self._model = self._models[0].value
        return self._commands_update()

    def begun(self, init: InitFrame) -> list[Signal]:
        """A turn begins: what is new about mode, model and commands."""
        signals = self.switched(init.permission_mode)
        signals += self._works_with(init.model)
        if init.slash_commands is not None:
            self._terminal_only = frozenset(init.terminal_slash_commands or ())
            known = self._commands
            self._commands = {name: known.get(name) or SlashCommand(name) for name in init.slash_commands}
            signals += self._commands_update()
        return signals

    def changed(self, frame: CommandsChangedFrame) -> list[Signal]:
        """Other commands are on offer."""
        listed = frame.commands if frame.commands is not None else frame.slash_commands
        try:
            commands = decoders.convert(listed, list[SlashCommand | str])
        except BROKEN:
            return []
        found = [SlashCommand(each) if isinstance(each, str) else each for each in commands]
        self._commands = {command.name: command for command in found if command.name}
        return self._commands_update()

    def switched(self, mode: str | None) -> list[Signal]:
        """The CLI works in this mode."""
        if not mode or (mode == self.mode and self._mode_sent):
            return []
        news = mode != self.mode
        self.mode, self._mode_sent = mode, True
        return [_update({"sessionUpdate": "current_mode_update", "currentModeId": mode})] if news else []

    def answered(self, body: bytes) -> None:
        """An answer to a request of ours. One that names a mode is what somebody asked for: it is no news when it is reported."""
        if len(body) > 100:
            return
        try:
            mode = decoders.decode(body, _ModeSet).mode
        except BROKEN:
            return
        self.mode, self._mode_sent = mode, True

    def modes(self, *, bypass: bool = False) -> msgspec.Raw:
        """SessionModeState of the Agent Client Protocol; ``bypass`` where the CLI was launched so that it may be chosen."""
        auto = any(model.supports_auto_mode for model in self._models)
        offered = {"default", "acceptEdits", "plan", "dontAsk", self.mode, *(["auto"] if auto else []),
                   *(["bypassPermissions"] if bypass else [])}
        listed = [{"id": mode, "name": name, "description": about} for mode, (name, about) in MODES.items() if mode in offered]
        if self.mode not in MODES:
            listed.append({"id": self.mode, "name": self.mode})
        return msgspec.Raw(_encode({"currentModeId": self.mode, "availableModes": listed}))

    def options(self) -> msgspec.Raw:
        """The list of config options: model, thinking, effort, as far as this CLI has them."""
        options = [self._thinking_option()]
        if self._models:
            options.insert(0, self._model_option())
        levels = self._levels()
        if levels:
            options.append(self._effort_option(levels))
        return msgspec.Raw(_encode(options))

    def request(self, request_id: str, config_id: str, value: str | bool) -> bytes:
        """The line that sets an option; Invalid where there is no such option or value."""
        choices = {"model": [model.value for model in self._models], "thinking": list(THINKING), "effort": self._levels()}
        offered = choices.get(config_id)
        if not offered:
            known = ", ".join(name for name, values in choices.items() if values)
            raise Invalid(f"there is no option {config_id!r}; the options are: {known}")
        if value not in offered and not self._is_model(config_id, value):
            raise Invalid(f"{config_id} must be one of: {', '.join(offered)}", details={"field": config_id})
        if config_id == "model":
            return outgoing.set_model(request_id, None if value == "default" else str(value))
        if config_id == "thinking":
            return outgoing.set_thinking(request_id, THINKING[str(value)][1])
        return outgoing.request(request_id, "apply_flag_settings", {"settings": {"effortLevel": value}})

    def _is_model(self, config_id: str, value: str | bool) -> bool:
        """Whether a value is the full name of a model on offer: one that was chosen once, before this process knew it."""
        return config_id == "model" and isinstance(value, str) and self._named(value) is not None

    def took(self, config_id: str, value: str | bool, body: bytes) -> msgspec.Raw:
        """The CLI took it (``body`` is its answer): all options now."""
        match config_id:
            case "model":
                entry = self._named(str(value))
                if entry is not None:
                    entry.value = self._model = _resolved(body) or str(value)
            case "thinking":
                self._thinking = str(value)
            case "effort":
                self._effort = str(value)
        return self.options()

    def _works_with(self, model: str) -> list[Signal]:
        if not model or model in (self._model, SYNTHETIC):
            return []
        before = self.options()
        self._learn(model)
        if not self._models:
            self._model = model
            return [AgentNote(ModelUsed(model))]
        now = self.options()
        return [Update(b'{"sessionUpdate":"config_option_update","configOptions":%b}' % bytes(now))] if now != before else []

    def _learn(self, model: str) -> None:
        """The full name of the model in force: the entry that stands for it is known by that name from now on."""
        if not model or not self._models:
            return
        entry = self._entry(model)
        if entry is None:
            entry = Model(model, display_name=model)
            self._models.append(entry)
        entry.value = self._model = model

    def _entry(self, model: str) -> Model | None:
        """The entry that stands for the model that the CLI works with: by its name, else the CLI's own choice."""
        chosen = next((each for each in self._models if each.value == self._model), None)
        if chosen is not None and chosen.resolved_model is None and chosen.value == "default":
            return self._exact(model) or chosen
        return self._named(model)

    def _named(self, model: str) -> Model | None:
        """The entry of that name, or whose alias is in it."""
        alike = [each for each in self._models if each.resolved_model is None and each.value in model]
        return self._exact(model) or max(alike, key=lambda each: len(each.value), default=None)

    def _exact(self, model: str) -> Model | None:
        return next((each for each in self._models if model in (each.value, each.resolved_model)), None)

    def _levels(self) -> list[str]:
        current = next((model for model in self._models if model.value == self._model), None)
        return list(current.supported_effort_levels or ()) if current is not None else []

    def _model_option(self) -> Json:
        listed = [{"value": model.value, "name": model.display_name or model.value,
                   **({"description": model.description} if model.description else {})} for model in self._models]
        return {"type": "select", "id": "model", "name": "Model", "category": "model", "currentValue": self._model,
                "options": listed}

    def _thinking_option(self) -> Json:
        listed = [{"value": value, "name": name} for value, (name, _) in THINKING.items()]
        return {"type": "select", "id": "thinking", "name": "Thinking", "category": "thought_level",
                "currentValue": self._thinking, "options": listed}

    def _effort_option(self, levels: list[str]) -> Json:
        # Nobody reported which one is in force: then it is none of them, until one is chosen.
        listed = [*(["auto"] if self._effort not in levels else []), *levels]
        return {"type": "select", "id": "effort", "name": "Effort", "category": "model_config",
                "currentValue": self._effort if self._effort in levels else "auto",
                "options": [{"value": level, "name": level.capitalize()} for level in listed]}

    def _commands_update(self) -> list[Signal]:
        offered = [_command(command) for name, command in self._commands.items()
                   if name not in NOT_HERE and name not in self._terminal_only and not name.startswith("__")]
        update = _update({"sessionUpdate": "available_commands_update", "availableCommands": offered})
        if update.raw == self._commands_sent or (not offered and not self._commands_sent):
            return []
        self._commands_sent = update.raw
        return [update]


def _greeting(body: bytes) -> Greeting:
    """What fits of the answer: a model or a command of another shape is left out."""
    try:
        return decoders.decode(body, Greeting, strict=False)
    except BROKEN:
        pass
    try:
        fields = msgspec.json.decode(body)
    except BROKEN:
        return Greeting()
    if not isinstance(fields, dict):
        return Greeting()
    mode = fields.get("current_permission_mode")
    return Greeting(_each(fields.get("commands"), SlashCommand), _each(fields.get("models"), Model),
                    mode if isinstance(mode, str) else None)


def _each(listed: Any, kind: type[Any]) -> list[Any]:
    found = []
    for item in listed if isinstance(listed, list) else []:
        try:
            found.append(decoders.convert(item, kind, strict=False))
        except BROKEN:
            continue
    return found


def _distinct(models: list[Model]) -> list[Model]:
    """Each model once, by its full name where the CLI has it; a name of its own counts more than "default"."""
    found: dict[str, Model] = {}
    for model in models:
        name = model.resolved_model or model.value
        if not name or (name in found and found[name].value != "default"):
            continue
        found[name] = model
    for name, model in found.items():
        model.value = name
    return list(found.values())


def _resolved(body: bytes) -> str:
    try:
        return str(decoders.decode(body, dict[str, Any] | None, strict=False).get("model") or "")
    except (*BROKEN, AttributeError):
        return ""


def _command(command: SlashCommand) -> Json:
    about = command.description
    shown: Json = {"name": command.name, "description": about if len(about) <= DESCRIPTION_CHARS
                  else about[:DESCRIPTION_CHARS].rstrip() + "…"}
    if isinstance(command.argument_hint, str) and command.argument_hint:
        shown["input"] = {"hint": command.argument_hint}
    return shown


def _update(update: Json) -> Update:
    return Update(_encode(update))
