"""What devices are told: subscriptions, notes, and a push service on loopback that decrypts what it gets."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import stat
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.site import Site, site
from tests.tooling.push_service import Browser, Pushed, PushService
from trunkline.dialects.calls import read_call, reading_meta
from trunkline.dialects.calls.names import usual_name
from trunkline.dialects.context.envelope import encode_event
from trunkline.dialects.context.events import (
    ApprovalRequestedEvent,
    ApprovalResolvedEvent,
    Event,
    MessageStartEvent,
    SessionStatusChangedEvent,
    UserQuestionEvent,
)
from trunkline.dialects.context.types import to_raw
from trunkline.dialects.context.unions import CommandPreview, DescriptionPreview, DiffPreview
from trunkline.errors import Invalid, StorageError
from trunkline.hub import Decision, Session
from trunkline.journal.base import Entry
from trunkline.server.delivery.following import Clock
from trunkline.server.delivery.push.keys import KEY_FILE, push_key
from trunkline.server.delivery.push.notes import (
    ASK_MOST_S,
    KEPT_S,
    PREVIEW_MOST,
    TITLE_MOST,
    About,
    PushNote,
    note_of,
    payload_of,
)
from trunkline.server.delivery.push.pusher import Pusher
from trunkline.server.delivery.push.sender import LIMITS, PushSender
from trunkline.server.delivery.push.subscriptions import KINDS, Subscription, Subscriptions, check_endpoint

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)


class QuickClock(Clock):
    """Time that passes at once, and is written down."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        """Let others work, and be done."""
        self.slept.append(seconds)
        await asyncio.sleep(0.01)


# Keys and subscriptions


def test_the_key_pair_is_made_once_in_a_private_file(tmp_path: Path) -> None:
    first = push_key(tmp_path)
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600
    assert push_key(tmp_path).public == first.public
    assert "private" not in repr(first) and len(first.public) == 87


@pytest.mark.parametrize("content", ["", "x", "AAAA", "A" * 43])
def test_a_key_file_that_is_no_key_is_an_error_and_stays_as_it_is(tmp_path: Path, content: str) -> None:
    (tmp_path / KEY_FILE).write_text(content)
    with pytest.raises(StorageError):
        push_key(tmp_path)
    assert (tmp_path / KEY_FILE).read_text() == content


def test_two_who_ask_at_once_get_the_same_key(tmp_path: Path) -> None:
    async def check() -> None:
        subscriptions = Subscriptions(tmp_path, lambda _: True)
        keys = await asyncio.gather(*(subscriptions.key() for _ in range(8)))
        assert {key.public for key in keys} == {push_key(tmp_path).public}

    run(check())


@pytest.mark.parametrize("endpoint", [
    "http://push.example/x", "https://127.0.0.1/x", "https://10.0.0.1/x", "https://[::1]/x", "https://169.254.169.254/x",
    "https://[::ffff:10.0.0.1]/x", "https://localhost/x", "https://user:pw@push.example/x", "ftp://push.example", "https://", "x",
    "https://push.example/" + "x" * 3_000, "https://push.example/a b", "https://push.example:0/",
])
def test_an_endpoint_without_tls_or_in_a_private_network_is_refused(endpoint: str) -> None:
    with pytest.raises(Invalid):
        check_endpoint(endpoint, ())


def test_an_endpoint_may_be_where_the_settings_allow_it() -> None:
    check_endpoint("https://push.example/x", ())
    check_endpoint("http://127.0.0.1:9/x", LOOPBACK)
    with pytest.raises(Invalid):
        check_endpoint("https://10.0.0.1/x", LOOPBACK)


def test_a_name_that_leads_into_a_private_network_gets_nothing(tmp_path: Path) -> None:
    async def check() -> None:
        subscriptions = Subscriptions(tmp_path, lambda _: True)
        with PushService() as service:
            keys = Browser(service).subscription()["keys"]
        made = subscriptions.keep("t", "https://push.example/x", keys["p256dh"], keys["auth"], KINDS)
        asked: list[str] = []

        async def look_up(host: str, port: int) -> list[str]:
            asked.append(host)
            return ["10.0.0.1", "127.0.0.1"]

        sender = PushSender(subscriptions, lookup=look_up, clock=QuickClock())
        sender.send(made, PushNote(kind="finished", session_id="s"), b"{}", lambda: True)
        await sender.settled()
        assert asked == ["push.example"]  # refused for good: no second try

    run(check())


# What is told


def entry(event: Event) -> Entry:
    return Entry(1, 0, encode_event(1, "s", 1_000_000, event))


FOLDER = "/home/ada/project"


def approval(acts: Sequence[dict[str, str]] = (), **more: Any) -> ApprovalRequestedEvent:
    fields = {"request_id": "r1", "tool_call_id": "c", "tool_name": "Bash", "tool_input": {}, "risk_level": "high",
              "description": "Run: " + "x" * 500, "expires_at": "2026-01-01T00:10:00.000Z", **more}
    reading = read_call(usual_name(fields["tool_name"], None), None, fields["tool_input"])
    fields["meta"] = {"reading": reading_meta(reading), "acts": list(acts)}
    fields["tool_input"] = to_raw(fields["tool_input"])
    return ApprovalRequestedEvent(**fields)


def command(line: str, cwd: str = FOLDER, risk: str = "low", **more: Any) -> ApprovalRequestedEvent:
    """An ask to run something."""
    return approval(risk_level=risk, description=f"Run: {line[:200]}", tool_input={"command": line, **more},
                    preview=CommandPreview(command=line, working_dir=cwd))


def told(event: Event, title: str = "T", scope: Any = "approve") -> dict[str, Any]:
    """The push of an event in a session in FOLDER."""
    note = note_of("s", entry(event))
    assert note is not None
    said: dict[str, Any] = json.loads(payload_of(note, About(title, "", FOLDER), scope))
    return said


def test_an_approval_is_told_with_a_short_preview_and_ways_to_answer_for_who_may() -> None:
    said = told(command("x" * 500, risk="high"), "T" * 500)
    assert said["kind"] == "approval" and said["requestId"] == "r1" and said["riskLevel"] == "high"
    assert said["actions"] == ["deny"] and said["tag"] == "ask:r1"
    assert len(said["title"]) == TITLE_MOST and len(said["body"]) == PREVIEW_MOST
    assert "actions" not in told(command("ls"), scope="view")


@pytest.mark.parametrize(("risk", "line", "offered"), [
    ("low", "npm test", ["approve", "deny"]), ("medium", "npm test", ["approve", "deny"]),
    ("high", "npm test", ["deny"]), ("critical", "npm test", ["deny"]),
    ("low", "x" * PREVIEW_MOST, ["deny"]), ("low", "ls\nrm -r .", ["deny"]), ("low", "echo 'a  b'", ["deny"]),
    ("low", "\u200b" * 100, ["deny"])])
def test_approving_is_offered_only_for_a_command_that_is_not_risky_and_whole(risk: str, line: str, offered: list[str]) -> None:
    assert told(command(line, risk=risk))["actions"] == offered


@pytest.mark.parametrize(("event", "body"), [
    (approval(risk_level="low", tool_name="WebFetch", description="Fetch the docs", tool_input={"url": "https://evil.example/?q=secret"},
              preview=DescriptionPreview(text="Fetch the docs")), "Use WebFetch: Fetch the docs"),
    (approval(risk_level="medium", tool_name="Edit", description="Edit src/a.py", tool_input={"path": "src/a.py"},
              preview=DiffPreview(path="src/a.py", diff="-a\n+b")), "Change a file: src/a.py"),
    (approval(risk_level="low", tool_name="edit", preview=DiffPreview(path="a.py", diff="-a\n+b"),
              acts=[{"type": "diff", "path": "b.py", "diff": "+c"}]), "Change a file, and 1 more to see: a.py, b.py"),
    (approval(risk_level="low", tool_name="edit", preview=CommandPreview(command="make", working_dir=FOLDER),
              acts=[{"type": "diff", "path": "b.py", "diff": "+c"}]), "edit, which runs: make"),
    (approval(risk_level="medium", tool_name="mcp__mail__send", description="mcp__mail__send",
              tool_input={"to": "x", "body": "y"}, preview=DescriptionPreview(text="mcp__mail__send")),
     "Use mcp__mail__send"),
    (approval(risk_level="low", tool_name="Read", description="Run: ls", tool_input={"value": "ls"}), "Use Read: Run: ls"),
    (approval(risk_level="low", tool_name="mcp__box__run", tool_input={"command": "ls"},
              preview=CommandPreview(command="ls", working_dir=FOLDER)), "mcp__box__run, which runs: ls"),
    (command("ls", file_path="/etc/passwd"), "Bash, which runs: ls"),
    (approval(risk_level="low", description="Run: ls", preview=CommandPreview(command="ls", working_dir=FOLDER)),
     "Bash, which runs: ls"),
])
def test_what_a_note_does_not_show_wholly_is_only_denied_or_opened_and_its_kind_is_told(event: Event, body: str) -> None:
    said = told(event)
    assert (said["body"], said["actions"]) == (body, ["deny"])


@pytest.mark.parametrize(("cwd", "body", "offered"), [
    (FOLDER, "Run: make", ["approve", "deny"]), ("/etc", "Run in /etc: make", ["approve", "deny"]),
    ("", "Run in /: make", ["approve", "deny"]), (f"{FOLDER}/..", f"Run in {FOLDER}/..: make", ["approve", "deny"]),
    ("/" + "d" * PREVIEW_MOST, None, ["deny"])])
def test_a_command_that_runs_elsewhere_than_in_its_session_says_where(cwd: str, body: str | None, offered: list[str]) -> None:
    said = told(command("make", cwd, description="Build it", timeout=5, background=False))
    assert said["actions"] == offered and (body is None or said["body"] == body)


def test_what_nobody_would_see_is_spelled_out() -> None:
    said = told(command("ls \u202e#\u200b\x1b[1m"), "a\u2066b")
    assert (said["body"], said["title"]) == ("Run: ls U+202E#U+200BU+001B[1m", "aU+2066b")


def test_how_long_and_how_urgently_it_is_told() -> None:
    note = note_of("s", entry(approval()))
    assert note is not None and note.urgency == "high"
    until = note.until or 0
    assert (note.ttl_s(until - 300), note.ttl_s(until + 1), note.ttl_s(until - 10**6)) == (300, -1, ASK_MOST_S)
    question = note_of("s", entry(UserQuestionEvent(question_id="q1", question="Why?")))
    assert question is not None and (question.ttl_s(0), question.urgency) == (ASK_MOST_S, "high")
    failed = PushNote(kind="failed", session_id="s")
    assert (failed.ttl_s(0), failed.urgency) == (KEPT_S, "normal")


def test_all_about_one_ask_has_one_topic_and_other_asks_have_others() -> None:
    asked = note_of("s", entry(approval()))
    answer = ApprovalResolvedEvent(request_id="r1", tool_call_id="c", approved=True, resolved_by="user")
    resolved = note_of("s", entry(answer))
    assert asked is not None and resolved is not None and resolved.resolves
    assert asked.topic == resolved.topic and asked.tag == resolved.tag
    assert len(asked.topic) <= 32 and set(asked.topic) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    other = note_of("s", entry(approval(request_id="r2")))
    assert other is not None and other.topic != asked.topic


def test_a_turn_that_was_cancelled_and_other_changes_are_nobodys_concern() -> None:
    def changed(**meta: Any) -> PushNote | None:
        return note_of("s", entry(SessionStatusChangedEvent(from_="running", to="idle", meta=meta)))

    assert changed(turnId="t", stopReason="end_turn") == PushNote(kind="finished", session_id="s")
    assert changed(turnId="t", stopReason="cancelled") is None
    assert changed() is None
    assert note_of("s", entry(MessageStartEvent(message_id="m", role="assistant"))) is None


# To the push service


class Told:
    """A served hub that pushes to a service on loopback, and who subscribed."""

    def __init__(self, hub: Site, service: PushService, clock: QuickClock) -> None:
        self.hub = hub
        self.service = service
        self.clock = clock
        self.key = ""
        self.forgotten = asyncio.Event()

    async def subscribe(self, name: str, scope: Any = "approve", **more: Any) -> tuple[Browser, str]:
        """A device with a browser; returns that and the token's id."""
        token, secret = self.hub.app.parts.tokens.mint(name, scope)
        browser = Browser(self.service, name)
        answer = await self.hub.ask("POST", "/push", json_body={**browser.subscription(), **more}, token=secret)
        assert answer.status == 201, answer.body
        self.key = (await self.hub.ask("GET", "/push", token=secret)).json()["publicKey"]
        return browser, token.id

    async def next(self) -> Pushed:
        """What came next."""
        return await asyncio.to_thread(self.service.next, 8)

    async def asked(self) -> tuple[Session, str]:
        """A session in which an approval waits."""
        session = await self.hub.session()
        answer = await self.hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/ask"})
        assert answer.status == 202, answer.body
        while not session.fold.approvals:
            await session.feed.wait(session.feed.last_seq)
        return session, next(iter(session.fold.approvals))


def hear_of_drops(subscriptions: Subscriptions, dropped: Callable[[Subscription], None]) -> None:
    """Hear of it when one is dropped."""
    vars(subscriptions)["drop_ended"] = dropped


@asynccontextmanager
async def telling(folder: Path) -> AsyncIterator[Told]:
    clock = QuickClock()
    with PushService() as service:
        async with site(folder, push_allow=LOOPBACK) as hub:
            parts = hub.app.parts
            pusher = Pusher(hub.hub, parts.subscriptions, parts.tokens.scope_of, clock=clock)
            told = Told(hub, service, clock)
            drop = parts.subscriptions.drop_ended

            def dropped(which: Subscription) -> None:
                drop(which)
                told.forgotten.set()

            hear_of_drops(parts.subscriptions, dropped)
            work = asyncio.create_task(pusher.run())
            try:
                yield told
            finally:
                work.cancel()
                await asyncio.wait([work])


def test_an_approval_reaches_the_device_and_is_taken_back_when_somebody_else_answers(tmp_path: Path) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            phone, _ = await told.subscribe("phone", kinds=["approval"])
            session, request_id = await told.asked()
            pushed = await told.next()
            said = phone.read(pushed, told.key)
            assert (said["kind"], said["sessionId"], said["requestId"]) == ("approval", session.id, request_id)
            assert said["actions"] == ["approve", "deny"]
            assert pushed.headers["urgency"] == "high" and 500 < int(pushed.headers["ttl"]) <= 600
            await told.hub.ask("POST", f"/sessions/{session.id}/permissions/{request_id}", json_body={"decision": "deny"})
            taken_back = await told.next()
            assert phone.read(taken_back, told.key) == {
                "kind": "resolved", "sessionId": session.id, "title": said["title"], "body": "", "tag": said["tag"],
                "requestId": request_id, "outcome": "denied", "by": "main"}
            assert taken_back.headers["topic"] == pushed.headers["topic"]

    run(check(), 20)


def test_who_answered_is_not_told_that_it_was_answered(tmp_path: Path) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            browser, token_id = await told.subscribe("phone", kinds=["approval", "finished"])
            session, request_id = await told.asked()
            assert browser.read(await told.next(), told.key)["kind"] == "approval"
            await session.approvals.decide(request_id, Decision(decision="deny"), by=f"phone ({token_id})")
            assert browser.read(await told.next(), told.key)["kind"] == "finished"

    run(check(), 20)


def test_only_a_device_that_was_told_of_an_ask_is_told_that_it_was_answered(tmp_path: Path) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            phone, _ = await told.subscribe("phone", kinds=["approval", "finished"])
            session, request_id = await told.asked()
            assert phone.read(await told.next(), told.key)["kind"] == "approval"
            late, _ = await told.subscribe("late", kinds=["approval", "finished"])
            await session.approvals.decide(request_id, Decision(decision="allow"), by=f"laptop ({'0' * 12})")
            pushed = [await told.next() for _ in range(3)]
            heard = [late.read(each, told.key) for each in pushed if each.path == late.path]
            assert [each["kind"] for each in heard] == ["finished"]
            ended = next(said for each in pushed if each.path == phone.path
                         if (said := phone.read(each, told.key))["kind"] == "resolved")
            assert (ended["outcome"], ended["by"]) == ("approved", "laptop")
            assert ended["title"], "there is something to show"

    run(check(), 20)


def test_each_is_told_only_what_it_wants_and_what_it_may_do(tmp_path: Path) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            asks, _ = await told.subscribe("asks", kinds=["approval"])
            watches, _ = await told.subscribe("watches", scope="view", kinds=["finished", "approval"])
            await told.asked()
            pushed = {each.path: each for each in (await told.next(), await told.next())}
            assert asks.read(pushed[asks.path], told.key)["actions"] == ["approve", "deny"]
            assert "actions" not in watches.read(pushed[watches.path], told.key)
            session = await told.hub.session()
            await told.hub.turn(session, "/echo done")
            said = watches.read(await told.next(), told.key)
            assert (said["kind"], said["sessionId"]) == ("finished", session.id) and "done" in said["body"]
            assert told.service.is_quiet()

    run(check(), 20)


def test_a_question_and_a_failed_turn_reach_the_device(tmp_path: Path) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            phone, _ = await told.subscribe("phone", kinds=["question", "failed"])
            session = await told.hub.session()
            await told.hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/question"})
            asked = phone.read(await told.next(), told.key)
            assert asked["kind"] == "question" and "actions" not in asked and asked["body"]
            path = f"/sessions/{session.id}/questions/{asked['requestId']}"
            assert (await told.hub.ask("POST", path, json_body={"action": "decline"})).status == 200
            assert phone.read(await told.next(), told.key)["tag"] == asked["tag"]
            while session.fold.turn is not None:
                await session.feed.wait(session.feed.last_seq)
            await told.hub.turn(session, "/error")
            failed = phone.read(await told.next(), told.key)
            assert (failed["kind"], failed["body"]) == ("failed", "The demo failed, as /error asks")
            assert told.service.is_quiet()

    run(check(), 20)


def test_a_revoked_device_gets_no_push(tmp_path: Path) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            _, gone = await told.subscribe("gone")
            stays, _ = await told.subscribe("stays")
            told.hub.app.parts.tokens.revoke(gone)
            assert len(told.hub.app.parts.subscriptions) == 1
            await told.asked()
            stays.read(await told.next(), told.key)
            assert told.service.is_quiet()

    run(check(), 20)


@pytest.mark.parametrize("status", [404, 410])
def test_a_subscription_that_the_service_knows_no_more_is_forgotten(tmp_path: Path, status: int) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            await told.subscribe("phone")
            told.service.answers = [status]
            session = await told.hub.session()
            await told.hub.turn(session, "/echo one")
            await told.next()
            await told.forgotten.wait()
            await told.hub.turn(session, "/echo two")
            assert told.service.is_quiet()

    run(check(), 20)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_service_that_is_busy_is_tried_again_with_growing_pauses(tmp_path: Path, status: int) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            phone, _ = await told.subscribe("phone", kinds=["finished"])
            told.service.answers = [status, status]
            session = await told.hub.session()
            await told.hub.turn(session, "/echo one")
            tries = [await told.next() for _ in range(3)]
            assert [phone.read(each, told.key)["kind"] for each in tries] == ["finished"] * 3
            assert len({each.body for each in tries}) == 3  # a new key and salt for each
            assert told.clock.slept == list(LIMITS.backoff_s[:2])

    run(check(), 20)


def test_an_approval_that_was_answered_is_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            phone, _ = await told.subscribe("phone", kinds=["approval"])
            session, request_id = await told.asked()
            told.service.answers = [503]
            answered = asyncio.Event()

            async def sleep(seconds: float) -> None:
                if seconds == LIMITS.backoff_s[0]:
                    await told.hub.ask("POST", f"/sessions/{session.id}/permissions/{request_id}", json_body={"decision": "deny"})
                    answered.set()

            monkeypatch.setattr(told.clock, "sleep", sleep)
            assert phone.read(await told.next(), told.key)["kind"] == "approval"
            await answered.wait()
            assert phone.read(await told.next(), told.key)["kind"] == "resolved"

    run(check(), 20)


def test_there_is_room_for_so_many_messages_and_sending_never_waits(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def check() -> None:
        with PushService() as service:
            subscriptions = Subscriptions(tmp_path, lambda _: True, allow=LOOPBACK)
            keys = Browser(service, "x").subscription()["keys"]
            made = subscriptions.keep("t", service.url + "/x", keys["p256dh"], keys["auth"], KINDS)
            sender = PushSender(subscriptions, clock=QuickClock())
            for _ in range(LIMITS.room + 5):
                sender.send(made, PushNote(kind="finished", session_id="s"), b"{}", lambda: True)
            await sender.settled()
            for _ in range(LIMITS.room):
                service.next(0.1)
            assert service.is_quiet()
        assert caplog.text.count("one is dropped") == 5
        assert "/x" not in caplog.text

    run(check(), 20)
    assert LIMITS.at_once < LIMITS.room


# Over HTTP


def test_a_subscription_belongs_to_who_made_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path, push_allow=LOOPBACK) as hub:
            with PushService() as service:
                _, secret = hub.app.parts.tokens.mint("phone", "view")
                info = (await hub.ask("GET", "/push", token=secret)).json()
                assert (info["kinds"], info["subscription"]) == (list(KINDS), None)
                body = {**Browser(service).subscription(), "kinds": ["failed", "approval"]}
                made = (await hub.ask("POST", "/push", json_body=body, token=secret)).json()
                assert made["kinds"] == ["approval", "failed"]
                assert (await hub.ask("GET", "/push", token=secret)).json()["subscription"] == made
                assert (await hub.ask("GET", "/push")).json()["subscription"] is None
                assert stat.S_IMODE((tmp_path / "data" / "push.json").stat().st_mode) == 0o600
                assert (await hub.ask("DELETE", "/push")).status == 204
                assert len(hub.app.parts.subscriptions) == 1
                await hub.ask("POST", "/push", json_body=body)  # the same browser under another token
                assert (await hub.ask("GET", "/push", token=secret)).json()["subscription"] is None
                assert (await hub.ask("DELETE", "/push")).status == 204
                assert not len(hub.app.parts.subscriptions)

    run(check())


@pytest.mark.parametrize(("field", "change"), [
    ("endpoint", {"endpoint": "http://127.0.0.1/x"}), ("keys.p256dh", {"keys": {"p256dh": "AAAA", "auth": "A" * 22}}),
    ("keys.auth", {"keys": {"auth": "AAAA"}}), ("kinds", {"kinds": []}),
])
def test_what_cannot_be_used_is_refused_by_name(tmp_path: Path, field: str, change: dict[str, Any]) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            with PushService() as service:
                body = {**Browser(service).subscription(), "endpoint": "https://push.example/x"}
                keys = {**body["keys"], **change.get("keys", {})}
                answer = await hub.ask("POST", "/push", json_body={**body, **change, "keys": keys})
                assert (answer.status, answer.json()["details"]) == (400, {"field": field})

    run(check())


def test_subscriptions_outlast_a_restart_and_a_damaged_file_is_told(tmp_path: Path) -> None:
    with PushService() as service:
        keys = Browser(service).subscription()["keys"]

        async def keep() -> None:
            Subscriptions(tmp_path, lambda _: True).keep("t", "https://push.example/x", keys["p256dh"], keys["auth"], KINDS)

        run(keep())
    assert Subscriptions(tmp_path, lambda _: True).of_token("t") is not None
    assert Subscriptions(tmp_path, lambda _: False).wanting("approval") == []
    (tmp_path / "push.json").write_text("{")
    with pytest.raises(StorageError):
        Subscriptions(tmp_path, lambda _: True)
