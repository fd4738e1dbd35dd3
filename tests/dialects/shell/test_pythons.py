"""The options of python as python reads them: which programs are one, bundles taken apart, and where a module's name is."""

from __future__ import annotations

from tests.dialects.shell.lines import only
from tests.tooling.rows import every_row
from trunkline.dialects.shell.pythons import apart, is_python, module_at


@every_row(("name", "is_one"), [
    ("python", True), ("python3", True), ("python3.12", True), ("python3.13t", True), ("pypy3", True), ("ipython", True),
    ("pythonw", True), ("py", True), ("Python.exe", True), ("python3-dbg", True),
    ("pytest", False), ("pyenv", False), ("pip", False), ("perl", False), ("", False), (None, False),
])
def test_a_python_is_one_of_whatever_version(name: str | None, is_one: bool) -> None:
    assert is_python(name) is is_one


@every_row(("line", "words"), [
    ("python -Bmpip install x", "python -B -m pip install x"), ("python -mpip", "python -m pip"),
    ("python -Bc 'print(1)'", "python -B -c print(1)"), ("python -cprint", "python -c print"),
    ("python -m pip", "python -m pip"), ("python -W error -mpip", "python -W error -m pip"),
    ("python -Werror -mpip", "python -Werror -m pip"), ("python x.py -mpip", "python x.py -mpip"), ("python -", "python -"),
    ("python -m pip -mfoo", "python -m pip -mfoo"), ("perl -mpip", "perl -mpip"), ("python", "python"),
    ("python --check-hash-based-pycs always -mpip", "python --check-hash-based-pycs always -m pip"),
])
def test_the_option_that_says_what_is_run_becomes_a_word_of_its_own(line: str, words: str) -> None:
    split = apart(only(line))
    assert " ".join(split.sketch) == " ".join(word or "?" for word in split.words) == words


def test_a_value_that_only_the_run_knows_stays_one() -> None:
    split = apart(only('python -Bm"$X" y'))
    assert split.words == ("python", "-B", "-m", None, "y") and split.sketch[3] == "$X"


@every_row(("line", "module"), [
    ("python -m pip install x", "pip"), ("python -I -m pytest -q", "pytest"), ("python -X dev -m venv x", "venv"),
    ("python -W error -m pip", "pip"), ("python3.12 -m build", "build"), ("python x.py -m pip", ""), ("python -c 'x' -m pip", ""),
    ("python -m", ""), ("python -- -m pip", ""), ("pytest -m slow", ""), ("python - -m pip", ""),
])
def test_a_modules_name_is_found_where_python_looks_for_it(line: str, module: str) -> None:
    command = apart(only(line))
    at = module_at(command)
    assert (command.sketch[at] if at else "") == module


def test_so_many_options_are_looked_at() -> None:
    few, many = (apart(only(f"python {'-B ' * count}-m pip")) for count in (3, 100))
    assert [module_at(few), module_at(many)] == [5, 0]
