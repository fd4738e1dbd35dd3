"""What every Agent Client Protocol object has in common, and how it is written.

Rule 1: an optional field is ``None`` when it is absent, and absent fields are never written. Only where the protocol
gives null a meaning of its own ("clears it") does a field know three states, with ``UNSET`` for absent.
Rule 2: the strict decoder of a type accepts what the JSON schema accepts. What the schema's parsing policy forgives is
forgiven in ``lenient``, driven by the two marks below; a test compares them with the schema, field by field.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

Meta = dict[str, Any]
"""The ``_meta`` member: the protocol's place for extensions, any JSON object."""

STRICT = msgspec.Meta(extra={"strict": True})
"""Marks an optional field whose bad value refuses the whole object (unmarked: a bad value counts as absent)."""

SKIP = msgspec.Meta(extra={"skip_invalid_items": True})
"""Marks a list whose bad items are dropped (unmarked: one bad item makes the list bad)."""

Uint = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
"""Of what the schema allows, what everybody can count with."""


class Shape(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """Base of every protocol object. Values only, no cycles, so the garbage collector need not look at them."""

    meta: Meta | None = msgspec.field(name="_meta", default=None)


encode_acp = msgspec.json.Encoder().encode
"""An object as the bytes to send."""
