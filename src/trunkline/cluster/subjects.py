"""Names on NATS: the streams, the buckets, and the subject of each thing. No other file spells one (but those of tunnels:
``tunnel/subjects.py``).

    tl.j.<pool>.<session>         a session's groups         stream TL_J, said again on tl.live.<pool>.<session>
    tl.b.<pool>.<session>.<seq>   parts of a large entry     stream TL_B
    tl.k.<pool>.<session>         the fold's checkpoint      stream TL_K
    $KV.<bucket>.<key>            small tables               one stream each, said again on tl.kv.<bucket>.<key>

Rule 1: a pool comes before the session everywhere, so that a node's key can be confined to its own pool by the subject alone.
Rule 2: what a node's key may publish is told by subjects, never by a body: the servers look at nothing else.
"""

from __future__ import annotations

import re
from typing import Final

from trunkline.errors import Invalid

JOURNAL: Final = "TL_J"
PARTS: Final = "TL_B"
CHECKPOINTS: Final = "TL_K"

NODES: Final = "tl_nodes"
SESSIONS: Final = "tl_sessions"
AUTH: Final = "tl_auth"
POLICY: Final = "tl_policy"
STATE: Final = "tl_state"
PUSH: Final = "tl_push"
"""The push key and the addresses of devices: secrets, for gateways alone."""
BUCKETS: Final = (NODES, SESSIONS, AUTH, POLICY, STATE, PUSH)
LEASES: Final = (NODES, STATE)
"""Buckets whose rows end by themselves, and others must hear of it."""

GENERATION: Final = "generation"
"""The key of STATE that rises when the journal's stream was found to have gone back."""

_SESSION: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")


def journal(pool: str, session_id: str) -> str:
    """Where a session's groups are stored."""
    return f"tl.j.{pool}.{_token(session_id)}"


def live(pool: str, session_id: str) -> str:
    """Where they are said again once they are stored."""
    return f"tl.live.{pool}.{_token(session_id)}"


ALL_JOURNALS: Final = "tl.j.>"
ALL_LIVE: Final = "tl.live.>"


def parts(pool: str, session_id: str, seq: int) -> str:
    """Where the parts of one large entry are stored."""
    return f"tl.b.{pool}.{_token(session_id)}.{seq}"


def all_parts(pool: str, session_id: str) -> str:
    """Where the parts of all its large entries are."""
    return f"tl.b.{pool}.{_token(session_id)}.*"


def checkpoint(pool: str, session_id: str) -> str:
    """Where the last checkpoint of a session's fold is."""
    return f"tl.k.{pool}.{_token(session_id)}"


def session_of(subject: str) -> tuple[str, str]:
    """(pool, session) of a subject that has both."""
    tokens = subject.split(".")
    return tokens[2], tokens[3]


def watching(node: str) -> str:
    """Where a node asks the gateways whether somebody is shown a session there."""
    return f"tl.watching.{node}"


def bucket_stream(bucket: str) -> str:
    """The stream that a bucket is."""
    return f"KV_{bucket}"


def key(bucket: str, name: str) -> str:
    """Where a key's value is stored."""
    return f"$KV.{bucket}.{name}"


def key_of(bucket: str, subject: str) -> str:
    """The key that a subject of the bucket stands for."""
    return subject.removeprefix(f"$KV.{bucket}.")


def live_keys(bucket: str) -> str:
    """Where changes of a bucket are said again."""
    return f"tl.kv.{bucket}.>"


def lease_key(pool: str, node: str) -> str:
    """Where a node's lease is: only a key of that node and of that pool may write there."""
    return f"{pool}.{node}"


def session_key(pool: str, session_id: str) -> str:
    """The key of a session's row."""
    return f"{pool}.{_token(session_id)}"


def _token(session_id: str) -> str:
    if not _SESSION.fullmatch(session_id):
        raise Invalid(f"a session's id must be one word to be in a cluster, not {session_id[:80]!r}")
    return session_id
