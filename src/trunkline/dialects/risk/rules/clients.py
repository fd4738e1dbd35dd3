"""The words of a database's client: which of them are statements, and whether it reads its input as well.

Rule 1: a row per program says which of its options take a value, and with which it does not read its input. With everything else
it does: an option that no row knows changes nothing, and what stands behind one may be its value.
Rule 2: a statement that is even in part only known when it runs is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from trunkline.dialects.risk.call import ProgramCall

_STDIN: Final = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
_CUT_SHORT: Final = 4
"""Characters from which a long option is another one cut short."""


class Client(NamedTuple):
    """The options of a program, and where statements stand among its operands."""

    statements: frozenset[str]
    """Their value is a statement, and with them it does not read its input."""
    before: frozenset[str]
    """Their value is a statement that comes before those of its input."""
    files: frozenset[str]
    """Their value is a file with statements that takes the place of its input."""
    writes: frozenset[str]
    """Their value is a file that it writes."""
    takes: frozenset[str]
    """They take a value that says nothing here."""
    pairs: frozenset[str]
    """They take two."""
    joined: frozenset[str]
    """They take a value only where it is joined to them."""
    quiet: frozenset[str]
    """With them it asks nothing of a database, or nothing but what its words say."""
    flags: frozenset[str]
    """What it knows beside those, where its operands are statements."""
    first: int = -1
    """How many operands come before those that are statements; -1: none is."""
    dashes: bool = False
    """Long options have one dash as well."""
    spoken: bool = False
    """Its operands together are one statement, and only the first word says which."""

    @property
    def valued(self) -> frozenset[str]:
        """All that take a value."""
        return self.statements | self.before | self.files | self.writes | self.takes


class Words(NamedTuple):
    """What the words of a call say."""

    statements: list[str]
    writes: list[str]
    is_known: bool
    """Whether all statements of the words are."""
    reads_input: bool
    files: tuple[str, ...] = ()
    """Files with statements in them."""


def _row(statements: str = "", before: str = "", files: str = "", writes: str = "", takes: str = "", pairs: str = "",
         joined: str = "", quiet: str = "", flags: str = "", first: int = -1, *, dashes: bool = False,
         spoken: bool = False) -> Client:
    return Client(_names(statements), _names(before), _names(files), _names(writes), _names(takes), _names(pairs), _names(joined),
                  _names(quiet), _names(flags), first, dashes, spoken)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ASKED_ABOUT: Final = "--version --help -?"
_POSTGRES: Final = _row(
    "-c --command", files="-f --file", writes="-o --output -L --log-file", quiet=f"-l --list -V {_ASKED_ABOUT}",
    takes="-d --dbname -h --host -p --port -U --username -v --set --variable -P --pset -F --field-separator -R "
    "--record-separator -T --table-attr")
_MYSQL: Final = _row(
    "-e --execute", "--init-command --init-command-add", writes="--tee", joined="-p -#",
    quiet=f"-V {_ASKED_ABOUT} -I --print-defaults",
    takes="-u --user -h --host -P --port -D --database -S --socket --default-character-set --defaults-file --defaults-extra-file "
    "--defaults-group-suffix --protocol --connect-timeout --delimiter --pager --ssl-ca --ssl-cert --ssl-key --max-allowed-packet")
_SQLITE: Final = _row(
    before="-cmd", takes="-init -separator -newline -nullvalue -mmap -maxsize -heap -vfs -key -hexkey -textkey -escape",
    pairs="-lookaside -pagecache", quiet="-version -help", first=1, dashes=True,
    flags="-append -ascii -bail -batch -box -column -csv -deserialize -echo -header -noheader -html -ifexists -interactive -json "
    "-line -list -markdown -memtrace -nofollow -quote -readonly -safe -stats -table -tabs -zip")
_DUCKDB: Final = _SQLITE._replace(
    statements=frozenset(("-c", "-s")), files=frozenset(("-f",)), flags=_SQLITE.flags | {"-unsigned", "-no-stdin", "-jsonlines"},
    quiet=_SQLITE.quiet | {"-no-stdin"})
_REDIS: Final = _row(
    takes="-h -p -s -a -u -r -i -n -d -D -t -X --user --pass --sni --cacert --cacertdir --cert --key --tls-ciphers "
    "--tls-ciphersuites --pattern --quoted-pattern --count --cursor --show-pushes --eval", writes="--rdb --functions-rdb",
    quiet="-v --version --help --stat --scan --bigkeys --memkeys --keystats --hotkeys --latency --latency-history --latency-dist "
    "--intrinsic-latency --lru-test --replica --slave --rdb --functions-rdb",
    flags="-x -c -e -2 -3 -4 -6 --raw --no-raw --csv --json --tls --insecure --no-auth-warning --askpass --verbose "
    "--quoted-input --pipe", first=0, spoken=True)
_MONGO: Final = _row(
    "--eval", files="-f --file", quiet="--version --help -h",
    takes="--host --port -u --username -p --password --authenticationDatabase --authenticationMechanism --tlsCAFile "
    "--tlsCertificateKeyFile")
_CLICKHOUSE: Final = _row(
    "-q --query", files="--queries-file", quiet=f"-V {_ASKED_ABOUT}",
    takes="-h --host --port -u --user --password -d --database -f --format -C --config-file")

CLIENTS: Final[dict[str, Client]] = {
    **dict.fromkeys(("psql", "pgcli"), _POSTGRES),
    **dict.fromkeys(("mysql", "mariadb", "mycli"), _MYSQL),
    **dict.fromkeys(("sqlite3", "sqlite"), _SQLITE),
    "duckdb": _DUCKDB,
    **dict.fromkeys(("redis-cli", "valkey-cli", "keydb-cli"), _REDIS),
    **dict.fromkeys(("mongo", "mongosh"), _MONGO),
    **dict.fromkeys(("clickhouse-client", "clickhouse-local", "clickhouse"), _CLICKHOUSE),
    "cqlsh": _row("-e --execute", files="-f --file", quiet="--version -h --help",
                  takes="-u --username -p --password -k --keyspace --cqlshrc --encoding"),
    "sqlcmd": _row("-Q", "-q", "-i", "-o", takes="-S -U -P -d -v -s -h -w -W -l -t", quiet="-? --help"),
    "usql": _row("-c --command", files="-f --file", writes="-o --out", takes="-v --set --variable -P",
                 quiet=f"-V {_ASKED_ABOUT}"),
    "influx": _row("-execute", takes="-host -port -database -username -password -format -precision", quiet="-version -help",
                   dashes=True),
}


def read_words(call: ProgramCall) -> Words:
    """What the words of a call say, by the row of its program."""
    client = CLIENTS[call.name]
    statements: list[int | str] = []
    files: list[str] = []
    writes: list[str] = []
    operands: list[int] = []
    sure: list[int] = []
    is_quiet = False
    for option, at, value in _parts(call, client):
        if not option:
            operands.append(at)
            sure += [at] if value else []
        elif option in client.statements or option in client.before:
            statements.append(value if call.command.words[at] is not None else at)
            is_quiet = is_quiet or option in client.statements
        elif option in client.files:
            files.append(value)
        elif option in client.writes:
            writes.append(value)
        is_quiet = is_quiet or option in client.quiet
    is_known = not any(isinstance(one, int) for one in statements) and not any(file[:2] == "<(" for file in files)
    texts = [one for one in statements if isinstance(one, str)]
    if client.first >= 0:
        words, sketch = call.command.words, call.command.sketch
        places = operands[client.first:]
        counting = places[:1] if client.spoken else places
        is_known = is_known and not any(words[at] is None for at in counting)
        texts += [" ".join([sketch[at] for at in places])] if client.spoken else [sketch[at] for at in places]
        is_quiet = is_quiet or len(sure) > client.first
    if files:
        return Words(texts, writes, is_known, not _STDIN.isdisjoint(files), tuple(files))
    return Words([text for text in texts if text], writes, is_known, not is_quiet)


def _parts(call: ProgramCall, client: Client) -> Iterator[tuple[str, int, str]]:
    """The options, each with the place of its value and the value, and the operands: without an option, and with a text only
    where it is sure that they are no values of an option."""
    sketch = call.command.sketch
    valued, known = client.valued, client.flags | client.quiet | client.joined
    at, is_sure = 1, True
    while at < len(sketch):
        word = sketch[at]
        if word == "--":
            yield from [("", place, "sure") for place in range(at + 1, len(sketch))]
            return
        if word[:1] != "-" or len(word) == 1:
            yield "", at, "sure" if is_sure else ""
            is_sure = True
        elif word[1] == "-" or client.dashes:
            name, equal, value = word.partition("=")
            full = _full_name(name, client)
            is_sure = bool(equal) or full in valued or full in known or full in client.pairs
            if full in valued and not equal:
                at += 1
                value = " ".join(sketch[at:at + 1])
            at += 2 if full in client.pairs else 0
            yield full or name, min(at, len(sketch) - 1), value
        else:
            is_sure = True
            for place, letter in enumerate(word[1:], 2):
                option = f"-{letter}"
                if option in valued:
                    value = word[place:]
                    at += 0 if value else 1
                    yield option, min(at, len(sketch) - 1), value or " ".join(sketch[at:at + 1])
                    break
                is_sure = option in known
                yield option, at, ""
                if option in client.joined:
                    break
        at += 1


def _full_name(name: str, client: Client) -> str:
    """The option of a row that is meant: with one dash for two, or cut short."""
    if client.dashes:
        name = name[1:] if name[:2] == "--" else name
        return name
    known = client.valued | client.quiet | client.flags
    if name in known or len(name) < _CUT_SHORT:
        return name
    return next((option for option in sorted(known) if option.startswith(name)), name)
