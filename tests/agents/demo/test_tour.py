"""The tour: what a person sees, what really happens on the disk, and that every call has the documented shapes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import acp.schema
import pytest

from tests.agents.demo.client import TAKES_ALL, Json, calls_of, choose, demo, notes_of, text_of, update_of
from tests.tooling.pace import crowding
from trunkline.agents.demo import REJECTED
from trunkline.agents.demo.steps import PLAN, TODOS

TOOLS = ["todowrite", "glob", "grep", "read", "write", "bash", "edit", "apply_patch", "task", "webfetch", "plan_exit"]

INPUT = {
    "glob": {"pattern"},
    "grep": {"pattern"},
    "read": {"filePath"},
    "write": {"filePath", "content"},
    "edit": {"filePath", "old_string", "new_string"},
    "bash": {"command", "description"},
    "task": {"prompt", "description", "subagent_type"},
    "todowrite": {"todos"},
    "webfetch": {"url", "format"},
    "apply_patch": {"patchText"},
    "plan_exit": {"plan"},
}

METADATA = {
    "glob": {"count", "truncated"},
    "grep": {"count", "truncated"},
    "read": {"preview", "truncated"},
    "write": {"diagnostics", "filepath", "exists", "truncated"},
    "edit": {"diagnostics", "filepath", "exists", "truncated"},
    "bash": {"output", "exit", "description", "truncated"},
    "task": {"subagent_type"},
    "todowrite": {"todos", "truncated"},
    "webfetch": {"contentType", "truncated"},
    "apply_patch": {"diff", "files", "diagnostics", "truncated"},
    "plan_exit": set(),
}

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here; the tour says so and goes on")


class Tour:
    """One playing of the tour."""

    def __init__(self, cwd: Path, *, option: str | None = "allow-once", mode: str | None = None, prompt: str = "show me") -> None:
        with demo(cwd, "--fast") as client:
            if option:
                client.replies["session/request_permission"] = choose(option)
            session = client.open()
            if mode:
                client.request("session/set_mode", {"sessionId": session, "modeId": mode})
            first = len(client.messages)
            self.answer, self.updates = client.prompt(session, prompt)
            self.messages = client.messages[first:]
        self.calls = calls_of(self.updates)
        self.asks = [message["params"] for message in self.messages if message.get("method") == "session/request_permission"]

    def by_tool(self, name: str) -> list[list[Json]]:
        return [call for call in self.calls if call[0]["name"] == name]

    def last(self, name: str) -> Json:
        return self.by_tool(name)[-1][-1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small project to tour."""
    path = tmp_path_factory.mktemp("project")
    (path / "README.md").write_text("# A project\n\nTODO: everything\n")
    (path / "src").mkdir()
    (path / "src" / "main.py").write_text("print('hi')\n")
    (path / "node_modules").mkdir()
    (path / "node_modules" / "noise.js").write_text("TODO")
    return path


@pytest.fixture(scope="module")
def tour(folder: Path) -> Tour:
    return Tour(folder)


def test_it_ends_the_turn_and_asks_once_and_nothing_else(tour: Tour) -> None:
    assert tour.answer["result"] == {"stopReason": "end_turn"}
    assert len(tour.asks) == 1
    assert {message.get("method") for message in tour.messages if "method" in message} == {
        "session/update",
        "session/request_permission",
    }


@pytest.mark.parametrize("speed", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_it_plays_at_its_own_pace_in_less_than_fifteen_seconds(tmp_path: Path, speed: int) -> None:
    with demo(tmp_path, "--speed", str(speed)) as client:
        client.replies["session/request_permission"] = choose("allow-once")
        session = client.open()
        began = time.monotonic()
        answer, _ = client.prompt(session, "hello")
        took = time.monotonic() - began
        assert answer["result"] == {"stopReason": "end_turn"}
        assert 3 / speed < took < 15 * crowding()


def test_the_official_sdk_reads_every_update_and_no_update_has_a_field_the_protocol_does_not_know(tour: Tour) -> None:
    for message in tour.messages:
        if message.get("method") == "session/update":
            notification = acp.schema.SessionNotification.model_validate(message["params"])
            read = notification.model_dump(mode="json", by_alias=True, exclude_unset=True)
            # The SDK is older than the names of tool calls; the schema has them.
            assert set(read["update"]) == set(message["params"]["update"]) - {"name"}


def test_the_plan_has_as_many_points_as_the_list_that_counts_them() -> None:
    assert len(PLAN.splitlines()) == len(TODOS)


def test_it_uses_every_tool(tour: Tour) -> None:
    assert set(TOOLS) == {call[0]["name"] for call in tour.calls}


def test_it_streams_markdown_and_thoughts_word_by_word_as_whole_messages(tour: Tour) -> None:
    text = text_of(tour.updates)
    assert "## Welcome" in text and "**demo agent**" in text and "| step | result |" in text and "```sh" in text
    assert text_of(tour.updates, "agent_thought_chunk")
    chunks = [update for update in tour.updates if update["sessionUpdate"].endswith("_chunk")]
    assert len(chunks) > 100
    assert all(chunk["content"]["text"] for chunk in chunks)
    assert len({chunk["messageId"] for chunk in chunks}) == 6


def test_its_plan_progresses_to_the_end(tour: Tour) -> None:
    plans = [update["entries"] for update in tour.updates if update["sessionUpdate"] == "plan"]
    done = [sum(entry["status"] == "completed" for entry in plan) for plan in plans]
    assert done == [0, 1, 2, 3, 4, 5]
    assert len({tuple(entry["content"] for entry in plan) for plan in plans}) == 1


def test_it_tells_a_growing_usage(tour: Tour) -> None:
    used = [update["used"] for update in tour.updates if update["sessionUpdate"] == "usage_update"]
    assert len(used) == 3
    assert used == sorted(set(used))


def test_every_call_goes_from_pending_over_in_progress_to_completed(tour: Tour) -> None:
    for call in tour.calls:
        assert call[0]["sessionUpdate"] == "tool_call"
        assert call[0]["title"] == call[0]["name"]
        assert call[0]["rawInput"] == {}
        assert [update["status"] for update in call] == ["pending", "in_progress", "completed"], call[0]["name"]


def test_every_input_and_output_has_the_documented_shape(tour: Tour) -> None:
    for call in tour.calls:
        name = call[0]["name"]
        assert set(call[1]["rawInput"]) == INPUT[name]
        output = call[2]["rawOutput"]
        assert set(output) == {"output", "metadata"}
        assert isinstance(output["output"], str)
        assert set(output["metadata"]) == METADATA[name]
        assert call[2]["content"]


def test_it_asks_before_it_writes_or_runs(tour: Tour, folder: Path) -> None:
    asked_at = next(i for i, message in enumerate(tour.messages) if message.get("method") == "session/request_permission")
    before = [update_of(message) for message in tour.messages[:asked_at]]
    started = {call[0]["name"] for call in calls_of(before) if len(call) > 1}
    assert started == {"todowrite", "glob", "grep", "read", "plan_exit"}
    ask = tour.asks[0]
    assert ask["toolCall"]["rawInput"]["filePath"] == str(folder / "trunkline-demo" / "hello.py")
    assert ask["toolCall"]["content"][0]["type"] == "diff"
    assert [option["kind"] for option in ask["options"]] == ["allow_once", "allow_always", "reject_once"]


def test_glob_and_grep_find_what_is_there(tour: Tour) -> None:
    assert tour.by_tool("glob")[0][2]["rawOutput"]["output"].split("\n") == ["README.md", "src/main.py"]
    grep = tour.by_tool("grep")[0][2]["rawOutput"]
    assert grep == {"output": "README.md", "metadata": {"count": 1, "truncated": False}}


def test_read_shows_numbered_lines(tour: Tour, folder: Path) -> None:
    first = tour.by_tool("read")[0]
    assert first[1]["rawInput"] == {"filePath": str(folder / "README.md")}
    assert first[2]["rawOutput"]["output"] == "<file>\n00001| # A project\n00002| \n00003| TODO: everything\n</file>"
    assert first[2]["locations"] == [{"path": str(folder / "README.md")}]


def test_write_creates_a_new_file_and_says_so(tour: Tour, folder: Path) -> None:
    done = tour.last("write")
    assert done["title"] == "trunkline-demo/hello.py"
    assert done["rawOutput"]["output"] == "Wrote file successfully."
    assert done["rawOutput"]["metadata"]["exists"] is False
    diff = done["content"][1]
    assert (diff["type"], diff["oldText"]) == ("diff", "")
    made = {path.name for path in (folder / "trunkline-demo").iterdir()} - {".git"}
    assert made == {"hello.py", "hello.md"}


def test_edit_and_patch_really_changed_it(tour: Tour, folder: Path) -> None:
    edit = tour.last("edit")
    assert edit["title"] == "trunkline-demo/hello.py"
    assert edit["content"][1]["oldText"] != "" != edit["content"][1]["newText"]
    patch = tour.last("apply_patch")
    named = "Success. Updated the following files:\nM trunkline-demo/hello.py\nA trunkline-demo/hello.md"
    assert patch["title"] == patch["rawOutput"]["output"] == named
    change, added = patch["rawOutput"]["metadata"]["files"]
    assert (added["type"], added["before"], added["deletions"]) == ("add", "", 0)
    assert added["after"] == (folder / "trunkline-demo" / "hello.md").read_text()
    assert [item["oldText"] for item in patch["content"][1:]] == [change["before"], None]
    assert set(change) == {"filePath", "relativePath", "type", "diff", "before", "after", "additions", "deletions"}
    assert (change["type"], change["additions"], change["deletions"]) == ("update", 2, 1)
    assert change["after"] == (folder / "trunkline-demo" / "hello.py").read_text()


def test_the_program_it_wrote_runs(tour: Tour) -> None:
    runs = [
        call for call in tour.by_tool("bash") if "hello.py" in call[1]["rawInput"]["command"] and "git" not in call[0]["title"]
    ]
    outputs = [call[2]["rawOutput"]["output"] for call in runs]
    assert "Hello Trunkline! (16 characters)\n" in outputs
    assert all(call[2]["rawOutput"]["metadata"]["exit"] == 0 for call in tour.by_tool("bash"))


@needs_git
def test_it_commits_into_a_repository_that_it_made(tour: Tour, folder: Path) -> None:
    log = subprocess.run(
        ["git", "log", "--format=%s"], cwd=folder / "trunkline-demo", capture_output=True, text=True, check=True
    ).stdout.split("\n")
    assert log[:2] == ["Say it better", "Say hello"]
    assert not (folder / ".git").exists()


def test_todos_and_task_and_page_have_their_titles_and_texts(tour: Tour) -> None:
    todos = tour.last("todowrite")
    assert todos["title"] == "5 todos"
    assert json.loads(todos["rawOutput"]["output"]) == todos["rawOutput"]["metadata"]["todos"]
    assert {todo["status"] for todo in todos["rawOutput"]["metadata"]["todos"]} == {"completed"}
    assert "I counted 4 files" in tour.last("task")["rawOutput"]["output"]
    assert "<task_metadata>" in tour.last("task")["rawOutput"]["output"]
    assert tour.by_tool("webfetch")[0][1]["rawInput"]["url"].startswith("data:")
    assert "its own address" in tour.last("webfetch")["rawOutput"]["output"]


def test_a_second_tour_makes_another_file(tmp_path: Path) -> None:
    Tour(tmp_path)
    again = Tour(tmp_path)
    assert again.last("write")["title"] == "trunkline-demo/hello2.py"
    assert {path.name for path in (tmp_path / "trunkline-demo").iterdir()} - {".git"} == {
        "hello.py", "hello.md", "hello2.py", "hello2.md"}


def test_in_an_empty_folder_it_reads_what_it_wrote(tmp_path: Path) -> None:
    tour = Tour(tmp_path)
    assert [call[1]["rawInput"]["filePath"] for call in tour.by_tool("read")] == [str(tmp_path / "trunkline-demo" / "hello.py")]
    assert tour.by_tool("glob")[0][2]["rawOutput"]["output"] == "No files found"


def test_when_rejected_it_says_so_changes_nothing_and_goes_on(tmp_path: Path) -> None:
    tour = Tour(tmp_path, option="reject-once")
    assert tour.answer["result"] == {"stopReason": "end_turn"}
    assert tour.last("write")["status"] == "failed"
    assert tour.last("write")["rawOutput"] == {"error": REJECTED}
    assert {call[0]["name"] for call in tour.calls} == {"todowrite", "glob", "grep", "plan_exit", "write", "task", "webfetch"}
    assert list(tmp_path.iterdir()) == []
    assert "You said no" in text_of(tour.updates)
    assert len(tour.asks) == 1


def test_in_mode_auto_it_does_not_ask(tmp_path: Path) -> None:
    tour = Tour(tmp_path, option=None, mode="auto")
    assert tour.asks == []
    assert tour.last("write")["status"] == "completed"


def test_in_mode_plan_it_only_reads(tmp_path: Path) -> None:
    tour = Tour(tmp_path, option=None, mode="plan")
    assert tour.asks == []
    assert {call[0]["name"] for call in tour.calls} == {"todowrite", "glob", "grep", "task", "webfetch"}
    assert list(tmp_path.iterdir()) == []


def test_always_holds_for_the_session(tmp_path: Path) -> None:
    with demo(tmp_path, "--fast") as client:
        client.replies["session/request_permission"] = choose("allow-always")
        session = client.open()
        for _ in range(2):
            client.prompt(session, "hello")
        assert sum(message.get("method") == "session/request_permission" for message in client.messages) == 1


def test_without_git_it_says_so_and_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    for tool in ("sh", "cat", "python3"):
        found = shutil.which(tool)
        assert found
        (bare / tool).symlink_to(found)
    monkeypatch.setenv("PATH", str(bare))
    (tmp_path / "work").mkdir()
    tour = Tour(tmp_path / "work")
    assert tour.answer["result"] == {"stopReason": "end_turn"}
    assert "there is no git here" in text_of(tour.updates)
    assert not any("git" in call[1]["rawInput"]["command"] for call in tour.by_tool("bash"))


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_where_it_may_not_write_its_calls_fail_and_it_ends(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    tour = Tour(tmp_path)
    assert tour.answer["result"] == {"stopReason": "end_turn"}
    assert tour.last("write")["status"] == "failed"


def test_where_its_folder_is_a_file_its_calls_fail_and_it_ends(tmp_path: Path) -> None:
    (tmp_path / "trunkline-demo").write_text("in the way")
    tour = Tour(tmp_path)
    assert tour.answer["result"] == {"stopReason": "end_turn"}
    assert tour.last("write")["status"] == "failed"
    assert (tmp_path / "trunkline-demo").read_text() == "in the way"


def test_a_tour_that_nobody_answers_takes_its_ask_back_and_ends_having_only_read(tmp_path: Path) -> None:
    tour = Tour(tmp_path, option=None, prompt="/tour 1")
    assert "I wait 1 s, then I only read" in text_of(tour.updates)
    assert tour.answer["result"] == {"stopReason": "end_turn"}
    (ask,) = [message for message in tour.messages if message.get("method") == "session/request_permission"]
    withdrawn = [message["params"] for message in tour.messages if message.get("method") == "$/cancel_request"]
    assert withdrawn == [{"requestId": ask["id"]}]
    assert tour.last("write")["status"] == "failed" and not tour.by_tool("bash")
    assert "Nobody answered" in tour.last("write")["rawOutput"]["error"]
    plan = [update for update in tour.updates if update["sessionUpdate"] == "plan"][-1]["entries"]
    assert [entry["status"] for entry in plan] == ["completed", "pending", "pending", "completed", "completed"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("prompt", ["Show me around", "/tour"])
def test_the_tour_waits_for_its_answer_and_names_no_clock_of_its_own(tmp_path: Path, prompt: str) -> None:
    assert "I ask once, before the first change:" in text_of(Tour(tmp_path, prompt=prompt).updates)


def test_its_pace_can_be_set_by_the_client(tmp_path: Path) -> None:
    with demo(tmp_path, "--speed", "0.001") as client:  # a tour at this speed takes hours
        client.replies["session/request_permission"] = choose("allow-once")
        session = client.open()
        client.request("session/set_config_option", {"sessionId": session, "configId": "pace", "value": "instant"})
        answer, _ = client.prompt(session, "hello")
        assert answer["result"] == {"stopReason": "end_turn"}


def test_attachments_are_mentioned(tmp_path: Path) -> None:
    with demo(tmp_path, "--fast") as client:
        client.replies["session/request_permission"] = choose("reject-once")
        session = client.open()
        prompt = [{"type": "text", "text": "hi"}, {"type": "resource_link", "uri": "file:///a", "name": "a"}]
        client.request("session/prompt", {"sessionId": session, "prompt": prompt})
        assert "1 attachment" in text_of([update_of(message) for message in client.messages])


def test_it_plans_first_and_is_back_in_its_mode_before_it_asks(tour: Tour) -> None:
    modes = [update["currentModeId"] for update in tour.updates if update["sessionUpdate"] == "current_mode_update"]
    assert modes == ["plan", "ask"]
    (plan,) = tour.by_tool("plan_exit")
    assert plan[0]["kind"] == "switch_mode" and plan[1]["rawInput"]["plan"].startswith("1. ")


def test_a_tour_that_is_cancelled_while_it_plans_leaves_plan_mode(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        prompt = client.begin_prompt(session, "hello")
        client.until(lambda message: update_of(message).get("currentModeId") == "plan")
        client.cancel(session)
        answer = client.answer_to(prompt)
        assert answer["result"] == {"stopReason": "cancelled"}
        modes = [update_of(message).get("currentModeId") for message in client.messages]
        assert [mode for mode in modes if mode] == ["plan", "ask"]


def test_tokens_are_told_as_what_each_turn_took_and_what_was_there_before_as_read_from_a_cache(tmp_path: Path) -> None:
    with demo(tmp_path, "--fast", capabilities=TAKES_ALL) as client:
        client.replies["session/request_permission"] = choose("reject-once")
        session, spent = client.open(), []
        for _ in range(3):
            heard = len(client.messages)
            client.prompt(session, "hello")
            spent.append([data for kind, data in notes_of(client.messages[heard:]) if kind == "tokens"])
    taken = [sum(each["input"] + each["output"] for each in turn) for turn in spent]
    assert min(taken) > 0 and max(taken) - min(taken) <= 4 * len(spent[0]), "every turn said the same"
    cached = [turn[-1]["cacheRead"] for turn in spent]
    assert cached == sorted(set(cached)) and spent[0][0]["cacheRead"] == 0


def test_a_client_that_takes_notes_and_notices_hears_more(tmp_path: Path) -> None:
    with demo(tmp_path, "--fast", capabilities=TAKES_ALL) as client:
        client.replies["session/request_permission"] = choose("allow-once")
        answer, updates = client.prompt(client.open(), "hello")
        assert answer["result"] == {"stopReason": "end_turn"}
        notes = notes_of(client.messages)
    assert {kind for kind, _ in notes} == {"args_delta", "tokens", "progress", "subagent"}
    (notice,) = [update for update in updates if update["sessionUpdate"] == "notice"]
    assert notice["severity"] == "success"
    for call in calls_of(updates):
        pieces = [data["delta"] for kind, data in notes if kind == "args_delta" and data["toolCallId"] == call[0]["toolCallId"]]
        assert not pieces or json.loads("".join(pieces)) == call[1]["rawInput"]


def test_one_file_is_told_as_one(tmp_path: Path) -> None:
    (tmp_path / "only.txt").write_text("one\n")
    assert "| looked around | 1 file |" in text_of(Tour(tmp_path).updates)


def test_what_it_says_it_changed_is_all_that_it_changed(tmp_path: Path) -> None:
    said = text_of(Tour(tmp_path).updates)
    assert "| changed | `trunkline-demo/hello.py` and `trunkline-demo/hello.md`" in said
    assert {path.name for path in (tmp_path / "trunkline-demo").glob("hello.*")} == {"hello.py", "hello.md"}
