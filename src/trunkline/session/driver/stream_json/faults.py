"""What goes wrong with the Claude Code CLI, and what a person can do about it.

Rule 1: the CLI's own words are always in the message; what we add says what to do.
Rule 2: what we do not recognise is passed on as it is.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from trunkline.agents.catalog import AgentSpec
from trunkline.agents.exit_reason import last_words
from trunkline.agents.process import Exit
from trunkline.dialects.error_codes import ErrorCode
from trunkline.dialects.signals import AgentFault, Update
from trunkline.errors import (
    AgentAuthRequired,
    AgentProtocolMismatch,
    AgentStartFailed,
    NotFound,
    RemoteError,
    TrunklineError,
)
from trunkline.session.driver.stream_json.command import LEAST, Version

Trouble = Literal["login", "credit", "limit", "disk", "missing", "in_use", "superuser", "flag"]

_SIGNS: tuple[tuple[Trouble, re.Pattern[str]], ...] = (
    ("missing", re.compile(r"No conversation found with session ID|no conversation found to continue", re.I)),
    ("in_use", re.compile(r"Session ID \S+ is already in use", re.I)),
    ("disk", re.compile(r"ENOSPC|no space left on device|EDQUOT|disk quota exceeded", re.I)),
    ("credit", re.compile(r"credit balance is too low|billing_error|insufficient credit|credits? exhausted", re.I)),
    ("limit", re.compile(r"usage limit reached|hit your (?:\w+ ){0,5}limit", re.I)),
    ("login", re.compile(r"not logged in|please run /login|invalid api key|invalid x-api-key|authentication_(error|failed)"
                         r"|oauth token (has expired|revoked)", re.I)),
    ("superuser", re.compile(r"cannot be used with root/sudo", re.I)),
    ("flag", re.compile(r"unknown option|requires --verbose", re.I)),
)

_UNKNOWN = re.compile(r"\b(?:unknown|unsupported|unrecogni[sz]ed|not (?:supported|implemented|known))\b", re.I)

NO_SPACE = "no space left on device where its sessions are kept"

_ADVICE: dict[Trouble, str] = {
    "credit": "The account behind it has no credit left: add some, or log in with another account, then send the prompt again.",
    "limit": "The plan's limit is reached: wait until it is reset, or log in with another account.",
    "disk": "The disk is full: free some space where it keeps its sessions, then send the prompt again.",
    "missing": "Its files of this conversation are gone or belong to another user or folder; start a new session.",
    "in_use": "Another program has this conversation open: end it there, or fork the session.",
    "superuser": "As superuser it asks before it acts; set IS_SANDBOX=1 only where nothing can be harmed.",
}


def trouble_in(text: str) -> Trouble | None:
    """What a text of the CLI's complains about; None for anything else."""
    return next((trouble for trouble, sign in _SIGNS if sign.search(text)), None)


def is_unknown_request(error: str | None) -> bool:
    """Whether a refusal says that the CLI knows no such request."""
    return error is not None and _UNKNOWN.search(error) is not None


def explained(spec: AgentSpec, fault: AgentFault) -> AgentFault:
    """An error of a turn, with what to do about it."""
    trouble = trouble_in(fault.message)
    if fault.code == ErrorCode.AUTH_REQUIRED:
        trouble = "login"
    if trouble is None:
        return fault
    code = int(ErrorCode.AUTH_REQUIRED) if trouble == "login" else fault.code
    message = f"{spec.display_name}: {fault.message.rstrip('. ')}. {_advice(spec, trouble)}"
    return msgspec.structs.replace(fault, code=code, message=message)


def disk_full(spec: AgentSpec) -> AgentFault:
    """A prompt was not sent, since the CLI could not keep the conversation."""
    return explained(spec, AgentFault(int(ErrorCode.INTERNAL_ERROR), NO_SPACE))


def death(spec: AgentSpec, exit: Exit, stderr: str) -> AgentFault | None:
    """Why the CLI ended in the middle of a turn, where its last words say so."""
    trouble = trouble_in(stderr)
    if trouble is None:
        return None
    reason = _telling_line(stderr)
    return explained(spec, AgentFault(int(ErrorCode.INTERNAL_ERROR), f"it {exit}: {reason}"))


def start_failure(spec: AgentSpec, what: str, stderr: str, version: str | None) -> TrunklineError:
    """Why the CLI could not be started."""
    output = f"{what}\n{stderr}"
    trouble = trouble_in(output)
    details: dict[str, Any] = {"command": list(spec.command), "stderr": stderr, "docsUrl": spec.docs_url}
    reason = _telling_line(output) if trouble is not None else what
    if trouble == "missing":
        return NotFound(f"{spec.display_name} cannot go on: {reason}. {_ADVICE['missing']}", details=details)
    if trouble == "login":
        return AgentAuthRequired(f"{spec.display_name} wants a login first: {reason}. {_advice(spec, 'login')}", details=details)
    if trouble == "flag":
        return AgentProtocolMismatch(
            f"{spec.display_name} {version or 'of this version'} does not take what Trunkline tells it: {reason}. "
            f"{_update(spec)}",
            details=details)
    advice = _ADVICE[trouble] if trouble is not None else f"Run the command by hand to see more. {spec.docs_url}".rstrip()
    words = last_words(stderr) or stderr.strip()[-600:] if trouble is None else ""
    tail = f" Its last words on stderr: {words}" if words else ""
    return AgentStartFailed(f"{spec.display_name} could not be started: {reason.rstrip('.')}.{tail} {advice}", details=details)


def too_old(spec: AgentSpec, version: Version) -> RemoteError:
    """The installed CLI cannot be driven."""
    found, least = (".".join(map(str, numbers)) for numbers in (version, LEAST))
    return AgentProtocolMismatch(
        f"{spec.display_name} {found} is too old: Trunkline drives {least} and newer. {_update(spec)}",
        details={"command": list(spec.command), "version": found, "least": least, "installHint": spec.install_hint})


def _advice(spec: AgentSpec, trouble: Trouble) -> str:
    if trouble == "login":
        return f"To log in: {spec.login_hint or 'use its own command'}; then send the prompt again."
    return _ADVICE.get(trouble, "")


def _update(spec: AgentSpec) -> str:
    return f"Update it: {spec.install_hint}" if spec.install_hint else "Update it."


def _telling_line(text: str) -> str:
    """The line that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if trouble_in(line) is not None), lines[-1] if lines else "")[:400]


def notice(title: str, description: str) -> Update:
    """A warning that people are shown."""
    update = {"sessionUpdate": "notice", "severity": "warning", "title": title, "description": description}
    return Update(msgspec.json.encode(update))
