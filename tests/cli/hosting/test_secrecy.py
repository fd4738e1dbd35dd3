"""Taking the token out of a process's variables, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.tooling.ordinary import ordinary

TAKE = """
import os
from trunkline.cli.hosting import secrecy
secrecy.keep_secrets()
print(secrecy.environment()["TRUNKLINE_TOKEN"], os.environ.get("TRUNKLINE_TOKEN"), os.environ["BESIDE"], sep="|")
"""


def taken(code: str, token: str = "s3cret") -> str:
    done = subprocess.run([*ordinary(), sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60,
                          env={**os.environ, "TRUNKLINE_TOKEN": token, "BESIDE": "kept"})
    return done.stdout


def test_the_token_is_known_to_who_reads_settings_and_gone_for_everybody_else() -> None:
    assert taken(TAKE) == "s3cret|None|kept\n"


def test_a_process_that_it_starts_gets_nothing_of_it() -> None:
    code = TAKE + "import subprocess, sys; print(subprocess.run(['env'], capture_output=True, text=True).stdout)"
    assert "s3cret" not in taken(code).partition("\n")[2]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, which Linux alone has")
def test_the_block_of_variables_is_wiped_and_the_process_closed_to_others_but_not_to_itself() -> None:
    code = TAKE + """
import ctypes
start = int(open("/proc/self/stat").read().rpartition(")")[2].split()[47])
end = int(open("/proc/self/stat").read().rpartition(")")[2].split()[48])
block = ctypes.string_at(start, end - start) if start else b"BESIDE=kept"
print(b"TRUNKLINE_TOKEN" in block, b"s3cret" in block, b"BESIDE=kept" in block)
print(os.readlink(f"/proc/self/fd/{os.open('/dev/null', os.O_RDONLY)}"), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""
    assert taken(code).splitlines()[1:] == ["False False True", "/dev/null 0"]
