"""Databases: by the statement in the arguments, and rows for programs that change or copy them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.risk.row_matching import judge_of, row

_SQL_LOSES: Final = re.compile(
    r"\b(drop|truncate|delete|alter|update|grant|revoke|shutdown|flushall|flushdb|drop(database|indexe?s?|user|role)|remove|delete(many|one)"
    r"|findoneanddelete|renamecollection|bulkwrite)\b", re.I
)
_SQL_READS: Final = re.compile(r"^\s*(select|show|describe|explain|\\d|\\l|\.tables|\.schema|pragma|get|keys|info|ping)\b", re.I)
_SQL_RUNS: Final = re.compile(
    r"\\!|\bcopy\b.*\bprogram\b|\.shell|\.system|\bsystem\s|xp_cmdshell|load_file|into\s+(out|dump)file|load_extension|eval\b",
    re.I,
)
_SQL_SAVES: Final = re.compile(r"^\s*\.(?:output|once|backup|save|clone|log|trace|excel)\s{1,9}(\S+)")
DROPS: Final = (row("", "high", "changes or deletes data", "dropdb x"),)
DUMPS: Final = (row("", "medium", "copies a database", "pg_dump x"),)


def _database(call: ProgramCall) -> None:
    """psql, mysql, redis-cli: by the statement in the arguments."""
    statements = [arg for arg in call.args if " " in arg or "(" in arg or _SQL_LOSES.fullmatch(arg)
                  or arg.startswith((".", "\\"))]
    for saved in filter(None, map(_SQL_SAVES.match, statements)):
        call.write(saved[1])
    if any(_SQL_RUNS.search(text) for text in statements):
        call.note("high", "makes the database run a program or write a file", statements[0])
    elif any(_SQL_LOSES.search(text) for text in statements):
        call.note("high", "changes or deletes data", next(text for text in statements if _SQL_LOSES.search(text)))
    elif not (statements and all(_SQL_READS.match(text) for text in statements)):
        call.note("medium", "works on a database", call.command.text)
        if call.name.startswith("sqlite") and call.operands and call.places.kind(call.operands[0]) not in ("inside", "temp"):
            call.write(call.operands[0])


JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {
    **dict.fromkeys(
        "psql mysql mariadb sqlite3 sqlite mongo mongosh redis-cli duckdb clickhouse-client cqlsh sqlcmd usql pgcli mycli "
        "influx".split(),
        _database,
    ),
    **dict.fromkeys(
        "dropdb dropuser createuser pg_restore mysqladmin mongorestore pg_ctl rabbitmqctl etcdctl consul nomad".split(),
        judge_of(DROPS),
    ),
    **dict.fromkeys("pg_dump pg_dumpall mysqldump mongodump createdb pg_isready".split(), judge_of(DUMPS)),
}
