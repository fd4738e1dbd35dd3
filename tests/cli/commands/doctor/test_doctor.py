"""``trunkline doctor`` as a whole: on every kind of machine it ends, says what mends what, changes nothing and shows no token."""

from __future__ import annotations

import json
import os
import socket
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.cli.conftest import Place
from tests.cli.person import Terminal
from trunkline.cli.commands import doctor
from trunkline.cli.commands.doctor import CHECKS, examined, finding, lines_of
from trunkline.cli.commands.doctor.finding import Finding, Scene, bad, note, ok
from trunkline.cli.read_settings import load
from trunkline.errors import Unavailable

ALONE = [name for name in CHECKS if name != "cluster"]
"""What is looked at where the settings name no cluster."""


def free_port() -> str:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return str(tried.getsockname()[1])


def found(place: Place, *words: str, env: dict[str, str] | None = None) -> tuple[int, dict[str, list[dict[str, str]]]]:
    """The exit code, and the findings by check."""
    done = place.call_here("doctor", "--json", *words, env={"TRUNKLINE_PORT": free_port(), **(env or {})})
    answer = json.loads(done.stdout)
    assert (done.returncode == 0) == answer["ok"], done.stdout
    by_check: dict[str, list[dict[str, str]]] = {}
    for each in answer["findings"]:
        by_check.setdefault(each["check"], []).append(each)
    return done.returncode, by_check


def states(findings: dict[str, list[dict[str, str]]], state: str) -> set[str]:
    return {check for check, each in findings.items() if any(one["state"] == state for one in each)}


def snapshot(folder: Path) -> dict[str, Any]:
    """All that one could change in a folder, but for the time of its being read."""
    return {str(path): (path.lstat().st_mode, path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
            for path in sorted([folder, *folder.rglob("*")]) if path.exists()}


def test_on_a_new_machine_nothing_is_wrong_and_nothing_is_made(place: Place) -> None:
    code, findings = found(place)
    assert (code, states(findings, "bad")) == (0, set())
    assert [*findings] == (
        "python settings data token hub port disk clock journal rules agents hooks browser push").split() == ALONE
    assert not place.data.path.exists()


def test_with_a_hub_that_runs_it_asks_the_hub(shared: Place) -> None:
    code, findings = found(shared)
    assert (code, states(findings, "bad")) == (0, set())
    assert "the hub takes it" in findings["token"][0]["what"]
    assert findings["journal"][0]["what"] == "whole, says the hub"
    assert "runs at http://127.0.0.1:" in findings["hub"][0]["what"]
    token = shared.data.token()
    assert token and token not in shared.call_here("doctor").stdout.decode() + json.dumps(findings)


def test_it_changes_nothing_where_a_hub_was_stopped(place: Place) -> None:
    place.serve()
    place.call_here("run", "demo", "/echo x")
    place.call_here("stop")
    before = snapshot(place.data.path)
    code, findings = found(place)
    assert (code, states(findings, "bad")) == (0, set())
    assert "whole in structure" in findings["journal"][0]["what"]
    assert snapshot(place.data.path) == before
    assert place.data.holder() is None


def test_with_a_broken_data_folder_each_thing_is_named_with_its_fix(place: Place, tmp_path: Path) -> None:
    place.data.make()
    broken = {"token": "", "journal.db": "no database" * 999, "policy.toml": "[[rules", "push.json": "{", "hub.json": "{"}
    for name, text in broken.items():
        (place.data.path / name).write_text(text)
        (place.data.path / name).chmod(0o600)
    (place.data.path / "catalog").mkdir()
    (place.data.path / "catalog" / "mine.toml").write_text("[")
    (place.data.path / "catalog" / "mine.toml").chmod(0o600)
    place.data.path.chmod(0o755)
    config = tmp_path / "config.toml"
    config.write_text("host = 3")
    before = snapshot(place.data.path)
    code, findings = found(place, "--config", str(config))
    assert code == 1
    assert states(findings, "bad") == {"settings", "data", "token", "journal", "rules", "agents", "push"}
    assert all(each.get("fix") for check in findings.values() for each in check if each["state"] == "bad")
    assert f"chmod 700 {place.data.path}" == findings["data"][0]["fix"]
    assert snapshot(place.data.path) == before


@pytest.mark.parametrize("kind", ["file", "below a file", "no record"])
def test_where_the_folder_is_no_folder_it_still_ends(place: Place, kind: str) -> None:
    if kind == "no record":
        place.data.make()
        place.data.record_path.mkdir()
    elif kind == "file":
        place.data.path.write_text("")
    else:
        place.data.path.parent.joinpath("file").write_text("")
        place.data = type(place.data)(place.data.path.parent / "file" / "data")
    code, findings = found(place)
    assert code == 1 and [*findings] == ALONE


def test_a_hub_that_does_not_answer_is_named_by_its_process(place: Place) -> None:
    place.data.make()
    assert place.data.lock.take()
    try:
        code, findings = found(place)
    finally:
        place.data.lock.give_up()
    assert code == 1 and f"process {os.getpid()} has the data folder" in findings["hub"][0]["what"]
    assert "trunkline stop" in findings["hub"][0]["fix"]


def test_a_hub_elsewhere_that_does_not_answer_is_said(place: Place) -> None:
    code, findings = found(place, "--url", "http://127.0.0.1:1")
    assert code == 1 and "http://127.0.0.1:1 does not answer" in findings["hub"][0]["what"]


def test_a_token_that_the_hub_does_not_take_is_said_and_not_shown(shared: Place) -> None:
    code, findings = found(shared, env={"TRUNKLINE_TOKEN": "not-the-hubs-own"})
    assert code == 1 and findings["token"][0]["what"] == "the hub does not take it"
    assert "not-the-hubs-own" not in json.dumps(findings)


def test_on_eighty_columns_no_line_is_longer(shared: Place) -> None:
    person = Terminal(shared, "doctor", columns=80, rows=60)
    assert person.end() == 0
    lines = person.text.splitlines()
    assert any(line.startswith("ok    hub       runs at") for line in lines)
    assert "nothing is wrong" in person.text
    wrapped = [line for line in lines if line.startswith(" " * doctor.LABEL)]
    assert wrapped and all(line[doctor.LABEL] != " " for line in wrapped)


def test_a_finding_is_wrapped_behind_its_label_and_long_words_stay_whole() -> None:
    path = "/" + "x" * 90
    lines = lines_of(bad("disk", "word " * 20 + path, "mend it"), 60)
    assert lines[0].startswith("MEND  disk      word") or "disk" in lines[0]
    assert [line for line in lines if path in line] == [" " * 16 + path]
    assert lines[-1] == " " * 16 + "→ mend it"
    assert "\x1b]" not in "".join(lines_of(note("hub", "a\x1b]0;title\x07b"), 80)) and len(lines_of(ok("x", ""), 80)) == 1


def test_a_check_that_fails_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    async def breaks(scene: Scene) -> list[Finding]:
        raise PermissionError(13, "Permission denied", "/x")

    async def refuses(scene: Scene) -> list[Finding]:
        raise Unavailable("not now")

    async def hangs(scene: Scene) -> list[Finding]:
        await run_forever()
        return []

    async def fine(scene: Scene) -> list[Finding]:
        return [ok("fine", "yes")]

    monkeypatch.setattr(doctor, "CHECK_S", 0.01)
    told = run(examined(Scene(load({"data": "/no"}, {})), {"a": breaks, "b": refuses, "c": hangs, "d": fine}))
    assert [each.state for each in told] == ["bad", "bad", "bad", "ok"]
    assert "Permission denied" in told[0].what and "not now" in told[1].what and "within" in told[2].what


def test_what_is_in_somebody_elses_folder_is_not_guessed_at(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.data.make()
    monkeypatch.setattr(finding, "_is_closed", lambda data: True)  # root may look into every folder
    _, findings = found(place)
    assert [each["state"] for check in doctor.OF_FOLDER for each in findings[check]] == ["note"] * len(doctor.OF_FOLDER)
    assert "closed to you" in findings["token"][0]["what"] and "rm " not in json.dumps(findings)


async def run_forever() -> None:
    import asyncio

    await asyncio.Event().wait()


def test_its_help_names_the_exit_codes(place: Place) -> None:
    text = textwrap.dedent(place.call_here("doctor", "--help").stdout.decode())
    assert "The exit code is 0 when nothing is wrong" in " ".join(text.split())
