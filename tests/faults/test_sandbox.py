"""Rule 8: an agent in a sandbox reads neither the hub's files nor a person's secrets, by itself or by its terminals."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import Report
from tests.tooling.bubblewrap import need_bubblewrap
from tests.tooling.events import events_of
from tests.tooling.hub_process import PUPPET, HubProcess, Session, text_of

LOOKING = str(Path(__file__).parents[1] / "tooling" / "looking.py")
SECRET = "made-by-the-test-and-nobody's-secret"
NewHub = Callable[..., HubProcess]
Try = list[Any]

SECRETS = (
    ".ssh/id_ed25519", ".aws/credentials", ".config/gcloud/credentials.db", ".azure/token.json", ".kube/config",
    ".docker/config.json", ".netrc", ".gnupg/key", ".config/gh/hosts.yml", ".npmrc", ".pypirc", ".git-credentials",
    ".mozilla/firefox/logins.json", ".config/chromium/Cookies", ".bash_history", "notes/of/somebody.txt",
    ".codex/auth.json", ".gemini/oauth.json", ".claude/.credentials.json", "share/opencode/auth.json",
)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """A hub of somebody whose home is full of what the test put there. (The superuser has no rights of its own in a sandbox.)"""
    need_bubblewrap()
    root = tmp_path_factory.mktemp("hub")
    for name in SECRETS:
        plant(root / "home" / name)
    with HubProcess(root) as hub:
        yield hub


def plant(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SECRET)


def tried(session: Session, tries: list[Try]) -> list[dict[str, Any]]:
    """What an agent comes to by itself."""
    return list(_answers(session.say(json.dumps([["run", [sys.executable, LOOKING, listed(session, tries)]]]))))


def tried_in_terminal(session: Session, tries: list[Try]) -> list[dict[str, Any]]:
    """What it comes to by a command that it has the hub run."""
    ask = {"command": sys.executable, "args": [LOOKING, listed(session, tries)]}
    created = _answers(session.say(json.dumps([["ask", "terminal/create", ask]])))
    terminal = {"terminalId": created["result"]["terminalId"]}
    packets = session.say(json.dumps([["ask", "terminal/wait_for_exit", terminal], ["ask", "terminal/output", terminal]]))
    return list(json.loads(json.loads(text_of(packets).splitlines()[1])["result"]["output"]))


def listed(session: Session, tries: list[Try]) -> str:
    """The tries in a file: a command line that named the hub's files would be asked about."""
    path = session.folder / "tries.json"
    path.write_text(json.dumps(tries))
    return str(path)


def _answers(packets: list[dict[str, Any]]) -> Any:
    return json.loads(text_of(packets))


def refused(answers: list[dict[str, Any]]) -> int:
    """How many tries led to nothing: an error, or nothing but emptiness."""
    return sum("error" in answer or answer["got"] == [] for answer in answers)


def forbidden(hub: HubProcess, session: Session) -> list[Try]:
    """Everything that an agent in a sandbox must not get at."""
    secrets = [["read", str(hub.home / name)] for name in SECRETS]
    own = [["read", str(hub.data / name)] for name in ("token", "audit.key", "journal.db", "policy.toml", "hub.json")]
    (session.folder / "to-data").symlink_to(hub.data)
    (session.folder / "to-home").symlink_to(hub.home)
    links = [["read", str(session.folder / "to-data" / "token")], ["read", str(session.folder / "to-home" / ".ssh/id_ed25519")],
             ["list", str(session.folder / "to-home" / ".aws")]]
    hub_itself = [["read", f"/proc/{hub.pid}/environ"], ["read", f"/proc/{hub.pid}/cmdline"], ["list", f"/proc/{hub.pid}/fd"]]
    system = [["write", path] for path in ("/usr/x", "/etc/x", f"{sys.prefix}/x")]
    return [*secrets, *own, *links, *hub_itself, *system, ["list", str(hub.data)], ["list", str(hub.home / ".ssh")]]


def outside(hub: HubProcess) -> list[Path]:
    """Files beside the session's folder. In a sandbox they may be made, in a folder that is the sandbox's own."""
    return [hub.root / "x", hub.root / "work" / "x", hub.home / "x", hub.home / ".bashrc", Path("/var/tmp/x-of-a-test")]


def test_an_agent_in_a_sandbox_reads_no_secret_and_writes_nowhere_else(hub: HubProcess, report: Report) -> None:
    session = hub.new_session("trusted", sandbox="bwrap")
    tries = forbidden(hub, session)
    assert (hub.data / "token").exists() and (hub.home / ".ssh/id_ed25519").read_text() == SECRET
    answers = tried(session, tries)
    assert SECRET not in json.dumps(answers) and hub.token not in json.dumps(answers)
    tried(session, [["write", str(path)] for path in outside(hub)])
    assert [path for path in outside(hub) if path.exists()] == []
    report(8, "read secrets or write elsewhere from a sandbox: the agent", tried=len(tries), held=refused(answers))


def test_its_terminals_are_in_the_same_sandbox(hub: HubProcess, report: Report) -> None:
    session = hub.new_session("trusted", sandbox="bwrap")
    tries = forbidden(hub, session)
    answers = tried_in_terminal(session, tries)
    tried_in_terminal(session, [["write", str(path)] for path in outside(hub)])
    assert [path for path in outside(hub) if path.exists()] == []
    assert SECRET not in json.dumps(answers) and hub.token not in json.dumps(answers)
    report(8, "read secrets or write elsewhere from a sandbox: its terminals", tried=len(tries), held=refused(answers))


def test_the_same_tries_succeed_without_a_sandbox(hub: HubProcess) -> None:
    session = hub.new_session("trusted")
    answers = tried(session, [["read", str(hub.home / ".ssh/id_ed25519")], ["read", str(hub.data / "token")]])
    assert answers == [{"got": SECRET}, {"got": hub.token + "\n"}], "else the other tests prove nothing"
    assert session.view()["sandbox"] is None


def test_it_works_in_its_folder_and_sees_only_its_own_processes(hub: HubProcess) -> None:
    session = hub.new_session("trusted", sandbox="bwrap")
    made = session.folder / "made.txt"
    for run in (tried, tried_in_terminal):
        made.unlink(missing_ok=True)
        wrote, read, tmp, processes = run(session, [
            ["write", str(made)], ["read", str(made)], ["write", "/tmp/private.txt"], ["processes"]])
        assert (wrote, read, tmp) == ({"got": True}, {"got": "written from inside"}, {"got": True})
        assert made.read_text() == "written from inside" and not Path("/tmp/private.txt").exists()
        assert not any("serve" in words for words in processes["got"]), "the hub is not to be seen"


def test_without_network_it_reaches_nothing_not_even_the_hub(hub: HubProcess, report: Report) -> None:
    port = int(hub.url.rpartition(":")[2])
    on, off = hub.new_session("trusted", sandbox="bwrap"), hub.new_session("trusted", sandbox="bwrap", sandboxNetwork=False)
    assert tried(on, [["connect", "127.0.0.1", port]]) == [{"got": True}], "loopback is a network; it has no token there"
    answers = tried(off, [["connect", "127.0.0.1", port]]) + tried_in_terminal(off, [["connect", "127.0.0.1", port]])
    assert off.view()["sandbox"] == {"kind": "bwrap", "network": False}
    report(8, "reach the hub from a sandbox without network", tried=len(answers), held=refused(answers))


def test_sockets_that_programs_leave_for_each_other_are_not_there(hub: HubProcess) -> None:
    path = hub.root / "agent.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        outside, inside = hub.new_session("trusted"), hub.new_session("trusted", sandbox="bwrap")
        assert tried(outside, [["socket", str(path)]]) == [{"got": True}]
        assert refused(tried(inside, [["socket", str(path)], ["list", "/run/dbus"]])) == 2
        environ = _answers(inside.say('[["environ"]]'))
    assert not {"XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY"} & set(environ)


def test_a_session_in_a_folder_among_hidden_ones_sees_that_folder_alone(hub: HubProcess) -> None:
    inside = hub.home / ".config" / "gh" / "extension"
    inside.mkdir(exist_ok=True)
    around = hub.home / ".config"
    first = hub.new_session("trusted", cwd=inside, sandbox="bwrap")
    assert refused(tried(first, [["read", str(around / "gh" / "hosts.yml")], ["read", str(inside / "nothing")]])) == 2
    assert tried(first, [["write", str(inside / "made")], ["list", str(around)]]) == [{"got": True}, {"got": ["gh"]}]
    second = hub.new_session("trusted", cwd=around, sandbox="bwrap")
    answers = tried(second, [["read", str(around / "gh" / "hosts.yml")], ["read", str(around / "chromium" / "Cookies")]])
    assert refused(answers) == 2
    assert tried(second, [["write", str(around / "made")]]) == [{"got": True}]


def test_a_session_in_the_playground_works_and_sees_nothing_around_it(hub: HubProcess) -> None:
    playground = hub.data / "playground"
    playground.mkdir(exist_ok=True)
    session = hub.new_session("trusted", cwd=playground, sandbox="bwrap")
    wrote, around, token = tried(session, [["write", str(playground / "made")], ["list", str(hub.data)],
                                           ["read", str(hub.data / "token")]])
    assert wrote == {"got": True} and around == {"got": ["playground"]} and "error" in token


def test_a_folder_that_holds_the_home_gets_no_sandbox(hub: HubProcess) -> None:
    for folder in (hub.home, hub.root, Path("/")):
        error = hub.wire.post("/sessions", {"agent": "trusted", "cwd": str(folder), "sandbox": "bwrap"}, 400)
        assert "choose a folder below it" in error["message"]


def test_where_there_is_no_bwrap_nothing_is_started(new_hub: NewHub, tmp_path: Path) -> None:
    nothing = tmp_path / "bin"
    nothing.mkdir()
    hub = new_hub(env={"PATH": str(nothing)})
    error = hub.wire.post("/sessions", {"agent": "trusted", "cwd": str(hub.new_folder()), "sandbox": "bwrap"}, 503)
    assert error["code"] == "sandbox_unavailable" and "bubblewrap" in error["message"]
    assert hub.wire.get("/sessions")["sessions"] == []


def test_where_a_system_forbids_it_nothing_is_started_and_the_reason_is_told(new_hub: NewHub, tmp_path: Path) -> None:
    broken = tmp_path / "bin" / "bwrap"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    broken.chmod(0o755)
    hub = new_hub(env={"PATH": f"{broken.parent}:/usr/bin:/bin"})
    error = hub.wire.post("/sessions", {"agent": "trusted", "cwd": str(hub.new_folder()), "sandbox": "bwrap"}, 503)
    assert "setting up uid map" in error["message"] and "user namespaces" in error["message"]
    assert hub.wire.get("/sessions")["sessions"] == []


def test_variables_that_an_agent_gives_a_command_are_the_commands_and_nobody_elses(hub: HubProcess, report: Report) -> None:
    """The loader of every program obeys some, and ``bwrap`` runs outside."""
    session, told = hub.new_session("trusted", sandbox="bwrap"), hub.root / "told-by-the-loader"
    given = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(told), "OWN": "it's \"mine\" $HOME", "with.dot": "1"}
    ask = {"command": "printenv", "args": ["OWN", "with.dot"],
           "env": [{"name": name, "value": value} for name, value in given.items()]}
    created = _answers(session.say(json.dumps([["ask", "terminal/create", ask]])))
    terminal = {"terminalId": created["result"]["terminalId"]}
    packets = session.say(json.dumps([["ask", "terminal/wait_for_exit", terminal], ["ask", "terminal/output", terminal]]))
    assert json.loads(text_of(packets).splitlines()[1])["result"]["output"] == "it's \"mine\" $HOME\n1\n"
    outside = list(told.parent.glob(f"{told.name}*"))
    report(8, "a command's variables tell the loader to write a file outside of the sandbox", tried=1, held=int(not outside))


KEYRING = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
keyctl, add_key = {"x86_64": (250, 248), "aarch64": (219, 217)}[os.uname().machine]
if sys.argv[1] == "add":
    libc.syscall(keyctl, 1, None, 0, 0, 0)
    if libc.syscall(add_key, b"user", b"of-a-test", b"made", 4, -3) < 0:
        print(os.strerror(ctypes.get_errno()))
        sys.exit(1)
    os.execvp(sys.argv[2], sys.argv[2:])
print("found" if libc.syscall(keyctl, 10, -3, b"user", b"of-a-test", 0) > 0 else "not found")
"""
"""``add COMMAND…``: runs it with a key in its session keyring; ``find``: says whether that key is there."""


def test_the_keyring_of_who_started_the_hub_stays_outside(new_hub: NewHub, tmp_path: Path, report: Report) -> None:
    need_bubblewrap()
    script = tmp_path / "keyring.py"
    script.write_text(KEYRING)
    add = [sys.executable, str(script), "add"]
    if os.uname().machine not in ("x86_64", "aarch64") or subprocess.run([*add, "true"], check=False).returncode:
        pytest.skip("this system keeps no keys")
    hub = new_hub(before=add)
    found = []
    for kind in ("none", "bwrap"):
        session = hub.new_session("trusted", sandbox=kind)
        (session.folder / "keyring.py").write_text(KEYRING)
        steps = [["run", [sys.executable, str(session.folder / "keyring.py"), "find"]]]
        found.append(text_of(session.say(json.dumps(steps))).strip())
    assert found[0] == "found", "without a sandbox it is there"
    report(8, "an agent in a sandbox looks for a key of who started the hub", tried=1, held=int(found[1] == "not found"))


@pytest.mark.parametrize("kind", ["absolute", "relative"])
def test_a_bwrap_that_the_session_made_is_never_run(new_hub: NewHub, tmp_path: Path, report: Report, kind: str) -> None:
    need_bubblewrap()
    hub = new_hub()
    folder = hub.root / "project"
    programs = Path("project/node_modules/.bin")
    hub.set_variable("PATH", f"{programs if kind == 'relative' else hub.root / programs}:{os.environ['PATH']}")
    hub.restart()
    folder.mkdir()
    session = hub.new_session("trusted", cwd=folder, sandbox="bwrap")
    planted = folder / "node_modules" / ".bin" / "bwrap"
    planted.parent.mkdir(parents=True)
    planted.write_text(f"#!/bin/sh\ntouch {hub.root}/ran\nexit 1\n")
    planted.chmod(0o755)
    answer = _answers(session.say(json.dumps([["ask", "terminal/create", {"command": "true"}]])))
    assert "terminalId" in answer["result"]
    report(8, f"a bwrap in the session's folder, which PATH names ({kind})", tried=1, held=int(not (hub.root / "ran").exists()))


def test_what_the_hub_runs_in_an_agents_folder_runs_in_its_sandbox(hub: HubProcess) -> None:
    """A folder that is a worktree of a repository in the home: git shows what is in there."""
    private = hub.home / "private"
    plant(private / "diary.txt")
    git = ["git", "-C", str(private), "-c", "user.name=test", "-c", "user.email=test@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *words], check=True, capture_output=True, timeout=60)
    outside, inside = hub.new_session("trusted"), hub.new_session("trusted", sandbox="bwrap")
    for session in (outside, inside):
        words = ["worktree", "add", "-q", "--detach", str(session.folder)]
        subprocess.run([*git, *words], check=True, capture_output=True, timeout=60)
        (session.folder / "diary.txt").unlink()
    assert SECRET in outside.wire.get(f"{outside.path}/diff")["diff"], "else this proves nothing"
    assert SECRET not in json.dumps(inside.wire.get(f"{inside.path}/diff"))


def test_changes_in_a_sandboxed_folder_are_shown(hub: HubProcess) -> None:
    session = hub.new_session("trusted", sandbox="bwrap")
    session.say(json.dumps([["run", ["git", "init", "-q", str(session.folder)]]]))
    (session.folder / "new.txt").write_text("one line\n")
    diff = session.wire.get(f"{session.path}/diff")
    assert diff["base"] == "empty" and "new.txt" in [each["path"] for each in diff["files"]]


def test_a_sandbox_outlives_a_restart_of_the_hub_and_is_told(hub: HubProcess) -> None:
    session = hub.new_session("trusted", sandbox="bwrap", sandboxNetwork=False)
    told = [event for event in events_of(session) if event["type"] == "environment:info"]
    assert told[0]["_meta"]["sandbox"] == {"kind": "bwrap", "network": False}
    hub.restart()
    assert refused(tried(session, [["read", str(hub.data / "token")]])) == 1
    assert session.view()["sandbox"] == {"kind": "bwrap", "network": False}
    assert "sandbox      bwrap, network off" in hub.command("sessions", "show", session.id).stdout


def test_an_agents_own_settings_cannot_be_loosened_by_a_session(new_hub: NewHub, tmp_path: Path) -> None:
    need_bubblewrap()
    settings = tmp_path / "home" / "config" / "trunkline" / "config.toml"
    settings.parent.mkdir(parents=True)
    words = json.dumps(PUPPET.split())
    settings.write_text(f'[agents.kept]\ncommand = {words}\nsandbox = "bwrap"\nsandbox_network = false\n')
    hub = new_hub(root=tmp_path)
    folder = str(hub.new_folder())
    assert hub.new_session("kept").view()["sandbox"] == {"kind": "bwrap", "network": False}
    for less in ({"sandbox": "none"}, {"sandboxNetwork": True}):
        error = hub.wire.post("/sessions", {"agent": "kept", "cwd": folder, **less}, 400)
        assert "its settings say so" in error["message"]
    error = hub.wire.post("/sessions", {"agent": "fast", "cwd": folder, "sandboxNetwork": False}, 400)
    assert "sandboxNetwork" in error["message"]


def test_the_hub_reads_and_writes_nothing_for_an_agent_that_its_sandbox_hides(hub: HubProcess, report: Report) -> None:
    around = hub.home / ".m2"
    secret, later = around / "settings.xml", hub.home / ".gem" / "credentials"
    for path in (secret, around / "mine.txt", later.with_name("mine.txt")):
        plant(path)
    session, other = hub.new_session("trusted", cwd=around, sandbox="bwrap"), hub.new_session("trusted", cwd=later.parent,
                                                                                              sandbox="bwrap")
    (around / "link").symlink_to(secret)
    reads = [["ask", "fs/read_text_file", {"path": str(path)}] for path in (secret, around / "link", around / "mine.txt")]
    writes = [["ask", "fs/write_text_file", {"path": str(path), "content": "else"}] for path in (secret, around / "link")]
    *refused_, mine = [json.loads(line) for line in text_of(session.say(json.dumps(reads))).splitlines()]
    assert mine["result"]["content"] == SECRET
    refused_ += [json.loads(line) for line in text_of(session.say(json.dumps(writes))).splitlines()]
    made = json.dumps([["ask", "fs/write_text_file", {"path": str(later), "content": "else"}]])
    refused_.append(json.loads(text_of(other.say(made))))
    held = sum("hidden by the session's sandbox" in json.dumps(answer.get("error")) for answer in refused_)
    assert held == 5 and secret.read_text() == SECRET and not later.exists()
    report(8, "fs/* on what the sandbox hides in the session's folder", tried=5, held=held)
