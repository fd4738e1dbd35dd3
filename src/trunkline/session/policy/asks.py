"""What a tool call is about, for the policy: its category, its command, every path in its input.

Rule 1: pure. ``resolve`` is given by who knows the disk; with it, real paths stand beside the spelled ones.
Rule 2: rather one path too many than one too few: a pattern has to cover all of them.
Rule 3: a call is read once (``dialects/calls``); this puts its reading into the session's folders.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec import Struct

from trunkline.dialects.calls import CallReading, ToolNames, ToolRole, read_call
from trunkline.dialects.calls.claims import with_name, with_title
from trunkline.dialects.calls.inputs import BEYOND_RULES, PATHS
from trunkline.dialects.calls.types import Claims
from trunkline.dialects.context.types import RiskLevel, ToolCategory
from trunkline.dialects.glob_climbs import climbing
from trunkline.dialects.glob_tokens import PATTERN_CHARS, alternatives
from trunkline.dialects.outside import NOT_JSON
from trunkline.session.policy import globs
from trunkline.session.policy.subject import PolicyAsk

__all__ = ["BEYOND_RULES", "PATHS", "Where", "input_print", "policy_ask", "policy_ask_of"]

INPUT_BYTES: Final = 64 << 10
"""Bytes of an input that a rule may be about as a whole."""
_BY_PATHS: Final[frozenset[ToolRole]] = frozenset({"read", "search", "write", "edit", "patch", "delete"})
"""What a tool for these does shows in its paths; a move has a direction as well, and what a server's tool does nobody knows."""
_WILD: Final = frozenset("*?[{")
_encode: Final = msgspec.json.Encoder(order="deterministic").encode


class Where(Struct, frozen=True, kw_only=True):
    """Where a call is made: by which agent, in which folders, in which session and turn."""

    agent: str
    cwd: str
    roots: tuple[str, ...] = ()
    home: str | None = None
    session_id: str = ""
    turn_id: str | None = None
    guarded: tuple[str, ...] = ()


def policy_ask(tool: str, kind: str | None, tool_input: Mapping[str, Any], *, agent: str, cwd: str, roots: Sequence[str] = (),
               home: str | None = None, session_id: str = "", turn_id: str | None = None, locations: Sequence[str] = (),
               category: ToolCategory | None = None, resolve: Callable[[str], str] | None = None,
               guarded: Sequence[str] = (), writes: bool = False, guessed: bool = False, at_once: bool = False,
               names: ToolNames | None = None, title: str = "") -> PolicyAsk:
    """The ask behind a call of which only its tool, its input and perhaps its title are known. ``locations`` are paths known from
    elsewhere; ``writes`` says that it brings changes of files beside its input; ``guessed`` that its name is by its input;
    ``names`` are what the agent calls its tools."""
    from trunkline.dialects.risk import Places, judge  # only a call that asks needs the shell's parser

    claims = with_title(with_name(Claims(), title, tool, names or ToolNames(), is_title=True), title)
    reading = read_call(tool, kind, tool_input, named_by="input" if guessed else "name", names=names,
                        located=locations, brings_changes=writes, title=title, claims=claims)
    where = Where(agent=agent, cwd=cwd, roots=tuple(roots), home=home, session_id=session_id, turn_id=turn_id,
                  guarded=tuple(guarded))
    risk = judge(reading, Places.of(cwd, list(roots) or [cwd], home), at_once=at_once)
    return policy_ask_of(reading, risk.level, risk.reason, where, shown_category=category, resolve=resolve, given=tool_input)


def policy_ask_of(reading: CallReading, risk: RiskLevel, reason: str, at: Where, *, shown_category: ToolCategory | None = None,
                  resolve: Callable[[str], str] | None = None, given: object = None) -> PolicyAsk:
    """The ask behind a call that was read and judged; ``given`` is its input."""
    root = at.roots[0] if at.roots else at.cwd
    shown, category = shown_category or reading.category, reading.judged_as
    wild = tuple(_spelled_out(reading.paths))
    paths = tuple(dict.fromkeys(_with_real((*reading.paths, *wild), at.cwd, root, at.home, resolve)))
    return PolicyAsk(
        tool=reading.tool, category=category, shown_category=shown if shown != category else None, agent=at.agent,
        command=reading.command, claimed=reading.claimed, risk=risk, risk_reason=reason,
        paths=paths if len(paths) <= PATHS else (*paths[:PATHS], BEYOND_RULES),
        globs=tuple(_in_full(path, at.cwd, root, at.home, resolve) for path in dict.fromkeys((*reading.globs, *wild))),
        root=resolve(root) if resolve is not None else root, session_id=at.session_id, turn_id=at.turn_id,
        cwd=_run_in(reading.folder, at.cwd, root, resolve), roots=at.roots[1:], home=at.home, guarded=at.guarded,
        doubts=reading.doubts, only_looks=reading.only_looks,
        input=input_print(given) if reading.command is None and not (reading.paths and reading.role in _BY_PATHS) else "",
    )


def _spelled_out(paths: Sequence[str]) -> Iterator[str]:
    """What paths with wildcards stand for, to a tool that takes them as globs: it may, whatever their member is called. A file
    may have such a name (``app/[id]/page.tsx``), so they are paths as well."""
    for path in paths:
        if path != BEYOND_RULES and not _WILD.isdisjoint(path):
            meant = alternatives(path) if len(path) <= PATTERN_CHARS else ()
            found = list(islice((each for one in meant for each in (one, *climbing(one))), PATHS + 1))
            yield from found if 0 < len(found) <= PATHS else (BEYOND_RULES,)


def input_print(given: object) -> str:
    """What stands for exactly this input in a rule; "" where it is too large for one."""
    try:
        whole = _encode(given if given is not None else {})
    except (*NOT_JSON, OverflowError, TypeError):
        return ""
    return f"sha256:{hashlib.sha256(whole).hexdigest()}" if len(whole) <= INPUT_BYTES else ""


def _run_in(folder: str | None, cwd: str, root: str, resolve: Callable[[str], str] | None) -> str | None:
    where = posixpath.join(cwd, folder) if folder else cwd
    if ".." not in where.split("/") and globs.clean(where) == globs.clean(root):
        return None
    return resolve(where) if resolve is not None and globs.place(where, root).plain else where


def _with_real(spelled: Sequence[str], cwd: str, root: str, home: str | None,
               resolve: Callable[[str], str] | None) -> Iterator[str]:
    """Each path, absolute where it is relative to another folder than the root; with ``resolve`` the real one as well."""
    for path in spelled:
        where = globs.place(path, root, home, cwd)
        if resolve is None:
            yield where.absolute if where.plain else path
        elif where.plain:
            yield _in_full(path, cwd, root, home, resolve)
            yield resolve(where.absolute)
        elif globs.only_climbs(path) and not path.startswith("~"):
            full = posixpath.join(cwd, path)
            yield posixpath.join(resolve(posixpath.dirname(full)), posixpath.basename(full))
            yield resolve(full)
        else:
            yield path


def _in_full(path: str, cwd: str, root: str, home: str | None, resolve: Callable[[str], str] | None) -> str:
    """The absolute spelling of a path; inside the root, from where that really is."""
    where = globs.place(path, root, home, cwd)
    if resolve is None or where.relative is None:
        return where.absolute
    return posixpath.join(resolve(root), where.relative)
