"""What of another node's answer may reach a browser that is logged in here.

A page of this node trusts what this node says. Another node, or whoever stole its key, must not be able to put a script there.

Rule 1: headers that are not known here are left out.
Rule 2: its answer runs nothing here. A policy of its own counts where it puts the answer into a sandbox without an origin; only
previews run scripts in there. Without one it is like an answer of ours that says nothing about itself.
"""

from __future__ import annotations

from trunkline.cluster.tunnel.heads import is_session
from trunkline.server.call import DEFAULT_HEADERS

Headers = list[tuple[bytes, bytes]]

PASSED = frozenset((
    b"accept-ranges", b"allow", b"cache-control", b"connection", b"content-disposition", b"content-length", b"content-range",
    b"content-type", b"etag", b"last-modified", b"referrer-policy", b"retry-after", b"x-accel-buffering"))
OF_PREVIEWS = frozenset((b"access-control-allow-origin", b"connection-allowlist", b"cross-origin-resource-policy",
                         b"x-dns-prefetch-control"))
_POLICY = b"content-security-policy"
_FORCED = [(name.encode(), value.encode()) for name, value in DEFAULT_HEADERS
           if name in ("x-content-type-options", "cross-origin-resource-policy", "content-security-policy")]


def confined(headers: Headers, *, is_preview: bool) -> Headers:
    """The headers of another node's answer, as they may be sent on."""
    kept = [header for header in headers if header[0] in PASSED or is_session(header)]
    policies = [value for name, value in headers if name == _POLICY]
    if len(policies) != 1 or not _is_sandbox(policies[0], is_preview):
        return kept + _FORCED
    kept.append((_POLICY, policies[0]))
    if not is_preview:
        return kept + [forced for forced in _FORCED if forced[0] != _POLICY]
    kept += [header for header in headers if header[0] in OF_PREVIEWS or _is_inside(header)]
    return kept + [forced for forced in _FORCED if forced[0] == b"x-content-type-options"]


def _is_sandbox(policy: bytes, is_preview: bool) -> bool:
    """Whether it leaves what it is on without an origin, whatever else it says. A comma would begin a policy of its own."""
    directives = [directive.lower().split() for directive in policy.split(b";")]
    sandboxes = [directive[1:] for directive in directives if directive[:1] == [b"sandbox"]]
    allowed = ([], [b"allow-scripts"]) if is_preview else ([],)
    return b"," not in policy and bool(sandboxes) and all(each in allowed for each in sandboxes)


def _is_inside(header: tuple[bytes, bytes]) -> bool:
    """Whether it leads to another part of a preview."""
    name, value = header
    return name == b"location" and value.startswith(b"/preview/")
