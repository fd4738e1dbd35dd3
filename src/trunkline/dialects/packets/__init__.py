"""Build packets: what a web product gets over Server-Sent Events while an agent works.

    shapes.py   the packets, field by field        derive.py    from updates and calls to packets
    detect.py   which type, tool, file it is       titles.py    what a call is called
    tools.py    typed inputs and outputs of tools  contents.py  content blocks in full form
    raw_inputs.py, raw_outputs.py                  what agents take and give, in the documents' shapes
    numbered.py a file's text with line numbers
    wire.py     packets back from bytes            notices.py   packets of the hub's own making
    stamps.py   their timestamp                    blocks.py    what packets are made of
    exports.py  what programs may import from this package itself

Our own code imports a name from the module that owns it.

"The documents" in this package are the two that define the stream (packet types reference and overview).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline.dialects.package_names import names_of

_MODULES = (
    "blocks", "tools", "shapes", "stamps", "detect", "titles", "raw_inputs", "raw_outputs", "contents", "numbered",
    "derive", "notices", "wire", "exports",
)

if TYPE_CHECKING:
    from trunkline.dialects.packets.exports import *  # noqa: F403  # the list is in one place
    from trunkline.dialects.packets.exports import __all__ as __all__
else:  # hidden from type checkers, which would take any name for one of ours
    __getattr__ = names_of(__name__, _MODULES)
