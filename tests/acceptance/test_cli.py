"""The command line as a person uses it: every command against a hub that runs, or that it has to start first."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.tooling.hub_process import DEMO, TRUNKLINE, HubProcess, own_environment, run_command
from tests.tooling.pace import crowding
from tests.tooling.processes import eventually, is_alive, processes_with
from tests.tooling.wire import Broken

NewHub = Callable[..., HubProcess]
AGAIN_S = 0.05
"""How soon somebody asks again: often enough to meet every moment of a hub's end, and without taking the machine for it."""


def test_a_second_hub_on_the_same_data_exits_and_names_the_first(hub: HubProcess) -> None:
    second = hub.command("serve", "--port", "0", "--no-open")
    assert second.returncode not in (0, None)
    assert str(hub.pid) in second.stderr and hub.url in second.stderr
    assert second.stdout == ""
    assert hub.wire.get("/healthz") == {"status": "ok"}


def test_stdout_of_serve_is_one_line(new_hub: NewHub) -> None:
    hub = new_hub()
    hub.new_session().say("/junk")
    process = hub._running()
    assert process.stdout is not None
    os.set_blocking(process.stdout.fileno(), False)
    assert process.stdout.read() is None, "nothing more came after the line that it listens"


def test_a_lock_left_by_a_crash_does_not_stop_the_next_hub(new_hub: NewHub) -> None:
    hub = new_hub()
    hub.kill()
    assert (hub.data / "hub.json").exists(), "a crash leaves its record"
    hub.start()
    assert json.loads((hub.data / "hub.json").read_text())["pid"] == hub.pid


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_drains_and_stops_every_agent(new_hub: NewHub, number: signal.Signals) -> None:
    hub = new_hub()
    session = hub.new_session()
    session.say("/spawn")
    assert hub.stop(number) == 0
    hub.assert_nothing_left()
    assert not (hub.data / "hub.json").exists()


def test_a_second_signal_does_not_wait_and_leaves_nothing_either(new_hub: NewHub) -> None:
    hub = new_hub()
    session = hub.new_session()
    session.post("send-message", {"content": "/deaf"}, 202)
    with session.attach() as stream:
        stream.until("user_message_chunk")
    process = hub._running()
    process.send_signal(signal.SIGTERM)
    eventually(lambda: not (hub.data / "hub.json").exists(), "the hub is stopping")
    process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    process.wait(60)
    assert time.monotonic() - began < 4 * crowding()
    hub._forget(process)
    hub.assert_nothing_left()


def test_who_asks_while_a_hub_stops_is_told_so_and_its_log_has_no_traceback(new_hub: NewHub) -> None:
    """As an open page does: it asks again as soon as its line is cut."""
    hub, gone = new_hub(), threading.Event()
    session = hub.new_session()
    session.post("send-message", {"content": "/deaf"}, 202)
    with session.attach() as stream:
        stream.until("agent_message_chunk")
    process, wire = hub._running(), hub.wire
    paths = ("/sessions", "/agents", "/approvals", "/policy", "/search?q=deaf", session.path, f"{session.path}/history")
    seen: set[int] = set()

    def ask(path: str) -> None:
        with suppress(OSError, Broken):
            while not gone.wait(AGAIN_S):
                seen.add(wire.ask("GET", path).status)

    asking = [threading.Thread(target=ask, args=(path,)) for path in paths]
    process.send_signal(signal.SIGINT)
    for each in asking:
        each.start()
    process.wait(60)
    gone.set()
    for each in asking:
        each.join()
    hub._forget(process)
    assert seen <= {200, 503}, seen
    assert "Traceback" not in hub.log_path.read_text()


def test_run_streams_the_answer_and_exits_by_the_stop_reason(hub: HubProcess) -> None:
    said = hub.command("run", "fast", "/echo hello there", "--cwd", str(hub.new_folder()))
    assert (said.returncode, "hello there" in said.stdout) == (0, True), said.stderr
    refused = hub.command("run", "fast", "/refuse", "--cwd", str(hub.new_folder()))
    assert refused.returncode == 3
    failed = hub.command("run", "fast", "/error", "--cwd", str(hub.new_folder()))
    assert failed.returncode == 1 and "as /error asks" in failed.stderr + failed.stdout


def test_run_prints_packets_as_json_lines(hub: HubProcess) -> None:
    said = hub.command("run", "fast", "/burst 3 10", "--json", "--cwd", str(hub.new_folder()))
    types = [json.loads(line)["type"] for line in said.stdout.splitlines()]
    assert [kind for kind in types if kind != "user_message_chunk"] == [*["agent_message_chunk"] * 3, "prompt_response"]
    assert said.returncode == 0


def test_run_takes_its_prompt_from_standard_input(hub: HubProcess) -> None:
    said = hub.command("run", "fast", "-", "-q", "--cwd", str(hub.new_folder()), input="/echo from a pipe")
    assert said.stdout.strip() == "from a pipe"


@pytest.mark.parametrize(("flag", "answer"), [("--allow", "Approved."), ("--deny", "Not approved.")])
def test_run_decides_permissions_where_it_is_told_how(hub: HubProcess, flag: str, answer: str) -> None:
    said = hub.command("run", "fast", "/ask", flag, "-q", "--cwd", str(hub.new_folder()))
    assert said.stdout.rstrip().endswith(answer), said.stderr
    assert said.returncode == 0


def test_run_names_an_agent_that_is_not_there(hub: HubProcess) -> None:
    said = hub.command("run", "missing", "hello", "--cwd", str(hub.new_folder()))
    assert said.returncode == 1 and "no-such-agent-command" in said.stderr
    assert hub.command("run", "nobody", "hello", "--cwd", str(hub.new_folder())).returncode != 0


def test_sessions_can_be_listed_shown_tailed_cancelled_and_deleted(hub: HubProcess) -> None:
    session = hub.new_session(title="From the shell")
    session.say("/echo to be shown")
    listed = hub.command("sessions", "list", "--json", "--text", "From the shell")
    assert [view["id"] for view in json.loads(listed.stdout)] == [session.id]
    assert "From the shell" in hub.command("sessions").stdout
    assert json.loads(hub.command("sessions", "show", session.id, "--json").stdout)["id"] == session.id
    assert "to be shown" in hub.command("sessions", "tail", session.id, "--no-follow", "--after", "0").stdout
    session.post("send-message", {"content": "/slow 60"}, 202)
    assert "cancelled" in hub.command("sessions", "cancel", session.id).stdout
    with session.attach() as stream:
        stream.until("prompt_response", where=lambda packet: packet["stopReason"] == "cancelled")
    assert hub.command("sessions", "delete", session.id).returncode == 0
    assert session.wire.ask("GET", session.path).status == 404
    assert hub.command("sessions", "show", session.id).returncode == 1


def test_agents_are_listed(hub: HubProcess) -> None:
    agents = {agent["name"]: agent for agent in json.loads(hub.command("agents", "--json").stdout)}
    assert agents["demo"]["installed"] is True and agents["missing"]["installed"] is False
    assert "demo" in hub.command("agents").stdout


def test_status_says_where_the_hub_is(hub: HubProcess) -> None:
    status = json.loads(hub.command("status", "--json").stdout)
    assert (status["running"], status["pid"], status["url"]) == (True, hub.pid, hub.url)


def test_stop_ends_the_hub_and_its_agents(new_hub: NewHub) -> None:
    hub = new_hub()
    hub.new_session().say("/spawn")
    process = hub._running()
    stopped = hub.command("stop")
    assert stopped.returncode == 0 and str(process.pid) in stopped.stdout
    assert process.wait(60) == 0
    hub._forget(process)
    hub.assert_nothing_left()
    assert hub.command("status").returncode == 1


# A hub that nobody started


class Home:
    """Somebody's home without a hub; whatever is started in it is ended after the test."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.env = own_environment(root)
        config = root / "config" / "trunkline" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(f"port = 0\n[agents.fast]\ncommand = {json.dumps([*DEMO.split(), '--fast'])}\n")
        self.data = root / "share" / "trunkline"

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run_command(*words, env=self.env, cwd=self.root)

    def pid(self) -> int:
        return int(json.loads((self.data / "hub.json").read_text())["pid"])


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path)
    yield home
    home.run("stop")
    eventually(lambda: not processes_with(f"HOME={tmp_path}"), "nothing is left")


def test_run_starts_a_hub_that_outlives_it_and_the_next_command_finds_it(home: Home) -> None:
    first = home.run("run", "fast", "/echo one", "-q")
    assert (first.returncode, first.stdout.strip()) == (0, "one"), first.stderr
    pid = home.pid()
    assert is_alive(pid)
    second = home.run("run", "fast", "/echo two", "-q")
    assert (second.returncode, home.pid()) == (0, pid)
    assert len(json.loads(home.run("sessions", "list", "--here", "--json").stdout)) == 2
    assert home.run("stop").returncode == 0
    eventually(lambda: not is_alive(pid), "the hub is gone")


def test_of_many_that_start_a_hub_at_once_all_end_up_with_the_same(home: Home) -> None:
    started = [subprocess.Popen([*TRUNKLINE, "run", "fast", f"/echo number {number}", "-q"], env=home.env, cwd=home.root,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
               for number in range(5)]
    outputs = [process.communicate(timeout=60) for process in started]
    assert [process.returncode for process in started] == [0] * 5, outputs
    assert [out.strip() for out, _ in outputs] == [f"number {number}" for number in range(5)]
    assert len(json.loads(home.run("sessions", "list", "--here", "--json").stdout)) == 5


def test_files_of_a_hub_that_started_by_itself_are_closed_to_others(home: Home) -> None:
    home.run("run", "fast", "/echo x", "-q")
    for path in [home.data, *home.data.rglob("*")]:
        assert not path.stat().st_mode & 0o077, path


def test_agents_come_from_the_settings_file_too(home: Home) -> None:
    agents = {agent["name"] for agent in json.loads(home.run("agents", "--json").stdout)}
    assert {"fast", "demo"} <= agents


def test_what_a_small_hub_does_not_need_is_not_imported(tmp_path: Path) -> None:
    hub = HubProcess(tmp_path, env={"PYTHONPROFILEIMPORTTIME": "1"})
    hub.start()
    hub.wire.get("/sessions")
    session = hub.new_session()
    session.say("/echo hi")
    hub.close()
    lines = [line for line in hub.log_path.read_text().splitlines() if line.startswith("import time:")]
    roots = {line.rsplit("|", 1)[1].strip().partition(".")[0] for line in lines}
    assert {"trunkline", "msgspec", "uvicorn"} <= roots, "the list of imports was read"
    unwanted = {"pywebpush", "tree_sitter", "tree_sitter_bash", "nats", "segno", "opentelemetry", "prometheus_client", "acp",
                "pydantic", "rich", "typer", "numpy", "requests", "httpx", "aiohttp"}
    assert not roots & unwanted


def cpu_seconds(*command: str, env: dict[str, str]) -> float:
    """What one run costs, the best of several: time on the processor, since the machine may have other things to do."""
    costs = []
    for _ in range(5):
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        costs.append(usage.ru_utime + usage.ru_stime)
    return min(costs)


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_version_and_help_answer_at_once(tmp_path: Path, word: str) -> None:
    env = own_environment(tmp_path)
    assert cpu_seconds(*TRUNKLINE, word, env=env) - cpu_seconds(TRUNKLINE[0], "-c", "pass", env=env) < 0.150
