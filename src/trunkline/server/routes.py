"""Everything that is answered: one table.

The server's routes, the OpenAPI document, the docs page and the checks that the documentation is complete are all made from
``ROUTES``.

Rule 1: nothing is answered that is not in it.
Rule 2: a face is loaded by the first request for it (``later.py``). Loaded at once is only what the first answer needs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from trunkline.dialects.context.commands import CommandEnvelope
from trunkline.errors import TrunklineError
from trunkline.hub import Accepted, AgentInfo, Answer, Decision, NewSession, SessionView
from trunkline.hub.rule_preview import PolicyPreview, RulePreview
from trunkline.hub.shapes import ClusterView, HandoverView
from trunkline.server import page
from trunkline.server.auth.tokens import TokenScope
from trunkline.server.call import HttpCall, Reply
from trunkline.server.later import Later
from trunkline.server.ops import ops
from trunkline.session.fold import QueuedPrompt

if TYPE_CHECKING:
    from trunkline.server.acp.transport import http as acp_http
    from trunkline.server.auth import devices, login
    from trunkline.server.cluster import face as cluster
    from trunkline.server.context import events, snapshot
    from trunkline.server.context.ws import face as ws
    from trunkline.server.delivery.push import face as push
    from trunkline.server.files import diff, files, folders, images, preview, uploads
    from trunkline.server.ops import journal
    from trunkline.server.packets import history, packets
    from trunkline.server.sessions import adapters, approvals, away, export, handover, limits, policies, prompt, search, sessions
    from trunkline.server.sessions import found as found_elsewhere
else:
    acp_http = Later("trunkline.server.acp.transport.http")
    cluster = Later("trunkline.server.cluster.face")
    devices, login = Later("trunkline.server.auth.devices"), Later("trunkline.server.auth.login")
    events, snapshot = Later("trunkline.server.context.events"), Later("trunkline.server.context.snapshot")
    ws = Later("trunkline.server.context.ws.face")
    push = Later("trunkline.server.delivery.push.face")
    diff, files, folders, images, preview, uploads = (
        Later(f"trunkline.server.files.{name}") for name in ("diff", "files", "folders", "images", "preview", "uploads"))
    journal = Later("trunkline.server.ops.journal")
    history, packets = Later("trunkline.server.packets.history"), Later("trunkline.server.packets.packets")
    found_elsewhere = Later("trunkline.server.sessions.found")
    adapters, approvals, away, export, handover, limits, policies, prompt, search, sessions = (
        Later(f"trunkline.server.sessions.{name}")
        for name in ("adapters", "approvals", "away", "export", "handover", "limits", "policies", "prompt", "search", "sessions"))

Handler = Callable[[HttpCall], Awaitable[Reply]]
STREAM = ("text/event-stream",)


class Query(msgspec.Struct, frozen=True):
    """A query parameter or header of a route."""

    name: str
    summary: str
    type: str = "string"
    required: bool = False


class Route(msgspec.Struct, frozen=True):
    """One method on one path. Without a ``scope`` no token is needed."""

    method: str
    path: str
    handler: Handler
    scope: TokenScope | None
    summary: str
    request: Any = None
    response: Any = None
    status: int = 200
    query: tuple[Query, ...] = ()
    headers: tuple[Query, ...] = ()
    takes: tuple[str, ...] = ()
    """Media types of the body, besides JSON."""
    gives: tuple[str, ...] = ()
    """Media types of the answer, besides JSON."""
    answers: str = ""
    refused: Callable[[HttpCall, TrunklineError], Awaitable[None]] | None = None
    """Called for a call that did not reach the handler for lack of scope."""
    any_origin: bool = False
    """Whether pages of other origins may ask: for what carries its permission in its address."""
    at: Literal["any", "owner", "shown", "node", "placed"] = "any"
    """Which node of a cluster answers: any, the one that owns the session, any that shows it from the cluster's stream, the one
    that ``?node=`` names, or the one that the handler finds; nodes ask each other for all but the first."""


POLICY_OF = Query("of", "In a cluster: `cluster` for its policy, the default once it is written, or `node` for this node's file.")
AFTER = Query("after", "Only what comes after this seq.", "integer")
LAST_EVENT_ID = Query("Last-Event-ID", "The last id seen; wins over ?after=.", "integer")
TYPES = Query("types", "Only these events: types or prefixes such as `tool:`, with commas between.")
PATH = Query("path", "Relative to the session's folder, or absolute inside its roots.")
AGENT = Query("agent", "The agent that new sessions of the connection get.")
CONNECTION_ID = Query("Acp-Connection-Id", "Which connection; the first `initialize` has none.")
SESSION_ID = Query("Acp-Session-Id", "Which session the message or the stream is about.")
NODE = Query("node", "The node of a cluster that is asked; the one that answers if none is named.")
NEEDED_PATH = Query("path", PATH.summary, required=True)

ROUTES: tuple[Route, ...] = (
    Route("GET", "/", page.index, None, "The web page.", gives=("text/html",)),
    Route("GET", "/assets/{path:path}", page.asset, None, "A part of the web page.", gives=("*/*",)),
    Route("GET", "/icons/{path:path}", page.icon, None, "A picture of the web page's.", gives=("image/*",)),
    Route("GET", "/sw.js", page.service_worker, None, "The web page's service worker.", gives=("text/javascript",)),
    Route("GET", "/manifest.webmanifest", page.manifest, None, "What a browser needs to install the web page.",
          gives=("application/manifest+json",)),
    Route("GET", "/licenses", page.licences, None, "The licences of what the web page is built from.", gives=("text/plain",)),
    Route("GET", "/healthz", ops.healthz, None, "Whether the server answers.", response=ops.Health),
    Route("POST", "/auth/login", login.login, None, "Trade a one-time code or a token for the browser's cookie.",
          request=login.Login, response=login.LoggedIn),
    Route("GET", "/auth/login", login.way_in, None, "The command that makes a login link, to be typed on the hub's machine.",
          response=login.WayIn),
    Route("POST", "/auth/logout", login.logout, "view", "Forget this browser.", status=204),
    Route("POST", "/auth/codes", login.new_code, "admin", "Make a one-time login code, good for a minute.",
          request=login.NewCode, response=login.Code, status=201),
    Route("GET", "/auth/tokens", login.list_tokens, "admin", "Every token that works, without its secret.",
          response=list[login.TokenView]),
    Route("POST", "/auth/tokens", login.make_token, "admin", "Make a token with a scope.",
          request=login.NewToken, response=login.MadeToken, status=201),
    Route("DELETE", "/auth/tokens/{tokenId}", login.revoke_token, "admin",
          "Revoke a token and what came from it: tokens, browsers, devices.", status=204),
    Route("POST", "/pair", devices.pair, "admin", "Make a one-time code that pairs a device, good for ten minutes, five tries.",
          request=devices.NewPairing, response=devices.Pairing, status=201),
    Route("POST", "/pair/claim", devices.claim, None, "Trade a pairing code for the device's own cookie.",
          request=devices.Claim, response=devices.Claimed, status=201),
    Route("GET", "/devices", devices.listing, "view", "Paired devices; who is no admin sees the own one.",
          response=devices.Devices),
    Route("DELETE", "/devices/{deviceId}", devices.revoke, "view",
          "Unpair a device and end its connections: an admin any, a device itself.", status=204),
    Route("GET", "/push", push.info, "view", "The key to subscribe to pushes with, and the caller's subscription.",
          response=push.PushInfo),
    Route("POST", "/push", push.subscribe, "view", "Tell this browser by Web Push from now on.",
          request=push.NewSubscription, response=push.SubscriptionView, status=201),
    Route("DELETE", "/push", push.unsubscribe, "view", "Tell this browser no more.", status=204),
    Route("GET", "/agents", sessions.agents, "view", "The agents that can be run: installed, version, capabilities.",
          response=list[AgentInfo], at="node", query=(NODE,)),
    Route("POST", "/sessions", sessions.create, "control", "Start a session.", request=NewSession, response=SessionView,
          status=201, headers=(Query("Idempotency-Key", "The same key twice is one session; for another body it is refused."),),
          at="placed", query=(Query("node", "As `node` in the body."),)),
    Route("GET", "/sessions", sessions.listing, "view", "Sessions, newest activity first.", response=sessions.SessionPage,
          query=(Query("status", "One status or several, with commas between."), Query("agent", "The agent's name."),
                 Query("text", "Matches title, agent or folder, ignoring case."),
                 Query("before", "The `next` of the page before."), Query("limit", "How many, 50 by default.", "integer"),
                 Query("found", "`true`: with those that other programs wrote, where the caller may start agents.", "boolean"),
                 Query("node", "Only those of this node of a cluster."))),
    Route("GET", "/sessions/{id}", sessions.show, "view", "One session's state, with every pending approval and question.",
          response=SessionView, at="shown"),
    Route("PATCH", "/sessions/{id}", sessions.rename, "control", "Rename a session.", request=sessions.Rename,
          response=SessionView, at="owner"),
    Route("DELETE", "/sessions/{id}", sessions.delete, "control", "Stop a session and delete it.", status=204, at="owner",
          answers="204; in a cluster 200 with what was erased there (`erased`, messages), whether bytes stay in files "
                  "of the servers (`purged`) or all of it in their streams until a sweep (`unswept`), and `why`."),
    Route("POST", "/sessions/{id}/send-message", packets.send_message, "control",
          "Send a prompt and stream its turn up to prompt_response or error; with Accept: application/json, only take it.",
          request=prompt.SendMessage, response=Accepted, status=202, gives=STREAM,
          headers=(Query("Idempotency-Key", "The same key twice is one prompt."), LAST_EVENT_ID),
          answers="200 with the turn's packets; 202 with the turn where the client asked for JSON.", at="placed"),
    Route("GET", "/sessions/{id}/packets", packets.attach, "view", "Every packet after the cursor, then live.",
          gives=STREAM, query=(AFTER,), headers=(LAST_EVENT_ID,), at="shown"),
    Route("GET", "/sessions/{id}/messages", packets.messages, "view", "Stored packets by the page, runs of text joined.",
          response=history.StoredPackets,
          query=(AFTER, Query("before", "Only what comes before this seq.", "integer"),
                 Query("limit", "How many, 100 by default.", "integer")), at="shown"),
    Route("GET", "/sessions/{id}/events", events.session_events, "view", "Every event after the cursor, then live.",
          gives=STREAM, query=(AFTER, TYPES), headers=(LAST_EVENT_ID,), at="shown"),
    Route("GET", "/sessions/{id}/history", events.history, "view", "Stored events by the page.", response=events.EventPage,
          query=(AFTER, Query("before", "Only what comes before this seq.", "integer"),
                 Query("limit", "How many, 500 by default.", "integer"), TYPES,
                 Query("joined", "Whether runs of deltas are joined into one event each.", "boolean")), at="shown"),
    Route("GET", "/sessions/{id}/export", export.export, "view", "The whole session as a file.",
          query=(Query("format", "`markdown` (the default) or `json`."),), gives=("text/markdown", "application/json"),
          at="shown"),
    Route("GET", "/sessions/{id}/images/{seq}", images.image, "view", "A picture that is too large for an event.",
          gives=("image/*",), at="shown"),
    Route("GET", "/sessions/{id}/snapshot", snapshot.snapshot, "view",
          "The state of a session and its seq: events after it are news.", response=snapshot.Snapshot, at="shown"),
    Route("POST", "/sessions/{id}/commands", events.command, "approve",
          "Carry out a command; all but answers to the agent need the scope `control`.",
          request=CommandEnvelope, response=events.CommandDone, refused=events.command_refused, at="owner"),
    Route("GET", "/events", events.hub_events, "view",
          "Every event of all sessions after the cursor, which is a pos; without one, from now on.",
          gives=STREAM, query=(Query("after", "Only what comes after this pos.", "integer"), TYPES), headers=(LAST_EVENT_ID,)),
    Route("GET", "/ws", ws.plain, None, "The WebSocket of events and commands; see the client contract.",
          answers="101: the protocol is switched."),
    Route("POST", "/acp", acp_http.say, "view",
          "One message of an editor's, by the Agent Client Protocol; each method needs its own scope.",
          request=dict[str, Any], status=202, query=(AGENT,), headers=(CONNECTION_ID, SESSION_ID),
          answers="202; the answer comes on a stream. 200 with the answer and `Acp-Connection-Id` for the first `initialize`."),
    Route("GET", "/acp", acp_http.hear, "view",
          "What an editor hears: a session's messages, or the connection's. With the upgrade, a WebSocket of both directions.",
          gives=STREAM, query=(AGENT,), headers=(CONNECTION_ID, SESSION_ID, LAST_EVENT_ID)),
    Route("DELETE", "/acp", acp_http.end, "view", "End an editor's connection; its sessions go on.", status=202,
          headers=(CONNECTION_ID,)),
    Route("GET", "/sessions/{id}/handover", handover.show, "view",
          "Who has a session, how it can be continued here, and the command that does so in the agent's own program.",
          response=HandoverView,
          query=(Query("wait", "Seconds, up to 60: answer once the program that has it open has ended, at the latest then.",
                       "integer"),), at="owner"),
    Route("POST", "/sessions/{id}/take-over", handover.take_over, "control",
          "Go on here with a session that is followed; `201` where that is a session of its own.", request=handover.TakeOver,
          response=SessionView, at="owner"),
    Route("POST", "/sessions/{id}/give-back", handover.give_back, "control",
          "End the agent here, so that its own program can go on; the session is followed from then on.", response=HandoverView,
          at="owner"),
    Route("POST", "/sessions/{id}/fork", sessions.fork, "control",
          "Branch a session off this one, with all that was said so far, where its agent can.", request=sessions.Fork,
          response=SessionView, status=201, at="owner"),
    Route("POST", "/sessions/{id}/cancel", sessions.cancel, "control", "End the running turn.", response=sessions.Cancelled,
          at="owner"),
    Route("POST", "/sessions/{id}/mode", sessions.set_mode, "control", "Switch the agent's mode.", request=sessions.SetMode,
          response=SessionView, at="owner"),
    Route("POST", "/sessions/{id}/config", sessions.set_config, "control", "Set one of the agent's options.",
          request=sessions.SetConfig, response=SessionView, at="owner"),
    Route("GET", "/sessions/{id}/queue", sessions.queue, "view", "Prompts that wait for their turn.",
          response=list[QueuedPrompt], at="owner"),
    Route("DELETE", "/sessions/{id}/queue", sessions.clear_queue, "control", "Remove every waiting prompt.", status=204,
          at="owner"),
    Route("GET", "/sessions/{id}/queue/{turnId}", sessions.queued, "view", "One waiting prompt.", response=QueuedPrompt,
          at="owner"),
    Route("PATCH", "/sessions/{id}/queue/{turnId}", sessions.edit_queued, "control", "Change a waiting prompt.",
          request=prompt.EditQueued, response=list[QueuedPrompt], at="owner"),
    Route("DELETE", "/sessions/{id}/queue/{turnId}", sessions.drop_queued, "control", "Remove a waiting prompt.", status=204,
          at="owner"),
    Route("POST", "/sessions/{id}/permissions/{requestId}", sessions.decide, "approve",
          "Answer a permission, by option or by allow and deny.", request=Decision, response=SessionView, at="owner"),
    Route("POST", "/sessions/{id}/questions/{questionId}", sessions.answer, "approve", "Answer a question.",
          request=Answer, response=SessionView, at="owner"),
    Route("GET", "/sessions/{id}/files", files.list_files, "view", "A folder inside the session's roots.",
          response=files.FileList, query=(PATH,), at="owner"),
    Route("POST", "/sessions/{id}/files", uploads.upload, "control",
          "Upload: a form with files into the folder ?path=, or one file as the body to the path ?path=.",
          response=uploads.Uploads, status=201, query=(PATH,), takes=("multipart/form-data", "application/octet-stream"),
          at="owner"),
    Route("GET", "/sessions/{id}/files/content", files.file_content, "view", "A file's bytes, with ranges.",
          query=(NEEDED_PATH,), gives=("*/*",), at="owner"),
    Route("GET", "/sessions/{id}/files/find", files.find_files, "view", "Files by a part of their path.",
          response=files.FilesFound,
          query=(Query("q", "What the path contains.", required=True), Query("limit", "How many, 50 by default.", "integer")),
          at="owner"),
    Route("GET", "/sessions/{id}/diff", diff.diff, "view", "What changed in the session's folder.", response=diff.Diff,
          query=(Query("entry", "Only what the tool call of this entry changed, as it told it.", "integer"),), at="owner"),
    Route("GET", "/sessions/{id}/artifacts", preview.artifacts, "view", "What the agent made.",
          response=list[preview.ArtifactView], at="owner"),
    Route("GET", "/sessions/{id}/artifacts/{artifactId}", preview.artifact, "view", "One artifact.",
          response=preview.ArtifactView, at="owner"),
    Route("POST", "/sessions/{id}/artifacts/{artifactId}/preview", preview.new_preview, "view",
          "An address to see an artifact at; with `live` its scripts run and it may load from elsewhere.",
          request=preview.NewPreview, response=preview.PreviewAddress, status=201, at="owner"),
    Route("GET", "/preview/{key}/{path:path}", preview.preview, None, "A file of an artifact, sandboxed, under an expiring key.",
          gives=("*/*",), any_origin=True, at="owner"),
    Route("GET", "/approvals", approvals.pending, "view", "Every approval and question that waits, in all sessions.",
          response=approvals.PendingAsks),
    Route("POST", "/approvals/{requestId}/always-preview", approvals.always_preview, "view",
          "The rule that a decision for longer than once would save, and every ask that waits and that it would answer.",
          request=approvals.RuleDecision, response=RulePreview, at="node", query=(NODE,)),
    Route("GET", "/policy", policies.show, "view", "The rules that are in force, and the file that they are in.",
          response=policies.PolicyView, query=(POLICY_OF,)),
    Route("PUT", "/policy", policies.replace, "admin", "Replace the policy, as the file's text or as rules.",
          headers=(Query("If-Match", "Only where this is the version that is replaced, else 412 `conflict`."),),
          request=policies.NewPolicy, response=policies.PolicyView, query=(POLICY_OF,)),
    Route("POST", "/policy/preview", policies.preview, "view",
          "Every ask that waits at this node and that this policy would answer, if it took the place of the one in force.",
          request=policies.NewPolicy, response=PolicyPreview, query=(POLICY_OF,)),
    Route("POST", "/policy/explain", policies.explain, "view",
          "What the policy would say to a command, a change of a path or a tool call, and why.",
          request=policies.Question, response=policies.Explanation, at="node", query=(NODE,)),
    Route("POST", "/sessions/{id}/limits", limits.set_limits, "control",
          "Set what a session may spend, and how long its approvals wait.", request=limits.NewLimits, response=SessionView,
          at="owner"),
    Route("GET", "/adapters", adapters.listing, "view", "Every agent as an adapter: installed or not, what it can do, its files.",
          response=list[adapters.AdapterInfo], at="node", query=(NODE,)),
    Route("GET", "/found", adapters.found, "control",
          "Sessions that other programs wrote, of all agents whose files can be read, newest activity first.",
          response=found_elsewhere.FoundPage,
          query=(Query("agent", "The agent's name."), Query("text", "Matches title, agent or folder, ignoring case."),
                 Query("limit", "How many, 200 by default.", "integer"),
                 Query("after", "Wait until the list has another `revision` than this one.", "integer"),
                 Query("wait", "For how many seconds at most, 25 by default.", "integer"), NODE), at="node"),
    Route("GET", "/adapters/{name}/sessions", adapters.sessions, "control",
          "Sessions that an agent knows of: the hub's, those it lists itself, those in its files.",
          response=adapters.AdapterSessions, at="node", query=(NODE,)),
    Route("POST", "/adapters/{name}/sessions/{id}/attach", adapters.attach, "control",
          "Join one of them: taken over by its agent, or only watched.", request=adapters.Attach, response=SessionView,
          at="node", query=(NODE,)),
    Route("GET", "/search", search.search, "view",
          "Find words in titles, in what was said and in what tools were called with, the best first.",
          response=search.SearchPage,
          query=(Query("q", "Words that all have to be found, each by its beginning; in quotes, a phrase.", required=True),
                 Query("limit", "How many, 20 by default.", "integer"),
                 Query("node", "Only the sessions of this node of a cluster; all of them if none is named.")), at="node"),
    Route("GET", "/folders", folders.folders, "control", "Folders of the hub's machine, to choose one for a session.",
          response=folders.FolderPage, at="node",
          query=(Query("path", "An absolute path, or one that begins with ~/; the home folder."), NODE)),
    Route("GET", "/folders/find", files.find_in_folder, "control", "Files of a folder, by a part of their path.",
          response=files.FilesFound,
          query=(Query("path", "An absolute path, or one that begins with ~/.", required=True),
                 Query("q", "A part of the path.", required=True), Query("limit", "How many, 50 by default.", "integer"), NODE),
          at="node"),
    Route("GET", "/away", away.show, "view", "Whether the person is away from the terminals.", response=away.AwayView),
    Route("PUT", "/away", away.change, "approve", "Say that the person leaves the terminals, or is back.", request=away.NewAway,
          response=away.AwayView),
    Route("GET", "/cluster", cluster.show, "view", "The nodes of the hub's cluster; `not_clustered` where it is in none.",
          response=ClusterView),
    Route("POST", "/cluster/nodes/{node}/drain", cluster.drain, "admin",
          "Let no new sessions begin at a node, over its restarts too, or let them again.", request=cluster.Drain,
          response=ClusterView),
    Route("DELETE", "/cluster/nodes/{node}", cluster.forget, "admin",
          "Say that a node is gone for good; refused while it is there. Its sessions stay readable, and can be moved.",
          response=ClusterView),
    Route("POST", "/sessions/{id}/move", cluster.move, "control",
          "Have another node of the session's pool go on with it: its owner lets it go, or is away. 409 while a turn runs, "
          "unless `force` says to cut it off.", request=cluster.Move, response=SessionView),
    Route("POST", "/cluster/sessions/{id}/let-go", cluster.let_go, "control",
          "For nodes only: have a session's owner stop and ship it, so that another node can take it.", request=cluster.LetGo,
          status=204, at="placed"),
    Route("POST", "/cluster/sessions/{id}/take-in", cluster.take_in, "control",
          "For nodes only: a session's history, for the node that is to go on with it.", response=cluster.TakenIn,
          takes=("application/octet-stream",), at="placed"),
    Route("GET", "/journal", journal.journal, "view", "What was found damaged in what is stored, and whether it can be written.",
          response=journal.JournalView),
    Route("GET", "/readyz", ops.readyz, "view", "Whether the hub can take work.", response=ops.Readiness),
    Route("GET", "/metrics", ops.metrics, "view", "Metrics for Prometheus.", gives=("text/plain",)),
    Route("GET", "/openapi.json", ops.openapi, "view", "This API as an OpenAPI document.", response=dict[str, Any]),
    Route("GET", "/docs", ops.docs, "view", "This API as a page to read.", gives=("text/html",)),
)
