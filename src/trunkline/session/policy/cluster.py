"""The cluster's policy as this node knows it, and the file that keeps it for when the cluster is away.

Rule 1: the last known one counts, however long the cluster is away. Where none was ever known everything is asked.
Rule 2: never an older one: each has a number that only rises. A table that went back changes nothing, and ``problem`` says so.
        Nor one whose number nobody can have come to: who has stolen a key would write one that nothing can follow.
Rule 3: one that cannot be read changes nothing either; of one that is gone only what restricts stays in force.
Rule 4: until somebody writes one the cluster has none (``absent``), and each node's own file decides alone.
Rule 5: it is written in the cluster first (``write``), and counts here when it comes from there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, NoReturn

import msgspec
from msgspec.structs import replace

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.disk.own_file import read_own
from trunkline.disk.private_file import PrivateFile
from trunkline.errors import Conflict, Invalid, StorageError, Unavailable
from trunkline.session.policy.decide import Policy
from trunkline.session.policy.file import PolicyText, has_rule, version_of
from trunkline.session.policy.rules import Rule
from trunkline.session.policy.text import parse_policy, with_rule

CLUSTER_POLICY_FILE = "cluster-policy.json"
TRIES = 5
"""How often a rule is added anew where others change the policy at the same time."""

_log = logging.getLogger(__name__)


LEAP_MOST = 1_000_000
"""How far numbers rise while a node is away; each is somebody's change."""
NUMBER_MOST = 1 << 53


class Numbered(msgspec.Struct, frozen=True):
    """A text of the policy, and its number."""

    number: Annotated[int, msgspec.Meta(ge=0, le=NUMBER_MOST)] = 0
    text: str = ""

    def leaps(self, known: int) -> bool:
        """Whether it cannot have come from the one of that number, which is known."""
        return bool(known) and self.number > known + LEAP_MOST


class Kept(Numbered, frozen=True):
    """The same as the file has it, with this node's name."""

    node: str = ""


class ClusterPolicy:
    """The cluster's policy at one node. ``known`` is the file's, read by ``kept_policy``."""

    def __init__(self, path: Path | None, node: str, known: Numbered | None = None) -> None:
        self.node = node
        self.problem: str | None = None
        """What is wrong with it, and what is in force instead; None where all is well."""
        self.absent = False
        """Nobody has written one yet, and that is known for sure."""
        self.changed: Callable[[], object] = lambda: None
        """Called when other rules are in force now."""
        self.write: Callable[[str, int], None] = _nowhere
        """Write a text over the one of this number; it blocks. Conflict where another is there."""
        self._file = PrivateFile(path, self._content) if path is not None else None
        self.known = known or Numbered()
        self.policy = self._read(self.known.text) if known is not None else self._unknown()

    def take(self, found: Numbered) -> None:
        """The cluster has this one now."""
        if found.number < self.known.number:
            self._keep(self.policy, f"the cluster has an older policy (number {found.number}) than this node knows "
                                    f"({self.known.number}), which stays in force; write it again")
            return
        if found.leaps(self.known.number):
            self._keep(self.policy, f"the cluster's policy has the number {found.number}, which nothing leads to from "
                                    f"{self.known.number}; the last good one stays in force; write it again")
            return
        try:
            policy = self._read(found.text)
        except Invalid as error:
            self._keep(self.policy, f"the cluster's policy cannot be read, the last good one stays in force: {error.message}")
            return
        self.known, self.problem, self.absent = found, None, False
        if self._file is not None:
            self._file.save_soon()
        self._put(policy)

    def lose(self) -> None:
        """The cluster has none: it never had one, or it is gone."""
        if self.known.number:
            self._keep(self.policy.without_allowing(), "the cluster's policy is gone; what it denied stays denied")
        else:
            self.problem, self.absent = None, True
            self._put(self._read(""))

    def shown(self) -> PolicyText:
        """Its text, and what tells it from another."""
        return PolicyText(self.known.text, version_of(self.known.text))

    def replace(self, text: str, *, versions: Collection[str] | None = None) -> None:
        """Write the whole of it; Invalid, and nothing written, where it is no policy. With ``versions`` it must be one of these
        that is replaced, else Conflict. It blocks."""
        parse_policy(text)
        known = self.known
        if versions is not None and (found := version_of(known.text)) not in versions:
            raise Conflict("the policy was changed since you read it; read it again", details={"version": found})
        self.write(text, known.number)

    def append(self, rule: Rule) -> None:
        """Add a rule at its end, unless it is there. It blocks."""
        for tries in range(TRIES):
            known = self.known
            if has_rule(known.text, rule):
                return
            try:
                self.write(with_rule(known.text, rule), known.number)
            except Conflict:
                if tries == TRIES - 1:
                    raise
            else:
                return

    def as_read(self, text: str) -> Policy:
        """What this text would be as the cluster's policy at this node; Invalid where it is none."""
        return self._read(text)

    async def saved(self) -> None:
        """Wait until it is on disk; StorageError where that cannot be."""
        if self._file is not None:
            await self._file.saved()

    def _content(self) -> bytes:
        return msgspec.json.encode(Kept(self.known.number, self.known.text, self.node))

    def _read(self, text: str) -> Policy:
        return replace(parse_policy(text).for_node(self.node), source="cluster policy", node=self.node)

    def _unknown(self) -> Policy:
        self.problem = "the cluster's policy is not known at this node yet"
        return Policy(problem=self.problem, source="cluster policy", node=self.node)

    def _keep(self, policy: Policy, why: str) -> None:
        if why != self.problem:
            _log.warning("policy: %s", why)
        self.problem = why
        self._put(replace(policy, stale=why) if policy.problem is None else policy)

    def _put(self, policy: Policy) -> None:
        before, self.policy = self.policy, policy
        if policy != before:
            self.changed()


def kept_policy(path: Path) -> Kept | None:
    """The policy that this node last knew; None where it knows none. It blocks."""
    try:
        return decoders.decode(read_own(path), Kept)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    except BROKEN as error:
        _log.warning("policy: %s cannot be read, so the cluster's policy is not known until it is there: %s", path, error)
        return None


def _nowhere(text: str, number: int) -> NoReturn:
    raise Unavailable("this node cannot write the cluster's policy now")
