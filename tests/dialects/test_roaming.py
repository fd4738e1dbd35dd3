"""Which paths lead through a process, and where."""

from __future__ import annotations

import posixpath

from tests.tooling.rows import every_row
from trunkline.dialects.roaming import beyond, is_stacked, may_roam, roams


@every_row(("path", "does"), [
    ("/proc/self/root/etc", True), ("/proc/1/cwd", True), ("/proc/self/task/7/root", True), ("/proc/net/../root/x", True),
    ("/./proc//self/root", True), ("/usr/../proc/self/root", True), ("/dev/fd/../root", True), ("/dev/fd/3/x", True),
    ("/dev/stdin/x", True), ("/proc/7/fd/3", True), ("/proc/self/fd/3/x", True),
    ("/proc/cpuinfo", False), ("/proc/self/status", False), ("/proc/self/fd/2", False), ("/dev/fd/3", False),
    ("/dev/../etc", False), ("/home/ann/dev/x/../y", False), ("/srv/proc/self/root", False), ("/../../proc/cpuinfo", False),
])
def test_a_path_leads_through_a_process(path: str, does: bool) -> None:
    assert roams(path, posixpath.normpath("/" + path.lstrip("/"))) is does


@every_row(("path", "there"), [
    ("/proc/self/root/etc/x", "/etc/x"), ("/proc/self/root", "/"), ("/proc/9/cwd/x", "/w/x"),
    ("/proc/self/root/proc/self/root/x", "/x"), ("/etc/x", "/etc/x"),
])
def test_what_is_known_of_where_it_leads_is_said(path: str, there: str) -> None:
    assert beyond(path, "/w") == there


@every_row(("path", "is_one"), [
    ("~+", True), ("~-/x", True), ("~1/x", True), ("~+2", True), ("~", False), ("~/x", False), ("~ann/x", False),
    ("~+x/y", False),
])
def test_a_tilde_may_be_a_folder_that_only_the_shell_knows(path: str, is_one: bool) -> None:
    assert is_stacked(path) is is_one


@every_row(("outline", "may"), [
    ("/p*/self/root/x", True), ("/proc/*/c?d", True), ("/dev/f*/3/x", True), ("/proc/*/environ", False), ("/home/*/x", False),
    ("/**", False), ("/*", False), ("/dev/*", False),
])
def test_a_pattern_may_stand_for_such_a_path(outline: str, may: bool) -> None:
    assert may_roam(outline) is may
