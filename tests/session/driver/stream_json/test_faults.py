"""What goes wrong with the CLI is told with what to do."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.agents import catalog
from trunkline.agents.process import Exit
from trunkline.dialects.signals import AgentFault
from trunkline.errors import AgentAuthRequired, AgentProtocolMismatch, AgentStartFailed, NotFound, TrunklineError
from trunkline.session.driver.stream_json.faults import death, explained, start_failure, too_old, trouble_in

SPEC = catalog.load()["claude-code"]


@every_row(("text", "trouble"), [
    ("Not logged in · Please run /login", "login"),
    ("Invalid API key · Fix external API key", "login"),
    ("API Error: 401 {\"type\":\"error\",\"error\":{\"type\":\"authentication_error\"}}", "login"),
    ("Credit balance is too low", "credit"),
    ("Your credit balance is too low to access the Anthropic API.", "credit"),
    ("Claude usage limit reached. Your limit will reset at 3pm.", "limit"),
    ("Error: ENOSPC: no space left on device, write", "disk"),
    ("No conversation found with session ID: 9999", "missing"),
    ("Error: Session ID 1 is already in use.", "in_use"),
    ("error: unknown option '--include-hook-events'", "flag"),
    ("--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons", "superuser"),
    ("Overloaded", None),
    ("the function returned 42", None),
])
def test_the_clis_complaints_are_recognised(text: str, trouble: str | None) -> None:
    assert trouble_in(text) == trouble


@every_row(("said", "kind", "advice"), [
    ("No conversation found with session ID: 9999", NotFound, "start a new session"),
    ("Not logged in · Please run /login", AgentAuthRequired, "run `claude` once"),
    ("error: unknown option '--fork-session'", AgentProtocolMismatch, "npm install -g"),
    ("ENOSPC: no space left on device", AgentStartFailed, "free some space"),
    ("Session ID 1 is already in use.", AgentStartFailed, "fork the session"),
    ("Segmentation fault", AgentStartFailed, "Run the command by hand"),
])
def test_a_failed_start_says_what_was_said_and_what_to_do(said: str, kind: type[TrunklineError], advice: str) -> None:
    error = start_failure(SPEC, "Claude Code ended (exited with code 1)", f"warning: x\n{said}\n", "2.1.112")
    assert type(error) is kind
    assert said.rstrip(".") in error.message and advice in error.message


def test_a_login_that_is_missing_is_told_as_such_whatever_code_it_came_with() -> None:
    fault = explained(SPEC, AgentFault(-32603, "Not logged in · Please run /login"))
    assert fault.code == -32000
    assert "Not logged in" in fault.message and "ANTHROPIC_API_KEY" in fault.message


def test_a_turn_without_credit_says_to_add_some() -> None:
    assert "add some" in explained(SPEC, AgentFault(-32603, "Credit balance is too low")).message


def test_an_error_that_we_do_not_know_is_told_as_it_is() -> None:
    fault = AgentFault(-32603, "API Error: 500 something broke", b'{"status":500}')
    assert explained(SPEC, fault) == fault


def test_a_cli_that_dies_of_a_full_disk_says_so() -> None:
    fault = death(SPEC, Exit(code=1), "at write (node:fs)\nError: ENOSPC: no space left on device, write\n")
    assert fault is not None and "ENOSPC" in fault.message and "free some space" in fault.message
    assert death(SPEC, Exit(code=1), "nothing of interest") is None


def test_a_cli_that_is_too_old_is_named_with_the_version_that_is_needed() -> None:
    error = too_old(SPEC, (1, 0, 128))
    assert "1.0.128" in error.message and "2.0.77" in error.message and "npm install -g" in error.message
