"""What was said of a call before it is asked about: by the agent it counts, against what the hub itself is to do it does not."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from tests.session.interpret.call_builders import ask, call, more
from tests.session.interpret.told import Told
from tests.session.script import OPTIONS
from tests.tooling.rows import every_row
from trunkline.dialects.signals import LargeUpdate, PermissionAsk
from trunkline.session.interpret.calls.evidence import STRAY_BYTES
from trunkline.session.policy.text import parse_policy

MAKE = {"kind": "execute", "name": "Bash", "rawInput": {"command": "make"}, "status": "in_progress"}


def words(text: str) -> list[dict[str, Any]]:
    return [{"type": "content", "content": {"type": "text", "text": text}}]


def doubts(*signals: Any) -> list[str]:
    """What is not sure about the ask that comes of these."""
    told = Told().turn()
    told.hear(*signals)
    return list(told.fold.approvals["r"].doubts)


def test_what_the_hub_is_to_do_is_judged_by_itself_and_not_by_what_was_said_before() -> None:
    asked = msgspec.json.encode({"toolCallId": "c", "kind": "execute", "title": "Run", "rawInput": {"command": "FOO=x make"}})
    assert doubts(call(**MAKE), PermissionAsk("r", asked, OPTIONS, is_act=True)) == []
    assert doubts(call(**MAKE), PermissionAsk("r", asked, OPTIONS)) == ["it was announced to run something else: make"]


@pytest.mark.parametrize("command", ["make", "make all", "/bin/bash -lc make", "CI=true make"])
def test_what_goes_on_with_the_announcement_is_no_other_command(command: str) -> None:
    assert doubts(call(**MAKE), ask(rawInput={"command": command})) == []


@pytest.mark.parametrize("command", ["echo make", "echo 'make'", "true"])
def test_what_does_not_is_one(command: str) -> None:
    assert doubts(call(**MAKE), ask(rawInput={"command": command})) == ["it was announced to run something else: make"]


def test_what_a_call_shows_is_claimed_only_where_it_is_read_by_it() -> None:
    words = [{"type": "content", "content": {"type": "text", "text": "some output"}}]
    change = [{"type": "diff", "path": "/project/a", "oldText": "a", "newText": "b"}]
    told = Told().turn()
    told.hear(call(**MAKE), more(content=words), more(content=[]))
    assert [call.claims for call in told.fold.calls.values()] == [None]
    told.hear(more(content=change), more(content=words))
    assert [call.claims and call.claims.paths for call in told.fold.calls.values()] == [("/project/a",)]


def test_what_somebody_decided_about_counts_no_more() -> None:
    told = Told().turn()
    told.hear(call(**MAKE), ask("first", rawInput={"command": "true"}))
    told.at().asks.resolve("first", approved=True, resolved_by="user", who="ann")
    told.hear(ask("second", rawInput={"command": "true"}))
    assert told.fold.approvals["second"].sure


READ: dict[str, Any] = {"name": "Read", "kind": "read", "rawInput": {"file_path": "a.py"}}


@pytest.mark.parametrize("meta", [
    {"command": "sudo make install"}, {"cmd": ["sudo", "make", "install"]}, {"commands": ["sudo make install"]},
    {"vendor": {"input": {"command": "sudo make install"}}}, {"toolName": "Read", "script": "sudo make install"},
])
@pytest.mark.parametrize("where", ["call", "ask", "both"])
def test_a_command_in_meta_raises_and_is_a_doubt(meta: dict[str, Any], where: str) -> None:
    told = Told().turn()
    told.hear(call(**READ, **({"_meta": meta} if where != "ask" else {})))
    told.hear(ask("r", **READ, **({"_meta": meta} if where != "call" else {})))
    view = told.fold.approvals["r"]
    assert view.about is not None and view.about.doubts == ("a command stands beside its input: sudo make install",)
    assert (view.about.risk, view.about.only_looks, view.about.command) == ("high", False, None)


@pytest.mark.parametrize("meta", [{"command": "make"}, {"command": ["/bin/bash", "-lc", "make"]},
                                  {"terminal_info": {"cwd": "/w"}}])
def test_the_same_command_in_meta_says_nothing_new(meta: dict[str, Any]) -> None:
    assert doubts(call(**MAKE, _meta=meta), ask(rawInput={"command": "make"}, _meta=meta)) == []


def nested(levels: int, inner: Any) -> Any:
    """Records within records."""
    for _ in range(levels):
        inner = {"inner": inner}
    return inner


PLACES = ["a.py", "./a.py", "/w/a.py", "/x/a.py", "/y/a.py", "/z/a.py", "/v/a.py", "/u/a.py", "/t/a.py"]
MORE = ["more was said of it than is looked at"]


@every_row("beside", [
    {"_meta": {"x": [{"path": path} for path in (*PLACES, "secrets/key")]}}, {"_meta": {"x": [{"n": n} for n in range(17)]}},
    {"_meta": nested(5, {"command": "make install"})}, {"_meta": {"x": json.dumps(nested(4, {"command": "make install"}))}},
    {"_meta": {"x": [[{"command": "make install"}]]}}, {"command": "make install", "padding": "x" * STRAY_BYTES},
    {"locations": [{"path": "a.py", "uri": "file:///etc/hosts", "note": "x" * STRAY_BYTES}]},
])
def test_what_stands_beside_a_call_and_is_not_looked_at_is_a_doubt(beside: dict[str, Any]) -> None:
    plain = {**READ, "title": "Read a.py"}
    assert doubts(call(**plain), ask(**plain)) == []
    assert doubts(call(**plain, **beside), ask(**plain)) == MORE
    assert doubts(ask(**plain, **beside)) == MORE


def test_of_an_update_of_many_megabytes_it_is_not_known_what_stands_beside_it() -> None:
    plain = {**READ, "title": "Read a.py"}
    told = call(**plain, command="make install")
    assert doubts(LargeUpdate(told.raw), ask(**plain)) == MORE
    ended = LargeUpdate(call(**plain, toolCallId="d", status="completed").raw)
    assert doubts(call(**plain), ended, ask(**plain)) == []


@every_row("meta", [{"x": [{"n": n} for n in range(16)]}, nested(4, {"n": 1}), {"toolResponse": nested(9, {"n": 1})},
                    {"x": [[], ["a"], "b"]}, nested(5, {})])
def test_remarks_that_are_looked_at_to_their_end_are_no_doubt(meta: dict[str, Any]) -> None:
    assert doubts(call(**READ, _meta=meta), ask(**READ, _meta=meta)) == []


def test_a_long_text_does_not_hide_what_stands_beside_it() -> None:
    write: dict[str, Any] = {"name": "Write", "kind": "edit", "rawInput": {"path": "a.py", "content": "line\n" * STRAY_BYTES}}
    assert doubts(ask(**write)) == ["not all of it is shown"]
    assert "a command stands beside its input: make install" in doubts(ask(**write, command="make install"))


def test_a_command_in_the_meta_of_a_result_is_no_claim() -> None:
    told = Told().turn()
    told.hear(call(**READ), more(status="completed", _meta={"command": "make"}))
    assert [call.claims for call in told.fold.calls.values()] == [None]


def looks(*signals: Any) -> bool:
    """Whether what comes of these is still a look, and sure."""
    told = Told().turn()
    told.hear(*signals)
    about = told.fold.approvals["r"].about
    assert about is not None and about.only_looks == (not told.fold.approvals["r"].doubts)
    return about.only_looks


@every_row("beside", [
    {"title": "make -j install"}, {"title": "Delete a.py"}, {"title": "Running: make"},
    {"content": words("Running: make install")},
    {"content": [{"type": "terminal", "terminalId": "t"}]}, {"command": "make install"}, {"input": {"command": "make install"}},
    {"args": {"command": "make install"}}, {"_meta": {"x": {"delete_files": ["a.py"]}}},
    {"_meta": {"x": {"line": "make -j install"}}},
])
def test_what_an_ask_says_beside_the_input_of_a_read_makes_it_none(beside: dict[str, Any]) -> None:
    asked = {**READ, "title": "Read a.py"}
    assert looks(ask(**asked))
    assert not looks(ask(**{**asked, **beside}))
    assert not looks(call(**{**asked, **beside}), ask(**asked)) or not {"command", "input", "args"}.isdisjoint(beside)


def test_what_a_vendor_remarks_of_a_read_is_no_command() -> None:
    remarks = {"toolName": "Read", "phase": "about to read", "folder": "/project dir", "lines": 3, "like": "grep -n x a.py"}
    assert looks(ask(**READ, title="Read a.py", _meta={"vendor": remarks}))


def test_a_title_that_was_another_one_before_still_counts() -> None:
    assert not looks(call(**READ, title="Read a.py"), more(title="Delete a.py"), ask(**READ, title="Read a.py"))


def test_what_a_call_printed_is_no_announcement() -> None:
    printed = more(content=words("Running: make install"), status="in_progress")
    assert looks(call(**READ, title="Read a.py", status="in_progress"), printed, ask(**READ, title="Read a.py", content=[]))


def test_the_words_of_an_ask_that_show_its_command_are_no_other_command() -> None:
    for text in ("Running: make", "Running: `make`", "Run: mak..."):
        assert doubts(ask(name="Bash", kind="execute", rawInput={"command": "make"}, content=words(text))) == []
    other = doubts(ask(name="Bash", kind="execute", rawInput={"command": "make"}, content=words("Running: make install")))
    assert other == ["a command stands beside its input: make install"]


def test_a_command_beside_a_call_of_no_form_of_the_schema_is_seen_as_well() -> None:
    told = Told().turn()
    told.hear(ask(kind="read", name="Read", args={"path": "a.py"}, command="make install", status="odd"))
    assert list(told.fold.approvals["r"].doubts) == ["a command stands beside its input: make install"]


@pytest.mark.parametrize(("meta", "level"), [
    ({"execute": True}, "high"), ({"x": {"thenRun": "yes"}}, "high"), ({"does": "execute"}, "high"),
    ({"writes": True}, "medium"), ({"readOnly": False}, "medium"), ({"effects": ["read", "delete"]}, "high"),
])
@pytest.mark.parametrize("where", ["call", "ask"])
def test_a_read_that_is_said_to_do_more_is_no_read_and_is_raised(meta: dict[str, Any], level: str, where: str) -> None:
    told, raised = Told().turn(), {**READ, "_meta": meta}
    told.hear(call(**(raised if where == "call" else READ)), ask(**(raised if where == "ask" else READ)))
    view = told.fold.approvals["r"]
    assert view.about is not None and not view.about.only_looks and not view.sure
    assert view.about.risk == level


@pytest.mark.parametrize("meta", [{"execute": False}, {"readOnly": True}, {"modified": True, "running": True}, {"dryRun": True}])
def test_a_read_that_is_said_to_be_in_some_state_stays_one(meta: dict[str, Any]) -> None:
    told = Told().turn()
    told.hear(ask(**READ, _meta=meta))
    view = told.fold.approvals["r"]
    assert view.about is not None and view.about.only_looks and view.sure


@every_row(("locations", "path"), [
    ([{"uri": "file:///etc/shadow"}], "/etc/shadow"), ([{"uri": "FILE://localhost/etc/sh%61dow"}], "/etc/shadow"),
    ([{"path": "a.py", "uri": "file:///etc/shadow"}], "/etc/shadow"), ([{"path": "a.py", "file": "/etc/shadow"}], "/etc/shadow"),
    (["file:///etc/shadow"], "/etc/shadow"), ({"path": "/etc/shadow"}, "/etc/shadow"),
    ([{"uri": "file:///etc/shadow"}, {"path": "a.py", "uri": "file:///etc/hosts"}], "/etc/hosts"),
])
def test_a_place_that_is_told_by_an_address_is_a_path_that_rules_deny(locations: Any, path: str) -> None:
    denies = parse_policy(f'[[rules]]\npath = ["{path}"]\naction = "deny"\n\n[auto_approve]\nreads = true\n')
    allows = parse_policy("[auto_approve]\nreads = true\n")
    for signals in ([ask(**READ, locations=locations)], [call(**READ, locations=locations), ask(**READ)]):
        told = Told().turn()
        told.hear(*signals)
        about = told.fold.approvals["r"].about
        assert about is not None and denies.decide(about, now_us=0).action == "deny"
        assert allows.decide(about, now_us=0).action == "ask"


def test_an_address_of_the_same_file_is_no_other_place() -> None:
    told = Told().turn()
    told.hear(ask(**READ, locations=[{"path": "a.py", "uri": "file:///project/a.py"}, {"uri": "a.py"}]))
    assert told.fold.approvals["r"].sure
