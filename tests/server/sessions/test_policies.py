"""The policy over HTTP: read, replaced, asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.site import Site, site
from trunkline.dialects.calls.names import name_of_kind
from trunkline.dialects.context.envelope import decode_event
from trunkline.dialects.context.events import ApprovalResolvedEvent
from trunkline.hub import Session
from trunkline.session.policy.decide import Rule, always_rule, policy_ask
from trunkline.session.policy.file import PolicyBook, version_of
from trunkline.session.policy.text import written_rule

TEXT = '# ours\n[[rules]]\nid = "tests"\ncommand = ["npm test*"]\naction = "allow"\n'
AUTO = {"reads": True, "writes": ["docs/**"], "commands": False, "searches": True}


async def explained(hub: Site, **question: Any) -> Any:
    answer = await hub.ask("POST", "/policy/explain", json_body=question)
    assert answer.status == 200, answer.body
    return answer.json()


def test_a_policy_is_replaced_as_text_and_read_as_text_and_rules(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            empty = (await hub.ask("GET", "/policy")).json()
            assert (empty["text"], empty["rules"], empty["autoApprove"], empty["problem"]) == ("", [], None, None)
            put = await hub.ask("PUT", "/policy", json_body={"text": TEXT})
            assert put.status == 200, put.body
            assert put.json() == (await hub.ask("GET", "/policy")).json()
            assert put.json()["text"] == TEXT
            assert put.json()["rules"] == [{"action": "allow", "command": ["npm test*"], "id": "tests"}]

    run(check())


def test_a_policy_that_was_changed_since_it_was_read_is_not_replaced(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            read = await hub.ask("GET", "/policy")
            tag = read.header("etag") or ""
            assert tag == f'"{read.json()["version"]}"'
            first = await hub.ask("PUT", "/policy", json_body={"text": TEXT}, headers={"If-Match": tag})
            assert (first.status, first.header("etag") != tag) == (200, True)
            late = await hub.ask("PUT", "/policy", json_body={"text": "# mine"}, headers={"If-Match": tag})
            assert (late.status, late.json()["code"], late.json()["details"]) == (
                412, "conflict", {"version": first.json()["version"]})
            assert (await hub.ask("GET", "/policy")).json()["text"] == TEXT
            for good in ("*", f'"other", {first.header("etag")}'):
                assert (await hub.ask("PUT", "/policy", json_body={"text": TEXT}, headers={"If-Match": good})).status == 200
            weak = await hub.ask("PUT", "/policy", json_body={"text": TEXT}, headers={"If-Match": f"W/{first.header('etag')}"})
            assert weak.status == 412
            assert (await hub.ask("PUT", "/policy", json_body={"text": ""})).status == 200

    run(check())


def test_a_rule_that_always_added_meanwhile_is_not_lost_to_an_editor(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            tag = (await hub.ask("GET", "/policy")).header("etag") or ""
            hub.hub.policies.append(Rule(action="allow", command=["make"]))
            late = await hub.ask("PUT", "/policy", json_body={"text": ""}, headers={"If-Match": tag})
            assert late.status == 412
            assert [rule.command for rule in hub.hub.policies.policy.rules] == [["make"]]

    run(check())


def test_a_policy_is_replaced_as_rules_and_written_as_a_file_that_says_the_same(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            rules = [{"action": "deny", "path": ["**/.env", "é \"quoted\""], "reason": "secrets"},
                     {"action": "allow", "category": ["file_read"], "expiresAt": "2030-01-01T00:00:00Z"}]
            auto = {"autoApprove": {**AUTO, "commands": ["echo \x7f*", "é \"quoted\" \\\\"]}}
            put = await hub.ask("PUT", "/policy", json_body={"rules": rules, "autoApprove": auto})
            assert put.status == 200, put.body
            assert (put.json()["rules"], put.json()["autoApprove"]) == (rules, auto)
            again = await hub.ask("PUT", "/policy", json_body={"text": put.json()["text"]})
            assert (again.json()["rules"], again.json()["autoApprove"]) == (rules, auto)

    run(check())


@pytest.mark.parametrize(("body", "complaint"), [
    ({}, "exactly one of text and rules"), ({"text": "", "rules": []}, "exactly one of text and rules"),
    ({"text": "", "autoApprove": {"autoApprove": AUTO}}, "autoApprove"),
    ({"text": "[[rules]]\naction = \"perhaps\"\n"}, "rule 1"), ({"text": "[["}, "not TOML"),
    ({"rules": [{"action": "allow", "comand": ["ls"]}]}, "comand"), ({"rules": [{"action": "allow"}]}, "what it is about"),
    ({"policy": ""}, "policy"), ({"rules": [{"action": "deny", "root": "/tmp/../etc"}]}, "takes a detour"),
])
def test_what_is_no_policy_is_refused_and_changes_nothing(tmp_path: Path, body: dict[str, Any], complaint: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            await hub.ask("PUT", "/policy", json_body={"text": TEXT})
            answer = await hub.ask("PUT", "/policy", json_body=body)
            assert (answer.status, answer.json()["code"]) == (400, "invalid")
            assert complaint in answer.json()["message"]
            assert (await hub.ask("GET", "/policy")).json()["text"] == TEXT

    run(check())


def test_the_policy_says_what_it_would_do_and_why(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            await hub.ask("PUT", "/policy", json_body={"text": TEXT + '\n[[rules]]\npath = ["secret/**"]\naction = "deny"\n'})
            allowed = await explained(hub, command="npm test", cwd="/x")
            assert (allowed["action"], allowed["source"], allowed["rule"]["id"]) == ("allow", "policy file", "tests")
            assert allowed["risk"] in ("low", "medium") and allowed["riskReason"] and allowed["why"]
            asked = await explained(hub, command="npm test && rm -rf x", cwd="/x")
            assert (asked["action"], asked["rule"]) == ("ask", None)
            assert [(each["rule"].get("id"), each["fits"]) for each in asked["considered"]] == [(None, False), ("tests", False)]
            assert all(each["why"] for each in asked["considered"])
            assert (await explained(hub, path="secret/a", cwd="/x"))["action"] == "deny"
            assert (await explained(hub, tool="write", kind="edit", input={"path": "/x/secret/a"}, cwd="/x"))["action"] == "deny"

    run(check())


def test_it_is_explained_how_a_call_was_read_and_what_keeps_an_allow_away(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            text = TEXT + '\n[[rules]]\ncommand = ["git push*"]\naction = "deny"\n'
            await hub.ask("PUT", "/policy", json_body={"text": text})
            option = await explained(hub, command="npm test --userconfig=x", cwd="/x")
            assert (option["action"], option["pieces"][0]["changing"]) == ("ask", ["--userconfig"])
            assert "`--userconfig` changes what is run" in option["considered"][1]["why"]
            alias = await explained(hub, command="git -c alias.p=push p", cwd="/x")
            assert (alias["action"], alias["pieces"][0]["also"][0]) == ("deny", "git push")
            behind = await explained(hub, command="man -P 'git push' ls", cwd="/x")
            assert (behind["action"], behind["pieces"][0]["runs"][0]) == ("ask", "git push")
            member = await explained(hub, tool="bash", input={"command": "npm test", "run_as": "root"}, cwd="/x")
            assert member["action"] == "ask" and "run_as" in member["doubts"][0]
            assert any("run_as" in each["why"] for each in member["considered"])
            assert (await explained(hub, tool="bash", input={"command": "npm test"}, cwd="/x"))["doubts"] == []
            titled = await explained(hub, tool="bash", input={"command": "npm test"}, title="npm test && git push", cwd="/x")
            assert titled["action"] == "deny" and any("its title is another command" in doubt for doubt in titled["doubts"])

    run(check())


def test_a_member_that_nobody_knows_keeps_a_session_s_own_rule_away(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            session.fold.rules.append(Rule(action="allow", command=["make*"]))
            plain = await explained(hub, sessionId=session.id, tool="bash", input={"command": "make"})
            more = await explained(hub, sessionId=session.id, tool="bash", input={"command": "make", "after_command": "x"})
            assert (plain["action"], plain["source"], more["action"]) == ("allow", "session", "ask")

    run(check())


def test_an_agent_s_own_names_for_its_tools_are_known_where_it_is_named(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            question = {"tool": "run_shell_command", "input": {"command": "npm test"}, "cwd": "/x"}
            assert (await explained(hub, agent="gemini", **question))["tool"] == "bash"
            assert (await explained(hub, agent="nobody", **{**question, "tool": "frobnicate"}))["tool"] == "frobnicate"

    run(check())


def test_a_rule_that_always_made_of_a_command_is_explained_as_one_that_allows(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            fold, line = session.fold, "make all | tee log"
            tool = name_of_kind("execute") or ""
            ask = policy_ask(tool, "execute", {"command": line}, agent=fold.agent, cwd=fold.cwd, roots=[fold.cwd])
            rule = always_rule(ask, allow=True, scope="always", session_id="", turn_id=None, reason=None)
            await hub.ask("PUT", "/policy", json_body={"text": written_rule(rule)})
            for question in ({"command": line}, {"command": line, "tool": "Bash"}, {"input": {"command": line}, "tool": "bash"}):
                assert (await explained(hub, sessionId=session.id, **question))["action"] == "allow", question

    run(check())


def test_of_a_session_its_own_folder_and_rules_count(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            auto = {"command": "set_permission_policy", "policy": {"autoApprove": AUTO}}
            sent = await hub.ask("POST", f"/sessions/{session.id}/commands", json_body={"command": auto})
            assert sent.status == 200, sent.body
            assert (await explained(hub, path="docs/a.md", cwd=str(hub.folder)))["action"] == "ask"
            own = await explained(hub, path="docs/a.md", sessionId=session.id)
            assert (own["action"], own["source"]) == ("allow", "permission policy")
            assert (await explained(hub, path="../docs/a.md", sessionId=session.id))["action"] == "ask"

    run(check())


@pytest.mark.parametrize(("question", "status"), [
    ({}, 400), ({"command": "ls", "path": "x"}, 400), ({"input": {}}, 400), ({"command": "ls", "cwd": "here"}, 400),
    ({"command": "ls", "sessionId": "ses_none"}, 404), ({"comand": "ls"}, 400),
])
def test_a_question_that_makes_no_sense_is_refused(tmp_path: Path, question: dict[str, Any], status: int) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            assert (await hub.ask("POST", "/policy/explain", json_body=question)).status == status

    run(check())


def test_only_an_admin_changes_the_policy(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            made = (await hub.ask("POST", "/auth/tokens", json_body={"name": "page", "scope": "control"})).json()
            assert (await hub.ask("PUT", "/policy", json_body={"text": TEXT}, token=made["secret"])).status == 403
            assert (await hub.ask("GET", "/policy", token=made["secret"])).json()["text"] == ""

    run(check())


def open_to_others(path: Path) -> None:
    path.chmod(0o666)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def not_utf_8(path: Path) -> None:
    path.write_bytes(b"\xff")


@pytest.mark.parametrize(("spoil", "why"), [
    (open_to_others, "may be written by others"), (a_folder, "not a plain file"), (not_utf_8, "not UTF-8"),
])
def test_a_file_that_cannot_be_read_is_told_beside_the_rules_that_stay_in_force(
    tmp_path: Path, spoil: Callable[[Path], None], why: str,
) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            path = tmp_path / "policy.toml"
            hub.hub.policies = PolicyBook(path)
            good = await hub.ask("PUT", "/policy", json_body={"text": TEXT})
            spoil(path)
            shown = await hub.ask("GET", "/policy")
            assert (shown.status, shown.json()["text"], shown.json()["rules"]) == (200, "", good.json()["rules"])
            assert why in shown.json()["problem"]
            assert shown.json()["version"] not in (good.json()["version"], version_of(""))
            for tag in (good.header("etag"), f'"{version_of("")}"'):
                late = await hub.ask("PUT", "/policy", json_body={"text": "# mine"}, headers={"If-Match": tag})
                assert late.status == 412, late.body
            new = await hub.ask("PUT", "/policy", json_body={"text": "# new"}, headers={"If-Match": shown.header("etag")})
            if spoil is a_folder:
                assert new.json()["code"] == "storage_error"
            else:
                assert (new.status, new.json()["text"], new.json()["problem"]) == (200, "# new", None)

    run(check())


async def asked(hub: Site, *sessions: Session) -> list[str]:
    """The demo agent asks for a command in each of the sessions; the ids of its asks."""
    feed, found = hub.hub.everything, []
    for session in sessions:
        await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/ask"})
        while not session.fold.approvals:
            await feed.wait(feed.last_pos)
        found += list(session.fold.approvals)
    return found


async def resolved(session: Session) -> ApprovalResolvedEvent:
    """How the session's ask ended, once it has."""
    while True:
        events = [decode_event(entry.event) for entry in await session.feed.read(after=0)]
        for event in events:
            if isinstance(event, ApprovalResolvedEvent):
                return event
        await session.feed.wait(session.feed.last_seq)


def test_a_deny_rule_that_is_put_wins_over_the_ask_that_waits_and_whoever_answers_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            phone = (await hub.ask("POST", "/auth/tokens", json_body={"name": "phone", "scope": "approve"})).json()["secret"]
            session = await hub.session()
            (request_id,) = await asked(hub, session)
            rule = {"action": "deny", "command": ["echo *"], "reason": "hush"}
            assert (await hub.ask("PUT", "/policy", json_body={"rules": [rule]})).status == 200
            late = await hub.ask("POST", f"/sessions/{session.id}/permissions/{request_id}", json_body={"decision": "allow"},
                                 token=phone)
            assert late.status in (403, 409) and "approved" in late.json()["message"]
            event = await resolved(session)
            assert (event.approved, event.resolved_by, "hush" in str(event.reason)) == (False, "policy", True)

    run(check())


def test_an_allow_rule_that_is_put_answers_the_asks_that_wait_in_all_sessions(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            sessions = [await hub.session(), await hub.session()]
            await asked(hub, *sessions)
            await hub.ask("PUT", "/policy", json_body={"rules": [{"action": "allow", "command": ["echo *"]}]})
            for session in sessions:
                event = await resolved(session)
                assert (event.approved, event.resolved_by) == (True, "policy")

    run(check())


def test_always_in_one_session_answers_the_same_ask_in_another_of_the_same_folder(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            first, second = await hub.session(), await hub.session()
            request_id, _ = await asked(hub, first, second)
            answer = await hub.ask("POST", f"/sessions/{first.id}/permissions/{request_id}",
                                   json_body={"decision": "allow", "scope": "always"})
            assert answer.status == 200, answer.body
            assert [(event.approved, event.resolved_by) for event in (await resolved(first), await resolved(second))] == [
                (True, "user"), (True, "policy")]

    run(check())


@pytest.mark.parametrize("allow", [True, False])
def test_what_an_always_would_answer_is_told_before_it_is_said(tmp_path: Path, allow: bool) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            first, second = await hub.session(), await hub.session()
            request_id, other = await asked(hub, first, second)
            body = {"decision": "allow" if allow else "deny", "scope": "always"}
            said = await hub.ask("POST", f"/approvals/{request_id}/always-preview", json_body=body)
            assert said.status == 200, said.body
            found = said.json()
            assert [(one["requestId"], one["sessionId"], one["decision"]) for one in found["answers"]] == [
                (request_id, first.id, body["decision"]), (other, second.id, body["decision"])]
            assert all(one["description"].startswith("Run: ") for one in found["answers"])
            assert (found["rule"]["action"], found["rule"]["savedBy"]) == (body["decision"], "main")
            assert (await hub.ask("GET", "/policy")).json()["rules"] == [], "nothing is saved"
            own = await hub.ask("POST", f"/approvals/{request_id}/always-preview", json_body={**body, "scope": "session"})
            assert [one["requestId"] for one in own.json()["answers"]] == [request_id], "a session's rule reaches no other"
            await hub.ask("POST", f"/sessions/{first.id}/permissions/{request_id}", json_body=body)
            event = await resolved(second)
            assert isinstance(event.meta, dict) and (event.approved, event.meta["rule"]["savedBy"]) == (allow, "main")
            late = await hub.ask("POST", f"/approvals/{request_id}/always-preview", json_body=body)
            assert (late.status, late.json()["code"]) == (409, "already_resolved")

    run(check())


def test_what_other_rules_would_answer_is_told_before_they_are_saved(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            first, second = await hub.session(), await hub.session()
            request_id, other = await asked(hub, first, second)
            for action in ("allow", "deny"):
                rule = {"action": action, "category": ["terminal", "file_write", "file_edit"], "risk": ["low", "medium", "high"]}
                said = await hub.ask("POST", "/policy/preview", json_body={"rules": [rule]})
                assert said.status == 200, said.body
                found = said.json()["answers"]
                assert [(one["requestId"], one["sessionId"], one["decision"]) for one in found] == [
                    (request_id, first.id, action), (other, second.id, action)]
            assert (await hub.ask("GET", "/policy")).json()["rules"] == [], "nothing is saved"
            assert len((await hub.ask("GET", "/approvals")).json()["pending"]) == 2, "and nothing is answered"
            assert (await hub.ask("POST", "/policy/preview", json_body={"text": ""})).json()["answers"] == []
            assert (await hub.ask("POST", "/policy/preview", json_body={"text": "rules = 3"})).status == 400
            await hub.ask("PUT", "/policy", json_body={"rules": [rule]})
            event = await resolved(second)
            assert isinstance(event.meta, dict) and (event.approved, event.meta["rule"]["source"]) == (False, "policy file")

    run(check())


def test_a_preview_is_of_an_ask_that_waits_and_of_a_decision_for_longer_than_once(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            (request_id,) = await asked(hub, await hub.session())
            body = {"decision": "allow", "scope": "always"}
            assert (await hub.ask("POST", "/approvals/req_none/always-preview", json_body=body)).status == 404
            for wrong in ({"decision": "allow", "scope": "once"}, {"decision": "perhaps"}, {}):
                assert (await hub.ask("POST", f"/approvals/{request_id}/always-preview", json_body=wrong)).status == 400
            assert (await hub.ask("POST", f"/approvals/{request_id}/always-preview", json_body=body, token=None)).status == 401

    run(check())
