"""Databases: by the statements in the arguments and on the input, and rows for programs that change or copy them.

Which words are statements, and who reads its input, says ``clients.py``; here is what statements do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.risk.row_matching import judge_of, row
from trunkline.dialects.risk.rules.clients import CLIENTS, read_words
from trunkline.dialects.risk.stdin import given

_SQL_LOSES: Final = re.compile(
    r"\b(drop|truncate|delete|alter|update|grant|revoke|shutdown|flushall|flushdb|del|unlink|drop(database|indexe?s?|user|role)|remove|delete(many|one)"
    r"|findoneanddelete|renamecollection|bulkwrite)\b", re.I
)
_SQL_READS: Final = re.compile(
    r"^\s*(select|show|describe|explain|\\d\w{0,8}|\\l|\.tables|\.schema|pragma|get|keys|info|ping)\b", re.I)
_SQL_RUNS: Final = re.compile(
    r"\\!|\bcopy\b.*\bprogram\b|\bsystem\s|xp_cmdshell|load_file|into\s+(out|dump)file|\bwritefile\s*\("
    r"|load_extension|\bedit\s*\(|eval\b|\blo_(ex|im)port\b|\bpg_(terminate_backend|file_|read_|write_|ls_dir)|\bdblink_exec\b|\bwritable_schema"
    r"|\\gexec\b|\bexecute\s+immediate\b|\bprepare\s+\w+\s+from\b|\bconfig\s+set\b|\bmodule\s+load|\b(replica|slave)of\b",
    re.I,
)
_RUNS_IN_LINE: Final = re.compile(
    r"^[ \t]{0,40}(?:pager|\\P)[ \t]+\S|^[ \t]{0,40}\\\w[^\n]{0,400}`|\\(?:o|out|w|write|g|gx)\s{0,9}\|", re.MULTILINE)
"""Words of a client of its own that hand something to a program."""
_SAVES: Final = re.compile(r"(?:(?:^|\s)\\(?:o|out|w|write|g|gx|s|T)|^\s{0,9}tee)\s{1,9}(\S[^\n]{0,4096})")
_SAVES_ALONE: Final = re.compile(
    r"\b(?:vacuum\b[^;']{0,80}\binto|copy\b[^;']{0,400}\bto|export\s+database"
    r"|attach(?:\s+database)?)\s{1,9}'([^']{1,4096})'", re.I)
_DOT: Final = re.compile(r"\s*\.([a-z]{1,20})\b([^\n]{0,4096})")
_DOT_RUNS: Final = ("shell", "system", "load")
_DOT_SAVES: Final = ("output", "once", "backup", "save", "clone", "log", "trace", "excel", "open", "www")
"""sqlite's own words, which may be cut short: what runs something, and what saves into the last of its arguments. Behind ``|``
an argument of any of them is a program."""
_ARGUMENT: Final = re.compile(r"\"([^\"]*)\"|'([^']*)'|(\S+)")
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
    if not words.is_known:
        note_not_known(call)
    for path in words.writes:
        if path[:1] == "|":
            call.note("high", "makes the database run a program or write a file", path)
        elif path and path != "-":
            call.write(path)
    if "--pager" in call.longs and call.value("--pager"):
        call.note("high", "makes the database run a program or write a file", call.command.text)
    found = list(dict.fromkeys((*words.statements, *statements)))
    judge_statements(call, [*found, *_input(call)] if words.reads_input else found)


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
    saved = [path for text in statements for path in _saved(text)]
    for path in saved:
        if path[:1] != "|":
            call.write(path)
    if any(path[:1] == "|" for path in saved) or any(map(_runs, statements)):
        call.note("high", "makes the database run a program or write a file", statements[0])
    elif any(_SQL_LOSES.search(text) for text in statements):
        call.note("high", "changes or deletes data", next(text for text in statements if _SQL_LOSES.search(text)))
    elif not (statements and all(_SQL_READS.match(one) for text in statements for one in text.split(";") if one.strip())):
        call.note("medium", "works on a database", call.command.text)
        if call.name.startswith("sqlite") and call.operands and call.places.kind(call.operands[0]) not in ("inside", "temp"):
            call.write(call.operands[0])


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
        "dropdb dropuser createuser pg_restore mysqladmin mongorestore pg_ctl rabbitmqctl etcdctl consul nomad".split(),
        judge_of(DROPS),
    ),
    **dict.fromkeys("pg_dump pg_dumpall mysqldump mongodump createdb pg_isready".split(), judge_of(DUMPS)),
}
