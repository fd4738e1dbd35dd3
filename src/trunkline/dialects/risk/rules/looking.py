"""What makes a call of a program milder by an option: a rehearsal, a list, a test, a question for the version.

Rule 1: every judge that goes lower because of an option asks here, by the row of its program or sub-command.
Rule 2: a row has the program's other options as well. One that is not in it leaves a doubt, and then nothing is milder: it may
take the wanted one for its value, or take it back. So a row may leave out what writes or runs something.
"""

from __future__ import annotations

from typing import Final

from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.shell.options import Milder, is_milder, milder

_GZIP: Final = milder(
    "-l -t -c -V --list --test --stdout --to-stdout --version", "adfhkLnNqrv123456789", "Sb",
    "--ascii --decompress --uncompress --force --help --keep --license --name --no-name --quiet --silent --recursive --rsyncable "
    "--synchronous --verbose --fast --best", "--suffix --bits")
_PACKED: Final = (
    "--decompress --uncompress --compress --keep --force --quiet --verbose --no-progress --extreme --test --best --fast")
_BZIP: Final = (
    milder("-c --stdout", "dzktfqvs123456789", words=_PACKED), milder("-t --test", "kqvs", words="--keep --quiet --verbose"))
_XZ: Final = (
    milder("-c --stdout --to-stdout", "dzktfqvQe0123456789", "STFMC", _PACKED, "--suffix --threads --format --check --memlimit"),
    milder("-t -l --test --list", "kqvQ", "TFM", "--keep --quiet --verbose --robot", "--threads --format --memlimit"))
_ZSTD: Final = (
    milder("-c --stdout", "dzkfqvC0123456789", "D", _PACKED + " --ultra --long --adapt --check", "--threads --memory", "TM"),
    milder("-t -l --test --list", "kqv", words="--keep --quiet --verbose --no-progress"))
_IPTABLES: Final = milder(
    "-L -S --list --list-rules", "nvxwVh", "t", "--numeric --verbose --exact --line-numbers --wait", "--table")
_MAKE: Final = milder(
    "-n -v -h --dry-run --just-print --recon --version --help", "bBdeikLmpqrRsStw", "CfIoW",
    "--always-make --environment-overrides --ignore-errors --keep-going --check-symlink-times --print-data-base --question "
    "--no-builtin-rules --no-builtin-variables --silent --quiet --no-silent --stop --no-keep-going --touch --trace "
    "--print-directory --no-print-directory --warn-undefined-variables --debug --jobs --load-average --max-load --output-sync "
    "--shuffle", "--directory --file --makefile --include-dir --old-file --assume-old --what-if --new-file --assume-new", "jlO")
_GRADLE: Final = milder(
    "-m -v -h --dry-run --version --help", "isqdwa", "xPD",
    "--info --debug --stacktrace --full-stacktrace --quiet --warn --offline --no-daemon --daemon --continue --parallel "
    "--no-parallel "
    "--build-cache --no-build-cache --rerun-tasks --refresh-dependencies --configuration-cache --no-configuration-cache",
    "--exclude-task --project-prop --system-prop --console --max-workers")
_PACMAN: Final = (milder("-Q --query", "cdegiklmnpqstuv"), milder("-s -i --search --info", "Sq", words="--sync --quiet"))
_SOME_BUILD: Final = milder("--dry-run --list", "vq", words="--verbose --quiet --no-color")
_ARGPARSE: Final = milder("--check --diff --check-only --version --help", "", dashed=True)

ROWS: Final[dict[str, tuple[Milder, ...]]] = {
    "git clean": (milder("-n --dry-run", "dfiqxX", "e", "--force --quiet --interactive", "--exclude"),),
    "git restore": (milder(
        "-S --staged", "pqm23", "sU", "--patch --quiet --progress --no-progress --ours --theirs --merge --ignore-unmerged "
        "--overlay "
        "--no-overlay --recurse-submodules --pathspec-file-nul", "--source --conflict --unified --pathspec-from-file"),),
    "git rm": (milder("--cached", "fnrq", words="--force --dry-run --quiet --ignore-unmatch --sparse --pathspec-file-nul",
                      valued="--pathspec-from-file"),),
    "git rebase": (milder("--abort --quit --show-current-patch", "qv", words="--quiet --verbose"),),
    "git config": (milder(
        "-l --list --get --get-all --get-regexp --get-urlmatch", "z", "f",
        "--null --name-only --show-origin --show-scope --local --global --system --worktree --bool --int --bool-or-int --path "
        "--expiry-date --includes --no-includes --fixed-value --all --regexp", "--file --blob --type --default --value --url"),),
    "git apply": (milder(
        "--check --stat --numstat --summary", "vq3RzN", "pC", "--verbose --quiet --index --cached --3way --reverse --reject "
        "--recount "
        "--binary --unidiff-zero --intent-to-add --allow-empty --ignore-space-change --ignore-whitespace --allow-overlap",
        "--exclude --include --whitespace --directory"),),
    "git merge-file": (milder("-p --stdout", "q", "L", "--quiet --diff3 --zdiff3 --ours --theirs --union", "--marker-size"),),
    "unzip": (milder("-l -t -v -p -c -z -Z", "funoajJULMXKVWCbBDTqh12sm", "dxPOI"),),
    **dict.fromkeys(("gzip", "gunzip"), (_GZIP,)),
    **dict.fromkeys(("bzip2", "bunzip2"), _BZIP),
    **dict.fromkeys(("xz", "unxz"), _XZ),
    **dict.fromkeys(("zstd", "unzstd"), _ZSTD),
    "lz4": _BZIP,
    "ar": (milder("-t -p", "vOPTUV"),),
    "pax": (milder("", "vcdnz", "f"),),
    "cpio": (milder("-t --list --to-stdout", "ivdmukBcnbsS", "FEHICD", "--extract --verbose --quiet --numeric-uid-gid",
                    "--file --format --pattern-file --directory"),),
    "cpio inside": (milder("--no-absolute-filenames", "idmuvkBc", "FEHICD",
                           "--extract --make-directories --preserve-modification-time --unconditional --verbose --quiet",
                           "--file --format --pattern-file --directory"),),
    **dict.fromkeys(("iptables", "ip6tables"), (_IPTABLES,)),
    "firewall-cmd": (milder(
        "--list-all --list-all-zones --list-ports --list-services --list-interfaces --list-rich-rules --list-sources --state "
        "--get-default-zone --get-zones --get-active-zones", words="--permanent", valued="--zone --policy"),),
    **dict.fromkeys(("gpg", "gpg2"), (milder(
        "-k --list-keys --list-secret-keys --fingerprint --verify --version", "Kvqa", "",
        "--with-colons --with-fingerprint --with-subkey-fingerprint --batch --no-tty --armor --quiet --verbose",
        "--keyid-format --homedir --keyring --status-fd --list-options"),)),
    "ssh-keygen": (milder("-l", "vq", "fE"), milder("-F", "lvq", "fE")),
    **dict.fromkeys(("fdisk", "sfdisk", "gdisk", "parted", "losetup", "tune2fs"), (milder("-l --list", "xsm", "o",
        valued="--output"),)),
    **dict.fromkeys(("pacman", "yay", "paru"), _PACMAN),
    "dpkg": (milder("-l -L -s -S -I -c -p --list --listfiles --status --search --get-selections --print-architecture"),),
    "rpm": (milder("-q --query", "ailRcdfpsvgL", words="--all --info --list --requires --provides --whatprovides --whatrequires "
                   "--last --changelog --scripts --configfiles --docfiles --state --file --package", valued="--queryformat "
                   "--qf"),),
    **dict.fromkeys(("make", "gmake", "bmake"), (_MAKE,)),
    "ninja": (milder("-n -h --version --help", "v", "Cfjkldw", "--verbose --quiet"),),
    "rake": (milder("-n --dry-run", "qsvGgNmX", "fIR", "--quiet --silent --trace --verbose", "--rakefile --libdir", "t"),
             milder("-T -P -V -h --tasks --prereqs --version --help", "A", "f", "--all", "--rakefile")),
    "just": (milder("-n -l -V -h --dry-run --list --summary --version --help", "quv", "fds",
                    "--unsorted --quiet --verbose --no-dotenv", "--justfile --working-directory --color"),),
    "task": (milder("-n -l -a -h --dry --dry-run --list --list-all --summary --version --help", "svfjgp", "dtoC",
                    "--silent --verbose --force --json --global --parallel --yes", "--dir --taskfile --output --concurrency"),),
    "scons": (milder("-n -h --dry-run --just-print --no-exec --recon --version --help", "iksQcuDq", "Cfj", "--silent --quiet",
                     "--directory --file --jobs"),),
    **dict.fromkeys(("gradle", "gradlew"), (_GRADLE,)),
    **dict.fromkeys("tox nox invoke fab act turbo nx lerna bazel bazelisk mage grunt gulp mkdocs hugo".split(), (_SOME_BUILD,)),
    "patch": (milder(
        "--dry-run", "bcEflnNRsutTvZ", "BdDFgioprVxYz", "--batch --forward --reverse --force --quiet --silent --verbose --binary "
        "--remove-empty-files --unified --context --normal --backup --ignore-whitespace --merge --posix",
        "--strip --input --directory --fuzz --output --reject-file --prefix --suffix --basename-prefix --version-control "
        "--ifdef"),),
    "black": (milder(
        "--check --diff --version --help -h", "qvSCx", "ltW", "--quiet --verbose --color --no-color --fast --safe --preview "
        "--pyi "
        "--ipynb --skip-string-normalization --skip-magic-trailing-comma --skip-source-first-line --unstable --no-cache",
        "--line-length --target-version --config --include --exclude --extend-exclude --force-exclude --workers --stdin-filename "
        "--required-version --python-cell-magics --enable-unstable-feature --line-ranges"),),
    **dict.fromkeys("isort autopep8 yapf autoflake pyupgrade docformatter".split(), (
        _ARGPARSE._replace(flags=_ARGPARSE.flags | {f"-{letter}" for letter in "qvrcdiaej"},
                           takes=frozenset(("-l", "-m", "-p", "-w", "-s")), joined=frozenset()),)),
    "rustfmt": (milder("--check --version --help", "lvq", "", "--verbose --quiet --backup --skip-children --unstable-features",
                       "--config --config-path --edition --color --style-edition"),),
    "clang-format": (milder("--dry-run --version --help -n", "i", "", "-Werror --Werror --verbose -verbose --sort-includes",
                            "--style -style --assume-filename --fallback-style --ferror-limit --lines --offset --length"),),
    **dict.fromkeys(("ruff format", "taplo", "cargo fmt"), (
        _ARGPARSE._replace(flags=_ARGPARSE.flags | {"-q", "-v", "-n", "-s"}, takes=frozenset(("-p", "-c"))),)),
    **dict.fromkeys(("nc", "ncat", "netcat", "nc.traditional", "nc.openbsd"), (
        milder("-z", "46CDdNnrtUuv", "IiMmOPpqsTVWwXxgGo"),)),
    "wget": (milder("--spider", "qvSNrckpHLEmFbdxn46", "OPoatTwUeARDIXlQiB",
                    "--quiet --no-verbose --server-response --no-check-certificate --recursive --no-cache --continue "
                    "--force-html",
                    "--output-document --output-file --append-output --tries --timeout --wait --user-agent --header --level"),),
    "curl": (milder(
        "-G --get", "aBfgiIjJkLlMnNOpqRsSvZ#01234 6:", "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
        "--silent --show-error --fail --fail-with-body --location --include --head --insecure --compressed --verbose --globoff "
        "--no-buffer --http1.1 --http2 --ipv4 --ipv6 --no-progress-meter --progress-bar --remote-name",
        "--header --user --cookie --cookie-jar --data --data-binary --data-raw --data-urlencode --data-ascii --json --form "
        "--output "
        "--request --user-agent --referer --max-time --connect-timeout --upload-file --proxy --write-out --url --retry "
        "--url-query "
        "--cert --key --cacert --resolve --unix-socket --dump-header --range --limit-rate"),),
    **dict.fromkeys(("ansible", "ansible-playbook", "ansible-pull"), (milder(
        "-C --check --list-hosts --syntax-check --version", "bkKvD", "iuetlmafMPTcRUB", dashed=True),)),
}
"""The program, or what a judge calls a use of it, with the ways in which it does less."""
ROWS["wget2"] = ROWS["wget"]


def only_looks(use: str, words: tuple[str, ...]) -> bool:
    """Whether a program, called with these words, surely does less than it may, by an option that its row names."""
    return any([is_milder(words, row) for row in ROWS.get(use, ())])


def asks_about_itself(call: ProgramCall) -> bool:
    """Whether a call has nothing but a question for help or for the version."""
    return call.args in _ABOUT


_ABOUT: Final = (("--version",), ("--help",), ("-V",), ("-h",), ("-v",))
