"""The keeper's own program, in a process of its own: it reaps whatever its process has."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

END_FAMILY = textwrap.dedent("""
    import os, signal, socket, subprocess, sys, time
    from trunkline.agents.keeper import parent, proc

    heeds_after = int(sys.argv[1])
    parent.FAMILY_TERM_S, parent.FAMILY_KILL_S = 0.05, 0.3
    send, sent = proc.send_signal, []

    def send_signal(pid, parent_pid, number):
        # As the kernel does it for another user's process: nothing happens.
        sent.append(number)
        if sent.count(signal.SIGKILL) > heeds_after:
            send(pid, parent_pid, number)

    proc.send_signal = send_signal
    ours, hubs = socket.socketpair()
    keeper = parent.AgentKeeper(ours, os.pipe()[0], os.pipe()[1], None)
    keeper._is_subreaper = True
    child = subprocess.Popen(["sleep", "600"])
    began = time.monotonic()
    keeper._end_family()
    took_s = time.monotonic() - began
    ours.close()
    told = hubs.makefile().read().split()
    print(sent.count(signal.SIGKILL), told == ["left", str(child.pid)], told == [], took_s >= 0.3)
    child.kill()
""")


@pytest.mark.parametrize(("heeds_after", "left"), [(1, False), (10**6, True)])
def test_what_does_not_die_of_repeated_kills_is_left_and_told_of(heeds_after: int, left: bool) -> None:
    done = subprocess.run([sys.executable, "-c", END_FAMILY, str(heeds_after)], capture_output=True, text=True, timeout=20,
                          check=True)
    kills, is_left, is_gone, whole_time = done.stdout.split()
    assert (is_left, is_gone) == (str(left), str(not left))
    assert whole_time == "True" or not left, "all of its time was used"
    assert int(kills) > 2 if left else int(kills) == 2
