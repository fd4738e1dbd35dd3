"""Names that programs import from a package: there when they are wanted, and found with a warning where they moved."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.tooling.rows import every_row
from trunkline.dialects import acp, context, packets
from trunkline.dialects.context import events, exports
from trunkline.dialects.packets.detect import packet_type


def test_a_name_that_programs_may_import_comes_without_a_warning() -> None:
    assert context.MessageDeltaEvent is events.MessageDeltaEvent
    assert context.__all__ is exports.__all__
    assert packets.packet_type is packet_type


@every_row(("package", "name", "kind"), [
    (context, "TextPart", "trunkline.dialects.context.unions"),
    (context, "Event", "trunkline.dialects.context.events"),
    (packets, "ToolCallStartPacket", "trunkline.dialects.packets.shapes"),
    (acp, "ToolCall", "trunkline.dialects.acp.updates"),
    (acp, "ResourceLink", "trunkline.dialects.acp.content"),
])
def test_a_name_that_moved_is_found_with_a_warning_that_says_where_it_is(package: object, name: str, kind: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"^import {name} from {kind}, not from ") as caught:
        found = getattr(package, name)
    assert found is getattr(sys.modules[kind], name)
    assert caught[0].filename == __file__, "the warning points at who imports it"


def test_what_is_not_there_is_an_attribute_error() -> None:
    for name in ("no_such_name", "__wrapped__", "_private"):
        with pytest.raises(AttributeError, match=name):
            getattr(acp, name)


def test_importing_one_module_loads_no_other_that_it_does_not_need() -> None:
    code = "import sys\nfrom trunkline.dialects.context import types\nprint(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert {name for name in loaded if name.startswith("trunkline.dialects.context.")} == {"trunkline.dialects.context.types"}
