"""A hub for Python programs, over its HTTP API.

    async with Client("http://127.0.0.1:7420", token) as hub:
        session = await hub.create_session("demo", "/tmp/project")
        async for seq, packet in hub.stream_turn(session.id, "Hello"):
            print(seq, packet["type"])

``api`` has the calls of sessions and ``hub_api`` those of the whole hub, ``views`` and ``hub_views`` what they answer,
``streams`` what survives a lost connection, ``link`` the WebSocket with its ``watch`` and ``asks``, ``wire``, ``sse`` and
``http`` the way there, ``faults`` an answer's error as one of ``trunkline.errors``.
"""

from trunkline.client.api import Client, Content, MessagePage, Scope, SessionPage
from trunkline.client.http import Endpoint
from trunkline.client.hub_views import (
    AdapterView,
    AutoApprove,
    Caps,
    DataPaths,
    DeviceView,
    DiscoveredSession,
    Explanation,
    Folder,
    FolderPage,
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
from trunkline.client.link import Link
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
    OptionView,
    PendingAsk,
    QuestionView,
    QueuedPrompt,
    SessionState,
    SessionView,
    Snapshot,
    Todo,
    TurnView,
)
from trunkline.client.watch import Watch, WatchSnapshot

__all__ = [
    "Accepted",
    "AdapterView",
    "AgentView",
    "ApprovalView",
    "Artifact",
    "AutoApprove",
    "Caps",
    "Client",
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
    "Link",
    "MessagePage",
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
]
