"""How a hub is put together from its options, and what it makes of what clients give."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Mapping, Sequence

import msgspec

from trunkline.agents.catalog import AgentSpec
from trunkline.agents.environment import clean_env
from trunkline.dialects.acp.lenient import read_lenient
from trunkline.dialects.acp.sessions import McpServer
from trunkline.dialects.acp.shape import encode_acp
from trunkline.errors import Invalid
from trunkline.hub.shapes import HubOptions
from trunkline.journal.base import Journal
from trunkline.session.audit.key import audit_key
from trunkline.session.audit.log import AUDIT_LOG_FILE, AuditLog
from trunkline.session.workspace.files import Workspace
from trunkline.threads import Lane, check_off_loop

LANE_MOST = 32
"""Folders that are looked at, at a time: one that hangs keeps nobody else from starting a session."""


def journal_for(options: HubOptions) -> Journal:
    """The journal in memory, or in the data folder."""
    if options.memory:
        from trunkline.journal.memory import MemoryJournal
        return MemoryJournal()
    from trunkline.journal.sqlite.store import SqliteJournal
    if options.durability not in ("normal", "full"):
        raise Invalid(f"durability must be normal or full, not {options.durability!r}")
    return SqliteJournal(options.data_dir / "journal.db", durability=options.durability)  # type: ignore[arg-type]


def chain_key(options: HubOptions) -> bytes:
    """The key of the approvals' hash chain: beside the database, not in it."""
    if options.memory:
        return secrets.token_bytes(32)
    options.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    return audit_key(options.data_dir / "audit.key")


def audit_log(options: HubOptions, key: bytes) -> AuditLog | None:
    """How far the chains have come, beside the database; a journal in memory needs none."""
    return None if options.memory else AuditLog(options.data_dir / AUDIT_LOG_FILE, key)


def guarded_folders(options: HubOptions) -> tuple[str, ...]:
    """What no rule opens to an agent: the hub's own data, and the rules themselves."""
    if options.memory:
        return ()
    return (str(options.data_dir), *([str(options.policy_file)] if options.policy_file else []))


def allowed_env(env: Mapping[str, str], spec: AgentSpec) -> dict[str, str]:
    """The caller's variables that this agent may see."""
    allowed = clean_env(spec.env_allow, env)
    return {name: value for name, value in env.items() if name in allowed}


def mcp_server(raw: msgspec.Raw) -> msgspec.Raw:
    """An MCP server in the form that agents expect, whichever of the usual forms the client wrote."""
    try:
        return msgspec.Raw(encode_acp(read_lenient(bytes(raw), McpServer)))
    except Invalid as error:
        raise Invalid(f"mcpServers: {error.message}") from error


def folder_lane() -> Lane:
    """Where folders are looked at that callers name, and files that are no session's."""
    return Lane(LANE_MOST)


def folder(cwd: str, guarded: Sequence[str]) -> str:
    """The real path of a folder that is there, and is not the hub's own. Looks at the disk, so that it runs in a lane."""
    check_off_loop()
    check_place(cwd)
    if not os.path.isdir(cwd):
        raise Invalid(f"cwd is not a folder: {cwd}")
    real = os.path.realpath(cwd)
    Workspace([real], guarded).check(real, cwd)
    return real


def check_place(cwd: str) -> None:
    """Invalid for what names no folder, here or anywhere."""
    if not os.path.isabs(cwd) or "\0" in cwd:
        raise Invalid(f"cwd must be an absolute path, not {cwd!r}")


def now_us() -> int:
    """UTC, microseconds."""
    return time.time_ns() // 1000
