"""What can be set on a session, as an editor may see it: in the schema's form, without what it cannot show."""

from __future__ import annotations

import json

import msgspec

from trunkline.dialects.acp.initialize import (
    ClientCapabilities,
    ClientSessionCapabilities,
    Offered,
    SessionConfigOptionsCapabilities,
)
from trunkline.server.acp.attachment.settings import modes_of, options_of, settings_of
from trunkline.session.fold import Fold

SWITCHES = ClientCapabilities(
    session=ClientSessionCapabilities(config_options=SessionConfigOptionsCapabilities(boolean=Offered())))
SWITCH = {"type": "boolean", "id": "fast", "name": "Fast", "currentValue": True}
CHOICE = {"type": "select", "id": "model", "name": "Model", "currentValue": "a", "options": [{"value": "a", "name": "A"}]}
MODES = {"currentModeId": "plan", "availableModes": [{"id": "plan", "name": "Plan"}]}


def ids(raw: bytes, offers: ClientCapabilities) -> list[str] | None:
    found = options_of(raw, offers)
    return None if found is None else [option.id for option in found]


def test_switches_go_only_to_editors_that_can_show_them() -> None:
    raw = json.dumps([SWITCH, CHOICE]).encode()
    assert ids(raw, SWITCHES) == ["fast", "model"]
    assert ids(raw, ClientCapabilities()) == ["model"]


def test_an_option_that_cannot_be_read_is_left_out_and_the_others_stay() -> None:
    assert ids(json.dumps([{"type": "select"}, 3, CHOICE]).encode(), SWITCHES) == ["model"]
    assert ids(b"null", SWITCHES) is None and ids(b"{", SWITCHES) is None


def test_what_the_agent_does_not_have_is_absent() -> None:
    fold = Fold(session_id="s", agent="a", cwd="/w", created_at=0, updated_at=0)
    assert msgspec.to_builtins(settings_of(fold, SWITCHES)) == {}
    fold.modes = msgspec.Raw(json.dumps(MODES).encode())
    modes = modes_of(fold)
    assert modes is not None and modes.current_mode_id == "plan"
