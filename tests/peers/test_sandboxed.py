"""Each real agent once inside a sandbox, with what its entry in the catalog gives it, and nothing more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.peers.claude import NATIVE, OLD, PLAIN, answer, bash, claude
from tests.peers.recipes import TALKERS, WORKERS, Recipe
from tests.peers.test_agents import play, say
from tests.tooling.bubblewrap import need_bubblewrap
from tests.tooling.hub_process import HubProcess, text_of
from tests.tooling.scripted_model import ScriptedModel

pytestmark = [pytest.mark.peers, pytest.mark.slow]
SECRET = "made-by-the-test-and-nobody's-secret"


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    need_bubblewrap()
    with ScriptedModel() as model:
        yield model


def started(recipe: Recipe, model: ScriptedModel, folder: Path) -> HubProcess:
    hub = HubProcess(folder)
    settings = hub.home / "config" / "trunkline" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(recipe.settings(hub.home, model.url))
    return hub


def plant(hub: HubProcess) -> Path:
    """A secret of the hub's user."""
    key = hub.home / ".ssh" / "id_ed25519"
    key.parent.mkdir(parents=True)
    key.write_text(SECRET)
    return key


@pytest.mark.parametrize("recipe", TALKERS, ids=lambda recipe: recipe.name)
def test_a_talker_talks_in_a_sandbox(recipe: Recipe, model: ScriptedModel, tmp_path: Path) -> None:
    with started(recipe, model, tmp_path) as hub:
        session = hub.new_session(recipe.name, sandbox="bwrap")
        assert "repeat after me" in text_of(say(session, "repeat after me"))
        assert session.view()["sandbox"] == {"kind": "bwrap", "network": True}
        session.delete()


@pytest.mark.parametrize("recipe", WORKERS, ids=lambda recipe: recipe.name)
def test_a_worker_works_in_a_sandbox_and_finds_no_secret(recipe: Recipe, model: ScriptedModel, tmp_path: Path) -> None:
    with started(recipe, model, tmp_path) as hub:
        key = plant(hub)
        session = hub.new_session(recipe.name, sandbox="bwrap")
        assert "Hello from the fake model." in text_of(say(session, "say hello"))
        made, stolen = session.folder / "made.txt", session.folder / "stolen.txt"
        play(session, f"run: touch {made}", "allow")
        assert made.exists()
        play(session, f"run: cp {key} {stolen}", "allow")
        assert not stolen.exists() and key.read_text() == SECRET
        hub.restart()
        assert "Hello" in text_of(say(session, "say hello")), "its own store is there after a restart"
        session.delete()


@pytest.mark.parametrize("version", (NATIVE, PLAIN, OLD))
def test_the_cli_with_a_driver_of_its_own_works_in_a_sandbox(version: str, tmp_path: Path) -> None:
    need_bubblewrap()
    with claude(version, tmp_path) as peer:
        key = plant(peer.hub)
        session = peer.session(sandbox="bwrap")
        made, stolen = session.folder / "made.txt", session.folder / "stolen.txt"
        packets = answer(session, bash(f"touch {made}"), bash(f"cp {key} {stolen}"), {"text": "Done."}, decision="allow")
        assert made.exists() and not stolen.exists() and "Done." in text_of(packets)
        session.delete()
