"""Whether an address is one of this machine: one reading of a URL's host, as curl and browsers read it.

Rule 1: this machine is only what every reader takes for it. Whatever they may read differently (a backslash, a percent sign in
the host, braces that curl expands, a port that is no number, a part that only the run knows) is another machine.
Rule 2: only a web address is one of this machine. Any other scheme says what else is done, and is judged by that.
Rule 3: what stands before the last ``@`` of the authority is a name and a password, and never the host.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import unquote

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://")
_WEB: Final = frozenset(("http://", "https://", "ws://", "wss://"))
_GUESSED: Final = re.compile(r"(?:ftp|dict|ldap|imap|smtp|pop3)\.", re.IGNORECASE)
"""Beginnings of a host by which curl takes another scheme than http where none is given."""
_PLAIN: Final = re.compile(r"[!-\[\]-~]{1,4096}")
"""Visible ASCII without the backslash, which some take for a slash."""
_AUTHORITY_ENDS: Final = re.compile(r"[/?#]")
_HOST: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]{1,255}))(?::\d{0,5})?")
_OWN_NAMES: Final = re.compile(r"(?:[a-z0-9_-]+\.)*(?:localhost|test)|host\.docker\.internal")
"""Names that mean this machine, or nothing: nobody can register them. ``.local`` is any machine of the same network."""
_QUERY: Final = re.compile(r"[?#]")
_PART: Final = re.compile(r"0[xX]([0-9a-fA-F]{1,8})|(0[0-7]{0,11})|([1-9]\d{0,9})")


def is_local(url: str) -> bool:
    """Whether an address, with a scheme or without, is beyond doubt one of this machine."""
    if _PLAIN.fullmatch(url) is None:
        return False
    scheme = _SCHEME.match(url)
    if (scheme[0].lower() not in _WEB) if scheme is not None else _GUESSED.match(url) is not None:
        return False
    rest = url[scheme.end():] if scheme is not None else url
    end = _AUTHORITY_ENDS.search(rest)
    authority, behind = (rest, "") if end is None else (rest[:end.start()], rest[end.start():])
    if behind[:1] in ("?", "#") and "@" in behind.partition("/")[0]:
        return False  # some have read on to that sign
    if "{" in authority or "$" in authority:
        return False
    host = _HOST.fullmatch(authority.rpartition("@")[2])
    if host is None:
        return False
    return _is_own_six(host[1]) if host[1] else _is_own(host[2].lower().removesuffix("."))


def scheme_of(url: str) -> str:
    """The scheme of an address in small letters; empty where it has none."""
    scheme = _SCHEME.match(url)
    return scheme[0][:-3].lower() if scheme is not None else "file" if url[:5].lower() == "file:" else ""


def file_of(url: str) -> str:
    """The path of an address of a file, whatever host it names: only this machine's files are read."""
    rest = url[5:]
    if rest[:2] == "//":
        _, slash, path = rest[2:].partition("/")
        rest = slash + path if slash else rest[2:]
    return unquote(_QUERY.split(rest)[0])


def _is_own(host: str) -> bool:
    if _OWN_NAMES.fullmatch(host) is not None:
        return True
    number = _number(host)
    return number is not None and (number == 0 or number >> 24 == 127)


def _is_own_six(text: str) -> bool:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return False
    four = address.ipv4_mapped
    return address.is_loopback or address.is_unspecified or (four is not None and (four.is_loopback or four.is_unspecified))


def _number(host: str) -> int | None:
    """An address in any of the forms that ``inet_aton`` takes: ``127.1``, ``0x7f.0.0.1``, ``2130706433``; None: it is a name."""
    parts = [_PART.fullmatch(part) for part in host.split(".")[:5]]
    values = [int(one[1], 16) if one[1] else int(one[2], 8) if one[2] else int(one[3]) for one in parts if one is not None]
    if len(values) < len(parts) or not 1 <= len(values) <= 4:
        return None
    *before, last = values
    if any(value > 255 for value in before) or last >= 1 << (8 * (4 - len(before))):
        return None
    return sum(value << (24 - 8 * at) for at, value in enumerate(before)) + last
