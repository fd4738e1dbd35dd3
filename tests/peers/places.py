"""Real programs in terminals, each with its name and version, for tests that are the same for all of them."""

from __future__ import annotations

import pytest

from tests.peers import codex, opencode
from tests.peers import test_terminal_copilot as copilot
from tests.peers import test_terminal_gemini as gemini
from tests.peers import test_terminal_goose as goose
from tests.peers import test_terminal_qwen as qwen

CODEX = pytest.param(codex.person, marks=pytest.mark.program("Codex", codex.VERSION), id="codex")
OPENCODE = pytest.param(opencode.person, marks=pytest.mark.program("opencode", opencode.VERSION), id="opencode")
QWEN = pytest.param(qwen.seat, marks=pytest.mark.program("Qwen Code", qwen.VERSION), id="qwen")
COPILOT = pytest.param(copilot.seat, marks=pytest.mark.program("Copilot CLI", copilot.VERSION), id="copilot")
GEMINI = pytest.param(gemini.seat, marks=pytest.mark.program("Gemini CLI", gemini.VERSION), id="gemini")
GOOSE = pytest.param(goose.seat, marks=pytest.mark.program("goose", goose.VERSION), id="goose")
