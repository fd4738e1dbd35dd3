"""``policy.toml`` as text: read into a policy, and a rule written as the lines that are appended.

Rule 1: pure. What is wrong is Invalid that names the line or the rule and its key.
Rule 2: a file is taken whole or not at all. A rule with an unknown key is no rule: the key may have been what limited it.
Rule 3: a written rule ends with its action, so that a file cut off in the middle has a rule without one and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import msgspec

from trunkline import decoders
from trunkline.dialects.context.types import AutoApprove, PermissionPolicy
from trunkline.dialects.outside import BROKEN, NOT_TOML
from trunkline.dialects.toml_text import toml_value
from trunkline.errors import Invalid
from trunkline.session.policy import globs
from trunkline.session.policy.decide import Policy
from trunkline.session.policy.rules import Rule, expiry_us

TEXT_BYTES = 1 << 20
RULES = 2000
PATTERNS = 200
NOTE_CHARS = 1000

_FIELDS = {field.name: field.encode_name for field in msgspec.structs.fields(Rule)}
_ABOUT = ("category", "tool", "agent", "command", "path", "risk")
_LISTS = (*_ABOUT, "node")
_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*rules[ \t]*\]\]", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_WRITTEN_ORDER = ("id", *_LISTS, "input", "root", "session", "turn", "expires_at", "saved_by", "reason", "action")


def parse_policy(text: str) -> Policy:
    """The policy that a file's text says; Invalid names what is wrong with it and where."""
    if len(text.encode("utf-8", "surrogatepass")) > TEXT_BYTES:
        raise Invalid(f"the policy is longer than {TEXT_BYTES} bytes")
    if not text.strip():
        return Policy()
    import tomllib  # only who has a policy pays for its parser

    try:
        table = tomllib.loads(text)
    except NOT_TOML as error:
        raise Invalid(f"the policy is not TOML: {error}") from error
    _refuse_unknown(table, ("rules", "auto_approve"), "the policy")
    rules = table.get("rules", [])
    if not isinstance(rules, list) or len(rules) > RULES:
        raise Invalid(f"rules: expected [[rules]] tables, {RULES} at most")
    places = _places(text, len(rules))
    return Policy(tuple(_rule(table, place) for table, place in zip(rules, places, strict=True)),
                  _auto_approve(table["auto_approve"]) if "auto_approve" in table else None)


def check_rule(rule: Rule, where: str = "the rule") -> Rule:
    """The rule itself, or Invalid where it could not mean what its author wants."""
    for key in ("tool", "agent", "command", "path", "node"):
        _check_patterns(where, key, getattr(rule, key), paths=key == "path")
    if rule.action == "allow" and not any(getattr(rule, key) for key in _ABOUT):
        raise Invalid(f"{where}: an allow rule must say what it is about: one of {', '.join(_ABOUT)}")
    if rule.action == "allow" and any(pattern.startswith("~") for pattern in rule.path):
        raise Invalid(f"{where}: path: what is allowed is relative to the session's folder, so `~` matches nothing")
    if rule.root is not None and not rule.root.startswith(("/", "~/")):
        raise Invalid(f"{where}: root: expected an absolute path, got {rule.root!r}")
    if rule.root is not None and not {".", ".."}.isdisjoint(rule.root.split("/")):
        raise Invalid(f"{where}: root: {rule.root!r} takes a detour; write the folder itself, without `.` and `..`")
    for key in ("input", "session", "turn", "id", "reason"):
        value = getattr(rule, key)
        if value is not None and not 0 < len(value) <= NOTE_CHARS:
            raise Invalid(f"{where}: {key}: expected 1 to {NOTE_CHARS} characters")
    if rule.expires_at is not None:
        _named(where, "expires_at", expiry_us, rule.expires_at)
    return rule


def check_permission_policy(policy: PermissionPolicy, where: str = "autoApprove") -> PermissionPolicy:
    """The same for the protocol's own policy."""
    auto = policy.auto_approve
    if isinstance(auto.writes, list):
        _check_patterns(where, "writes", auto.writes, paths=True)
    if isinstance(auto.commands, list):
        _check_patterns(where, "commands", auto.commands, paths=False)
    return policy


def written_rule(rule: Rule) -> str:
    """A rule as a ``[[rules]]`` table."""
    lines = ["[[rules]]"]
    for name in _WRITTEN_ORDER:
        value = getattr(rule, name)
        if value is not None and value != []:  # an empty text limits a rule to nothing: left out, it would open it
            lines.append(f"{name} = {toml_value(value)}")
    return "\n".join(lines) + "\n"


def written_auto_approve(policy: PermissionPolicy) -> str:
    """The protocol's own policy as the ``[auto_approve]`` table."""
    auto = policy.auto_approve
    return "".join(["[auto_approve]\n", *(f"{name} = {toml_value(getattr(auto, name))}\n" for name in auto.__struct_fields__)])


def with_rule(text: str, rule: Rule) -> str:
    """The file's text with a rule at its end; what was there stays as it is."""
    inline = re.search(r"^[ \t]*rules[ \t]*=", text, re.MULTILINE) and not _HEADER.search(text)
    if inline:
        raise Invalid("the policy has its rules as one list `rules = [...]`; write them as [[rules]] so that more can be added")
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + written_rule(rule)


def without_rule(text: str, number: int) -> str:
    """The file's text without one of its rules, the first is 1; what is not in that rule's table stays, comments too. Invalid
    where there is no such rule, or where its lines cannot be told from others."""
    before = parse_policy(text)
    if not 1 <= number <= len(before.rules):
        has = {0: "has no rules", 1: "has one rule"}.get(len(before.rules), f"has {len(before.rules)} rules")
        raise Invalid(f"there is no rule {number}: the policy {has}")
    found = [match.start() for match in _HEADER.finditer(text)]
    if len(found) == len(before.rules):
        left = _cut_table(text, found[number - 1])
        with suppress(Invalid):  # where the cut went through something else
            if parse_policy(left) == Policy(before.rules[:number - 1] + before.rules[number:], before.auto_approve):
                return left
    raise Invalid(f"it is not plain which lines rule {number} has; edit the policy instead")


def _cut_table(text: str, start: int) -> str:
    """The text without the table that begins there. Comments and empty lines at its end are of what follows."""
    following = _TABLE.search(text, text.index("]]", start))
    end = len(text) if following is None else following.start()
    lines = text[start:end].splitlines(keepends=True)
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    head, rest = text[:start], text[start + sum(map(len, lines)):]
    if not head or head.endswith("\n\n"):
        rest = rest.lstrip("\n")
    return head + rest if rest else head.rstrip("\n") + "\n" if head.strip() else ""


def _places(text: str, count: int) -> list[str]:
    """What to call each rule: its number, and its line where that is plain."""
    lines = [text.count("\n", 0, found.start() + len(found[0]) - len(found[0].lstrip())) + 1 for found in _HEADER.finditer(text)]
    if len(lines) != count:
        return [f"rule {number}" for number in range(1, count + 1)]
    return [f"rule {number} (line {line})" for number, line in enumerate(lines, 1)]


def _rule(table: Any, where: str) -> Rule:
    if not isinstance(table, Mapping):
        raise Invalid(f"{where}: expected a table")
    _refuse_unknown(table, _FIELDS, where)
    values = {_FIELDS[key]: _value(key, value) for key, value in table.items()}
    try:
        rule = decoders.convert(values, Rule)
    except BROKEN as error:
        raise Invalid(f"{where}: {_plainly(str(error))}") from error
    return check_rule(rule, where)


def _value(key: str, value: Any) -> Any:
    if key in _LISTS and isinstance(value, str):
        return [value]
    if key == "expires_at" and isinstance(value, datetime):
        return value.isoformat()
    return value


def _auto_approve(table: Any) -> PermissionPolicy:
    if not isinstance(table, Mapping):
        raise Invalid("auto_approve: expected a table")
    _refuse_unknown(table, AutoApprove.__struct_fields__, "auto_approve")
    values = dict.fromkeys(AutoApprove.__struct_fields__, False) | dict(table)
    try:
        auto = decoders.convert(values, AutoApprove)
    except BROKEN as error:
        raise Invalid(f"auto_approve: {_plainly(str(error))}") from error
    return check_permission_policy(PermissionPolicy(auto_approve=auto), "auto_approve")


def _check_patterns(where: str, key: str, patterns: Sequence[str], *, paths: bool) -> None:
    if len(patterns) > PATTERNS:
        raise Invalid(f"{where}: {key}: more than {PATTERNS} patterns")
    if patterns and all(pattern.startswith("!") for pattern in patterns):
        raise Invalid(f"{where}: {key}: only exclusions; begin with what is included, such as {'**' if paths else '*'}")
    for pattern in patterns:
        _named(where, key, globs.check_path_pattern if paths else globs.check, pattern)


def _named(where: str, key: str, look: Any, value: str) -> None:
    try:
        look(value)
    except Invalid as error:
        raise Invalid(f"{where}: {key}: {error.message}") from error


def _refuse_unknown(table: Mapping[str, Any], known: Any, where: str) -> None:
    for key in table:
        if key not in known:
            raise Invalid(f"{where}: unknown key {key!r}; known are {', '.join(known)}")


def _plainly(message: str) -> str:
    """msgspec's words with our names of the keys: ``Expected `str`, got `int` - at `$.expiresAt` ``."""
    what, _, path = message.partition(" - at `$.")
    names = {encoded: name for name, encoded in _FIELDS.items()}
    key = re.match(r"\w*", path)
    return f"{names.get(key[0], key[0])}: {what}" if key and key[0] else what
