"""Options whose value is a folder that a program empties, or a file or folder that it writes: judged as that.

Rule 1: what is emptied is deleted, unless its name says that it is made anew each time (``dist``, ``.tmp``), or it is below such.
Rule 2: what is written is a write, unless its name says that it is a report or a folder for such.
Rule 3: a row is data. Programs whose judges look at what they write have none.
"""

from __future__ import annotations

import posixpath
import re
from typing import Final, NamedTuple

from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.risk.places import look
from trunkline.dialects.shell import module_at


class Output(NamedTuple):
    """The options of a program that say where to."""

    empties: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    products: frozenset[str] = frozenset()
    """What it writes there is what it is for: only a place of its own kind counts."""
    folders: frozenset[str] = frozenset()
    """It empties the folders among its operands where one of these is given."""
    known: tuple[str, ...] = ()
    """All that take a value."""


def _row(empties: str = "", writes: str = "", products: str = "", folders: str = "") -> Output:
    known = tuple(sorted(f"{empties} {writes} {products}".split()))
    return Output(frozenset(empties.split()), frozenset(writes.split()), frozenset(products.split()), frozenset(folders.split()),
                  known)


_ENVIRONMENT: Final = _row(folders="--clear")

OUTPUTS: Final[dict[str, Output]] = {
    **dict.fromkeys(("pytest", "py.test"), _row(
        "--basetemp", "--junitxml --junit-xml --log-file --html --json-report-file --report-log --cov-report --resultlog "
        "--result-log --alluredir --md-report-output")),
    "jest": _row("--cacheDirectory", "--outputFile --coverageDirectory"),
    "vitest": _row("--coverage.reportsDirectory", "--outputFile"),
    "nyc": _row("--temp-dir --temp-directory -t", "--report-dir"),
    "c8": _row("--temp-directory --temp-dir", "--reports-dir --report-dir -o"),
    "playwright": _row("--output"),
    "coverage": _row(writes="-o -d --directory --data-file"),
    "mypy": _row(writes="--junit-xml --html-report --xml-report --txt-report --any-exprs-report --linecount-report"),
    **dict.fromkeys(("eslint", "stylelint", "rubocop", "rspec", "cucumber", "markdownlint", "golangci-lint"), _row(
        writes="-o --output-file --out --output")),
    **dict.fromkeys(("flake8", "pylint", "bandit", "pyright", "ruff"), _row(writes="-o --output-file --output --tee-file")),
    **dict.fromkeys(("phpunit", "pest", "paratest"), _row("--coverage-html --coverage-xml", "--log-junit --coverage-clover "
                                                          "--coverage-text --testdox-html --testdox-text")),
    **dict.fromkeys(("vite", "astro", "ng", "storybook", "docusaurus"), _row("--outDir --out-dir --output-path -o --output-dir")),
    **dict.fromkeys(("mkdocs", "jekyll"), _row("-d --site-dir --destination")),
    "hugo": _row(products="-d --destination"),
    "typedoc": _row("--out"),
    **dict.fromkeys(("parcel", "gatsby"), _row("--dist-dir")),
    "tsc": _row(products="--outDir --outFile --declarationDir --tsBuildInfoFile --generateTrace"),
    "go": _row(products="-o -coverprofile -cpuprofile -memprofile -outputdir -trace -mutexprofile -blockprofile"),
    "cargo": _row(products="--target-dir --out-dir --artifact-dir"),
    **dict.fromkeys(("tox", "nox"), _row("--workdir --envdir")),
    **dict.fromkeys(("venv", "virtualenv"), _ENVIRONMENT),
    "uv": _ENVIRONMENT,
}

_MADE_ANEW: Final = re.compile(
    r"\.?(dist|build|out|output|site|_site|coverage|htmlcov|target|te?mp|cache|venv|env|test-results|test-reports|reports?|logs?"
    r"|storybook-static|generated)([-_.][\w.-]{0,40})?|\.?(pytest|jest|nyc|c8|vitest|playwright|mypy|tox|nox)[-_.][\w.-]{0,40}"
    r"|\.(nyc_output|tox|nox|venv)|[\w-]{1,40}[-_.](te?mp|cache|coverage|reports?)", re.IGNORECASE)
_REPORT: Final = re.compile(
    r"[^/]{0,200}(report|junit|results?|coverage|lcov|\.log|\.out|\.html?|\.xml|\.sarif|\.lcov|\.prof|\.txt|\.csv|\.info|lint\.json"
    r"|jest\.json|vitest\.json|\.tsbuildinfo)[^/]{0,40}", re.IGNORECASE)
_CUT_SHORT: Final = 5
"""Characters that an option has at least which may be another one cut short."""
_PARTS: Final = 20
"""Of a path that are looked at."""


def note_outputs(call: ProgramCall) -> None:
    """Note the folders that a call empties, and what it writes beside the files that it is about."""
    if call.bare:
        return
    name, first = _program(call)
    use = OUTPUTS.get(name)
    if use is None:
        return
    for at, arg in enumerate(call.args[first:], first):
        option, value = _given(call, at, arg, use) if arg[:1] == "-" else ("", "")
        if option in use.empties:
            _empties(call, value)
        elif option:
            _writes(call, value, is_product=option in use.products)
    if not use.folders.isdisjoint(call.longs):
        for folder in call.args[first:]:
            if folder != "venv":
                _empties(call, folder)


def _program(call: ProgramCall) -> tuple[str, int]:
    """The program whose words these are, and where they begin: behind ``python -m`` and ``npx`` another one."""
    if at := module_at(call.command):
        return call.args[at - 1], at
    if call.name in ("npx", "bunx") and call.args[0][:1] != "-":
        return call.args[0], 1
    return call.name, 0


def _given(call: ProgramCall, at: int, arg: str, use: Output) -> tuple[str, str]:
    """The option of the row that a word is, also cut short or with its value joined, and the path that it gives."""
    given, equal, value = arg.partition("=")
    full = given if given in use.known else ""
    if not full and given[:2] == "--" and len(given) > _CUT_SHORT:
        full = next((option for option in use.known if option.startswith(given)), "")
    if not full:
        return (arg[:2], arg[2:]) if arg[1:2] != "-" and arg[:2] in use.known else ("", "")
    value = value if equal else " ".join(call.args[at + 1:at + 2])
    if full == "--cov-report":  # a format, and a path only behind it
        return full, value.partition(":")[2]
    return full, value


def _empties(call: ProgramCall, path: str) -> None:
    if path[:1] != "-" and path and look(call.places, path).kind not in ("temp", "null") and not _is_made_anew(path):
        call.note("high", "empties a folder", path)


def _writes(call: ProgramCall, path: str, *, is_product: bool) -> None:
    if path[:1] == "-" or not path:
        return
    is_expected = is_product or _is_made_anew(path) or _REPORT.fullmatch(posixpath.basename(path)) is not None
    if not is_expected or look(call.places, path).kind not in ("inside", "temp", "null", "elsewhere", "unknown"):
        call.write(path)


def _is_made_anew(path: str) -> bool:
    """Whether a folder's name, or that of one around it, says so. What lies around the project says nothing."""
    parts = posixpath.normpath(path).split("/")
    return any(map(_MADE_ANEW.fullmatch, parts[-1:] if parts[0] in ("", "~", "..", "$HOME") else parts[:_PARTS]))
