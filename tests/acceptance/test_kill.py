"""SIGKILL under load: whatever anybody saw or was promised is there after the restart, and the hub goes on.

Each round starts the hub on the same data, puts it under load (streams at different paces, open permissions, queued prompts,
decisions), lets witnesses read, and kills the hub when they have seen a random number of packets. The next start must find
every byte that was seen, under its number; everything that was acknowledged; one error for each open turn; no agent.
"""

from __future__ import annotations

import json
import random
import threading
from pathlib import Path

import pytest

from tests.dialects.packets.shapes_check import validate_packet
from tests.tooling.examples import examples
from tests.tooling.hub_process import HubProcess, Session, end_of, text_of
from tests.tooling.processes import eventually, is_alive
from tests.tooling.readers import Seen, Witness
from tests.tooling.wire import Broken

QUICK, ALL = 4, 20


class Load:
    """The sessions of a kill test, what was seen of them and what was promised about them."""

    def __init__(self, hub: HubProcess, seed: int) -> None:
        self.hub = hub
        self.dice = random.Random(seed)
        self.sessions = {name: hub.new_session() for name in ("flood", "burst", "slow", "ask")}
        self.seen: dict[str, list[Seen]] = {name: [[], []] for name in self.sessions}
        self.history: dict[str, Seen] = {name: [] for name in self.sessions}
        self.prompts: dict[str, list[str]] = {name: [] for name in self.sessions}
        self.queued: list[str] = []
        self.allowed: list[str] = []

    def run(self) -> None:
        """One round, up to the kill. What is asked of the hub when it dies may have been done or not: nobody was told."""
        trigger = Trigger(self.hub, self.dice.choice((self.dice.randint(1, 200), self.dice.randint(1, 8_000))))
        witnesses: dict[str, list[Witness]] = {name: [] for name in self.sessions}
        try:
            for name, session in self.sessions.items():
                for seen in self.seen[name]:
                    witnesses[name].append(Witness(session, seen, trigger.count))
            self._put_under_load(witnesses)
        except (Broken, ConnectionError):
            assert trigger.pulled.is_set(), "nothing but the kill breaks a connection"
        assert trigger.pulled.wait(60), "the load was too light"
        trigger.join()
        for witness in [witness for pair in witnesses.values() for witness in pair]:
            witness.join()

    def check(self) -> None:
        """After the restart."""
        assert [process for process in self.hub.left() if process.pid != self.hub.pid] == [], "the dead hub's agents are gone"
        for name, session in self.sessions.items():
            history = session.history()
            self._check_bytes(name, history)
            self._check_turns(name, history)
            self.history[name] = history
            view = session.view()
            assert (view["status"] in ("idle", "error"), view["turn"], view["pendingApprovals"]) == (True, None, []), view
        self._check_approvals()
        self._check_queue()

    def go_on(self, number: int) -> None:
        """A new prompt works in every session."""
        for name, session in self.sessions.items():
            packets = session.say(f"/echo round {number}")
            assert text_of(packets) == f"round {number}"
            assert end_of(packets)["stopReason"] == "end_turn"
            self.prompts[name].append(f"/echo round {number}")

    def _put_under_load(self, witnesses: dict[str, list[Witness]]) -> None:
        self._prompt("burst", "/burst 200000 30 3000")
        self._prompt("ask", "/ask 3")
        self._prompt("slow", "/slow 600")
        witnesses["slow"][0].saw_type("agent_message_chunk")
        self._queue("/echo one")
        self._prompt("flood", "/burst 6000 200")
        self._queue("/echo two")
        witnesses["ask"][0].saw_type("approval_requested", 3)
        for approval in self.sessions["ask"].view()["pendingApprovals"][:2]:
            answer = {"decision": "allow", "reason": "said before the crash"}
            self.sessions["ask"].post(f"permissions/{approval['requestId']}", answer)
            self.allowed.append(approval["requestId"])

    def _prompt(self, name: str, text: str) -> None:
        """Acknowledged means stored: the next start must know it."""
        self.sessions[name].post("send-message", {"content": text}, 202)
        self.prompts[name].append(text)

    def _queue(self, text: str) -> None:
        accepted = self.sessions["slow"].post("send-message", {"content": text, "whenBusy": "queue"}, 202)
        self.queued.append(accepted["turnId"])

    def _check_bytes(self, name: str, history: Seen) -> None:
        stored = dict(history)
        ids = [number for number, _ in history]
        assert ids == sorted(set(ids)), "ids strictly rise"
        assert history[:len(self.history[name])] == self.history[name], "the past of earlier rounds has not changed"
        for seen in self.seen[name]:
            for number, data in seen:
                assert stored.get(number) == data, f"{name}: what was seen as {number} is {stored.get(number)!r} now"

    def _check_turns(self, name: str, history: Seen) -> None:
        """Every acknowledged prompt is a turn, and every turn has one end; one that was cut off says why."""
        packets = [json.loads(data) for _, data in history]
        for packet in packets[len(self.history[name]):]:
            validate_packet(packet)
        told = [packet for packet in packets if packet["type"] in ("user_message_chunk", "prompt_response", "error")]
        prompts, ends = told[::2], told[1::2]
        assert {packet["type"] for packet in prompts} <= {"user_message_chunk"} and len(prompts) == len(ends)
        texts = [packet["content"]["text"] for packet in prompts]
        assert texts[:len(self.prompts[name])] == self.prompts[name]
        assert len(texts) <= len(self.prompts[name]) + 1, "at most the prompt that nobody was told about"
        self.prompts[name] = texts
        for text, end in zip(texts, ends, strict=True):
            if end["type"] == "error":
                assert end["details"]["code"] == "hub_restarted", end
            else:
                assert text.startswith(("/echo", "/burst 6000")), f"{text} cannot have come to its end"

    def _check_approvals(self) -> None:
        packets = [json.loads(data) for _, data in self.history["ask"]]
        asked = [packet["requestId"] for packet in packets if packet["type"] == "approval_requested"]
        resolved = {packet["requestId"]: packet for packet in packets if packet["type"] == "approval_resolved"}
        assert sorted(asked) == sorted(packet["requestId"] for packet in packets if packet["type"] == "approval_resolved")
        assert all(resolved[request_id]["approved"] for request_id in self.allowed), "a decision that was acknowledged stays"
        for packet in resolved.values():
            assert (packet["approved"], packet["reason"]) in ((True, "said before the crash"), (False, "hub_restarted"))

    def _check_queue(self) -> None:
        slow = self.sessions["slow"]
        waiting = [prompt["turnId"] for prompt in slow.wire.get(f"{slow.path}/queue")]
        assert waiting[:len(self.queued)] == self.queued and len(waiting) <= len(self.queued) + 1
        slow.wire.ask("DELETE", f"{slow.path}/queue").expect(204)
        self.queued = []


class Trigger:
    """Kills the hub the moment its readers have seen so many packets in all."""

    def __init__(self, hub: HubProcess, packets: int) -> None:
        self.pulled = threading.Event()
        self._left = packets
        self._lock = threading.Lock()
        self._reached = threading.Event()
        self._hub = hub
        self._thread = threading.Thread(target=self._kill, daemon=True)
        self._thread.start()

    def count(self) -> None:
        """A reader has seen a packet."""
        with self._lock:
            self._left -= 1
            if self._left == 0:
                self._reached.set()

    def join(self) -> None:
        """Wait until the hub is gone."""
        self._thread.join(120)
        assert not self._thread.is_alive()

    def _kill(self) -> None:
        self._reached.wait(120)
        self.pulled.set()
        self._hub.kill()


def kill_again_and_again(root: Path, rounds: int, seed: int, *flags: str) -> None:
    with HubProcess(root, *flags) as hub:
        load = Load(hub, seed)
        for number in range(rounds):
            load.run()
            hub.start()
            load.check()
            load.go_on(number)


def test_nothing_seen_or_promised_is_lost_by_four_kills(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path, QUICK, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("durability", ["normal", "full"])
def test_nothing_seen_or_promised_is_lost_by_twenty_kills(tmp_path: Path, durability: str) -> None:
    kill_again_and_again(tmp_path, ALL, len(durability), "--durability", durability)


def test_a_kill_in_the_middle_of_starting_sessions_leaves_no_agent_and_no_broken_session(tmp_path: Path) -> None:
    dice = random.Random(3)
    with HubProcess(tmp_path) as hub:
        kept: list[Session] = []
        for _ in range(examples(2)):
            kept += [hub.new_session(prompt="/slow 600") for _ in range(dice.randint(1, 3))]
            connection = hub.wire
            with connection.connect("GET", "/healthz", None):
                hub.kill()
            hub.start()
            assert [process for process in hub.left() if process.pid != hub.pid] == []
            for session in kept:
                assert session.view()["status"] in ("idle", "error")
                ends = [packet for packet in (json.loads(data) for _, data in session.history())
                        if packet["type"] in ("error", "prompt_response")]
                assert [end["details"]["code"] for end in ends] == ["hub_restarted"]
        assert {view["id"] for view in hub.wire.get("/sessions")["sessions"]} == {session.id for session in kept}


def test_after_a_kill_everything_the_agents_started_is_gone_too(tmp_path: Path) -> None:
    with HubProcess(tmp_path) as hub:
        pids = [int(text_of(hub.new_session().say("/spawn")).rsplit(" ", 1)[1]) for _ in range(2)]
        hub.kill()
        eventually(lambda: not [pid for pid in pids if is_alive(pid)], "no other hub is needed for that")
        hub.start()


def test_a_queue_that_survived_a_kill_plays_after_the_next_prompt(tmp_path: Path) -> None:
    with HubProcess(tmp_path) as hub:
        session = hub.new_session()
        with session.send("/slow 60") as stream:
            stream.until("agent_message_chunk")
            session.post("send-message", {"content": "/echo waited", "whenBusy": "queue"}, 202)
        hub.kill()
        hub.start()
        assert text_of(session.say("/echo first")) == "first"
        with session.attach() as stream:
            stream.until("agent_message_chunk", where=lambda packet: packet["content"]["text"] == "waited")
            stream.until("prompt_response")


def test_a_prompt_repeated_with_its_key_after_a_kill_is_not_played_twice(tmp_path: Path) -> None:
    key = {"Idempotency-Key": "once and for all"}
    with HubProcess(tmp_path) as hub:
        session = hub.new_session()
        first = session.post("send-message", {"content": "/burst 20000 10 500"}, 202, headers=key)
        with session.attach() as stream:
            stream.until("agent_message_chunk")
        hub.kill()
        hub.start()
        assert session.post("send-message", {"content": "/burst 20000 10 500"}, 202, headers=key) == first
        with session.send("/burst 20000 10 500", headers=key) as stream:
            packets = [packet.value for packet in stream]
        assert packets[0]["type"] == "user_message_chunk" and end_of(packets)["details"]["code"] == "hub_restarted"
        assert session.view()["turn"] is None


def test_what_was_allowed_for_always_still_is_after_a_kill(tmp_path: Path) -> None:
    with HubProcess(tmp_path) as hub:
        session = hub.new_session()
        with session.send("/ask") as stream:
            request = stream.until("approval_requested").value["requestId"]
            session.post(f"permissions/{request}", {"decision": "allow", "scope": "always"})
            stream.until("prompt_response")
        hub.kill()
        hub.start()
        packets = session.say("/ask")
        assert [packet["resolvedBy"] for packet in packets if packet["type"] == "approval_resolved"] == ["policy"]
