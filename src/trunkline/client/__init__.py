"""A hub for Python programs, over its HTTP API.

    async with Client("http://127.0.0.1:7420", token) as hub:
        session = await hub.create_session("demo", "/tmp/project")
        async for seq, packet in hub.stream_turn(session.id, "Hello"):
            print(seq, packet["type"])

``api`` has the calls, ``views`` what they answer, ``streams`` what survives a lost connection, ``link`` the WebSocket with its
``watch`` and ``asks``, ``sse`` and ``http`` the wire, ``faults`` an answer's error as one of ``trunkline.errors``.
"""

from trunkline.client.api import Client, Content, MessagePage, SessionPage
from trunkline.client.http import Endpoint
from trunkline.client.link import Link
from trunkline.client.streams import Numbered
from trunkline.client.views import (
    Accepted,
    AgentView,
    ApprovalView,
    Artifact,
    ContextEvent,
    EventPage,
    FileEntry,
    FileList,
    FilesFound,
    OptionView,
    Packet,
    PendingAsk,
    QuestionView,
    QueuedPrompt,
    SessionView,
    Snapshot,
    Todo,
    TurnView,
)
from trunkline.client.watch import Watch, WatchSnapshot

__all__ = [
    "Accepted",
    "AgentView",
    "ApprovalView",
    "Artifact",
    "Client",
    "Content",
    "ContextEvent",
    "Endpoint",
    "EventPage",
    "FileEntry",
    "FileList",
    "FilesFound",
    "Link",
    "MessagePage",
    "Numbered",
    "OptionView",
    "Packet",
    "PendingAsk",
    "QuestionView",
    "QueuedPrompt",
    "SessionPage",
    "SessionView",
    "Snapshot",
    "Todo",
    "TurnView",
    "Watch",
    "WatchSnapshot",
]
