"""Choosing an option for a plain yes or no: by kind and id, with the offers of real agents as cases."""

from __future__ import annotations

import random

import pytest

from tests.tooling.rows import every_row
from trunkline.dialects import signals
from trunkline.dialects.acp.permission import PermissionOption, choose_option
from trunkline.dialects.acp.shape import encode_acp

KINDS = {"AO": "allow_once", "AA": "allow_always", "RO": "reject_once", "RA": "reject_always"}

OFFERS = {
    "opencode": ("once:AO always:AA reject:RO", "once", "reject"),
    "gemini": ("proceed_always:AA proceed_once:AO cancel:RO", "proceed_once", "cancel"),
    "qwen": ("proceed_once:AO proceed_once_and_switch_to_default:AO cancel:RO", "proceed_once", "cancel"),
    "claude-agent-acp": ("allow-once:AO allow-with-updates:AA reject:RO", "allow-once", "reject"),
    "codex-acp": ("allow_once:AO allow_for_session:AA cancel:RO", "allow_once", "cancel"),
    "codex-acp with two rejections": ("allow_once:AO cancel:RO decline:RO", "allow_once", "decline"),
    "codex-acp-zed": ("approved:AO approved-execpolicy-amendment:AA abort:RO", "approved", "abort"),
    "goose": ("allow_always:AA allow_once:AO reject_once:RO reject_always:RA", "allow_once", "reject_once"),
    "openhands": ("accept:AO reject:RO always_proceed:AA risk_based:AO", "accept", "reject"),
    "hermes": ("allow_once:AO allow_session:AA allow_always:AA deny:RO deny_always:RA", "allow_once", "deny"),
    "only always": ("yes:AA no:RA", "yes", "no"),
    "nothing to refuse with": ("yes:AO", "yes", None),
    "nothing to allow with": ("no:RO", None, "no"),
    "nothing": ("", None, None),
}


def options(offer: str) -> list[signals.PermissionOption]:
    pairs = [item.split(":") for item in offer.split()]
    return [signals.PermissionOption(option_id, option_id.title(), KINDS[kind]) for option_id, kind in pairs]


@every_row(("offer", "yes", "no"), OFFERS.values())
def test_yes_means_once_and_no_means_the_mildest_rejection(offer: str, yes: str | None, no: str | None) -> None:
    allowed = choose_option(options(offer), allow=True)
    refused = choose_option(options(offer), allow=False)
    assert (allowed and allowed.option_id, refused and refused.option_id) == (yes, no)


@pytest.mark.parametrize("offer", ["a:AO b:AA c:RO d:RA", "allow:AO cancel:RO decline:RO"])
def test_the_kind_decides_not_the_position(offer: str) -> None:
    shuffled = options(offer)
    wanted = [choose_option(shuffled, allow=allow) for allow in (True, False)]
    for seed in range(10):
        random.Random(seed).shuffle(shuffled)
        assert [choose_option(shuffled, allow=allow) for allow in (True, False)] == wanted


def test_the_protocols_own_options_are_options_of_a_signal() -> None:
    option = PermissionOption(option_id="y", name="Yes", kind="allow_once")
    assert isinstance(option, signals.PermissionOption)
    assert choose_option([option], allow=True) is option
    assert encode_acp(option) == b'{"optionId":"y","name":"Yes","kind":"allow_once"}'
