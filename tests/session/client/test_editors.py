"""Which editor serves: the one whose prompt runs, and none at all in a sandbox, which it is outside of."""

from __future__ import annotations

import pytest

from trunkline.dialects.acp.initialize import ClientCapabilities
from trunkline.session.client.editors import Editors
from trunkline.session.fold import Fold, Sandboxed, Sent, Turn


class Offers:
    """An editor that serves everything."""

    offers = ClientCapabilities(terminal=True)

    async def call(self, method: str, params: bytes) -> bytes:
        return b"{}"


@pytest.mark.parametrize("sandbox", [None, Sandboxed(), Sandboxed(network=False)])
def test_an_editor_serves_its_prompt_but_in_a_sandbox_the_hub_does(sandbox: Sandboxed | None) -> None:
    fold = Fold(session_id="s", agent="a", cwd="/x", created_at=0, updated_at=0, sandbox=sandbox,
                turn=Turn(turn_id="t", started_at="", by="me", seq=1), sent={"key": Sent("t", 1, False)})
    editors, editor = Editors(fold), Offers()
    editors.lend("key", editor)
    assert editors.current() is (editor if sandbox is None else None)
