"""What a session keeps of what an agent says is bounded, and every bound answers."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.session.interpret.told import Told, events, names, packets
from tests.session.script import OPTIONS, Stage, update
from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.calls import LOCATIONS, TITLE_CHARS
from trunkline.dialects.acp.calls import PATH_CHARS as PLACE_CHARS
from trunkline.dialects.acp.methods import FS_READ_TEXT_FILE, FS_WRITE_TEXT_FILE, SESSION_REQUEST_PERMISSION, TERMINAL_OUTPUT
from trunkline.dialects.acp.reading.aliases import CLIENT_METHODS
from trunkline.dialects.acp.reading.large import LARGE_UPDATE, large_write
from trunkline.dialects.calls.inputs import BEYOND_RULES
from trunkline.dialects.notes import SubAgentReport
from trunkline.dialects.signals import LargeUpdate, Malformed, PermissionAsk, PermissionOption, QuestionAsk, Update
from trunkline.errors import Invalid, TooManyRequests
from trunkline.session.driver.acp import limits as served
from trunkline.session.driver.acp.asks import AcpAsks
from trunkline.session.driver.acp.opening import NOTED_BYTES, noted
from trunkline.session.fold import KEPT_ARTIFACTS, Artifact, checkpoint
from trunkline.session.intake import intake
from trunkline.session.interpret import conditions, plans
from trunkline.session.interpret.asks import policy_asks, requested, waiting
from trunkline.session.interpret.calls import bodies, followed
from trunkline.session.interpret.effects import subagents
from trunkline.session.interpret.effects.changes import PATH_CHARS
from trunkline.session.interpret.usage import CURRENCY_CHARS
from trunkline.session.policy.decide import Rule
from trunkline.session.turns import prompts


def call(number: int, **more: object) -> Update:
    return update(sessionUpdate="tool_call", toolCallId=f"c{number}", title="Look", **more)


def ended(number: int, **more: object) -> Update:
    return update(sessionUpdate="tool_call_update", toolCallId=f"c{number}", status="completed", **more)


def ask(number: int, call_id: str = "", padding: int = 0) -> PermissionAsk:
    asked = {"toolCallId": call_id or f"p{number}", "kind": "read", "rawInput": {"path": "a", "why": "x" * padding}}
    return PermissionAsk(f"req-{number}", msgspec.json.encode(asked), OPTIONS)


def test_calls_beyond_the_bound_are_written_down_and_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "OPEN_CALLS", 10)
    told = Told().turn()
    entries = told.hear(*(call(number) for number in range(25)))
    assert len(told.fold.calls) == 10
    assert names(entries).count("tool:start") == 10
    assert names(entries).count("interaction:notification") == 1, "it is said once"
    untracked = [entry for entry, name in zip(entries, names(entries), strict=True) if name == "tool_call_untracked"]
    assert [msgspec.json.decode(entry.update or b"")["toolCallId"] for entry in untracked] == [f"c{n}" for n in range(10, 25)]
    told.hear(*(ended(number) for number in range(10)))
    told.hear(call(99))
    assert "c99" in told.fold.calls, "there is room again"


def test_what_such_a_turn_asks_for_is_not_known_and_high_until_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "OPEN_CALLS", 3)
    told = Told().turn()
    told.hear(*(call(number) for number in range(4)), ask(1, "c0"), ask(2))
    views = list(told.fold.approvals.values())
    assert [view.risk_level for view in views] == ["high", "high"]
    assert all(view.about is not None and view.about.risk == "high" for view in views)
    assert followed.UNTRACKED in views[0].risk_reason and len(told.fold.calls) == 3
    told.at().turns.end("end_turn")
    told.take()
    told.turn()
    told.hear(ask(3))
    assert told.fold.approvals["req-3"].risk_level == "low" and not told.fold.calls_untracked


def test_no_rule_allows_what_such_a_turn_asks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        monkeypatch.setattr(followed, "OPEN_CALLS", 3)
        stage = Stage(tmp_path)
        session = await stage.open()
        session.fold.rules.append(Rule(action="allow", risk=["low", "medium", "high"]))
        await stage.send()
        stage.driver.say(ask(1))
        await stage.until(lambda: bool(stage.driver.known_call("permission")))
        assert not session.fold.approvals, "the rule allowed it"
        stage.driver.say(*(call(number) for number in range(5)), ask(2))
        await session.agent._intake.settled()
        assert list(session.fold.approvals) == ["req-2"], "a person is asked"

    run(play())


def test_permissions_beyond_the_bound_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        monkeypatch.setattr(waiting, "PENDING_PERMISSIONS", 5)
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(*(ask(number) for number in range(12)))
        await session.agent._intake.settled()
        assert len(session.fold.approvals) == 5
        assert [told[1] for told in stage.driver.known_call("refuse")] == [f"req-{number}" for number in range(5, 12)]
        assert "5 permissions" in stage.driver.known_call("refuse")[0][2]
        await session.snapshot()
        refused = [entry for entry in await session.feed.read(after=0) if b'"permission_refused"' in entry.event]
        assert len(refused) == 7, "each is written down"

    run(play())


def test_questions_beyond_the_bound_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        monkeypatch.setattr(waiting, "PENDING_QUESTIONS", 2)
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(*(QuestionAsk(f"q-{number}", "Which?", None) for number in range(4)))
        assert list(session.fold.questions) == ["q-0", "q-1"]
        assert [told[1] for told in stage.driver.known_call("refuse")] == ["q-2", "q-3"]

    run(play())


def test_what_waits_says_only_so_much_together() -> None:
    told = Told().turn()
    room = told.interpret.waiting.room_for
    padding = 200 << 10
    while room(ask(len(told.fold.approvals), padding=padding)) is None:
        told.hear(ask(len(told.fold.approvals), padding=padding))
    assert len(told.fold.approvals) == waiting.PENDING_BYTES // padding
    assert room(ask(999)) is None, "a small one still fits"


def test_a_permission_says_only_so_much() -> None:
    told = Told().turn()
    assert told.interpret.waiting.room_for(PermissionAsk("r", b"x" * (waiting.ASK_BYTES + 1), OPTIONS)) is not None


def test_a_permission_offers_only_so_many_options() -> None:
    told = Told().turn()
    assert told.interpret.waiting.room_for(PermissionAsk("r", b"{}", OPTIONS[:1] * (waiting.ASK_OPTIONS + 1))) is not None


def test_the_queue_takes_only_so_many_prompts_and_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        monkeypatch.setattr(prompts, "QUEUED_PROMPTS", 3)
        monkeypatch.setattr(prompts, "QUEUED_BYTES", 1000)
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        for number in range(3):
            await stage.send(f"later {number}", when_busy="queue")
        with pytest.raises(TooManyRequests, match="3 prompts wait"):
            await stage.send("one too many", when_busy="queue")
        await session.turns.drop_queued(session.fold.queue[0].turn_id, by="test")
        with pytest.raises(TooManyRequests, match="would hold more"):
            await stage.send("x" * 1000, when_busy="queue")
        assert len(session.fold.queue) == 2

    run(play())


def test_calls_that_ended_are_forgotten_beyond_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "KEPT_CALLS", 5)
    told = Told().turn()
    for number in range(20):
        told.hear(call(number), ended(number))
    assert list(told.fold.calls) == [f"c{number}" for number in range(15, 20)]


def test_the_bodies_of_calls_are_kept_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "KEPT_BODIES", 100_000)
    told = Told().turn()
    shows = [{"type": "content", "content": {"type": "text", "text": "x" * 30_000}}]
    told.hear(*(call(number, content=shows) for number in range(10)))
    assert sum(map(bodies.size_of, told.fold.calls.values())) <= 100_000
    assert told.fold.calls["c9"].state.content is not None, "the newest is whole"


def test_titles_ids_and_places_of_calls_are_bounded() -> None:
    told = Told().turn()
    places = [{"path": f"/w/{number}"} for number in range(5000)]
    told.hear(update(sessionUpdate="tool_call", toolCallId="c1", title="t" * 1_000_000, locations=places, name="n" * 100_000))
    assert len(told.fold.calls["c1"].state.title) == TITLE_CHARS
    assert len(checkpoint(told.fold)) < 40_000
    told.hear(update(sessionUpdate="tool_call", toolCallId="i" * 1_000_000, title="Look"))
    assert len(told.fold.calls) == 1 and len(checkpoint(told.fold)) < 40_000


def test_a_plan_is_kept_up_to_a_bound() -> None:
    told = Told().turn()
    entries = [{"content": "c" * 5000, "priority": "low", "status": "pending"} for _ in range(1000)]
    told.hear(update(sessionUpdate="plan", entries=entries))
    assert len(told.fold.todos) == plans.TODOS and len(told.fold.todos[0].content) == plans.TODO_CHARS
    assert len(events(told.entries)[-1]["todos"]) == plans.TODOS


@pytest.mark.parametrize("is_large", [False, True])
def test_a_plan_of_very_many_lines_is_told_by_its_beginning_and_is_whole_in_its_entry(
    monkeypatch: pytest.MonkeyPatch, is_large: bool,
) -> None:
    plan = update(sessionUpdate="plan", entries=[
        {"content": f"line {number}", "priority": "high", "status": "pending"} for number in range(3000)])
    if is_large:
        monkeypatch.setattr(plans, "LARGE_UPDATE", 1 << 10)
    [entry] = Told().turn().hear(LargeUpdate(msgspec.Raw(plan.raw)) if is_large else plan)
    [packet] = packets([entry])
    assert [line["content"] for line in packet["entries"][:-1]] == [f"line {number}" for number in range(plans.PACKET_LINES)]
    assert packet["entries"][-1]["content"] == plans.MORE.content
    assert bytes((entry.raw if is_large else entry.update) or b"") == plan.raw


def test_what_an_agent_offers_is_kept_up_to_a_bound() -> None:
    told = Told()
    option = {"id": "a", "name": "A", "type": "boolean", "currentValue": True, "description": "d" * conditions.OFFERED_BYTES}
    told.hear(update(sessionUpdate="config_option_update", configOptions=[option]))
    assert bytes(told.fold.config_options) == b"null", "what was known stays"
    told.hear(update(sessionUpdate="current_mode_update", currentModeId="m" * (conditions.MODE_CHARS + 1)))
    assert told.fold.mode is None
    told.hear(update(sessionUpdate="usage_update", used=1, size=2, cost={"amount": 1.5, "currency": "E" * 1000}))
    assert told.fold.cost is not None and len(told.fold.cost.currency) == CURRENCY_CHARS


def test_sub_agents_artifacts_and_files_are_kept_up_to_a_bound() -> None:
    told = Told().turn()
    for number in range(subagents.SENT_OFF + 10):
        subagents.on_report(told.interpret.writer, SubAgentReport(sub_agent_id=f"s{number}", state="background"))
    assert len(told.fold.sub_agents) == subagents.SENT_OFF
    for number in range(KEPT_ARTIFACTS + 5):
        told.at().artifact(Artifact(id=f"a{number}", type="file", name="n", path=f"/w/{number}", relative_path="n", created_at="",
                                    updated_at=""), None)
    assert len(told.fold.artifacts) == KEPT_ARTIFACTS
    path = "/w/" + "p" * PATH_CHARS
    shows = [{"type": "diff", "path": path, "newText": "a"}]
    told.hear(call(1, kind="edit", content=shows), ended(1))
    assert path not in told.fold.files


def on_wire(**message: object) -> tuple[jsonrpc.Peer, list[jsonrpc.Message]]:
    peer = jsonrpc.Peer(methods=CLIENT_METHODS)
    peer.receive_data(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")
    return peer, peer.messages_received()


def test_a_request_by_too_long_an_id_is_refused() -> None:
    peer, messages = on_wire(id="i" * jsonrpc.ID_BYTES, method=FS_READ_TEXT_FILE, params={})
    assert [type(message) for message in messages] == [Malformed]
    assert b'"id":null,"error"' in b"".join(peer.data_to_send())
    peer, messages = on_wire(id="i" * (jsonrpc.ID_BYTES - 2), method=FS_READ_TEXT_FILE, params={})
    assert [type(message) for message in messages] == [jsonrpc.Request]


def test_the_id_of_a_request_does_not_hold_its_line() -> None:
    tracemalloc.start()
    try:
        ids = [request.id for _ in range(8) for request in on_wire(
            id=7, method=FS_READ_TEXT_FILE, params={"x": "p" * 1_000_000})[1] if isinstance(request, jsonrpc.Request)]
        assert len(ids) == 8
        assert tracemalloc.get_traced_memory()[0] < 4_000_000, "the lines are gone"
    finally:
        tracemalloc.stop()


def test_a_line_that_says_too_much_of_an_ask_is_not_read() -> None:
    peer, (message,) = on_wire(id=1, method=SESSION_REQUEST_PERMISSION, params={"_meta": "p" * waiting.ASK_BYTES})
    assert isinstance(message, jsonrpc.Request)
    heard = AcpAsks(peer, lambda: "req", lambda session_id: True).on_request(SESSION_REQUEST_PERMISSION, message)
    assert isinstance(heard, Malformed) and len(heard.line) <= 4096
    assert b"at most 8 MiB" in b"".join(peer.data_to_send())


def test_what_an_agent_has_the_hub_do_carries_only_so_much_together() -> None:
    work = served.Served()
    assert work.refusal(FS_WRITE_TEXT_FILE, served.SERVED_BYTES) is None, "one longest line fits"
    work.begin(served.SERVED_BYTES - 10)
    assert work.refusal(FS_WRITE_TEXT_FILE, 11) is not None
    work.end(served.SERVED_BYTES - 10)
    assert work.refusal(FS_WRITE_TEXT_FILE, 11) is None
    for _ in range(served.SERVED_AT_ONCE):
        work.begin(0)
    assert work.refusal(TERMINAL_OUTPUT, 0) is not None


def test_a_request_without_a_text_says_only_so_much() -> None:
    assert served.Served().refusal(FS_READ_TEXT_FILE, served.REQUEST_BYTES) is None
    assert served.Served().refusal(FS_READ_TEXT_FILE, served.REQUEST_BYTES + 1) is not None


def test_paths_and_commands_are_refused_beyond_what_a_system_takes() -> None:
    served.check_path("p" * served.PATH_BYTES)
    for path in ("p" * (served.PATH_BYTES + 1), "\u00e9" * served.PATH_BYTES):
        with pytest.raises(Invalid, match="4096 bytes"):
            served.check_path(path)
    served.check_command("true", ["x" * 1000], {"A": "x"})
    for args, env in ((["x" * served.COMMAND_BYTES], {}), ([], {"A": "x" * served.COMMAND_BYTES})):
        with pytest.raises(Invalid, match="128 KiB"):
            served.check_command("true", args, env)


def test_a_long_write_to_too_long_a_path_is_not_read() -> None:
    ask = {"sessionId": "s", "path": "p" * LARGE_UPDATE, "content": "x"}
    with pytest.raises(Invalid, match="a path"):
        large_write(msgspec.json.encode(ask))
    assert large_write(msgspec.json.encode({**ask, "path": "a/b", "content": "x" * LARGE_UPDATE})).path == "a/b"


def test_a_message_that_nobody_understands_is_told_by_its_size_where_it_is_long() -> None:
    assert noted(msgspec.Raw(b'{"a":1}')) == msgspec.Raw(b'{"a":1}')
    assert noted(msgspec.Raw(b"x" * (NOTED_BYTES + 1))) == {"truncated": {"bytes": NOTED_BYTES + 1}}


@pytest.mark.parametrize("many", [
    {"locations": [{"path": f"a/{number}"} for number in range(LOCATIONS + 1)]},
    {"locations": [{"path": "p" * (PLACE_CHARS + 1)}]},
    {"content": [{"type": "diff", "path": f"a/{number}", "newText": "x"} for number in range(LOCATIONS + 1)]},
], ids=["places", "path", "diffs"])
def test_a_call_with_more_places_than_are_kept_is_not_known(many: dict[str, object]) -> None:
    told = Told().turn()
    told.hear(call(1, kind="read", **many))
    state = told.fold.calls["c1"].state
    assert len(state.locations or []) <= LOCATIONS and len(policy_asks.paths_of(state)) <= LOCATIONS
    told.hear(ask(1, "c1"))
    about = told.fold.approvals["req-1"].about
    assert about is not None and about.risk == "high" and BEYOND_RULES in about.paths, "no rule allows it"
    asked = PermissionAsk("req-2", msgspec.json.encode({"toolCallId": "c2", "kind": "read", **many}), OPTIONS)
    assert BEYOND_RULES in told.interpret.policy_asks.of(asked).paths


def test_the_places_of_calls_count_as_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "KEPT_BODIES", 200_000)
    told = Told().turn()
    places = [{"path": f"{number:0500}"} for number in range(100)]
    told.hear(*(call(number, locations=places) for number in range(10)))
    assert sum(map(bodies.size_of, told.fold.calls.values())) <= 200_000
    assert told.fold.calls["c0"].input_cut and not told.fold.calls["c9"].input_cut
    assert len(checkpoint(told.fold)) < 200_000


def offering(number: int, *options: PermissionOption) -> PermissionAsk:
    return PermissionAsk(f"req-{number}", msgspec.json.encode({"toolCallId": f"p{number}", "kind": "read"}), options)


def test_names_of_options_are_cut_and_too_long_ids_refused() -> None:
    told = Told().turn()
    told.hear(offering(1, PermissionOption("a", "n" * 150_000, "allow_once")))
    assert [len(option.name) for option in told.fold.approvals["req-1"].options] == [requested.OPTION_CHARS]
    too_long = PermissionOption("a" * (waiting.OPTION_ID_CHARS + 1), "A", "allow_once")
    assert "id of an option" in (told.interpret.waiting.room_for(offering(2, too_long)) or "")


def test_a_question_about_a_call_with_too_long_an_id_is_refused() -> None:
    told = Told().turn()
    assert told.interpret.waiting.room_for(QuestionAsk("q", "Which?", None, None, "i" * (followed.ID_CHARS + 1))) is not None


def test_all_that_is_kept_of_what_waits_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "PENDING_BYTES", 200_000)
    told = Told().turn()
    number = 0
    options = [PermissionOption(f"a{index:0200}", "n" * 150, "allow_once") for index in range(90)]
    while told.interpret.waiting.room_for(offering(number, *options)) is None:
        told.hear(offering(number, *options))
        number += 1
    assert len(msgspec.json.encode(dict(told.fold.approvals))) < 2 * 200_000


def test_what_permissions_say_of_their_calls_is_bounded_together() -> None:
    told = Told().turn()
    number = 0
    shows = [{"type": "diff", "path": "/w/a", "newText": "x" * (6 << 20)}]
    said = msgspec.json.encode({"toolCallId": "p", "kind": "edit", "content": shows})
    while told.interpret.waiting.room_for(PermissionAsk(f"req-{number}", said, OPTIONS)) is None:
        told.hear(PermissionAsk(f"req-{number}", said, OPTIONS))
        number += 1
    assert number == waiting.HELD_BYTES // len(said)


def test_asks_in_a_row_give_way_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        monkeypatch.setattr(intake, "HOLD_S", 0.0)
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        plain = [PermissionAsk(f"req-{number}", b'{"toolCallId":"p%d","kind":"think"}' % number, OPTIONS) for number in range(9)]
        await session.agent._intake._reading.prepare([*plain])
        stage.driver.say(*plain)
        assert len(session.fold.approvals) < 9, "the rest is taken when others had their turn"
        await session.agent._intake.settled()
        assert list(session.fold.approvals) == [f"req-{number}" for number in range(9)], "in order"

    run(play())


def test_always_is_offered_for_so_many_paths_only() -> None:
    told = Told().turn()
    for number, count in enumerate((2, requested.ALWAYS_PATHS + 1)):
        places = [{"path": f"/w/{place}"} for place in range(count)]
        said = msgspec.json.encode({"toolCallId": f"p{number}", "kind": "read", "name": "read", "locations": places})
        told.hear(PermissionAsk(f"req-{number}", said, OPTIONS))
    few, many = told.fold.approvals.values()
    assert few.always is not None and many.always is None
