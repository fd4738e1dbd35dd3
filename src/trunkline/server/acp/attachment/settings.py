"""What can be set on a session, as an editor may see it: modes and options in the schema's form."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from trunkline import decoders
from trunkline.dialects.acp.initialize import ClientCapabilities
from trunkline.dialects.acp.options import SessionConfigBoolean, SessionConfigOption, SessionModeState
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Invalid
from trunkline.session.fold import Fold


class EditorSettings(msgspec.Struct, rename="camel", omit_defaults=True):
    """Modes and options; what the agent does not have is absent."""

    modes: SessionModeState | None = None
    config_options: list[SessionConfigOption] | None = None


def settings_of(fold: Fold, offers: ClientCapabilities) -> EditorSettings:
    """What an editor gets when it opens a session."""
    return EditorSettings(modes_of(fold), options_of(bytes(fold.config_options), offers))


def modes_of(fold: Fold) -> SessionModeState | None:
    """The agent's modes; None where it has none."""
    try:
        return read_lenient(bytes(fold.modes), SessionModeState)
    except Invalid:
        return None


def options_of(raw: bytes, offers: ClientCapabilities) -> list[SessionConfigOption] | None:
    """The agent's options without those that the editor cannot show; None where there is no list."""
    try:
        items = decoders.decode(raw, list[msgspec.Raw])
    except BROKEN:
        return None
    return shown_options(_readable(items), offers)


def shown_options(options: Iterable[SessionConfigOption], offers: ClientCapabilities) -> list[SessionConfigOption]:
    """Switches go only to editors that declared that they can show them."""
    takes = offers.session.config_options if offers.session is not None else None
    switches = takes is not None and takes.boolean is not None
    return [option for option in options if switches or not isinstance(option, SessionConfigBoolean)]


def _readable(items: Iterable[msgspec.Raw]) -> Iterable[SessionConfigOption]:
    for item in items:
        try:
            option: SessionConfigOption = read_lenient(bytes(item), SessionConfigOption)
        except Invalid:
            continue  # the schema says: a bad item is dropped, the list stays
        yield option
