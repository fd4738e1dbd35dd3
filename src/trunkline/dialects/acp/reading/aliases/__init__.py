"""Names in circulation that the schema does not know, and the right ones: tables first, then what a table cannot say.

Agents and clients were written from drafts, from memory and from documents older than the schema. What they mean is
clear, so it is taken; what we write is always the schema's.

Rule 1: input only. Nothing here is ever written.
Rule 2: a rename or a value belongs in a table; a function only reshapes what renaming cannot.
Rule 3: functions take and give the members of one object, each still encoded, so that untouched parts keep their bytes.

    tables.py   names and values          reshapes.py  what a table cannot say
    members.py  objects, half decoded     applied.py   all of it, applied
    media.py    prompts outside of the protocol
"""

from __future__ import annotations

from trunkline.dialects.acp.reading.aliases.applied import reshape, reshape_value, revalue, strip_envelope, update_kind
from trunkline.dialects.acp.reading.aliases.media import with_mime_types
from trunkline.dialects.acp.reading.aliases.members import Members, as_raw, items_of, members_of, rename, text_of
from trunkline.dialects.acp.reading.aliases.reshapes import HIDDEN, path_of_uri
from trunkline.dialects.acp.reading.aliases.tables import CLIENT_METHODS, FIELDS, METHODS, VALUES, canonical_method, with_aliases

__all__ = ["CLIENT_METHODS", "FIELDS", "HIDDEN", "METHODS", "VALUES", "Members", "as_raw", "canonical_method", "items_of",
           "members_of", "path_of_uri", "rename", "reshape", "reshape_value", "revalue", "strip_envelope", "text_of",
           "update_kind", "with_aliases", "with_mime_types"]
