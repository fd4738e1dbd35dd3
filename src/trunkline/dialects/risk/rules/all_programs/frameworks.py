"""Tasks of frameworks that lose data, whatever runs them: ``rails db:drop``, ``npx prisma migrate reset``.

Rule 1: what runs a task (a build tool, a package manager, an interpreter, a file of the project) is judged elsewhere; here are
only the words behind it, and they only ever raise.
Rule 2: what is known of tasks is data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trunkline.dialects.risk.call import ProgramCall, Trait

WORDS: Final = 12
"""Words of a command in which a task is looked for."""

_OF_DATA: Final = frozenset("db database schema migrate migration ecto doctrine flyway liquibase".split())
_LOSES: Final = frozenset(
    "drop reset purge truncate truncate_all wipe fresh refresh rebuild nuke clean rollback downgrade undo undo:all down load "
    "replant setup dropAll".split())
"""Of a task that is named ``db:drop``: its first part, and any of the others."""

PHRASES: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "prisma": (("migrate", "reset"), ("db", "push", "--accept-data-loss"), ("db", "push", "--force-reset")),
    "rails": (("destroy",), ("d",)),
    **dict.fromkeys(("manage.py", "django-admin", "django"),
                    (("flush",), ("sqlflush",), ("reset_db",), ("reset_schema",), ("migrate", "zero"))),
    **dict.fromkeys(("migrate", "golang-migrate"), (("down",), ("drop",), ("force",))),
    "sql-migrate": (("down",),),
    "atlas": (("schema", "clean"),),
    "sea-orm-cli": (("migrate", "fresh"), ("migrate", "reset"), ("migrate", "refresh"), ("migrate", "down")),
    "drizzle-kit": (("drop",), ("push", "--force")),
    "goose": (("down",), ("down-to",), ("reset",), ("redo",)),
    **dict.fromkeys(("node-pg-migrate", "migrate-mongo", "umzug"), (("down",), ("redo",))),
    **dict.fromkeys(("db-migrate", "graphile-migrate"), (("down",), ("reset",))),
    "yoyo": (("rollback",),),
    "airflow": (("db", "reset"), ("db", "clean"), ("db", "downgrade")),
    "supabase": (("db", "reset"),),
    "hasura": (("database", "drop"), ("migrate", "delete")),
    "alembic": (("downgrade",),),
    "flask": (("db", "downgrade"),),
    "typeorm": (("migration:revert",), ("schema:sync",)),
    "wp": (("db", "drop"), ("db", "reset"), ("db", "clean"), ("site", "empty")),
    "flyway": (("clean",),),
    "liquibase": (("drop-all",), ("dropAll",), ("rollback",)),
    **dict.fromkeys(("gradle", "gradlew"), (("flywayClean",), ("liquibaseDropAll",))),
    "dbmate": (("drop",), ("down",), ("rollback",)),
    "sqlx": (("database", "drop"), ("database", "reset"), ("migrate", "revert")),
    "dotnet": (("ef", "database", "drop"), ("ef", "migrations", "remove"), ("ef", "database", "update", "0"),
               ("user-secrets", "clear")),
    "drush": (("site-install",), ("si",), ("sql-drop",), ("sql:drop",)),
    "diesel": (("database", "reset"), ("migration", "revert")),
}
"""The program, and words that follow it in this order."""


_SHOWS: Final[dict[str, frozenset[str]]] = {
    "dotnet": frozenset(("user-secrets",)),
    "rails": frozenset("credentials:show credentials:edit credentials:diff secrets:show encrypted:show".split()),
}
"""Tasks that show credentials."""


def note_lost(call: ProgramCall) -> None:
    """Note a task that loses data, or shows credentials."""
    words = [call.name, *call.args[:WORDS]]
    names = [word.rpartition("/")[2] for word in words]
    if any([not _SHOWS[name].isdisjoint(words) for name in names if name in _SHOWS]):
        call.traits |= Trait.SECRET
        call.at_least("high", "reads credentials", call.command.text)
    if any(map(_is_task, names)) or any([_follows(phrase, words[at + 1:]) for at, name in enumerate(names) if name in PHRASES
                                         for phrase in PHRASES[name]]):
        call.note("high", "drops or resets a database, or deletes what was generated", call.command.text)


def _is_task(word: str) -> bool:
    """``db:drop``, ``db:migrate:undo``, ``ecto.drop``."""
    if ":" not in word and word[:5] != "ecto.":
        return False
    first, *rest = word.split(":" if ":" in word else ".")
    return first in _OF_DATA and not _LOSES.isdisjoint(rest)


def _follows(phrase: Sequence[str], words: Sequence[str]) -> bool:
    rest = iter(words)
    return all(any(word.partition("=")[0] == wanted for word in rest) for wanted in phrase)
