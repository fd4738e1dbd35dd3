"""Programs that look, and can more by their own options, words or language: they are low only as long as all of it is known.

Rule 1: a row has what is known to look. An option that is not in it may write or run something, so it is high.
Rule 2: what a row cannot say (a language, a file that is written) is code, beside the rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from trunkline.dialects.outside import is_whole_number
from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.rules import reading
from trunkline.dialects.risk.stdin import given
from trunkline.dialects.shell import in_full

_UNKNOWN: Final = "has an option of which it is not known that it only looks"
_RUNS: Final = "makes the shell load or run something"


class Looker(NamedTuple):
    """What a program may be given and still only looks."""

    letters: frozenset[str] = frozenset()
    """Short options, alone or in a bundle; behind one that takes a value, the rest is that."""
    taking: frozenset[str] = frozenset()
    """Of these: they take a value."""
    words: frozenset[str] = frozenset()
    """Long options, with two dashes or one."""
    verbs: frozenset[str] | None = None
    """Its sub-commands that look; None: it has none."""
    writes: frozenset[str] = frozenset()
    """Options whose value is a file that it writes."""
    reads: bool = True
    """Its operands are files that it reads."""


def _row(letters: str = "", taking: str = "", words: str = "", verbs: str | None = None, writes: str = "", *,
         reads: bool = True) -> Looker:
    return Looker(frozenset(letters + taking), frozenset(taking), frozenset(words.split()),
                  None if verbs is None else frozenset(verbs.split()), frozenset(writes.split()), reads)


_COUNTS: Final = (
    "--json --csv --xml --yaml --md --quiet --progress-rate --by-file --by-percent --exclude-dir --include-lang --exclude-lang "
    "--exclude-ext --include-ext --not-match-f --not-match-d --match-f --match-d --fullpath --vcs --skip-uniqueness --hide-rate "
    "--sum-one --diff --git --show-lang --show-ext --version --help --sort --files --type --exclude --hidden --no-ignore "
    "--output "
    "--compact --languages --num-format --format --wide --no-complexity --no-cocomo --no-duplicates --not-match --count-as --ci "
    "--sql-project --processes --timeout --unix --windows")
_GREPS: Final = (
    "--regexp --ignore-case --smart-case --word-regexp --line-number --column --count --files-with-matches --files-without-match "
    "--include --exclude --include-dir --exclude-dir --glob --file-type --ignore-files --hidden --recursive --dereference "
    "--fixed-strings --perl-regexp --extended-regexp --basic-regexp --only-matching --invert-match --context --after-context "
    "--before-context --max-count --max-depth --heading --no-heading --with-filename --no-filename --color --colour "
    "--pretty --tree "
    "--text --binary --json --csv --xml --stats --line-buffered --null --quiet --no-messages --sort --help --version --bool "
    "--and "
    "--andnot --not --fuzzy --range --byte-offset --width --decompress --no-ignore --files --type")
LOOKERS: Final[dict[str, Looker]] = {
    "cloc": _row("vq", words=_COUNTS.replace("--output ", "").replace("--format ", ""), writes="--out --report-file -o"),
    "scc": _row("wcdvxz", "fisMl", words=_COUNTS.replace("--output ", ""), writes="-o --output"),
    "tokei": _row("fhCVv", "eotns", words=_COUNTS),
    **dict.fromkeys(("ugrep", "ug"), _row("abcEFGHhiIjLlnopPqRrsTUvVwXyzuZ0123456789", "ACBegmtOKdD", words=_GREPS)),
    "mediainfo": _row(words="--Full -f --Output --Language --Help --Version --BOM"),
    **dict.fromkeys(("xsv", "qsv"), _row(
        "nhNRr", "sdfclnjkm", words="--delimiter --no-headers --select --len --start --end --limit --reverse --numeric --help "
        "--version --every --ignore-case --invert-match --everything --mode --cardinality --nulls --median --jobs --condense",
        verbs="count headers head cat select slice stats table search sort frequency flatten sample fmt join schema",
        writes="-o --output")),
    "highlight": _row("qhlTV", "SOksKFJjm", words="--syntax --out-format --style --line-numbers --help --version --stdout",
                      writes="-o --output -d --outdir"),
    "pygmentize": _row("gVhLH", "lfSFN", words="--help --version", writes="-o"),
    "plutil": _row(words="-p -lint -type -help -s --"),
    "exiftool": _row("ajgGtTSsnbcvHhDeEfmqrxXFu0123456789", words="-json -csv -ver -ee -all -php -xmp -exif -common -fast -fast2 "
                     "-progress -short -listx -list -listf"),
    **dict.fromkeys(("ss", "netstat"), _row(
        "tulnpaeosmixwrHOVhbZz460dgMcvI", "fAN", words="--tcp --udp --listening --numeric --processes --all --extended --options "
        "--summary --memory --info --unix --raw --ipv4 --ipv6 --family --query --no-header --oneline --resolve --help --version "
        "--route --interfaces --statistics --program --programs --continuous --groups", reads=False)),
    **dict.fromkeys(("nm", "objdump", "size", "readelf", "otool"), _row(
        "aABCcDdefghHiIlLnNopPqrRsStTuUvVwWxXzZ0123456789", "jmMFE", words="--demangle --dynamic --undefined-only "
        "--defined-only --extern-only "
        "--print-size --size-sort --numeric-sort --reverse-sort --line-numbers --disassemble --disassemble-all --source --syms "
        "--headers --all --all-headers --section-headers --file-headers --file-header --section --architecture "
        "--no-show-raw-insn --wide --format "
        "--radix --totals --common --segments --sections --symbols --relocs --dyn-syms --notes --dynamic-syms --program-headers "
        "--version-info --arch-specific --string-dump --hex-dump --reloc --dynamic-reloc --full-contents --debugging --help "
        "--version --visualize-jumps --inlines --no-demangle --debug-syms --print-file-name --portability --no-sort "
        "--special-syms "
        "--synthetic --with-symbol-versions --archive-headers --private-headers --target --start-address --stop-address "
        "--disassembler-options --prefix-addresses --endian --info --stabs --print-armap --dwarf --debug-dump --unwind")),
    "identify": _row(words="-verbose -format -ping -quiet -list -version -help -depth -units -density -regard-warnings -alpha"),
    **dict.fromkeys(("csvcut", "csvlook", "csvstat"), _row(
        "nxHSlVhyvu", "dqebpcCKzI", words="--names --columns --not-columns --delimiter --encoding --no-header-row --skip-lines "
        "--linenumbers --max-rows --max-columns --max-column-width --type --nulls --unique --min --max --sum --mean --median "
        "--stdev --len --freq --freq-count --count --csv --json --no-inference --snifflimit --tabs --zero --help --version "
        "--quotechar --no-mdY")),
    **dict.fromkeys(("glow", "mdcat"), _row(
        "plhvat", "sw", words="--pager --style --width --all --help --version --local --no-pager --columns --no-colour")),
    "lsof": _row("aPnlthRUVXbCEKMNOQowx0123456789", "upcgdFsTif", reads=False),
    "blkid": _row("lhVpDki", "osuUntL", words="--help --version --output --match-tag --match-token --list-one --label --uuid",
                  reads=False),
}
"""One row per program."""
_FOREIGN_SIGN: Final = re.compile(r"^(?:[|@]|\w{2,20}:)")
"""What ImageMagick takes for more than a file: a command, a list, a coder that may write or delete."""
_KEYS: Final = re.compile(r"\+{1,2}(?:[GgFp<>]|\d{1,9}[Ggp%]?|[/?&][^!|#]{0,200})?")
"""What a pager may be told to begin with: a place, or a text to look for."""
_TAG: Final = re.compile(
    r"(?i:-(?!if\b|config|execute|tagsfromfile|stay_open|delete|restore|overwrite|geo|api|charset|use|efile|addtags|textout|tagout|out|diff|src|w\b|o\b|p\b|d\b))[A-Z][\w:]{1,60}#?")
"""What exiftool shows by its name."""
_MLR_CODE: Final = frozenset("put filter tee split split-lines case template summary exec".split())
_MLR_LOOKS: Final = re.compile(
    r"--(?:[ioc]?(?:csv|tsv|json|jsonl|pprint|xtab|nidx|dkvp|markdown|csvlite|tsvlite)|[cjt]2[cjptdnxmbl]|[io]?[fpr]s|from|barred"
    r"|right|no-auto-flatten|implicit-csv-header|headerless-csv-output|allow-ragged-csv-input|ofmt|nr-progress-mod"
    r"|records-per-batch|no-color|version|help)")
_MLR_RUNS: Final = re.compile(r"\b(?:system|exec|hexec)\s*\(|\b(?:tee|emit|emit1|emitp|emitf|dump|print|printn)\b[^;}]*[|>]")
_MLR_LETTERS: Final = re.compile(r"-(?:[nfrcgahNklpu]|n[fr]|[0-9]+)")


_RUNS_OR_LOSES: Final = re.compile(r"^(?:ephemeral|msl|mvg|script|show|print|scan|ftp):|:[|]|^[|]", re.IGNORECASE)


def _pictures(call: ProgramCall) -> None:
    """ImageMagick: some of its words run a program, or delete what they read."""
    call.note("medium", "makes or changes pictures", call.command.text)
    if (word := next(filter(_RUNS_OR_LOSES.search, call.args), None)) is not None:
        call.note("high", "may run a program, write or delete, by a word of its own", word)
    for arg in call.args:
        if (at := arg.find("@")) >= 0 and call.places.secret(arg[at + 1:]):
            call.read(arg[at + 1:])


def _looks(call: ProgramCall) -> None:
    row = LOOKERS[call.name]
    _options(call, row)
    verb = call.operands[0] if call.operands else ""
    if row.verbs is not None and verb and verb not in row.verbs:
        call.note("medium", "a sub-command of which it is not known that it only looks", call.command.text)
    written = {call.value(option) for option in row.writes}
    for path in call.operands[1 if row.verbs is not None else 0:] if row.reads else ():
        if path not in written and path != "-":
            call.read(path)
            if call.name in ("ugrep", "ug") and path != call.operands[0] and call.places.holds_secrets(path):
                reading.note_searched(call, path)
    if call.name == "identify" and any(_FOREIGN_SIGN.match(path) for path in call.operands if "%" not in path):
        call.note("high", "may run a program, write or delete, by a word of its own", call.command.text)
    if call.name == "exiftool" and any("=" in arg for arg in call.args):
        call.note("high", "rewrites files", call.command.text)


def _options(call: ProgramCall, row: Looker) -> None:
    """Every option is one of the row, or is noted."""
    for option in row.writes:
        if (path := call.value(option)) is not None and path not in ("-", ""):
            call.write(path)
    for arg in call.args if not call.bare else ():
        if arg[:1] != "-" or arg in ("-", "--"):
            continue
        name = arg.partition("=")[0]
        if in_full(name, row.words) or in_full(name, row.writes) or (arg[:2] in row.writes and arg[1:2] != "-"):
            continue
        if call.name == "exiftool" and _TAG.fullmatch(arg) is not None:
            continue
        if arg[1:2] == "-" or not _is_bundle(arg, row):
            call.note("high", _UNKNOWN, arg)


def _is_bundle(arg: str, row: Looker) -> bool:
    for letter in arg[1:]:
        if letter not in row.letters:
            return False
        if letter in row.taking:
            return True
    return True


def _dc(call: ProgramCall) -> None:
    """dc: ``!`` runs the rest of its line, wherever its program comes from."""
    fed = given(call)
    texts = list(fed.texts) if fed is not None else []
    known = fed is None or fed.is_known
    for option in ("-e", "--expression"):
        if (text := call.value(option)) is not None:
            texts.append(text)
    if any(re.search(r"!(?![<>=])", text) for text in (*texts, *call.args)):
        call.traits |= Trait.EXECUTES
        for text in texts:
            call.script(text.partition("!")[2])
        call.note("high", "runs a command inside a program", call.command.text)
    elif not known or call.has("f", "--file"):
        call.note("high", "does what its input says, and it is not known what that is", call.command.text)
    elif call.operands and not call.has("e", "--expression"):
        call.load(call.operands[0])


def _mlr(call: ProgramCall) -> None:
    """mlr: its verbs compute, and some of them run commands and write files."""
    for arg in call.args:
        if arg[:2] == "--" and _MLR_LOOKS.fullmatch(arg.partition("=")[0]) is None:
            call.note("high", _UNKNOWN, arg)
        elif arg[:1] == "-" and arg[1:2] not in ("", "-") and _MLR_LETTERS.fullmatch(arg) is None:
            call.note("high" if "I" in arg else "medium", "may rewrite files" if "I" in arg else _UNKNOWN, arg)
    code = not _MLR_CODE.isdisjoint(call.operands)
    if code and any(map(_MLR_RUNS.search, call.args)):
        call.note("high", "code that may run programs or write files", call.command.text)
    elif code:
        call.note("medium", "runs code that is given with it", call.command.text)
    for path in call.operands[1:]:
        if "/" in path or "." in path:
            (call.write if not {"tee", "split"}.isdisjoint(call.operands) else call.read)(path)


def _ldd(call: ProgramCall) -> None:
    """ldd may start what it looks at."""
    for path in call.operands:
        call.read(path)
        if not path.startswith(("/usr/", "/bin/", "/lib")):
            call.run(path)
            call.at_least("medium", "may run the file that it looks at", path)


def _converts(call: ProgramCall) -> None:
    """pdftotext: the second file is written."""
    files = [path for path in call.operands if not is_whole_number(path)]
    for path in files[:1]:
        call.read(path)
    for path in files[1:2]:
        if path != "-":
            call.write(path)


def _file(call: ProgramCall) -> None:
    if call.has("C", "--compile"):
        call.note("medium", "writes a file of the project", call.command.text)
    for path in call.operands:
        call.read(path, contents=False)


def _info(call: ProgramCall) -> None:
    """info: it can save what it shows, and what is typed, and take keys from a file."""
    for option in ("-o", "--output", "--dribble"):
        if (path := call.value(option)) and path != "-":
            call.write(path)
    if call.has("", "--init-file", "--restore"):
        call.note("high", "takes what it does from a file", call.command.text)


def _pages(call: ProgramCall) -> None:
    """less and more: keys that run commands, a log of what is shown."""
    reading.JUDGES["cat"](call)
    for option in ("-o", "-O", "--log-file", "--LOG-FILE"):
        if path := call.value(option):
            call.write(path)
    if call.has("k", "--lesskey-file", "--lesskey-src", "--lesskey-content", "--lesskey-context", "--cmd") or any(
            arg[:1] == "+" and _KEYS.fullmatch(arg) is None for arg in call.args):
        call.note("high", "runs a command inside a program", call.command.text)


def _tree(call: ProgramCall) -> None:
    for path in call.operands:
        call.read(path, contents=False)
    if (target := call.value("-o", "--output")) is not None:
        call.write(target)
    elif "R" in call.letters and "H" in call.letters:
        call.note("medium", "writes files", call.command.text)


def _completes(call: ProgramCall) -> None:
    """compgen and complete: a command, a function or an expansion that is run."""
    if call.has("CF"):
        call.note("high", _RUNS, call.command.text)


def _history(call: ProgramCall) -> None:
    """history: it prints, until it writes, erases or takes over a list of commands."""
    if call.has("cd"):
        call.note("high", "erases the history of commands")
    if call.has("aw"):
        for path in call.operands:
            call.write(path)
        call.note("high", "writes the history of commands", call.command.text)
    if call.has("rns"):
        call.note("medium", "changes the history of commands", call.command.text)


def _recalls(call: ProgramCall) -> None:
    """fc: it lists, or runs again what was run."""
    if not call.has("l") or call.has("se"):
        call.note("high", "runs a command that is only known when it runs", call.command.text)


def _keys(call: ProgramCall) -> None:
    """bind: keys that run something."""
    if call.has("xf") or call.operands:
        call.note("high", _RUNS, call.command.text)


JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {
    **dict.fromkeys(LOOKERS, _looks),
    **dict.fromkeys(("convert", "magick", "mogrify", "composite", "montage"), _pictures),
    "dc": _dc,
    "mlr": _mlr,
    "ldd": _ldd,
    "pdftotext": _converts,
    "file": _file,
    "info": _info,
    **dict.fromkeys(("less", "more", "zless", "zmore"), _pages),
    "tree": _tree,
    **dict.fromkeys(("compgen", "complete"), _completes),
    "history": _history,
    "fc": _recalls,
    "bind": _keys,
}
