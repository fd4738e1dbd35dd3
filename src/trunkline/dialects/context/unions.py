"""The unions of the protocol: each variant is a struct, distinguished by ``type`` or by ``kind``.

Rule: a variant's tag is written first and never set by hand; which struct it is says it all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import UNSET, Raw, Struct, UnsetType, field

from trunkline import decoders
from trunkline.dialects.context.types import ChangeType, SearchResult, WebSearchResult
from trunkline.dialects.outside import BROKEN


class ByType(Struct, kw_only=True, frozen=True, gc=False, rename="camel", tag_field="type"):
    """Base of the variants that are distinguished by ``type``."""


class ByKind(Struct, kw_only=True, frozen=True, gc=False, rename="camel", tag_field="kind"):
    """Base of the variants that are distinguished by ``kind``."""


class TextPart(ByType, tag="text", kw_only=True, frozen=True):
    """Text of a message."""

    text: str


class ImagePart(ByType, tag="image", kw_only=True, frozen=True):
    """An image by URL (``data:`` URLs included)."""

    url: str
    mime_type: str | UnsetType = UNSET


class ToolUsePart(ByType, tag="tool_use", kw_only=True, frozen=True):
    """The message calls a tool."""

    tool_call_id: str
    name: str
    input: Raw


class ToolResultPart(ByType, tag="tool_result", kw_only=True, frozen=True):
    """The message carries a tool's answer."""

    tool_call_id: str
    content: str
    is_error: bool | UnsetType = UNSET


MessageContent = TextPart | ImagePart | ToolUsePart | ToolResultPart


class FileDiffOutput(ByType, tag="file_diff", kw_only=True, frozen=True):
    """The tool changed a file."""

    path: str
    diff: str
    change_type: ChangeType


class SearchResultsOutput(ByType, tag="search_results", kw_only=True, frozen=True):
    """The tool searched code."""

    results: list[SearchResult]


class CommandOutput(ByType, tag="command_output", kw_only=True, frozen=True):
    """The tool ran a command."""

    exit_code: int
    stdout: str
    stderr: str


class WebContentOutput(ByType, tag="web_content", kw_only=True, frozen=True):
    """The tool fetched a page."""

    url: str
    title: str | UnsetType = UNSET
    summary: str | UnsetType = UNSET


ToolStructuredOutput = FileDiffOutput | SearchResultsOutput | CommandOutput | WebContentOutput


class DiffPreview(ByType, tag="diff", kw_only=True, frozen=True):
    """What an edit would change."""

    path: str
    diff: str


class CommandPreview(ByType, tag="command", kw_only=True, frozen=True):
    """What would be run, and where."""

    command: str
    working_dir: str


class DescriptionPreview(ByType, tag="description", kw_only=True, frozen=True):
    """In words, where there is nothing better."""

    text: str


ApprovalPreview = DiffPreview | CommandPreview | DescriptionPreview


def carried_acts(meta: object) -> list[ApprovalPreview]:
    """What ``_meta.acts`` of an approval says that would be done beside its preview."""
    acts = meta.get("acts") if isinstance(meta, Mapping) else None
    try:
        return decoders.convert(acts if acts is not None else [], list[ApprovalPreview])
    except BROKEN:
        return []


class GitCommit(ByKind, tag="commit", kw_only=True, frozen=True):
    """A commit was made."""

    hash: str
    message: str
    files_changed: int


class GitBranchCreate(ByKind, tag="branch_create", kw_only=True, frozen=True):
    """A branch was made."""

    name: str
    from_: str = field(name="from")


class GitBranchSwitch(ByKind, tag="branch_switch", kw_only=True, frozen=True):
    """Another branch was checked out."""

    name: str


class GitPrCreate(ByKind, tag="pr_create", kw_only=True, frozen=True):
    """A pull request was opened."""

    number: int
    title: str
    url: str


class GitPush(ByKind, tag="push", kw_only=True, frozen=True):
    """Commits went to a remote."""

    remote: str
    branch: str


class GitStash(ByKind, tag="stash", kw_only=True, frozen=True):
    """Changes were put aside or taken back."""

    action: Literal["push", "pop"]


GitOperation = GitCommit | GitBranchCreate | GitBranchSwitch | GitPrCreate | GitPush | GitStash


class WebSearch(ByKind, tag="search", kw_only=True, frozen=True):
    """The web was searched."""

    query: str
    results: list[WebSearchResult] | UnsetType = UNSET


class WebFetch(ByKind, tag="fetch", kw_only=True, frozen=True):
    """A page was fetched."""

    url: str
    title: str | UnsetType = UNSET
    status_code: int | UnsetType = UNSET


WebOperation = WebSearch | WebFetch
