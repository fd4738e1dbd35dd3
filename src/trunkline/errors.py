"""Every error Trunkline raises on purpose, in one tree.

    TrunklineError
    ├── LocalError                 the caller's mistake
    │   ├── Invalid                400  invalid
    │   ├── Unauthorized           401  unauthorized
    │   ├── Forbidden              403  forbidden
    │   ├── NotFound               404  not_found
    │   │   ├── SessionNotFound    404  session_not_found
    │   │   │   └── SessionDeleted 404  session_deleted
    │   │   ├── NotClustered       404  not_clustered
    │   │   └── NodeUnknown        404  node_unknown
    │   ├── MethodNotAllowed       405  method_not_allowed
    │   ├── NotAcceptable          406  not_acceptable
    │   ├── TooSlow                408  too_slow
    │   ├── TurnInProgress         409  turn_in_progress
    │   ├── AlreadyResolved        409  already_resolved
    │   ├── Expired                409  expired
    │   ├── KeyReused              409  key_reused
    │   ├── SessionInUse           409  session_in_use
    │   ├── NodeThere              409  node_there
    │   ├── Conflict               412  conflict
    │   ├── TooLarge               413  too_large
    │   ├── UnsupportedMediaType   415  unsupported_media_type
    │   ├── TooManyRequests        429  too_many_requests
    │   └── Unsupported            501  unsupported
    ├── RemoteError                the agent's fault
    │   ├── AgentNotInstalled      424  agent_not_installed
    │   ├── AgentAuthRequired      424  agent_auth_required
    │   ├── AgentProtocolMismatch  502  agent_protocol_mismatch
    │   ├── AgentStartFailed       502  agent_start_failed
    │   ├── AgentExited            502  agent_exited
    │   ├── AgentNotRunning        502  agent_not_running
    │   ├── AgentError             502  agent_error
    │   └── IdleTimeout            504  idle_timeout
    └── Unavailable                a part of ours is down
        ├── StorageError           503  storage_error
        │   ├── SessionUnreadable  503  session_unreadable
        │   └── JournalDamaged     503  journal_damaged
        ├── SandboxUnavailable     503  sandbox_unavailable
        ├── HubRestarted           503  hub_restarted
        ├── HubStopping            503  hub_stopping
        ├── HubLocked              503  hub_locked
        ├── ClusterUnavailable     503  cluster_unavailable
        ├── ClusterDenied          503  cluster_denied
        ├── NodeAway               503  node_away
        ├── NodeDraining           503  node_draining
        ├── NoNodeFits             503  no_node_fits
        ├── NodeSilent             504  node_silent
        ├── NotOwner               421  not_owner
        └── NodeVersion            502  node_version

Rule 1: nothing here imports anything of ours.
Rule 2: ``code`` is what programs match on and never changes once released; ``message`` is for people and names what was wrong.
Rule 3: error → response happens in one place, ``server/``; error → packet in one place, ``session/``.
"""

from __future__ import annotations

from typing import Any, ClassVar


class TrunklineError(Exception):
    """Base of the tree; carries what a client needs to react."""

    code: ClassVar[str] = "internal"
    http_status: ClassVar[int] = 500
    recoverable: ClassVar[bool] = False

    def __init__(self, message: str, *, details: dict[str, Any] | None = None, agent_code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details
        self.agent_code = agent_code


class LocalError(TrunklineError):
    """The caller asked for something that cannot be."""

    code = "invalid"
    http_status = 400
    recoverable = True


class Invalid(LocalError):
    """The request is malformed; the message names the field."""


class Unauthorized(LocalError):
    """No valid token or cookie came with the request."""

    code = "unauthorized"
    http_status = 401


class Forbidden(LocalError):
    """The token's scopes, the Host, the Origin or the path do not allow it."""

    code = "forbidden"
    http_status = 403


class NotFound(LocalError):
    """No such thing."""

    code = "not_found"
    http_status = 404


class SessionNotFound(NotFound):
    """No session has that id."""

    code = "session_not_found"


class NotClustered(NotFound):
    """This hub is in no cluster."""

    code = "not_clustered"


class NodeUnknown(NotFound):
    """The cluster has never heard of that node."""

    code = "node_unknown"


class MethodNotAllowed(LocalError):
    """The path exists, but not with this method; ``details.allow`` lists those it has."""

    code = "method_not_allowed"
    http_status = 405


class NotAcceptable(LocalError):
    """The client does not take what this address gives."""

    code = "not_acceptable"
    http_status = 406


class TooSlow(LocalError):
    """A request did not come in time."""

    code = "too_slow"
    http_status = 408


class UnsupportedMediaType(LocalError):
    """The body is of a kind that this address does not take."""

    code = "unsupported_media_type"
    http_status = 415


class SessionDeleted(SessionNotFound):
    """The session was deleted while it was in use."""

    code = "session_deleted"


class TurnInProgress(LocalError):
    """The session is busy and the caller did not ask to queue."""

    code = "turn_in_progress"
    http_status = 409


class AlreadyResolved(LocalError):
    """Somebody else answered first."""

    code = "already_resolved"
    http_status = 409


class Expired(LocalError):
    """The approval, question or code is past its time."""

    code = "expired"
    http_status = 409


class KeyReused(LocalError):
    """The ``Idempotency-Key`` was used for something else before; nothing was done."""

    code = "key_reused"
    http_status = 409


class SessionInUse(LocalError):
    """Another program has the session open; ``details`` name it, and what can be done."""

    code = "session_in_use"
    http_status = 409


class NodeThere(LocalError):
    """The node is connected: what is only done without it was not done."""

    code = "node_there"
    http_status = 409


class Conflict(LocalError):
    """It was changed by somebody else since the caller read it."""

    code = "conflict"
    http_status = 412


class TooLarge(LocalError):
    """The body or line is over its limit."""

    code = "too_large"
    http_status = 413


class TooManyRequests(LocalError):
    """A limit on tries or connections was reached."""

    code = "too_many_requests"
    http_status = 429


class Unsupported(LocalError):
    """This agent cannot do that; it does not declare that capability."""

    code = "unsupported"
    http_status = 501


class RemoteError(TrunklineError):
    """The agent, or what stands behind it, failed."""

    code = "agent_error"
    http_status = 502
    recoverable = True


class AgentNotInstalled(RemoteError):
    """The agent's command is not on this machine."""

    code = "agent_not_installed"
    http_status = 424


class AgentAuthRequired(RemoteError):
    """The agent wants a login first; the message says how."""

    code = "agent_auth_required"
    http_status = 424


class AgentProtocolMismatch(RemoteError):
    """The agent answered with a protocol version that we do not speak."""

    code = "agent_protocol_mismatch"
    recoverable = False


class AgentStartFailed(RemoteError):
    """The agent exited or fell silent before its session was ready."""

    code = "agent_start_failed"


class AgentExited(RemoteError):
    """The agent's process ended while a turn was running."""

    code = "agent_exited"


class AgentNotRunning(RemoteError):
    """The command needs a live agent and there is none."""

    code = "agent_not_running"


class AgentError(RemoteError):
    """The agent answered a request with an error."""


class IdleTimeout(RemoteError):
    """The agent sent nothing for too long and was stopped."""

    code = "idle_timeout"
    http_status = 504


class Unavailable(TrunklineError):
    """A part of the hub is down."""

    code = "unavailable"
    http_status = 503
    recoverable = True


class StorageError(Unavailable):
    """The journal could not be read or written."""

    code = "storage_error"


class SessionUnreadable(StorageError):
    """What was stored of a session is damaged, or was written by a version that we do not know."""

    code = "session_unreadable"


class JournalDamaged(StorageError):
    """The journal's file is not what was written; it is mended, and where that does not help, the hub does not start."""

    code = "journal_damaged"


class SandboxUnavailable(Unavailable):
    """This machine gives no sandbox, and nothing was started without one; the message says what to install or allow."""

    code = "sandbox_unavailable"


class HubRestarted(Unavailable):
    """The hub went down while this was open."""

    code = "hub_restarted"


class HubStopping(Unavailable):
    """The hub is draining and takes no new work."""

    code = "hub_stopping"


class HubLocked(Unavailable):
    """Another hub owns this data directory; the message names its pid and URL."""

    code = "hub_locked"
    recoverable = False


class ClusterUnavailable(Unavailable):
    """The cluster cannot be reached, or is not set up; the message says which."""

    code = "cluster_unavailable"


class ClusterDenied(Unavailable):
    """The cluster does not let this node do that; the message names the subject."""

    code = "cluster_denied"
    recoverable = False


class NodeAway(Unavailable):
    """The node is not connected; nothing was done."""

    code = "node_away"


class NodeDraining(Unavailable):
    """The node takes no new sessions; the message names it."""

    code = "node_draining"


class NoNodeFits(Unavailable):
    """No node that is there is what was asked for; the message says what that was."""

    code = "no_node_fits"


class NodeSilent(Unavailable):
    """No answer came in time: whether it was done is not known. Ask again with the same id."""

    code = "node_silent"
    http_status = 504


class NotOwner(Unavailable):
    """The node does not own the session, or no longer; nothing was done."""

    code = "not_owner"
    http_status = 421


class NodeVersion(Unavailable):
    """The node speaks another version of what nodes say to each other; the message names both."""

    code = "node_version"
    http_status = 502
    recoverable = False


class ClientDisconnect(Exception):
    """Whoever asked has left: nobody is there to be told of an error, so this is none of the tree."""


def _by_code(root: type[TrunklineError]) -> dict[str, type[TrunklineError]]:
    """Every error under its code; where a class shares its parent's code, the child stands for it."""
    table = {root.code: root}
    for child in root.__subclasses__():
        table |= _by_code(child)
    return table


BY_CODE = _by_code(TrunklineError)
"""The tree by ``code``, for whoever reads an error back from where it was written down."""
