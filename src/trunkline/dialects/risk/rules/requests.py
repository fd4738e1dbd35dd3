"""Requests that change or give away something, also on this machine: a service here may hold what cannot be made again, and some
have the machine itself in their hands.

Rule 1: a row says which address, and what a question and a change there are.
Rule 2: a body or an address with a statement of a database in it is that statement.
Rule 3: of a service that is not known a change is medium, and a deletion is high. To post something here is how a program that is
being written is tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple
from urllib.parse import unquote_plus

from trunkline.dialects.context.types import RiskLevel
from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.rules.databases import CHANGES, note_not_known
from trunkline.dialects.risk.rules.looking import only_looks

_METHODS: Final = frozenset("POST PUT PATCH DELETE GET HEAD OPTIONS".split())
_BODIES: Final = frozenset(
    "-d --data --data-binary --data-raw --data-urlencode --data-ascii --json -F --form --form-string -T --upload-file "
    "--post-file --post-data --body-file --body-data --raw".split())
_BY_WORDS: Final = frozenset(("http", "https", "xh", "xhs"))
_ITEM: Final = re.compile(r"[\w.\[\]-]{1,80}(:?=@?|@).{0,4096}", re.DOTALL)
_LETTERS: Final = re.compile(r"-[A-Za-z#0-9]{0,20}X([A-Za-z]{0,20})")
_OVERRIDE: Final = re.compile(r"(?i)x-(?:http-)?method(?:-override)?\s{0,9}[:;=]\s{0,9}([a-z]{1,20})")
"""A header by which a request is another one than its method says."""
_LOOKING: Final = frozenset("TRACE PROPFIND REPORT SEARCH QUERY CONNECT".split())
_WORD_CHARS: Final = 400
_ADDRESS_CHARS: Final = 2048


class Service(NamedTuple):
    """What may be asked of a service, and what changing something there means."""

    address: re.Pattern[str]
    asked: RiskLevel | None
    changed: RiskLevel
    reason: str
    secret: bool = False


def _service(address: str, asked: RiskLevel | None, changed: RiskLevel, reason: str, *, secret: bool = False) -> Service:
    return Service(re.compile(address), asked, changed, reason, secret)


_AT: Final = r"^(?:\w{1,20}://)?[^/?#]{0,300}"
SERVICES: Final = (
    _service(_AT + r":237[56](?:/|$)", "medium", "high", "talks to docker itself, which has the machine in its hands"),
    _service(_AT + r":10250/(?:run|exec)", "high", "high", "runs commands in a cluster"),
    _service(_AT + r"(?:169\.254\.169\.254|169\.254\.170\.2|metadata\.google\.internal|100\.100\.100\.200|fd00:ec2::254)",
             "high", "high", "reads the machine's own credentials"),
    _service(_AT + r":8200/v1/(?!sys/(?:health|seal-status))", "high", "high", "reads or changes credentials", secret=True),
    _service(r"^[^?#]{0,1200}/secrets(?:/|$|\?)", None, "high", "changes credentials"),
    _service(_AT + r":(?:6443|8001)/[^?#]{0,900}/secrets(?:/|$|\?)", "high", "high", "reads or changes credentials", secret=True),
    _service(_AT + r":(?:6443|8001|10250|8500|2379|4646)(?:/|$)", None, "high", "changes a cluster"),
    _service(r"^[^?#]{0,1200}/_(?:delete_by_query|all|shutdown|forcemerge)(?:/|$|\?)", None, "high",
             "deletes what a service holds"),
    _service(r"^(?:https?://)?(?:[^/@]{0,200}@)?(?:api\.github\.com|uploads\.github\.com|api\.bitbucket\.org|dev\.azure\.com|registry\.npmjs\.org"
             r"|upload\.pypi\.org|crates\.io/api|rubygems\.org/api|hub\.docker\.com|api\.(?:vercel|netlify|heroku|cloudflare|fly)\.[a-z]{2,5})"
             r"(?:[/:?]|$)|^[^?#]{0,400}/api/v[1-4]/(?:repos|projects|groups|orgs)(?:/|$)", None, "high",
             "changes or publishes something at a forge or a registry"),
)
_ENGINES: Final = re.compile(
    r"(?:docker|podman|containerd|crio|cri-dockerd|buildkitd?|lxd|incus|libvirt|snapd|dbus|system_bus|systemd)(?![a-z])")
"""Services that start programs, or change the machine, for whoever reaches their socket."""

_DATABASES: Final = re.compile(_AT + r"(?::8123(?:[/?]|$)|/_sql(?:[/?]|$))")
"""Services that take the body of a request for a statement, whatever it is."""
_UNREAD: Final = re.compile(r"@|[^=]{1,80}@")
_BODY_CHARS: Final = 1 << 16


def note_requests(call: ProgramCall, targets: Sequence[str]) -> None:
    """Note what a request does to whoever gets it, wherever that is."""
    method = _method(call)
    changes = method in ("POST", "PUT", "PATCH", "DELETE")
    if call.longs and (socket := _socket(call)) is not None:
        call.note("high", "talks to a service that has power over the machine", socket)
    for target in targets:
        for service in SERVICES:
            if service.address.search(target[:_ADDRESS_CHARS]):
                _note(call, service, changes)
    _note_statements(call, targets)
    if method == "DELETE":
        call.at_least("high", "deletes something that a service holds", call.command.text)
    elif method in ("PUT", "PATCH") and targets:
        call.at_least("medium", "changes something that a service holds", call.command.text)


def _socket(call: ProgramCall) -> str | None:
    """The socket that a request goes through, where it is no one of the project's own."""
    path = call.value("--unix-socket")
    if path is None:
        return call.value("--abstract-unix-socket")
    is_own = call.places.kind(path) in ("inside", "temp") and _ENGINES.search(path[:_ADDRESS_CHARS]) is None
    return None if is_own else path


def _note_statements(call: ProgramCall, targets: Sequence[str]) -> None:
    """Note a statement that changes data, in what is sent or in the address."""
    bodies = list(_bodies(call)) if not call.bare else []
    texts = [*[text[:_BODY_CHARS] for _, text in bodies], *(call.operands[1:] if call.name in _BY_WORDS else ())]
    asked = [unquote_plus(target[:_ADDRESS_CHARS].partition("?")[2]) for target in targets if "?" in target]
    if (found := next((text for text in (*texts, *asked) if CHANGES.search(text) is not None), None)) is not None:
        call.note("high", "changes or deletes data", found)
    elif any(_DATABASES.search(target[:_ADDRESS_CHARS]) for target in targets) and (
            any(call.command.words[at] is None for at, _ in bodies) or any(map(_UNREAD.match, texts))):
        note_not_known(call)


def _bodies(call: ProgramCall) -> Iterator[tuple[int, str]]:
    """What a request sends, each with its place among the words."""
    for at, arg in enumerate(call.args, 1):
        name, equal, value = arg.partition("=")
        if arg in _BODIES:
            yield min(at + 1, len(call.args)), " ".join(call.args[at:at + 1])
        elif equal and name[:2] == "--" and name in _BODIES:
            yield at, value
        elif arg[:2] in _BODIES and arg[1:2] != "-":
            yield at, arg[2:]


def _note(call: ProgramCall, service: Service, changes: bool) -> None:
    level = service.changed if changes else service.asked
    if level is not None:
        call.traits |= Trait.SECRET if service.secret else Trait.NONE
        call.at_least(level, service.reason, call.command.text)


def _method(call: ProgramCall) -> str:
    """The method that is asked for: as said, else by whether something is sent."""
    if call.name in _BY_WORDS:
        first = call.operands[0].upper() if call.operands else ""
        if first in _METHODS:
            return first
        return "POST" if any(map(_ITEM.fullmatch, call.operands[1:])) or not call.options.isdisjoint(_BODIES) else "GET"
    if call.bare:
        return "GET"
    said = next((found[1] for arg in call.args if (found := _OVERRIDE.search(arg[:_WORD_CHARS]))), "") or (
        call.value("-X", "--request", "--method") or _bundled(call))
    if said:
        return said.upper() if said.upper() in _METHODS else "GET" if said.upper() in _LOOKING else "DELETE"
    if call.options.isdisjoint(_BODIES) or only_looks("curl", call.args):
        return "GET"
    return "PUT" if call.value("-T", "--upload-file") is not None and call.name == "curl" else "POST"


def _bundled(call: ProgramCall) -> str:
    """``-sXDELETE``, ``-sX DELETE``."""
    for at, arg in enumerate(call.args):
        found = _LETTERS.fullmatch(arg) if arg[:1] == "-" and arg[1:2] != "-" else None
        if found is not None:
            return found[1] or " ".join(call.args[at + 1:at + 2])
    return ""
