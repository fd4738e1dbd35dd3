"""What the client reads of the hub is what the hub writes."""

from __future__ import annotations

import msgspec

from tests.tooling.rows import every_row
from trunkline.client import hub_views, views
from trunkline.dialects.context.types import AgentDataPaths, DiscoveredSession
from trunkline.dialects.context.types import AutoApprove as ContextAutoApprove
from trunkline.dialects.context.types import PermissionPolicy as ContextPermissionPolicy
from trunkline.hub import AgentInfo
from trunkline.server.auth import devices
from trunkline.server.files import folders
from trunkline.server.sessions import adapters, policies, search
from trunkline.session import fold
from trunkline.session.fold import caps
from trunkline.session.policy import decide as policy


@every_row(("reads", "writes"), [
    (hub_views.PolicyRule, policy.Rule), (hub_views.AutoApprove, ContextAutoApprove),
    (hub_views.PermissionPolicy, ContextPermissionPolicy), (hub_views.PolicyView, policies.PolicyView),
    (hub_views.RuleLookedAt, policies.RuleLookedAt), (hub_views.Explanation, policies.Explanation), (hub_views.Caps, caps.Caps),
    (hub_views.Waits, fold.Waits), (hub_views.SnippetPart, search.SnippetPart), (hub_views.SearchHit, search.SearchHit),
    (hub_views.SearchPage, search.SearchPage), (hub_views.Folder, folders.Folder), (hub_views.RecentFolder, folders.RecentFolder),
    (hub_views.FolderPage, folders.FolderPage), (hub_views.AdapterView, adapters.AdapterInfo),
    (hub_views.Pairing, devices.Pairing), (hub_views.DeviceView, devices.DeviceView),
    (hub_views.DataPaths, AgentDataPaths), (hub_views.DiscoveredSession, DiscoveredSession),
    (views.AgentView, AgentInfo),
])
def test_what_the_client_reads_of_the_hub_is_what_the_hub_writes(
    reads: type[msgspec.Struct], writes: type[msgspec.Struct]
) -> None:
    assert _wire_names(reads) == _wire_names(writes)


def _wire_names(kind: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(kind)}
