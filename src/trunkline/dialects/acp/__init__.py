"""The Agent Client Protocol, version 1: every stable method, update, content block and capability as a typed value.

    shape        what all objects share; how they are written
    content      content blocks
    tools        the parts of a tool call
    options      modes, configuration options, slash commands
    updates      the fourteen session updates
    permission   options, outcomes, ``choose_option``
    initialize   the handshake: capabilities, login
    sessions     what the agent serves
    client       what the client serves: permission, files, terminals
    elicitation  questions to a person
    methods      all of it in one table
    reading/     bytes to typed values: ``decode``, the schema's parsing policy, names that it does not know, what is very large
    usage        what a turn used, in every spelling
    calls        one tool call over time

Read them in this order; a name is imported from the module that owns it. Error codes are in ``dialects/error_codes.py``.

Rule 1: what we read is what agents really write; what we write is what the schema says.
Rule 2: the bytes stay beside the typed view. Whoever passes an update on passes on its bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline.dialects.package_names import names_of

_MODULES = (
    "shape", "content", "tools", "options", "updates", "permission", "initialize", "sessions", "client",
    "elicitation", "methods", "reading.aliases", "reading.lenient", "reading.decode", "reading.large", "usage", "calls",
)

if not TYPE_CHECKING:  # hidden from type checkers, which would take any name for one of ours
    __getattr__ = names_of(__name__, _MODULES)
