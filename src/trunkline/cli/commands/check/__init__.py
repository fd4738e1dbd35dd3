"""``trunkline check``: what an agent of the Agent Client Protocol must do, tried out one by one.

    examinee.py  the agent that is examined     cases.py     the checklist, one function each
    lifetime.py  those about sessions' lives    asking.py    those about asking people

Rule 1: every case gets a fresh process, and nothing of it is left after.
Rule 2: a case judges by what came over the pipe, and says what came where it should not have.
Rule 3: the checklist knows no agent. What it has to say to make an agent do something is in ``Prompts``.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable, Container
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
import msgspec

from trunkline.agents.environment import RESERVED_PREFIX
from trunkline.cli.common import finish, output, print_json
from trunkline.cli.exits import EXIT_ERROR
from trunkline.cli.hosting.datadir import DataDir
from trunkline.cli.read_settings import load
from trunkline.dialects.visible import printable
from trunkline.errors import Invalid

if TYPE_CHECKING:
    from trunkline.cli.commands.check.examinee import CheckPrompts
    from trunkline.cli.commands.check.registry import Case

CASE_S = 30.0
AT_ONCE = 4
"""Cases that run side by side; most of their time is a process starting."""


class Outcome(msgspec.Struct, rename="camel", omit_defaults=True):
    """How one case went."""

    id: str
    tier: str
    what: str
    result: Literal["passed", "failed", "skipped"]
    why: str = ""
    seconds: float = 0.0


Show = Callable[[Outcome], None]


@click.command(short_help="Check that an agent keeps to the protocol.")
@click.option("--self", "own", is_flag=True, help="check `trunkline acp` itself, with a hub of its own")
@click.option("--json", "as_json", is_flag=True, help="print the outcomes as JSON")
def command(own: bool, as_json: bool) -> None:
    """Check that an agent keeps to the protocol.

    The protocol is the Agent Client Protocol. With --self, `trunkline acp` is checked with the demo agent behind it, in a data
    folder that is gone afterwards. The exit code is 0 when everything that an agent must do is done.
    """
    if not own:
        raise Invalid("say what to check: --self")
    output()
    finish(_check_self(as_json))


async def _check_self(as_json: bool) -> int:
    from trunkline.cli.commands.check.examinee import CheckPrompts

    with tempfile.TemporaryDirectory(prefix="trunkline-check-") as folder:
        env = {name: value for name, value in os.environ.items() if not name.startswith(RESERVED_PREFIX)}
        command = [sys.executable, "-P", "-m", "trunkline", "acp", "--agent", "demo", "--data", f"{folder}/data"]
        settings = load({"data": f"{folder}/data"}, {})
        try:
            from trunkline.cli.hosting.locate import find_or_start
            await find_or_start(settings)  # before the first case, whose process would take it along when it ends
            outcomes = await examine(command, env, Path(folder), CheckPrompts(
                say="/echo Grüße, 世界", says="Grüße, 世界", long="/slow 60", ask="/ask", burst="/burst 200 20", burst_chars=4000,
                question="/question", read="/read {path}", terminal="/terminal true"), None if as_json else _show)
        finally:
            await asyncio.to_thread(_stop, DataDir(Path(folder) / "data"))
    if as_json:
        print_json(outcomes)
    else:
        click.echo(summary(outcomes))
    return EXIT_ERROR if any(each.result == "failed" and each.tier != "advice" for each in outcomes) else 0


async def examine(command: list[str], env: dict[str, str], folder: Path, prompts: CheckPrompts, show: Show | None = None, *,
                  only: Container[str] | None = None, case_s: float = CASE_S) -> list[Outcome]:
    """Try every case against a command, a few at a time; ``show`` sees the outcomes in the list's order."""
    from trunkline.cli.commands.check.cases import CASES

    room = asyncio.Semaphore(AT_ONCE)

    async def one(case: Case) -> Outcome:
        async with room:
            return await _try(case, command, env, folder / "work" / case.id, prompts, case_s)

    outcomes = []
    for trying in [asyncio.create_task(one(case)) for case in CASES if only is None or case.id in only]:
        outcomes.append(await trying)
        if show is not None:
            show(outcomes[-1])
    return outcomes


async def _try(case: Case, command: list[str], env: dict[str, str], work: Path, prompts: CheckPrompts, case_s: float) -> Outcome:
    from trunkline.cli.commands.check.examinee import AgentRefused, Examinee, Failed, Skipped

    outcome = Outcome(case.id, case.tier, case.what, "passed")
    os.makedirs(work)
    began = time.monotonic()
    agent = await Examinee.start(command, env, work, prompts)
    try:
        async with asyncio.timeout(case_s):
            await case.run(agent)
        agent.judge()
    except Skipped as skipped:
        outcome.result, outcome.why = "skipped", str(skipped)
    except Failed as failed:
        outcome.result, outcome.why = "failed", str(failed)
    except AgentRefused as refused:
        outcome.result, outcome.why = "failed", f"it answered with an error: {refused}"
    except TimeoutError:
        outcome.result, outcome.why = "failed", f"nothing came within {case_s:g} s; heard last: {agent.last_words()}"
    except (KeyError, TypeError, AttributeError) as error:
        # A case takes the shape of an answer for granted; an agent's answer may have any.
        outcome.result, outcome.why = "failed", f"an answer has a wrong shape ({error!r}): {agent.last_words()}"
    finally:
        await agent.stop()
    outcome.seconds = round(time.monotonic() - began, 3)
    return outcome


def summary(outcomes: list[Outcome]) -> str:
    """The result in a line."""
    count = {result: sum(each.result == result for each in outcomes) for result in ("passed", "failed", "skipped")}
    return f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped"


def _show(outcome: Outcome) -> None:
    mark = {"passed": "ok", "failed": "FAILED", "skipped": "skipped"}[outcome.result]
    click.echo(printable(f"{mark:<8}{outcome.id:<16}{outcome.what}" + (f" ({outcome.why})" if outcome.why else "")))


def _stop(folder: DataDir) -> None:
    from trunkline.cli.commands.stop import end

    pid = folder.holder()
    if pid:
        end(folder, pid)
