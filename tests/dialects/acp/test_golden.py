"""The protocol's golden files: each reads as its type, writes back to the same JSON, and satisfies both oracles."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dialects.acp.schema import DATA, NOT_IN_SDK, faults, parse_with_sdk, wire_definition_of
from trunkline.dialects import acp

GOLDEN: dict[str, Any] = {
    "cancel_notification": acp.CancelNotification,
    "content_audio": acp.ContentBlock,
    "content_image": acp.ContentBlock,
    "content_resource_blob": acp.ContentBlock,
    "content_resource_link": acp.ContentBlock,
    "content_resource_text": acp.ContentBlock,
    "content_text": acp.ContentBlock,
    "fs_read_text_file_request": acp.ReadTextFileRequest,
    "fs_read_text_file_response": acp.ReadTextFileResponse,
    "fs_write_text_file_request": acp.WriteTextFileRequest,
    "initialize_request": acp.InitializeRequest,
    "initialize_response": acp.InitializeResponse,
    "new_session_request": acp.NewSessionRequest,
    "new_session_response": acp.NewSessionResponse,
    "permission_outcome_cancelled": acp.RequestPermissionOutcome,
    "permission_outcome_selected": acp.RequestPermissionOutcome,
    "prompt_request": acp.PromptRequest,
    "request_permission_request": acp.RequestPermissionRequest,
    "request_permission_response_selected": acp.RequestPermissionResponse,
    "set_session_config_option_request": acp.SetSessionConfigOptionRequest,
    "set_session_config_option_response": acp.SetSessionConfigOptionResponse,
    "tool_content_content_text": acp.ToolCallContent,
    "tool_content_diff": acp.ToolCallContent,
    "tool_content_diff_no_old": acp.ToolCallContent,
    "tool_content_terminal": acp.ToolCallContent,
}
FILES = sorted((DATA / "acp_golden").glob("*.json"))
UPDATES = [path for path in FILES if path.stem.startswith("session_update_")]


def test_all_38_golden_files_are_here_and_have_a_type() -> None:
    assert len(FILES) == 38
    assert {path.stem for path in FILES} - set(GOLDEN) == {path.stem for path in UPDATES}
    assert len(UPDATES) == 13


@pytest.mark.parametrize("name", GOLDEN)
def test_a_golden_file_round_trips(name: str) -> None:
    raw = (DATA / "acp_golden" / f"{name}.json").read_bytes()
    value = acp.read(raw, GOLDEN[name])
    written = acp.encode(value)
    assert json.loads(written) == json.loads(raw)
    assert faults(wire_definition_of(type(value)), written) == []
    parse_with_sdk(type(value), written)


@pytest.mark.parametrize("path", UPDATES, ids=lambda path: str(path.stem))
def test_a_golden_update_round_trips_and_is_passed_on_as_it_is(path: Any) -> None:
    raw = path.read_bytes()
    update, passed_on = acp.read_update(raw)
    assert passed_on is raw
    assert not isinstance(update, acp.UnknownUpdate)
    written = acp.encode(update)
    assert json.loads(written) == json.loads(raw)
    assert faults("SessionUpdate", written) == []
    if type(update) not in NOT_IN_SDK:
        parse_with_sdk(type(update), written)
