"""What the kernel tells of processes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.tooling.rows import every_row
from trunkline.agents.keeper import proc

PARENT = "import subprocess, sys; child = subprocess.Popen(['sleep', '60']); print(child.pid, flush=True); sys.stdin.read()"


@pytest.mark.parametrize("has_children", [True, False])
def test_a_family_is_found_also_by_a_kernel_without_lists(monkeypatch: pytest.MonkeyPatch, has_children: bool) -> None:
    monkeypatch.setattr(proc, "_HAS_CHILDREN", has_children)
    with subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        assert (child, parent.pid) in proc.descendants_of(os.getpid())
        assert proc.descendants_of(parent.pid) == [(child, parent.pid)]
        assert proc.descendants_of(os.getpid(), but={parent.pid}).count((child, parent.pid)) == 0
        assert proc.parent_of(child) == parent.pid
        proc.send_signal(child, os.getpid() + 1, 9)  # not whose child it is
        assert proc.parent_of(child) == parent.pid
        proc.send_signal(child, parent.pid, 9)


def test_who_is_gone_has_nothing() -> None:
    gone = 2**22 + 1
    assert (proc.children_of(gone), proc.parent_of(gone), proc.own_memory(gone), proc.command_line(gone)) == ([], None, 0, [])
    proc.send_signal(gone, 1, 9)


def test_memory_of_its_own_leaves_out_what_files_share() -> None:
    held = b"x" * (50 << 20)
    assert len(held) < proc.own_memory(os.getpid())
    assert proc.command_line(os.getpid())[0].endswith(os.path.basename(sys.argv[0])) or proc.command_line(os.getpid())


@every_row(("words", "index"), [
    (["/usr/bin/tool", "serve", "--shared"], 0), (["tool", "--shared", "x", "serve"], 0), (["other", "run"], 1),
    (["tool", "serve"], None), (["toolbox", "serve", "--shared"], None), ([""], None), ([], None),
])
def test_a_daemon_is_its_program_and_all_its_words(words: list[str], index: int | None) -> None:
    assert proc.daemon_index(words, [["tool", "serve", "--shared"], ["other"]]) == index


SHARING = """
import mmap, os, sys
held = mmap.mmap(-1, 40 << 20)
for _ in range(40): held.write(b"x" * (1 << 20))
if os.fork() == 0:
    sum(held[::4096])
os.write(1, b"%d\\n" % os.getpid())  # in one piece: two processes write
sys.stdin.read()
"""


def test_memory_that_could_be_shared_counts_by_its_parts_where_it_decides() -> None:
    with subprocess.Popen([sys.executable, "-c", SHARING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout and parent.stdin
        pids = [int(parent.stdout.readline()), int(parent.stdout.readline())]
        own = sum(map(proc.own_memory, pids))
        assert proc.memory_of(pids, own + (30 << 20)) > own + (35 << 20), "over, with what they share"
        assert proc.memory_of(pids, own + (60 << 20)) < own + (60 << 20), "which counts once, though both have it"
        parent.stdin.close()
