"""Consoles of frameworks: ``rails console``, ``django-admin shell``, ``artisan tinker`` run what comes on their input, and what
their words bring.

Rule 1: only the code is judged here; what starts the console is judged elsewhere.
Rule 2: which consoles there are is data: the program, its words, the language that they take (none: statements of a database),
the options whose value is code, and whether the word behind is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.inline.code import judge_code
from trunkline.dialects.risk.inline.magics import note_magics
from trunkline.dialects.risk.rules.databases import judge_statements, note_not_known
from trunkline.dialects.risk.stdin import given

_LOSES: Final = re.compile(
    r"\b(?:delete|delete_all|delete_by|destroy|destroy_all|destroy_by|truncate|drop|flush|update_all|raw_sql|forceDelete|bulk_update"
    r"|delete_if|drop_table|drop_all|remove_column)\b")
"""What a console's own objects lose data by."""
_FILE: Final = re.compile(r"[\w./~-]{1,400}\.(?:rb|php|py|exs?|sql)")
WORDS: Final = 6
"""Words of a command in which a console is looked for."""
_CODE_WORDS: Final = 24
"""Words behind it in which code is looked for."""


class Console(NamedTuple):
    """What a console takes."""

    language: str = ""
    options: frozenset[str] = frozenset()
    """Their value is code."""
    operand: bool = False
    """The words behind it are code, unless they are a file."""


def _takes(language: str = "", options: str = "", *, operand: bool = False) -> Console:
    return Console(language, frozenset(options.split()), operand)


_RUBY: Final = _takes("ruby")
_SQL: Final = _takes()
_SQL_WORDS: Final = _takes(options="-c --command -e --execute --sql", operand=True)
_PYTHON: Final = _takes("python", "-c --command")
_PHP_WORDS: Final = _takes("php", operand=True)
CONSOLES: Final[dict[str, dict[str, Console]]] = {
    "rails": {"console": _RUBY, "c": _RUBY, "runner": _takes("ruby", operand=True), "r": _takes("ruby", operand=True),
              "dbconsole": _SQL, "db": _SQL},
    **{name: {"shell": _PYTHON, "shell_plus": _PYTHON, "dbshell": _takes(options="-c --command -e --execute")}
       for name in ("manage.py", "django-admin", "django")},
    "artisan": {"tinker": _takes("php", "--execute"), "db": _SQL},
    "flask": {"shell": _takes("python")},
    "hanami": {"console": _RUBY},
    "mix": {"run": _takes("elixir", "-e --eval -r --require")},
    "heroku": {"run": _SQL, "pg:psql": _takes(options="-c --command"), "psql": _takes(options="-c --command")},
    "supabase": {"db": _SQL},
    "wp": {"shell": _takes("php"), "eval": _PHP_WORDS, "db": _SQL_WORDS},
    "drush": {**dict.fromkeys(("php", "php:cli"), _takes("php")),
              **dict.fromkeys(("php:eval", "php-eval", "eval", "ev"), _PHP_WORDS),
              **dict.fromkeys(("sqlc", "sql-cli", "sql:cli"), _SQL),
              **dict.fromkeys(("sqlq", "sql-query", "sql:query"), _SQL_WORDS)},
    "jupyter": {"console": _takes("ipython")},
    "prisma": {"db": _SQL},
    "wrangler": {"d1": _takes(options="--command")},
    "bq": {"query": _SQL_WORDS},
    "turso": {"shell": _SQL_WORDS, "db": _SQL_WORDS},
}


_OPENED: Final = frozenset(("dbshell", "dbconsole"))
"""Consoles with the project's own credentials: what is typed there nobody sees."""


def note_console(call: ProgramCall) -> None:
    """Note what a console would do with its input, and with the code of its words."""
    words = [(call.command.name or "").lower(), *call.args[:WORDS]]
    for at, word in enumerate(words[:-1]):
        verbs = CONSOLES.get(word.rpartition("/")[2])
        if verbs is None:
            continue
        behind = next((place for place in range(at + 1, len(words)) if words[place] in verbs), None)
        if behind is None:
            continue
        console = verbs[words[behind]]
        code = list(_code(call, console, behind + 1))
        found = given(call)
        if code or found is not None:
            texts = [text for text in (*code, *(found.texts if found is not None else ())) if text is not None]
            _judge(call, console, texts, None not in code and (found is None or found.is_known))
            return
        if words[behind] in _OPENED and "--help" not in call.longs:
            call.note("high", "opens a console of the project's database", call.command.text)


def _code(call: ProgramCall, console: Console, first: int) -> Iterator[str | None]:
    """The words behind a console that are code; None: one that is only known when it runs."""
    words = call.command.words[:first + _CODE_WORDS]
    is_value = False
    for at in range(first, len(words)):
        sketch = call.command.sketch[at]
        name, equal, value = sketch.partition("=")
        if is_value or (console.operand and sketch[:1] != "-" and _FILE.fullmatch(sketch) is None):
            yield words[at]
        elif equal and name in console.options:
            yield value if words[at] is not None else None
        elif name[:2] in console.options and name[1:2] != "-" and len(name) > 2:
            yield sketch[2:] if words[at] is not None else None
        is_value = sketch in console.options


def _judge(call: ProgramCall, console: Console, texts: list[str], is_known: bool) -> None:
    if not console.language:
        if not is_known:
            note_not_known(call)
        judge_statements(call, [text for text in texts if text.strip()])
        return
    call.traits |= Trait.EXECUTES
    for text in texts:
        if console.language == "ipython":
            note_magics(call, text)
        judge_code(call, text, "python" if console.language == "ipython" else console.language)
        if _LOSES.search(text) is not None:
            call.note("high", "changes or deletes data", text)
    if not is_known:
        call.note("high", "runs code, and it is not known which", call.command.text)
