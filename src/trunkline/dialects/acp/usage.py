"""Tokens where agents report them: on the answer to a prompt and in the ``_meta`` of a chunk. The stable schema has no place for
them; eight of nineteen agents send them all the same.

Rule: what comes out is in one form, ``TokenCount``, whatever the agent calls its counts. What cannot be read is None.
"""

from __future__ import annotations

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN, Whole


class TokenCount(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """How many tokens something took."""

    input_tokens: Whole = 0
    output_tokens: Whole = 0
    cached_read_tokens: Whole | None = None
    cached_write_tokens: Whole | None = None
    thought_tokens: Whole | None = None

    @property
    def is_nothing(self) -> bool:
        """Whether no token is counted at all."""
        return not (self.input_tokens or self.output_tokens or self.cached_read_tokens or self.cached_write_tokens)


class _SnakeCount(msgspec.Struct):
    input_tokens: Whole = 0
    output_tokens: Whole = 0


class _Quota(msgspec.Struct, frozen=True):
    token_count: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _AnswerMeta(msgspec.Struct):
    quota: _Quota = _Quota()


OWN_STOPS = frozenset({"stop_sequence"})
"""Stop reasons that packets know and the Agent Client Protocol does not."""


class _Stopped(msgspec.Struct):
    stop_reason: str | None = msgspec.field(default=None, name="stopReason")


class _Answer(msgspec.Struct):
    usage: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    meta: _AnswerMeta | None = msgspec.field(name="_meta", default=None)


class _Usage(msgspec.Struct):
    usage: TokenCount | None = None


class _Chunk(msgspec.Struct):
    meta: _Usage | None = msgspec.field(name="_meta", default=None)


def answer_stop(result: bytes) -> str | None:
    """The stop reason on a prompt's answer as the agent wrote it, where it is one of ``OWN_STOPS``."""
    try:
        reason = decoders.decode(result, _Stopped).stop_reason
    except BROKEN:
        return None
    return reason if reason in OWN_STOPS else None


def answer_usage(result: bytes) -> bytes | None:
    """The token counts on a prompt's answer, as JSON; None where it has none."""
    try:
        answer = decoders.decode(result, _Answer)
    except BROKEN:
        return None
    if answer.usage is not msgspec.UNSET and bytes(answer.usage) != b"null":
        return bytes(answer.usage)
    counted = answer.meta.quota.token_count if answer.meta is not None else msgspec.UNSET
    return None if counted is msgspec.UNSET else _as_count(bytes(counted))


def chunk_usage(update: bytes) -> TokenCount | None:
    """The token counts that ride on a chunk, as the agent's news about the model's answer before it."""
    try:
        meta = decoders.decode(update, _Chunk).meta
    except BROKEN:
        return None
    return meta.usage if meta is not None else None


def _as_count(counted: bytes) -> bytes | None:
    try:
        count = decoders.decode(counted, _SnakeCount)
    except BROKEN:
        return None
    return msgspec.json.encode(TokenCount(input_tokens=count.input_tokens, output_tokens=count.output_tokens))
