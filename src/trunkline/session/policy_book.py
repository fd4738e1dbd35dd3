"""``policy.toml``: the rules of all sessions, in one file that people and the hub write.

Rule 1: it is the owner's alone (0600). One that others may write, or that is no plain file, is not read.
Rule 2: it is replaced in one step and never half written. A rule that is added goes to the end; the rest stays as it was.
Rule 3: it is read again when it changed. A bad one changes nothing: the last good rules stay in force, and ``problem`` and every
verdict say so. Without good ones everything is asked. Of a file that went away only what restricts stays in force.
"""

from __future__ import annotations

import logging
import os
import secrets
import stat
import time
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from trunkline.errors import Invalid, StorageError
from trunkline.session.policy import Policy
from trunkline.session.policy_rules import Rule
from trunkline.session.policy_text import TEXT_BYTES, check_rule, parse_policy, with_rule

POLICY_FILE = "policy.toml"
SETTLED_NS = 100_000_000
"""A file that changed this short a time before it was read may change again without a new time stamp."""

Stamp = tuple[int, int, int, int]
_log = logging.getLogger(__name__)


class PolicyBook:
    """The policy of one data folder; without a path it is kept in memory."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.problem: str | None = None
        self._text = ""
        self._policy = Policy()
        self._good = False
        self._seen: Stamp | None = None
        self._settled = path is None
        self._refresh()

    @property
    def policy(self) -> Policy:
        """The rules in force now."""
        self._refresh()
        return self._policy

    def text(self) -> str:
        """The file as it is, also where it cannot be read as a policy; empty without one."""
        return self._text if self.path is None else (_read(self.path) or "")

    def replace(self, text: str) -> Policy:
        """Write the whole file; Invalid, and nothing written, where it is no policy."""
        policy = parse_policy(text)
        if self.path is not None:
            write_private(self.path, text.encode())
            self._seen, self._settled = _stamp(self.path), False
        self._take(text, policy)
        return policy

    def append(self, rule: Rule) -> Policy:
        """Add a rule at the end; one that is there already is not added again."""
        check_rule(rule)
        text = self.text()
        known = parse_policy(text).rules
        if any(_same(rule, other) for other in known):
            return self.policy
        return self.replace(with_rule(text, rule))

    def _refresh(self) -> None:
        """Look whether the file changed; costs one look at its time stamp where it did not."""
        if self.path is None:
            return
        try:
            now = _stamp(self.path)
            if now == self._seen and self._settled:
                return
            before = time.time_ns()
            text = _read(self.path)
            self._seen, self._settled = now, now is None or now[0] < before - SETTLED_NS
            if text is None:
                self._vanished()
            elif text != self._text or self.problem is not None or not self._good:
                self._take(text, parse_policy(text))
        except (Invalid, StorageError) as error:
            self._refused(error.message)

    def _take(self, text: str, policy: Policy) -> None:
        self._text, self._policy, self._good, self.problem = text, policy, True, None

    def _vanished(self) -> None:
        if not self._good:
            self._policy, self.problem = Policy(), None
        elif self._text:
            self._keep(self._policy.without_allowing(), f"{self.path} is gone; what it denied stays denied")

    def _refused(self, why: str) -> None:
        why = why if str(self.path) in why else f"{self.path}: {why}"
        if self._good:
            self._keep(self._policy, f"{why}; the last good rules stay in force")
        else:
            self._policy, self.problem = Policy(problem=why), why

    def _keep(self, policy: Policy, why: str) -> None:
        if why != self.problem:
            _log.warning("policy: %s", why)
        self._policy, self.problem = replace(policy, stale=why), why


def write_private(path: Path, content: bytes) -> None:
    """Put a file in place of another in one step, closed to others, and on the disk before it counts."""
    target = Path(os.path.realpath(path))
    half = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(half, target)
        except BaseException:
            with suppress(FileNotFoundError):  # it may have got its name already
                half.unlink()
            raise
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _read(path: Path) -> str | None:
    """The file's text, or None where there is none. A pipe must not make us wait, nor a huge file eat the memory."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    try:
        _check_owner(path, os.fstat(descriptor))
        with open(descriptor, "rb", closefd=False) as file:
            if os.fstat(descriptor).st_mode & 0o077:
                os.fchmod(descriptor, 0o600)
            return file.read(TEXT_BYTES + 1).decode("utf-8")
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not UTF-8: {error}") from error
    finally:
        os.close(descriptor)


def _check_owner(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise Invalid(f"{path} is not a plain file")
    if found.st_uid not in (os.geteuid(), 0):
        raise Invalid(f"{path} belongs to somebody else")
    if found.st_mode & 0o022:
        raise Invalid(f"{path} may be written by others; close it with: chmod 600 {path}")


def _same(rule: Rule, other: Rule) -> bool:
    return replace(rule, id=None, reason=None) == replace(other, id=None, reason=None)
