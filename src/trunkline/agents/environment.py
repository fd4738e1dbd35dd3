"""What an agent may see of the environment, and the marker by which we find it again.

Rule 1: a variable passes only when it is on a list: ours below, the agent's own, or given for this session.
Rule 2: ``TRUNKLINE_*`` never passes, whoever asks for it; it may hold the hub's token.
Rule 3: every process we start carries the marker. A child inherits it across ``setsid`` and double forks, so what an agent
leaves behind can be distinguished from everything else on the machine.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from fnmatch import translate
from functools import lru_cache

from trunkline.errors import Invalid

MARKER = "AGENT_LINE_MARKER"
"""The marker's variable. It must not look like one of the hub's own settings (Rule 2)."""

RESERVED_PREFIX = "TRUNKLINE_"

BASE_ALLOW = (
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PATH",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    "XDG_*",
    # Without these an agent behind a company proxy cannot reach its model.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
)

_IS_NAME = re.compile(r"[^*?\[]*").fullmatch
"""Whether it stands for itself alone, and not for what it matches."""


def clean_env(spec_allow: Iterable[str], source: Mapping[str, str], extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of one agent: what the lists let through of ``source``, then ``extra``, then a new marker.

    ``spec_allow`` holds names, or patterns such as ``OPENAI_*``. Raises Invalid for an ``extra`` that no process can carry.
    """
    allow = (*BASE_ALLOW, *spec_allow)
    names, is_like = frozenset(allow), _is_like(tuple(each for each in allow if not _IS_NAME(each)))
    env = {name: value for name, value in source.items() if name in names or is_like(name)}
    for name, value in (extra or {}).items():
        _check_variable(name, value)
        env[name] = value
    env = {name: value for name, value in env.items() if not name.startswith(RESERVED_PREFIX)}
    env.setdefault("PATH", os.defpath)
    env[MARKER] = new_marker()
    return env


@lru_cache(maxsize=64)
def _is_like(patterns: tuple[str, ...]) -> Callable[[str], re.Match[str] | None]:
    """What says whether a name is like one of the patterns: one step for each variable, not one for each variable and pattern."""
    return re.compile("|".join(map(translate, patterns))).match if patterns else lambda name: None


def new_marker() -> str:
    """A marker nobody else has."""
    return secrets.token_hex(16)


def marker_below(marker: str) -> str:
    """A marker for a command that belongs to a marked agent: ending the agent's ends it too, not the other way round."""
    return f"{marker}.{secrets.token_hex(8)}"


def _check_variable(name: str, value: str) -> None:
    if not name or "=" in name or "\0" in name or "\0" in value:
        raise Invalid(f"environment variable {name!r} has a name or value that no process can carry", details={"field": "env"})
