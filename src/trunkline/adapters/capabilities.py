"""What an agent, or one session with it, can do, as a consumer of the Agent Context Protocol reads it.

Rule 1: the catalog's flags and what every driven agent has by protocol; nothing is promised that no run has shown. A session
has those too that it has shown itself.
Rule 2: a session that only follows an agent's file offers no way to act, and says so; one that has a live line to its program
offers what that can do.
Rule 3: what the protocol has no flag for is in ``_meta``: whether a tool's input can be changed when it is approved.
"""

from __future__ import annotations

import msgspec

from trunkline import discovery
from trunkline.agents.catalog import AgentSpec
from trunkline.agents.catalog.features import BY_PROTOCOL, features_of
from trunkline.dialects.acp.initialize import AgentCapabilities, Implementation
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.context.capabilities import AgentIdentity, Capabilities
from trunkline.dialects.context.types import IntegrationMethod
from trunkline.dialects.context.versions import ACP_VERSION
from trunkline.errors import Invalid
from trunkline.session.fold import Fold

ACTS = frozenset({"approval.toolCalls", "approval.preview"})
"""Flags of what somebody can do here, which a file that is only followed offers nobody."""

BY_LINE = frozenset({"streaming.messages", "sessionControl.cancel", *ACTS})
"""Flags of what a live line to a program that somebody else runs can do."""


def agent_capabilities(spec: AgentSpec, version: str | None = None) -> Capabilities:
    """What runs of this agent have shown."""
    return _capabilities(spec, version, {*BY_PROTOCOL, *spec.features}, "sdk")


def session_capabilities(spec: AgentSpec, fold: Fold) -> Capabilities:
    """What works in one session: the agent's flags, and what this very agent declared."""
    version = _version(fold)
    if fold.watches is not None:
        acts = BY_LINE if fold.line else frozenset()
        return _capabilities(spec, version, {*discovery.features_of(spec.store), *(set(fold.shown) - ACTS), *acts}, "file-watch")
    flags = {*BY_PROTOCOL, *spec.features, *fold.shown}
    if _takes_images(fold):
        flags.add("multimodal")
    return _capabilities(spec, version, flags, "sdk")


def _capabilities(spec: AgentSpec, version: str | None, flags: set[str],
                  method: IntegrationMethod) -> Capabilities:
    agent = AgentIdentity(
        name=spec.name, display_name=spec.display_name, icon=spec.icon, version=version, integration_method=method)
    edits = method == "sdk" and spec.driver == "stream-json"
    return Capabilities(protocol_version=ACP_VERSION, agent=agent, features=features_of(flags),
                        meta={"approval": {"updatedInput": True}} if edits else msgspec.UNSET)


def _version(fold: Fold) -> str | None:
    try:
        return read_lenient(bytes(fold.agent_info), Implementation).version or None
    except Invalid:
        return None


def _takes_images(fold: Fold) -> bool:
    """Whether the running agent declared at its handshake that prompts may hold images."""
    try:
        return read_lenient(bytes(fold.agent_capabilities), AgentCapabilities).prompt.image
    except Invalid:
        return False
