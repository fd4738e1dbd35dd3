"""The gate lets one in, and keeps the one who waits from being overtaken."""

from __future__ import annotations

import threading

from trunkline.journal.stores.sqlite.gate import WriteGate


def test_only_one_is_inside() -> None:
    gate = WriteGate()
    assert gate.try_enter()
    assert not gate.try_enter()
    gate.leave()
    with gate.held():
        assert not gate.try_enter()
    assert gate.try_enter()


def test_who_only_tries_does_not_overtake_who_waits() -> None:
    gate = WriteGate()
    order: list[str] = []
    assert gate.try_enter()
    waiting = threading.Thread(target=lambda: _pass(gate, order))
    waiting.start()
    while not gate._doorway.locked():  # the thread is on its way into the doorway
        pass
    assert not gate.try_enter()
    order.append("leaving")
    gate.leave()
    waiting.join(timeout=60)
    assert order == ["leaving", "passed"]
    assert gate.try_enter()


def test_a_free_gate_is_left_to_who_stands_in_its_doorway() -> None:
    gate = WriteGate()
    with gate._doorway:  # between waiting and being inside
        assert not gate.try_enter()
    assert gate.try_enter()


def _pass(gate: WriteGate, order: list[str]) -> None:
    with gate.held():
        order.append("passed")
