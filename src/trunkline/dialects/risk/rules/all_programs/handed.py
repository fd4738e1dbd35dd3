"""Credentials that are handed to a program of which nobody here knows what it does with them, or to a client of a server.

Rule: it only ever raises. A program that exists to read such a file and start another with it is a row here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trunkline.dialects.risk.call import ProgramCall, Trait

_LOADERS: Final = frozenset(
    "dotenv dotenvx direnv env-cmd foreman honcho overmind hivemind godotenv envdir envsubst shellcheck dotenv-linter gitleaks "
    "trufflehog detect-secrets chezmoi stow bat batcat delta".split())
"""Programs that read such files themselves, and send them nowhere."""
_CLIENTS: Final = frozenset(
    "psql mysql mariadb redis-cli valkey-cli mongosh mongo mongoimport clickhouse-client cqlsh sqlcmd usql influx "
    "etcdctl".split())
_BETWEEN: Final = re.compile(r"[\s'\"@=,;()<>]+")
_WORDS: Final = 60


def note_handed(call: ProgramCall, is_unknown: bool) -> None:
    """Note credentials among the words or on the input of a call."""
    if not (is_unknown or call.name in _CLIENTS) or call.name in _LOADERS:
        return
    for path in _named(call):
        if call.places.secret(path):
            call.traits |= Trait.SECRET
            call.at_least("high", "hands credentials to a program that may send them", path)
            return


def _named(call: ProgramCall) -> Iterator[str]:
    for word in call.args[:_WORDS]:
        if "." in word or "/" in word or "~" in word:
            yield word
            yield from [part for part in _BETWEEN.split(word, maxsplit=_WORDS) if part and part != word]
    yield from [redirect.sketch for redirect in call.command.redirects if redirect.reads]
