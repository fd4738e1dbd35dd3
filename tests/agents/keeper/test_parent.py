"""The keeper's own program, in a process of its own: it reaps whatever its process has."""

from __future__ import annotations

import subprocess
import sys
import textwrap

END_FAMILY = textwrap.dedent("""
    import os, signal, socket, subprocess, sys, time
    from trunkline.agents.keeper import parent, proc

    heeds_after = int(sys.argv[1])
    parent.FAMILY_TERM_S, parent.FAMILY_KILL_S = 0.05, float(sys.argv[2])
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
    print(sent.count(signal.SIGKILL), told == ["left", str(child.pid)], told == [], took_s >= parent.FAMILY_KILL_S)
    child.kill()
""")


def end_family(*, heeds_after: int, kill_s: float) -> list[str]:
    done = subprocess.run([sys.executable, "-c", END_FAMILY, str(heeds_after), str(kill_s)], capture_output=True, text=True,
                          timeout=60, check=True)
    return done.stdout.split()


def test_what_does_not_die_of_one_kill_is_killed_again() -> None:
    kills, is_left, is_gone, _ = end_family(heeds_after=1, kill_s=30)
    assert (is_left, is_gone) == ("False", "True")
    assert int(kills) >= 2


def test_what_does_not_die_of_repeated_kills_is_left_and_told_of() -> None:
    kills, is_left, is_gone, whole_time = end_family(heeds_after=10**6, kill_s=0.3)
    assert (is_left, is_gone) == ("True", "False")
    assert whole_time == "True", "all of its time was used"
    assert int(kills) >= 2
