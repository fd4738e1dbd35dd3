"""``policy.toml``: the rules of all sessions, in one file that people and the hub write.

Rule 1: it is the owner's alone (0600). One that others may write, or that is no plain file, is not read.
Rule 2: it is replaced in one step and never half written. A rule that is added goes to the end; one that is taken
out goes with its lines alone. The rest stays as it was.
Rule 3: it is read again when it changed. A bad one changes nothing: the last good rules stay in force, and ``problem`` and every
verdict say so. Without good ones everything is asked. Of a file that went away only what restricts stays in force.
Rule 4: in a cluster (``cluster.py``) these are the node's own rules, which may only be stricter. What people decide for good is
written into the cluster's policy then, for this node.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from trunkline.disk.private_file import read_private, replace_private
from trunkline.errors import Conflict, Invalid, StorageError
from trunkline.session.policy import globs
from trunkline.session.policy.decide import Policy
from trunkline.session.policy.rules import Rule
from trunkline.session.policy.text import TEXT_BYTES, check_rule, parse_policy, with_rule, without_rule

if TYPE_CHECKING:
    from trunkline.session.policy.cluster import ClusterPolicy

POLICY_FILE = "policy.toml"
SETTLED_NS = 100_000_000
"""A file that changed this short a time before it was read may change again without a new time stamp."""

Stamp = tuple[int, int, int, int]
_log = logging.getLogger(__name__)


class _State(Struct, frozen=True):
    """All that is known of the file, changed as one: a reader on the loop and a writer in a thread never see half of it."""

    policy: Policy = Policy()
    text: str = ""
    good: bool = False
    problem: str | None = None
    seen: Stamp | None = None
    settled: bool = False


class PolicyText(NamedTuple):
    """The file for whoever looks at it, and what tells this text from another."""

    text: str
    version: str


class PolicyBook:
    """The policy of one data folder; without a path it is kept in memory. Writing waits for the disk: do it in a thread."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._state = _State()
        self._writing = threading.Lock()
        self.cluster: ClusterPolicy | None = None
        """The cluster's policy, where this is a node of one."""
        self._joined = (Policy(), Policy(), Policy())
        """The cluster's rules, the file's, and both as one."""
        self.changed: Callable[[], object] = lambda: None
        """Set by whoever has to know that other rules are in force now; called in whichever thread found it out."""
        self.refresh()

    def join(self, cluster: ClusterPolicy) -> None:
        """Put the cluster's policy before this one."""
        self.cluster = cluster
        if self._state.good:
            self._state = replace(self._state, policy=self._read(self._state.text))  # now it is known which node this is
        cluster.changed = lambda: self.changed()
        self.changed()

    @property
    def policy(self) -> Policy:
        """The rules in force now: the file's, or the cluster's with the file's behind them."""
        own = self.own
        if self.cluster is None or self.cluster.absent:
            return own
        over = self.cluster.policy
        if self._joined[0] is not over or self._joined[1] is not own:
            self._joined = over, own, replace(over, stricter=own)
        return self._joined[2]

    def with_text(self, text: str, *, is_clusters: bool) -> Policy:
        """The rules that would be in force with this text in the place of the file's, or of the cluster's; Invalid where it is no
        policy."""
        own = self.own if is_clusters else self._read(text)
        if self.cluster is None or (self.cluster.absent and not is_clusters):
            return own
        return replace(self.cluster.as_read(text) if is_clusters else self.cluster.policy, stricter=own)

    @property
    def own(self) -> Policy:
        """The rules of the file alone."""
        self.refresh()
        return self._state.policy

    @property
    def problem(self) -> str | None:
        """What is wrong with the file, and what is in force instead; None where all is well."""
        self.refresh()
        return self._state.problem

    @property
    def last_good(self) -> str | None:
        """The last good text of the file, where what is there now is not what is in force; None where all is well."""
        self.refresh()
        state = self._state
        return state.text if state.problem is not None and state.good else None

    def text(self) -> str:
        """The file as it is, also where it is no policy; empty without one, and an error where it cannot be read."""
        return self._state.text if self.path is None else (read_private(self.path, TEXT_BYTES + 1) or "")

    def shown(self) -> PolicyText:
        """The file as it is; nothing where it cannot be read, and ``problem`` says why. What is there then is no empty file:
        whoever read it before learns that it has changed."""
        try:
            text = self.text()
        except (Invalid, StorageError) as error:
            return PolicyText("", version_of(f"not read: {error.message}"))
        return PolicyText(text, version_of(text))

    def replace(self, text: str, *, versions: Collection[str] | None = None) -> Policy:
        """Write the whole file; Invalid, and nothing written, where it is no policy. With ``versions`` it must be one of these
        that is replaced, else Conflict."""
        with self._writing:
            if versions is not None and (found := self.shown().version) not in versions:
                raise Conflict("the policy was changed since you read it; read it again", details={"version": found})
            return self._replace(text)

    def append(self, rule: Rule) -> Policy:
        """Add a rule at the end; one that is there already is not added again. In a cluster it is added to the cluster's policy,
        for this node alone: the same path is another folder elsewhere."""
        check_rule(rule)
        if self.cluster is not None and not self.cluster.absent:
            self.cluster.append(replace(rule, node=[globs.escape(self.cluster.node)]))
            return self.policy
        with self._writing:
            text = self.text()
            if has_rule(text, rule):
                return self.policy
            return self._replace(with_rule(text, rule))

    def remove(self, number: int) -> Rule:
        """Take a rule out, by its place in the file from 1 on; Invalid where there is none. Returns it."""
        with self._writing:
            text = self.text()
            left = without_rule(text, number)
            rule = parse_policy(text).rules[number - 1]
            self._replace(left)
            return rule

    def _replace(self, text: str) -> Policy:
        policy = self._read(text)
        if self.path is not None:
            replace_private(self.path, text.encode())
        self._put(_State(policy, text, good=True, seen=None if self.path is None else _stamp(self.path)))
        return policy

    def _put(self, state: _State) -> None:
        before, self._state = self._state, state
        if state.policy != before.policy:
            self.changed()

    def refresh(self) -> None:
        """Look whether the file changed; costs one look at its time stamp where it did not."""
        if self.path is None:
            return
        before = self._state
        try:
            seen = _stamp(self.path)
            if seen == before.seen and before.settled:
                return
            settled = seen is None or seen[0] < time.time_ns() - SETTLED_NS
            self._put(replace(self._looked_at(before, read_private(self.path, TEXT_BYTES + 1)), seen=seen, settled=settled))
        except (Invalid, StorageError) as error:
            self._put(self._refused(before, error.message))

    def _looked_at(self, before: _State, text: str | None) -> _State:
        if text is None:
            return self._vanished(before)
        if before.good and before.problem is None and text == before.text:
            return before
        return _State(self._read(text), text, good=True)

    def _read(self, text: str) -> Policy:
        return parse_policy(text).for_node("" if self.cluster is None else self.cluster.node)

    def _vanished(self, before: _State) -> _State:
        if not before.good or not before.text:
            return _State()
        return _kept(before, before.policy.without_allowing(), f"{self.path} is gone; what it denied stays denied")

    def _refused(self, before: _State, why: str) -> _State:
        """It is looked at again each time: what is wrong with it may be its mode, or a folder's."""
        why = why if str(self.path) in why else f"{self.path}: {why}"
        if before.good:
            return _kept(before, before.policy, f"{why}; the last good rules stay in force")
        return _State(Policy(problem=why), problem=why)


def version_of(text: str) -> str:
    """What tells one text of the policy from another."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _kept(before: _State, policy: Policy, why: str) -> _State:
    if why != before.problem:
        _log.warning("policy: %s", why)
    return replace(before, policy=replace(policy, stale=why), problem=why, seen=None, settled=False)


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def has_rule(text: str, rule: Rule) -> bool:
    """Whether a policy has a rule that says the same."""
    return any(_same(rule, other) for other in parse_policy(text).rules)


def _same(rule: Rule, other: Rule) -> bool:
    return replace(rule, id=None, reason=None, saved_by=None) == replace(other, id=None, reason=None, saved_by=None)
