"""Databases: by the statements in the arguments and on the input, and rows for programs that change or copy them.

Which words are statements, and who reads its input, says ``clients.py``; here is what statements do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.row_matching import judge_of, row
from trunkline.dialects.risk.rules.clients import CLIENTS, read_words
from trunkline.dialects.risk.runners.changing import statement_files
from trunkline.dialects.risk.stdin import given

_SQL_LOSES: Final = re.compile(
    r"\b(drop|truncate|delete|alter|update|grant|revoke|shutdown|flushall|flushdb|del|unlink|drop(database|indexe?s?|user|role)|remove"
    r"|(delete|update)(many|one)|replaceone|findoneanddelete|renamecollection|bulkwrite|superuser|createrole|purge\s+(?:binary|master)\s+logs|reset\s+(?:master|slave|replica|query)"
    r"|set\s+(?:global|persist)|kill\s+(?:query\s+|connection\s+)?\d{1,20}|create\s+(?:user|role|login)|createuser|updateuser|grantrolestouser|stepdown"
    r"|rename\s+table|detach\s+(?:table|database)|backup\s+database)\b|\$(?:out|merge)\b", re.I
)
_SPOKEN_LOSES: Final = re.compile(
    r"\s*(?:rename(?:nx)?|migrate|restore|p?expire(?:at)?|[lx]trim|debug|acl\s+(?:setuser|deluser|load|save)|client\s+(?:kill|pause|no-evict)"
    r"|(?:script|function)\s+(?:flush|delete|restore)|failover|swapdb|xgroup\s+destroy"
    r"|cluster\s+(?:reset|forget|failover|flushslots))\b", re.I)
"""Words of redis at the front of a statement that change or end what others have."""
_SQL_READS: Final = re.compile(
    r"^\s*(select|show|describe|explain|\\d\w{0,8}|\\l|\.tables|\.schema|pragma|get|keys|info|ping)\b", re.I)
_SQL_RUNS: Final = re.compile(
    r"\\!|^\s*:!!|child_process|\brequire\s*\(|\bfs\.\w+sync\b|\binto\s+function\s+file|\bcopy\b.*\bprogram\b|\bsystem\s|xp_cmdshell|load_file|into\s+(out|dump)file|\bwritefile\s*\("
    r"|load_extension|\bedit\s*\(|eval\b|\blo_(ex|im)port\b|\bpg_(terminate_backend|file_|read_|write_|ls_dir)|\bdblink_exec\b|\bwritable_schema"
    r"|\\gexec\b|\bexecute\s+immediate\b|\bprepare\s+\w+\s+from\b|\bconfig\s+set\b|\bmodule\s+load|\binstall\s+plugin\b|\b(replica|slave)of\b",
    re.I,
)
_RUNS_IN_LINE: Final = re.compile(
    r"^[ \t]{0,40}(?:pager|\\P)[ \t]+\S|^[ \t]{0,40}\\\w[^\n]{0,400}`|\\(?:o|out|w|write|g|gx)\s{0,9}\|", re.MULTILINE)
"""Words of a client of its own that hand something to a program."""
_SAVES: Final = re.compile(
    r"(?:(?:^|\s)\\(?:(?:o|out|w|write|g|gx|s|T)|copy\b[^\n]{1,400}?\sto(?!\s{1,9}std))|^\s{0,9}tee)\s{1,9}(\S[^\n]{0,4096})")
_SAVES_ALONE: Final = re.compile(
    r"\b(?:vacuum\b[^;']{0,80}\binto|copy\b[^;']{0,400}\bto|export\s+database"
    r"|attach(?:\s+database)?)\s{1,9}['\"]([^'\"]{1,4096})['\"]", re.I)
_DOT: Final = re.compile(r"\s*\.([a-z]{1,20})\b([^\n]{0,4096})")
_DOT_RUNS: Final = ("shell", "system", "load")
_DOT_SAVES: Final = ("output", "once", "backup", "save", "clone", "log", "trace", "excel", "open", "www", "session", "cd")
"""sqlite's own words, which may be cut short: what runs something, and what saves into the last of its arguments. Behind ``|``
an argument of any of them is a program."""
_ARGUMENT: Final = re.compile(r"\"([^\"]*)\"|'([^']*)'|(\S+)")
_DOT_READS: Final = ("import",)
_READS_FILE: Final = re.compile(
    r"\b(?:readfile|fsdir|zipfile|read_(?:csv|text|blob|json|parquet)\w{0,8}|load_file)\s*\(\s*'([^']{1,4096})'", re.I)
"""Words and functions that read a file."""
_INCLUDES: Final = re.compile(
    r"^[ \t]{0,40}(?:\.read\b|\\(?:i|ir|include|include_relative)\b|source\s|\\\.\s)\s{0,9}[\"']?([^\s\"'|][^\n\"']{0,4096})",
    re.MULTILINE)
"""Statements that are in a file."""
_ARCHIVES: Final = re.compile(r"(?:^|\n)\s{0,9}\.ar(?:c(?:h(?:i(?:v(?:e)?)?)?)?)?\b([^\n]{0,4096})")
_ARCHIVE_TAKES: Final = ("-C", "--directory", "-f", "--file", "-a", "--append")
CHANGES: Final = re.compile(
    r"\b(?:drop\s+(?:table|database|schema|index|view|user|role|keyspace|collection|measurement|series|function|trigger|sequence"
    r"|column|partition|dictionary|shard|retention)|truncate\s+(?:table\s+)?\w|delete\s+from|alter\s+(?:table|user|role|database|system)"
    r"|update\s+\S{1,80}\s+set|grant\s.{1,200}\sto|revoke\s.{1,200}\sfrom|detach\s+delete|flushall|flushdb)\b", re.I)
"""What changes or deletes data wherever it stands: whole phrases, which no ordinary text has."""
_NOT_KNOWN: Final = "runs statements, and it is not known which"
_LINES: Final = 2000
DROPS: Final = (row("", "high", "changes or deletes data", "dropdb x"),)
DUMPS: Final = (row("", "medium", "copies a database", "pg_dump x"),)


def _database(call: ProgramCall) -> None:
    """psql, mysql, redis-cli: by the statements in the arguments, and those on its input where it reads that."""
    words = read_words(call)
    statements = [arg for arg in call.args if " " in arg or "(" in arg or _SQL_LOSES.fullmatch(arg)
                  or arg.startswith((".", "\\"))]
    settings = call.value("--defaults-file", "--defaults-extra-file") if "mysql" in call.name or call.name == "mariadb" else None
    if settings and call.places.is_foreign(settings):
        note_not_known(call)
    if not words.is_known or any(map(call.places.is_foreign, _files(call, words.files))):
        note_not_known(call)
    for path in words.writes:
        if path[:1] == "|":
            call.note("high", "makes the database run a program or write a file", path)
        elif path and path != "-":
            call.write(path)
    if "--pager" in call.longs and call.value("--pager"):
        call.note("high", "makes the database run a program or write a file", call.command.text)
    if call.name.startswith("sqlite") and (at := next((at for at, arg in enumerate(call.args) if arg[:2] == "-A"), -1)) >= 0:
        statements.append(" ".join((".archive", f"-{call.args[at][2:]}" if len(call.args[at]) > 2 else "", *call.args[at + 1:])))
    if call.name in _FILES and call.operands and call.operands[0] != ":memory:":
        call.read(call.operands[0])
    found = list(dict.fromkeys((*words.statements, *statements)))
    judge_statements(call, [*found, *_input(call)] if words.reads_input else found)


def _files(call: ProgramCall, files: Sequence[str]) -> list[str]:
    """The files with statements that the words of a call name; its input is none, whatever it is called."""
    named = [*files, *statement_files(call.command), *filter(None, (call.value("--eval"),) if call.name in _LUA else ())]
    return [path for path in named if path != "-" and not path.startswith(("/dev/", "/proc/self/fd/", "<("))]


_LUA: Final = frozenset(("redis-cli", "valkey-cli", "keydb-cli"))


def note_not_known(call: ProgramCall) -> None:
    """Note that a call runs statements which only the run knows."""
    call.note("high", _NOT_KNOWN, call.command.text)


def judge_input(call: ProgramCall) -> None:
    """Note what the statements on a call's input do; where they are not known, that."""
    judge_statements(call, _input(call))


def _input(call: ProgramCall) -> list[str]:
    """The statements on a call's input; where those are not all, that is noted."""
    found = given(call)
    if found is not None and not found.is_known:
        note_not_known(call)
    return [text for text in found.texts if text.strip()] if found is not None else []


def judge_statements(call: ProgramCall, statements: list[str]) -> None:
    """Note what statements do."""
    saved = [path for text in statements for path in (*_saved(text), *_archived(text))]
    if (address := next((path for path in saved if "://" in path), None)) is not None:
        call.traits |= Trait.SENDS
        call.note("high", "sends data to another place", address)
    for path in [path for text in statements for path in _read_files(text)]:
        call.read(path)
    included = [found[1] for text in statements for found in _INCLUDES.finditer(text)]
    if any(map(call.places.is_foreign, included)) or (call.name == "duckdb" and any(map(_EXTENDS.search, statements))):
        note_not_known(call)
    for path in saved:
        if path[:1] != "|":
            call.write(path)
    if any(path[:1] == "|" for path in saved) or any(map(_runs, statements)):
        call.note("high", "makes the database run a program or write a file", statements[0])
    elif (lost := next((text for text in statements if _loses(call, text)), None)) is not None:
        call.note("high", "changes or deletes data", lost)
    elif any(map(_calls_unknown, statements)) or not (
            statements and all(_SQL_READS.match(one) for text in statements for one in text.split(";") if one.strip())):
        call.note("medium", "works on a database", call.command.text)
        if call.name.startswith("sqlite") and call.operands and call.places.kind(call.operands[0]) not in ("inside", "temp"):
            call.write(call.operands[0])


def _loses(call: ProgramCall, text: str) -> bool:
    return _SQL_LOSES.search(text) is not None or _RESTORES.search(text) is not None or (
        call.name in _LUA and _SPOKEN_LOSES.match(text) is not None)


_RESTORES: Final = re.compile(r"^\s{0,9}\.rest\w{0,4}\b", re.MULTILINE)
_FILES: Final = frozenset(("sqlite3", "sqlite", "duckdb"))
"""Clients whose first operand is the database's file."""
_CALLED: Final = re.compile(r"\b([A-Za-z_][\w.]{0,80})\s?\(")
_COMPUTES: Final = frozenset(
    """
    count sum min max avg total abs round ceil ceiling floor mod power sqrt random rand lower upper length len trim ltrim
    rtrim substr substring replace concat concat_ws coalesce ifnull nullif isnull greatest least cast convert date time
    datetime timestamp now strftime julianday to_char to_date to_timestamp date_trunc date_part date_format extract age
    interval year month day hour minute second group_concat string_agg array_agg json_agg jsonb_agg json_extract json_object
    json_array json_each jsonb_each json_build_object jsonb_build_object row_to_json to_json to_jsonb array_length unnest
    generate_series row_number rank dense_rank lag lead first_value last_value ntile over partition filter within in values
    exists any all some and or not as on using from where select having when then else case distinct left right instr
    position split_part regexp_replace regexp_matches printf format hex unhex quote typeof iif version database
    current_database current_user user pg_size_pretty pg_total_relation_size pg_relation_size pg_database_size pg_table_size
    pg_get_viewdef pg_get_functiondef obj_description col_description to_regclass pragma_table_info pragma_index_list
    sqlite_version last_insert_rowid changes varchar char decimal numeric int integer text md5 sha256 uuid gen_random_uuid
    explain analyze buffers verbose join lateral union except intersect by limit
    """.split())
"""Functions, and words before a bracket, that compute or look. Another function may do anything, though it is selected."""


def _calls_unknown(text: str) -> bool:
    return any(found[1].lower().rpartition(".")[2] not in _COMPUTES for found in _CALLED.finditer(text[:4096]))


_EXTENDS: Final = re.compile(r"(?:^|;)\s{0,20}(?:force\s+)?(?:install|load)\s+['\w]", re.I)
"""What makes a database load code of others."""


def _archived(text: str) -> Iterator[str]:
    """Where an archive of sqlite is written or unpacked to: ``.archive -x -C dir``."""
    for found in _ARCHIVES.finditer(text):
        words = [one[1] or one[2] or one[3] or "" for one in _ARGUMENT.finditer(found[1])]
        if words and words[0][:1] != "-":
            words[0] = f"-{words[0]}"  # its letters may stand without a dash, as those of tar
        letters = "".join([word[1:] for word in words if word[:1] == "-" and word[1:2] != "-"])
        longs = {word.partition("=")[0] for word in words if word[:2] == "--"}
        given = [value for at, word in enumerate(words) for value in _archive_values(words, at, word)]
        if "x" in letters or any("--extract".startswith(one) for one in longs if len(one) > 3):
            yield from given or ["."]
        elif set("cuir") & set(letters) or longs & {"--create", "--update", "--insert", "--remove"}:
            yield from given


def _archive_values(words: list[str], at: int, word: str) -> list[str]:
    option, equal, value = word.partition("=")
    if option in _ARCHIVE_TAKES:
        return [value] if equal else words[at + 1:at + 2]
    return words[at + 1:at + 2] if word[:1] == "-" and word[1:2] != "-" and word[-1:] in ("C", "f", "a") else []


def _read_files(text: str) -> Iterator[str]:
    for found in _READS_FILE.finditer(text):
        yield found[1]
    for line in text.split("\n")[:_LINES]:
        dotted = _DOT.match(line)
        if dotted is not None and len(dotted[1]) > 1 and any(name.startswith(dotted[1]) for name in _DOT_READS):
            yield from [one for one in _arguments(dotted[2])[:1] if one[:1] != "|"]


def _runs(text: str) -> bool:
    return _SQL_RUNS.search(text) is not None or _RUNS_IN_LINE.search(text) is not None


def _saved(text: str) -> Iterator[str]:
    """The files that a client's own words write; what begins with ``|`` is a program."""
    for line in text.split("\n")[:_LINES]:
        dotted = _DOT.match(line)
        if dotted is not None:
            arguments = _arguments(dotted[2])
            if any(name.startswith(dotted[1]) for name in _DOT_RUNS) or any(one[:1] == "|" for one in arguments):
                yield "|"
            elif any(name.startswith(dotted[1]) for name in _DOT_SAVES):
                yield from arguments[-1:]
        for found in _SAVES.finditer(line):
            yield from _arguments(found[1])[:1]
    for found in _SAVES_ALONE.finditer(text):
        yield found[1]


def _arguments(text: str) -> list[str]:
    """Arguments of a client's own words, without quotes and options."""
    found = [one[1] or one[2] or one[3] or "" for one in _ARGUMENT.finditer(text)]
    return [word.removesuffix(";") for word in found if word[:1] != "-" and word not in ("", "stdout", "off", "on")]


JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {
    **dict.fromkeys(CLIENTS, _database),
    **dict.fromkeys(
        "dropdb dropuser createuser pg_restore pg_resetwal mysqladmin mongorestore pg_ctl".split(),
        judge_of(DROPS),
    ),
    **dict.fromkeys("pg_dump pg_dumpall mysqldump mongodump createdb pg_isready".split(), judge_of(DUMPS)),
}
