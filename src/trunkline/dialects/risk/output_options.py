"""Options whose value is a folder that a program empties, or a file or folder that it writes: a row per program, and which names
are those of reports.

Rule: a row is data. A program whose judge looks at what it writes has one where a pattern that allows it does not mean that.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from trunkline.dialects.shell import SimpleCommand, in_full, module_at


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
    bundles: bool = False
    """Its short options may stand together in one word."""


def _row(empties: str = "", writes: str = "", products: str = "", folders: str = "", *, bundles: bool = False) -> Output:
    known = tuple(sorted(f"{empties} {writes} {products}".split()))
    return Output(frozenset(empties.split()), frozenset(writes.split()), frozenset(products.split()), frozenset(folders.split()),
                  known, bundles)


_ENVIRONMENT: Final = _row(folders="--clear")
_LOOKS: Final = _row(writes="-o --output", bundles=True)

OUTPUTS: Final[dict[str, Output]] = {
    **dict.fromkeys(("pytest", "py.test"), _row(
        "--basetemp", "--junitxml --junit-xml --log-file --html --json-report-file --report-log --cov-report --resultlog "
        "--result-log --alluredir --md-report-output --debug --durations-path --store-durations-path --memray-bin-path "
        "--pstats-dir --benchmark-json --benchmark-storage --csv --excelreport")),
    "jest": _row("--cacheDirectory", "--outputFile --coverageDirectory"),
    "vitest": _row("--coverage.reportsDirectory", "--outputFile"),
    "nyc": _row("--temp-dir --temp-directory -t", "--report-dir"),
    "c8": _row("--temp-directory --temp-dir", "--reports-dir --report-dir -o"),
    "playwright": _row("--output", "-o"),
    "coverage": _row(writes="-o -d --directory --data-file"),
    "mypy": _row(writes="--junit-xml --html-report --xml-report --txt-report --any-exprs-report --linecount-report"),
    **dict.fromkeys(("eslint", "stylelint", "rubocop", "rspec", "cucumber", "markdownlint"), _row(
        writes="-o --output-file --out --output")),
    "golangci-lint": _row(writes="--out --output --cpu-profile-path --mem-profile-path --trace-path " + " ".join(
        f"--output.{form}.path" for form in "text json tab html checkstyle code-climate junit-xml teamcity sarif".split())),
    **dict.fromkeys(("node", "nodejs"), _row(
        writes="--test-reporter-destination --cpu-prof-dir --heap-prof-dir --diagnostic-dir --report-directory --report-dir "
        "--report-filename --redirect-warnings --trace-event-file-pattern")),
    **dict.fromkeys(("cProfile", "profile"), _row(writes="-o --outfile")),
    **dict.fromkeys(("docker", "podman"), _row(writes="--iidfile --cidfile --metadata-file")),
    **dict.fromkeys(("awk", "gawk"), _row(writes="--pretty-print --dump-variables --profile")),
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
    **dict.fromkeys(("sort", "shuf", "tree", "iconv"), _LOOKS),
    **dict.fromkeys(("find", "gfind"), _row(writes="-fprint -fprint0 -fprintf -fls")),
    **dict.fromkeys(("less", "more", "zless"), _row(writes="-o -O --log-file --LOG-FILE")),
}

SCRIPT_OUTPUTS: Final = frozenset(
    option for row in OUTPUTS.values() for option in (*row.empties, *row.writes) if option[:2] == "--")
"""What a script of the project may take as such an option: which program that is, is not known."""

_MADE_ANEW: Final = re.compile(
    r"\.?(dist|build|out|output|site|_site|coverage|htmlcov|target|te?mp|cache|venv|env|test-results|test-reports|reports?|logs?"
    r"|storybook-static|generated)([-_.][\w.-]{0,40})?|\.?(pytest|jest|nyc|c8|vitest|playwright|mypy|tox|nox)[-_.][\w.-]{0,40}"
    r"|\.(nyc_output|tox|nox|venv)|[\w-]{1,40}[-_.](te?mp|cache|coverage|reports?|results)", re.IGNORECASE)
_REPORT: Final = re.compile(
    r"[^/]{0,200}(report|junit|results?|coverage|lcov|\.log|\.out|\.html?|\.xml|\.sarif|\.lcov|\.prof|\.txt|\.csv|\.info|lint\.json"
    r"|jest\.json|vitest\.json|\.tsbuildinfo|\.patch|\.diff|\.zip|\.tar|\.tgz)[^/]{0,40}", re.IGNORECASE)
_PARTS: Final = 20
"""Of a path that are looked at."""
_BUNDLED: Final = re.compile(r"-[A-Za-np-z]{1,8}o(.*)")
"""``-uo x``, ``-uox``."""
_SOURCE: Final = re.compile(
    r".*\.(?:py|[cm]?[jt]sx?|go|rs|c|cc|cpp|h|hpp|java|kt|rb|php|sh|sql|toml|ya?ml|mod|sum|lock)", re.DOTALL)
"""What no tool makes as its product: written over, it is lost."""
_WHOLE: Final = frozenset(("--cov", "--coverage", "--test-reporter", "--durations", "--store-durations", "--log"))
"""Options that are not another one cut short."""


def program_at(command: SimpleCommand) -> tuple[str, int]:
    """The program whose words these are, and where it stands: behind ``python -m`` and ``npx`` another one."""
    if at := module_at(command):
        return command.sketch[at], at
    if command.name in ("npx", "bunx") and command.sketch[1:2] and command.sketch[1][:1] != "-":
        return command.sketch[1], 1
    return command.name or "", 0


def given_output(words: Sequence[str], at: int, use: Output) -> tuple[str, str]:
    """The option of the row that a word is, also cut short or with its value joined, and the path that it gives."""
    word = words[at]
    given, equal, value = word.partition("=")
    full = in_full(given, use.known) if given not in _WHOLE else ""
    if not full and use.bundles and (found := _BUNDLED.fullmatch(word)) is not None:
        return "-o", found[1] or " ".join(words[at + 1:at + 2])
    if not full:
        return (word[:2], word[2:]) if word[1:2] != "-" and word[:2] in use.known and len(word) > 2 else ("", "")
    value = value if equal else " ".join(words[at + 1:at + 2])
    if full == "--cov-report":  # a format, and a path only behind it
        return full, value.partition(":")[2]
    return full, value


def is_expected(path: str) -> bool:
    """Whether a name says that it is a report, or in a folder for such."""
    return is_made_anew(path) or _REPORT.fullmatch(posixpath.basename(path)) is not None


def unexpected_outputs(command: SimpleCommand) -> list[str]:
    """The options of a command by which it empties a folder, or writes a file, whose name does not say that it is for that."""
    name, first = program_at(command)
    use = OUTPUTS.get(name)
    if use is None:
        return []
    found = [given_output(command.sketch, at, use) for at in range(first + 1, len(command.sketch))
             if command.sketch[at][:1] == "-" and len(command.sketch[at]) > 1]
    return [option for option, path in found if option and (option not in use.products or _SOURCE.fullmatch(path))
            and path not in ("", "-") and path[:1] != "-" and not path.startswith("/dev/") and not is_expected(path)]


def is_made_anew(path: str) -> bool:
    """Whether a folder's name, or that of one around it, says so. What lies around the project says nothing."""
    parts = posixpath.normpath(path).split("/")
    return any(map(_MADE_ANEW.fullmatch, parts[-1:] if parts[0] in ("", "~", "..", "$HOME") else parts[:_PARTS]))
