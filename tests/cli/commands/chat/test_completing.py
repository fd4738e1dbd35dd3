"""What is suggested while somebody types."""

from __future__ import annotations

from tests.aio import run
from tests.cli.commands.chat.scene import MODES, Scene
from trunkline.cli.commands.chat.completing import ranked, suggestions


def suggested(scene: Scene, before: str) -> list[str]:
    async def all_of() -> list[str]:
        return [each.word async for each in suggestions(scene.talk, before)]

    return run(all_of())


def test_commands_files_and_our_own_words_are_suggested_where_they_can_be_meant() -> None:
    options = [{"id": "model", "options": [{"value": "small"}, {"value": "large"}]}]
    scene = Scene(commands=[{"name": "commit", "description": "x"}, {"name": "review"}], modes=MODES, config_options=options)
    assert suggested(scene, "/co") == ["/commit "]
    assert suggested(scene, "/") == ["/commit ", "/review "]
    assert suggested(scene, "see @main") == ["@src/main.py "]
    assert suggested(scene, "mail me@main") == suggested(scene, "a /co") == suggested(scene, "@") == []
    assert suggested(scene, ":mo") == [":mode "]
    assert suggested(scene, ":mode a") == ["ask", "auto"]
    assert suggested(scene, ":set ") == ["model"]
    assert suggested(scene, ":set model l") == ["large", "small"]


def test_what_begins_so_comes_before_what_holds_it_or_has_its_letters() -> None:
    assert ranked(["commit", "recommend", "company", "chromium"], "com") == ["commit", "company", "recommend", "chromium"]
    assert ranked(["commit"], "cmt") == ["commit"]
    assert ranked(["commit"], "xyz") == []
