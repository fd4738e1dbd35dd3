"""The protocol's golden files: each reads as its type, writes back to the same JSON, and satisfies both oracles."""

from __future__ import annotations

import json
from typing import Any

from tests.dialects.acp.schema import DATA, NOT_IN_SDK, faults, parse_with_sdk, wire_definition_of
from tests.tooling.rows import every_row
from trunkline.dialects.acp.client import (
    ReadTextFileRequest,
    ReadTextFileResponse,
    RequestPermissionRequest,
    RequestPermissionResponse,
    WriteTextFileRequest,
)
from trunkline.dialects.acp.content import ContentBlock
from trunkline.dialects.acp.initialize import InitializeRequest, InitializeResponse
from trunkline.dialects.acp.permission import RequestPermissionOutcome
from trunkline.dialects.acp.reading.decode import read_update
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.acp.sessions import (
    CancelNotification,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
)
from trunkline.dialects.acp.shape import encode_acp
from trunkline.dialects.acp.tools import ToolCallContent
from trunkline.dialects.acp.updates import UnknownUpdate

GOLDEN: dict[str, Any] = {
    "cancel_notification": CancelNotification,
    "content_audio": ContentBlock,
    "content_image": ContentBlock,
    "content_resource_blob": ContentBlock,
    "content_resource_link": ContentBlock,
    "content_resource_text": ContentBlock,
    "content_text": ContentBlock,
    "fs_read_text_file_request": ReadTextFileRequest,
    "fs_read_text_file_response": ReadTextFileResponse,
    "fs_write_text_file_request": WriteTextFileRequest,
    "initialize_request": InitializeRequest,
    "initialize_response": InitializeResponse,
    "new_session_request": NewSessionRequest,
    "new_session_response": NewSessionResponse,
    "permission_outcome_cancelled": RequestPermissionOutcome,
    "permission_outcome_selected": RequestPermissionOutcome,
    "prompt_request": PromptRequest,
    "request_permission_request": RequestPermissionRequest,
    "request_permission_response_selected": RequestPermissionResponse,
    "set_session_config_option_request": SetSessionConfigOptionRequest,
    "set_session_config_option_response": SetSessionConfigOptionResponse,
    "tool_content_content_text": ToolCallContent,
    "tool_content_diff": ToolCallContent,
    "tool_content_diff_no_old": ToolCallContent,
    "tool_content_terminal": ToolCallContent,
}
FILES = sorted((DATA / "acp_golden").glob("*.json"))
UPDATES = [path for path in FILES if path.stem.startswith("session_update_")]


def test_all_38_golden_files_are_here_and_have_a_type() -> None:
    assert len(FILES) == 38
    assert {path.stem for path in FILES} - set(GOLDEN) == {path.stem for path in UPDATES}
    assert len(UPDATES) == 13


@every_row("name", GOLDEN)
def test_a_golden_file_round_trips(name: str) -> None:
    raw = (DATA / "acp_golden" / f"{name}.json").read_bytes()
    value = read_lenient(raw, GOLDEN[name])
    written = encode_acp(value)
    assert json.loads(written) == json.loads(raw)
    assert faults(wire_definition_of(type(value)), written) == []
    parse_with_sdk(type(value), written)


@every_row("path", UPDATES)
def test_a_golden_update_round_trips_and_is_passed_on_as_it_is(path: Any) -> None:
    raw = path.read_bytes()
    update, passed_on = read_update(raw)
    assert passed_on is raw
    assert not isinstance(update, UnknownUpdate)
    written = encode_acp(update)
    assert json.loads(written) == json.loads(raw)
    assert faults("SessionUpdate", written) == []
    if type(update) not in NOT_IN_SDK:
        parse_with_sdk(type(update), written)
