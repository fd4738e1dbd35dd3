"""A hub for Python programs, over its HTTP API.

    async with Client("http://127.0.0.1:7420", token) as hub:
        session = await hub.create_session("demo", "/tmp/project")
        async for seq, packet in hub.stream_turn(session.id, "Hello"):
            print(seq, packet["type"])

    api.py      ``Client``, with every route as a method    calls/                  those methods, by what they are about
    views.py, hub_views.py  what they answer
    link.py     the WebSocket, and watches over it          asks.py                 what waits for somebody
    streams.py  what survives a lost connection             records.py              packets and events from bytes
    http.py     the way there, and errors back
"""

from trunkline.client.api import Client
from trunkline.client.calls.sessions import FoundPage, SessionPage
from trunkline.client.calls.steering import Scope
from trunkline.client.calls.turns import Content, MessagePage
from trunkline.client.http import Endpoint
from trunkline.client.hub_views import (
    AdapterView,
    AutoApprove,
    Caps,
    ClusterView,
    DataPaths,
    DeviceView,
    DiscoveredSession,
    Explanation,
    Folder,
    FolderPage,
    NodeView,
    Pairing,
    PermissionPolicy,
    PolicyRule,
    PolicyView,
    RecentFolder,
    RuleLookedAt,
    SearchHit,
    SearchPage,
    SnippetPart,
    Waits,
)
from trunkline.client.link import Link, Watch, WatchSnapshot
from trunkline.client.records import ContextEvent, Packet
from trunkline.client.streams import Numbered
from trunkline.client.views import (
    Accepted,
    AgentView,
    ApprovalView,
    Artifact,
    EventPage,
    FileEntry,
    FileList,
    FilesFound,
    FoundView,
    HandoverView,
    OptionView,
    PendingAsk,
    QuestionView,
    QueuedPrompt,
    RemovedView,
    SessionState,
    SessionView,
    Snapshot,
    Todo,
    TurnView,
    WayView,
)

__all__ = [
    "Accepted",
    "AdapterView",
    "AgentView",
    "ApprovalView",
    "Artifact",
    "AutoApprove",
    "Caps",
    "Client",
    "ClusterView",
    "Content",
    "ContextEvent",
    "DataPaths",
    "DeviceView",
    "DiscoveredSession",
    "Endpoint",
    "EventPage",
    "Explanation",
    "FileEntry",
    "FileList",
    "FilesFound",
    "Folder",
    "FolderPage",
    "FoundPage",
    "FoundView",
    "HandoverView",
    "Link",
    "MessagePage",
    "NodeView",
    "Numbered",
    "OptionView",
    "Packet",
    "Pairing",
    "PendingAsk",
    "PermissionPolicy",
    "PolicyRule",
    "PolicyView",
    "QuestionView",
    "QueuedPrompt",
    "RecentFolder",
    "RemovedView",
    "RuleLookedAt",
    "Scope",
    "SearchHit",
    "SearchPage",
    "SessionPage",
    "SessionState",
    "SessionView",
    "Snapshot",
    "SnippetPart",
    "Todo",
    "TurnView",
    "Waits",
    "Watch",
    "WatchSnapshot",
    "WayView",
]
