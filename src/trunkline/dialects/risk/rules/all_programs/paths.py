"""What programs do with the paths in their words, as far as their judges have not noted it: the table of those that only read.

Rule 1: any word, or value of an option, that names a path outside the session's folders is taken for a target of writing, unless
a row here says that this program only reads it there, or its judge has looked at that very path.
Rule 2: what runs elsewhere (ssh, containers, clouds) names paths of other machines; only its options that save here count.
Rule 3: a row is data: how many operands are read, and which options take something to read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Final, NamedTuple

from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.risk.places import look
from trunkline.dialects.risk.rules import reading
from trunkline.dialects.risk.rules.lookers import LOOKERS
from trunkline.dialects.risk.runners.words import option_values
from trunkline.dialects.shell import in_full, module_at
from trunkline.dialects.shell.wrappers import unwrap

ALL: Final = 1 << 16
_OUTSIDE: Final = frozenset(("home", "outside", "system", "startup", "hook", "agent", "device", "raw"))


_NESTED: Final = re.compile(r"[=:,]((?:/|~|\.\.)[^=:,]*)")
"""A path further within the value of an option: ``-Xlog:gc:/x``, ``--emit=link=/x``, ``--out=a=b,file=../x``."""
_NESTED_CHARS: Final = 1000
_LABELLED: Final = re.compile(r"[a-z][a-z-]{1,20}:(?=[/~.])(?!//)")
"""A format before the file that it is written to: ``xml:../x``."""


class PathUse(NamedTuple):
    """What a program only reads; whatever else it names may be written."""

    operands: int = 0
    """So many of the first operands are read."""
    reads: frozenset[str] = frozenset()
    """Options that take a path to read, beside those of ``_READING``."""
    writes: frozenset[str] = frozenset()
    """Short options that take a path to write; others are taken for flags."""
    everything: bool = False
    """It reads whatever it names, except behind an option of ``writes``."""
    long_dashes: bool = False
    """Its options have one dash and are words (``-out x``)."""
    copies: bool = False
    """Behind ``cp`` its last operand is written, whatever it reads otherwise."""
    makes: bool = False
    """Behind a verb of ``_MAKING`` its operands are written."""
    runs: frozenset[str] = frozenset()
    """Behind one of these verbs its words are those of a program of the project."""


def _row(operands: int = 0, reads: str = "", writes: str = "", everything: bool = False, long_dashes: bool = False,
         copies: bool = False, makes: bool = False, runs: str = "") -> PathUse:
    return PathUse(operands, frozenset(reads.split()), frozenset(writes.split()), everything, long_dashes, copies, makes,
                   frozenset(runs.split()))


_READING: Final = frozenset(
    """
    --config --config-file --rcfile --rootdir --root-dir --tsconfig --ignore --ignore-path --ignore-file --exclude
    --include --cov-config --confcutdir --settings --pythonpath --python --python-executable --interpreter --requirement
    --requirements --constraint --editable --find-links --manifest-path --body-file --notes-file --input-file
    --from-file --env-file --cert --cacert --capath --ca-certificate --ca-file --rules --rulesdir --types --typeshed --stubs
    --host --socket --defaults-file
    """.split()
)
"""Options that name something to read whatever the program. That another project's folder is worked in is noted by the judges."""
_READING_OF_KNOWN: Final = _READING | frozenset(
    "--directory --cwd --dir --prefix --workspace-root --chdir --project --template --key --file --input --plugin --cov".split())
"""The same for a program with a row here. To another one, or to a script, a folder may be what it works on."""

_READS: Final = _row(everything=True)
_LOOKS: Final = _row(ALL, writes="-o")
_MAKING: Final = frozenset("venv new init create create-project vendor".split())
_PACKAGES: Final = _row(ALL, reads="-r -c -e -f -C -p -w --extra-index-url", writes="-t -d -o", makes=True, runs="run r")
_SAVING: Final = (
    "-o --output --output-dir --output-directory --destination --dest --cidfile --iidfile --metadata-file --cache-to -E "
    "--log-file")
_ELSEWHERE: Final = _row(everything=True, writes=_SAVING, copies=True)
_JUDGED: Final = _row(everything=True)
"""Its judge looks at every path that it may write."""

_MANAGERS: Final = (
    "npm pnpm yarn bun cnpm pip pip3 pipx uv poetry pdm pipenv conda mamba cargo gem bundle composer hatch rye".split()
)
_REMOTE: Final = (
    "docker podman nerdctl docker-compose podman-compose kubectl oc helm k9s kustomize flux argocd aws gcloud az "
    "doctl hcloud gsutil ssh mosh autossh sshpass vagrant ansible ansible-playbook gh glab tea time strace ltrace".split()
)
_CODE_JUDGED: Final = (
    "rm unlink rmdir rimraf shred srm wipe mv cp gcp ditto ln link mkdir touch chmod chown chgrp tee sponge dd "
    "truncate fallocate install rsync scp sed gsed awk gawk mawk nawk tar gtar bsdtar zip git hub yadm sort uniq xxd "
    "base64 rename prename "
    "trash trash-put sqlite3 sqlite kill pkill killall systemctl mount umount df source . eval".split()
)
_CURL_READS: Final = (
    "-d -F -H -b -T -K -E -u -w -A -e --data --data-binary --data-raw --data-urlencode --form --json --header --upload-file "
    "--cookie --netrc-file --unix-socket --write-out --user --url --pinnedpubkey"
)
_OPENSSL_READS: Final = (
    "-in -key -inkey -CA -CAfile -CApath -CAkey -cert -certfile -config -passin -passout -kfile -signkey -rand -extfile "
    "-untrusted -trusted -recip -signer -connect -servername"
)
_COMPILER: Final = _row(ALL, "-I -L -isystem -include -iquote -B -l --sysroot -C -O -D", "-o", long_dashes=True)

PATHS: Final[dict[str, PathUse]] = {
    **dict.fromkeys(reading.ONLY_LOOK, _READS),
    **dict.fromkeys((*reading.TESTERS, "ruff", "prettier", "biome"), _LOOKS),
    **dict.fromkeys("gofmt gofumpt goimports golint staticcheck govulncheck actionlint".split(), _row(
        ALL, reads="-config-file -ignore -d -modfile", writes="-o", long_dashes=True)),
    **{name: PathUse(everything=True, writes=row.writes) for name, row in LOOKERS.items()},
    **dict.fromkeys(("less", "more", "zless"), _row(everything=True, writes="-o -O --log-file --LOG-FILE")),
    **dict.fromkeys(("iconv", "tree", "sdiff"), _row(everything=True, writes="-o --output")),
    **dict.fromkeys(("pdftotext", "json.tool"), _row(1)),
    **dict.fromkeys(("mktemp", "mkfifo"), _row()),
    **dict.fromkeys(_MANAGERS, _PACKAGES),
    **dict.fromkeys(("pip", "pip3"), _row(ALL, reads="-r -c -e -f", writes="-t -d -w --wheel-dir --prefix")),
    **dict.fromkeys("pg_dump pg_dumpall mysqldump mongodump".split(), _row(ALL, writes="-f --file -r --result-file -o --out")),
    **dict.fromkeys(_REMOTE, _ELSEWHERE),
    **dict.fromkeys("psql mysql mariadb mongo mongosh redis-cli duckdb clickhouse-client pg_isready".split(),
                    _row(ALL, reads="-f -h -S", writes="-o -L")),
    **dict.fromkeys("curl xh http https curlie".split(), _row(ALL, _CURL_READS)),
    **dict.fromkeys(("wget", "wget2"), _row(
        ALL, "-i --post-file --body-file --load-cookies --private-key --certificate --header",
        "-o -O -a -P --output-file --append-output --warc-file --save-cookies --rejected-log")),
    **dict.fromkeys(_CODE_JUDGED, _JUDGED),
    **dict.fromkeys("gunzip unzip bunzip2 unxz 7z unrar gzip bzip2 xz zstd".split(), _row(everything=True, writes="-d -o")),
    "git": _row(everything=True, writes="--separate-git-dir"),
    **dict.fromkeys("gcc g++ cc c++ clang clang++ rustc".split(), _COMPILER),
    "javac": _row(ALL, "-cp -classpath --class-path -p --module-path -sourcepath --source-path -processorpath --processor-path",
                  "-d -s -h", long_dashes=True),
    "base64": _row(everything=True, writes="-o --output"),
    "coverage": _row(ALL, writes="-o -d --directory"),
    "ctest": _row(ALL, writes="-o -O --output-log --output-junit", long_dashes=True),
    "patch": _row(0, reads="-i"),
    "info": _row(everything=True, writes="-o --output"),
    "uudecode": _row(everything=True, writes="-o --output-file"),
    "helm": _row(everything=True, writes=f"{_SAVING} -d --untardir"),
    "go": _row(ALL, reads="-C -modfile -overlay -pgo -mod -ldflags -gcflags -tags -run -bench", long_dashes=True, runs="run"),
    "cargo": _row(ALL, reads="-C -p --target", writes="-o --target-dir --root --artifact-dir --out-dir", makes=True,
                  runs="run r"),
    "terraform": _row(0, reads="-chdir -var-file -backend-config", long_dashes=True),
    "openssl": _row(ALL, _OPENSSL_READS, long_dashes=True),
    "cmake": _row(1, reads="-D -S -C -G -P -L", writes="--prefix -B --install-prefix"),
    "make": _row(0, reads="-C -f -I -o -W"),
    "http.server": _row(ALL, reads="-d"),
    **dict.fromkeys(("open", "xdg-open", "man", "code-insiders"), _READS),
}


_WITH_LABELS: Final = frozenset("bazel bazelisk buck buck2 pants please plz".split())
"""To them ``//x:y`` is what is to be built, and no path."""
_MAPS: Final = frozenset(("sass", "dart-sass", "node-sass", "sassc"))
"""Their words are pairs: what is read, and where to it is written."""
_NO_ROW: Final = PathUse()
_MAKES_IN: Final = ("", "-p", "--prefix")


def note_outside(call: ProgramCall, is_known: bool = True) -> None:
    """Note the paths outside the session's folders that a call names and that may be written.

    ``is_known``: the program is the one of that name. ``./cat`` is a file that somebody made, and may write what it likes.
    """
    wraps: Callable[[], bool] | None = None  # all of the line has to be read for it: once, for all of its paths
    for at, arg in enumerate(call.args):
        if ("/" in arg or "~" in arg or ".." in arg) and _PLAIN.fullmatch(arg) is None:
            wraps = wraps or cache(lambda: unwrap(call.command) is not None)
            _word(call, at, arg, is_known, wraps)


_PLAIN: Final = re.compile(r"\w[\w@+%,-]*+(?>(?:(?:/|\.(?!\.)|/\.(?![./]))[\w@+%,-]*+)*)", re.ASCII)
"""A path that begins with a name and goes nowhere up: as most are that are written."""


def _word(call: ProgramCall, at: int, arg: str, is_known: bool, wraps: Callable[[], bool]) -> None:
    """One word that may name a path, alone or as the value of an option or a setting."""
    values = (arg, *option_values(arg))
    if arg[:1] == "-" and "://" not in arg:
        values = (*values, *[found[1] for found in _NESTED.finditer(arg[:_NESTED_CHARS])])  # ``--cov-report=xml:../x``
    if call.name in _MAPS and arg[:1] not in "/~-":
        values = (*values, arg.rpartition(":")[2])  # ``src:../x``
    if at and call.args[at - 1][:2] == "--" and (labelled := _LABELLED.match(arg)) is not None:
        values = (*values, arg[labelled.end():])  # the same apart
    for value in values:
        if value[:1] not in "/~.$" or "://" in value or "\n" in value:
            continue
        if value[:1] == "$" and not value.startswith(("$HOME", "${HOME}")):
            continue
        if value[:2] == "//" and call.name in _WITH_LABELS:
            continue
        path, kind, secret = look(call.places, value)
        if kind in _OUTSIDE and not (is_known and _only_reads(call, at, arg, value, path, wraps)):
            call.at_least("high", "may write outside the session's folders", value)
            return
        if secret == "own" and path not in _known(call) and not wraps() and not _logs_in(call, at, arg, value):
            call.read(value)


def _logs_in(call: ProgramCall, at: int, arg: str, value: str) -> bool:
    """Whether a program is given credentials for what they are there for, or does not look into them."""
    if call.name in reading.ONLY_LOOK or call.name in _WITH_KEYS:
        return True
    option = _option_of(call, at, arg, value, PATHS.get(call.name, _NO_ROW))
    return bool(option) and _FOR_LOGIN.search(option) is not None


_WITH_KEYS: Final = frozenset(
    "ssh ssh-add ssh-keygen ssh-copy-id scp sftp mosh autossh gpg gpg2 age pass chmod chown mkdir touch".split())
_FOR_LOGIN: Final = re.compile(r"^-[iEF]$|key|cert|identity|credential|config|login|auth|netrc|profile|pass|token|ca-?file")
"""Options that take credentials to show who asks."""


def _known(call: ProgramCall) -> Iterator[str]:
    """The paths that the judge has taken for something."""
    for noted in (call.reads, call.writes, call.runs, call.downloads, call.builds):
        yield from noted


def _only_reads(call: ProgramCall, at: int, arg: str, value: str, path: str, wraps: Callable[[], bool]) -> bool:
    """Whether the judge knows this path, or the table says that this program only reads this word."""
    name, first = _program(call)
    use = PATHS.get(name) or PATHS.get(name.rstrip("0123456789."), _NO_ROW)
    option = _option_of(call, at, arg, value, use)
    option = in_full(option, use.writes) or option
    if path in _known(call):
        return option not in use.writes or path in call.writes
    is_script = (use is _NO_ROW or not use.runs.isdisjoint(call.operands[:1])) and not wraps()
    if use.makes and option in _MAKES_IN and not _MAKING.isdisjoint(call.operands[:1]):
        return False
    if option:
        reading = _READING if is_script else _READING_OF_KNOWN
        return option not in use.writes and (option in use.reads or option in reading or use.everything)
    if is_script and use.runs:
        return False
    if use.copies and "cp" in call.operands[:2] and arg == call.args[-1]:
        return False
    if wraps() or at < first or call.command.words[at + 1] in call.codes:
        return True
    if use.everything:
        return True
    if any([finding.reason.startswith("rewrites") for finding in call.findings]):
        return False
    if arg != value:
        return False
    before = islice((one for one in call.args[first:at] if one[:1] != "-"), use.operands if use.operands < ALL else 0)
    return sum(1 for _ in before) < use.operands


def _program(call: ProgramCall) -> tuple[str, int]:
    """The program, and where its own words begin: behind ``python -m``, the module."""
    if at := module_at(call.command):
        return call.args[at - 1], at
    return call.name, 0


def _option_of(call: ProgramCall, at: int, arg: str, value: str, use: PathUse) -> str:
    """The option that a word is a value of: within the word, or the one before it; empty for an operand."""
    if arg[:1] == "-":
        name = arg.partition("=")[0]
        if arg[1:2] == "-" or (use.long_dashes and (arg[:2] not in use.reads or name in use.reads)):
            return name
        return next((f"-{letter}" for letter in arg[1:len(arg) - len(value)] if f"-{letter}" in use.writes), arg[:2])
    before = call.args[at - 1] if at and arg == value else ""
    if before[:1] != "-" or "=" in before or before == "--":
        return ""
    if before[:2] == "--" or (use.long_dashes and len(before) > 1):
        return before
    last = f"-{before[-1]}"
    return last if last in use.writes or last in use.reads else ""
