"""The risk assessor is there under the protocol's name, but only loaded when somebody asks for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from trunkline.dialects import context, risk


def test_the_assessor_is_the_one_of_the_risk_package() -> None:
    assert context.assess_risk is risk.assess_risk
    assert context.explain_risk is risk.explain_risk
    assert context.assess_risk("Bash", {"command": "rm -rf /"}) == "high"


def test_importing_the_protocol_does_not_load_the_assessor() -> None:
    names = "'trunkline.dialects.risk', 'tree_sitter'"
    code = f"import sys, trunkline.dialects.context; print(*[name in sys.modules for name in ({names})])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ran.stdout.split() == ["False", "False"], ran.stderr


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(context, "no_such" + "_name")
