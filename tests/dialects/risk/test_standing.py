"""Where each command of a line stands: what follows a ``cd`` is judged there, and nothing else is."""

from __future__ import annotations

import pytest

from tests.tooling.rows import every_row
from trunkline.dialects.risk import explain_risk

ROOT = "/srv/app"


def is_outside(line: str) -> bool:
    """Whether a line is told to write outside the session's folder."""
    found = explain_risk("Bash", {"command": line}, cwd=ROOT, roots=[ROOT], home="/home/u")
    return found.level in ("high", "critical")


@every_row("line", [
    "cd ../other && touch x", "cd /srv/other; touch x", "cd ~/other && touch x", "pushd /srv/other; touch x",
    "D=/srv/other; cd $D; touch x", "D=/srv; cd ${D}/other; touch x", "cd /srv/other; cd sub; touch x",
    "(cd /srv/other; touch x)", "cd /srv/other; (touch x)", "cd /srv/other; cd /srv/app; cd -; touch x",
    "d=/srv/other; (d=src); cd $d; touch x", "d=/srv/other; false && d=src; cd $d; touch x",
    "d=/srv/other; echo $(d=src); cd $d; touch x", "d=/srv/other; f() { d=src; }; cd $d; touch x",
    "d=src; for d in /srv/other; do cd $d; touch x; done", "d=src; read d <<< /srv/other; cd $d; touch x",
    "d=src; export d=/srv/other; cd $d; touch x", "for d in /srv/other; do cd $d && touch x; done",
    "pushd -n /srv/other; popd; touch x", "env -iC /srv/other touch x", "env -vC /srv/other touch x",
    "d=/etc; echo x > $d/hosts", "for d in /etc; do echo x > $d/hosts; done", "for d in src /etc; do echo x > ${d}/hosts; done",
])
def test_what_follows_a_cd_out_of_the_folder_is_judged_there(line: str) -> None:
    assert is_outside(line)


@every_row("line", [
    "A=(/etc/hosts); echo x > $A", "declare -a A=(../y); mv x \"$A\"", "A=([0]=../y); cp x $A", "A=(a); A+=(/etc/x); cp x $A",
    "read TMPDIR <<< /etc; cp x $TMPDIR/y",
])
def test_the_first_of_a_list_is_what_its_name_stands_for(line: str) -> None:
    assert is_outside(line)


@every_row(("line", "is_unsure"), [
    ("cd ../other; D=$PWD; cd ../app; cp x $D/y", True), ("cd ../other; D=$(pwd); cd ../app; cp x $D/y", True),
    ("pushd ..; D=$PWD; popd; mv x $D/y", True), ("D=$PWD; cp x $D/y", False), ("cd sub && cp x $PWD/y", False),
    ("read TMPDIR < f; cp x $TMPDIR/y", True), ("TMPDIR=$(cat f); echo x > $TMPDIR/y", True), ("cp x $TMPDIR/y", False),
    ("TMPDIR=$(cat f); cp x \"${TMPDIR}/y\"", True),
])
def test_where_a_line_stood_and_a_temporary_folder_of_its_own_are_not_known(line: str, is_unsure: bool) -> None:
    risk = explain_risk("Bash", {"command": line}, cwd=ROOT, roots=[ROOT], home="/home/u")
    assert bool(risk.unsure) == is_unsure or risk.level == "high"
    assert is_unsure or risk.level in ("low", "medium")


@every_row("line", [
    "cd sub && touch x", "cd /srv/app/sub; touch x", "(cd /srv/other; ls); touch x", "pushd /srv/other; popd; touch x",
    "cd /srv/other; cd -; touch x", "D=sub; cd $D; touch x", "cd ../app && touch x", "touch x; cd /srv/other",
    'cd "$(git rev-parse --show-toplevel)" && touch x', "d=src; echo x > $d/hosts", "for d in a b; do (cd $d && touch x); done",
    "pushd -n /srv/other; touch x", "pushd /srv/other; popd; popd -n; touch x", "env -iC sub touch x",
])
def test_what_stays_or_comes_back_is_judged_in_the_folder(line: str) -> None:
    assert not is_outside(line)


@pytest.mark.parametrize("before", ["export GIT_WORK_TREE=/srv/other", "git() { echo /srv/other; }"])
def test_the_project_is_not_taken_for_it_where_git_is_told_another(before: str) -> None:
    line = 'cd "$(git rev-parse --show-toplevel)" && touch x'
    plain, told = (explain_risk("Bash", {"command": one}, cwd=ROOT, roots=[ROOT]) for one in (line, f"{before}; {line}"))
    assert plain.level == "low" and told.level != "low"


def test_however_many_folders_a_line_goes_through_the_last_one_counts() -> None:
    through = "".join(f"pushd /srv/app/d{number}; " for number in range(40))
    assert not is_outside(f"{through}touch x")
    assert is_outside(f"{through}cd /srv/other; touch x")
