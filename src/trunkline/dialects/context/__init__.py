"""The Agent Context Protocol: 37 events, 9 commands, capabilities, as typed values and as bytes.

    types.py       enums and named objects            unions.py        MessageContent, ApprovalPreview, GitOperation …
    events/        one module per domain              commands.py      what consumers send
    envelope.py    encode and decode, delta splice    capabilities.py  what an agent can do
    versions.py    which version is spoken            filters.py       which event types somebody wants
    categories.py  which category a tool is in        descriptions.py  a tool call in one line
    factory.py     create_event, the only clock       contract.py      the adapter and session interfaces
    exports.py     what programs may import from this package itself

Read them in this order. Our own code imports a name from the module that owns it.
Names are the protocol's own (``SessionStartedEvent``, ``SendMessageCommand`` …), except that our code drops its ``ACP``
prefix: here ``acp`` is the Agent *Client* Protocol. Programs have them under the protocol's own spelling (``ACPEvent``), too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline.dialects.package_names import names_of

_MODULES = (
    "types", "unions", "events", "commands", "envelope", "capabilities", "versions", "filters", "categories",
    "descriptions", "factory", "contract", "exports",
)

if TYPE_CHECKING:
    from trunkline.dialects.context.exports import *  # noqa: F403  # the list is in one place
    from trunkline.dialects.context.exports import __all__ as __all__
else:  # hidden from type checkers, which would take any name for one of ours
    __getattr__ = names_of(__name__, _MODULES)
