"""``trunkline devices``: which one is meant."""

from __future__ import annotations

import pytest

from trunkline.cli.commands.devices import named
from trunkline.client import DeviceView
from trunkline.errors import Invalid, NotFound


def test_a_device_is_found_by_its_id_its_name_or_the_beginning_of_its_id() -> None:
    devices = [DeviceView(id="abc1", name="phone"), DeviceView(id="abd2", name="tablet"), DeviceView(id="xyz3", name="phone")]
    assert named(devices, "tablet").id == named(devices, "abd").id == "abd2"
    assert named(devices, "xyz3").name == "phone"
    with pytest.raises(Invalid):
        named(devices, "ab")
    with pytest.raises(Invalid):
        named(devices, "phone")
    with pytest.raises(NotFound):
        named(devices, "watch")
