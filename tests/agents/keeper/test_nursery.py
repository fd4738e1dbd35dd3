"""What the nursery does with keepers that do not go."""

from __future__ import annotations

import os
import signal
import socket

import pytest

from trunkline.agents.keeper import nursery, proc
from trunkline.agents.keeper.nursery import HUB_GONE_S, Nursery


def test_a_keeper_that_outlives_its_hub_is_woken_and_then_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[int, int, int]] = []
    monkeypatch.setattr(proc, "send_signal", lambda pid, parent, number: sent.append((pid, parent, number)))
    monkeypatch.setattr(nursery, "_wakeup_pipe", lambda: os.open(os.devnull, os.O_RDONLY))
    hub, ours = socket.socketpair()
    with hub, ours:
        kept = Nursery(ours, None)
        kept._keepers = {4711}
        kept._urge_keepers(HUB_GONE_S - 0.1)
        kept._urge_keepers(HUB_GONE_S)
        for handle in (kept._wakeup, kept._notes, kept._notes_writer):
            os.close(handle)
    assert sent == [(4711, os.getpid(), signal.SIGCONT), (4711, os.getpid(), signal.SIGKILL)]
