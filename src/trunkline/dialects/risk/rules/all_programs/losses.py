"""Sub-commands that say what they do: ``x apps destroy``, ``x app:delete``, ``x site publish``, whatever program x is.

Rule 1: this is for programs without rows of their own. A rehearsal, and a question for help, does nothing.
Rule 2: what is known is data: the words, the options, and for some programs further words.
"""

from __future__ import annotations

import re
from typing import Final

from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.rules.all_programs.releases import REHEARSALS, rehearses
from trunkline.dialects.risk.rules.databases import CHANGES
from trunkline.dialects.risk.stdin import given

_VERB_AMONG: Final = 3
"""Operands in which the sub-command is looked for."""
_WORD_CHARS: Final = 120
_WORDS: Final = 24
_DELETES: Final = re.compile(
    r"(?:[\w-]{1,60}[:.]|sql-|db-)?(?:delete|destroy|drop|purge|remove|rm|reset|terminate|teardown|erase|uninstall|wipe|nuke|undeploy|down|undo|rollback)(?:[-:][\w:-]{1,60})?")
_NAMED: Final = re.compile(
    r"(?:.{0,80}[-_.])?(?:delete|destroy|purge|wipe|nuke|erase)(?:[-_.].{0,80})?|[a-z]{2,20}delete", re.IGNORECASE)
"""The name of a program that does nothing else."""
_PUBLISHES: Final = re.compile(r"(?:[\w-]{1,60}[:.])?(?:publish|deploy|release|upload|push)(?:[-:][\w:-]{1,60})?")
_OPTIONS: Final = frozenset("--delete --drop --prune --purge --destroy --delete-all --wipe --down".split())
_NOTHING: Final = frozenset("--help --dry-run --dryrun".split())
FURTHER: Final[dict[str, frozenset[str]]] = {
    "gio": frozenset(("remove", "trash")),
    "fdupes": frozenset(("-d", "-dN", "-Nd", "-rdN", "-dr", "-rd", "-N", "--delete")),
    "jdupes": frozenset(("-d", "-dN", "-rdN", "--delete", "-L", "--linkhard")),
    "restic": frozenset(("forget", "prune", "unlock", "rewrite")),
    "borg": frozenset(("prune", "compact", "recreate")),
    "rclone": frozenset(("deletefile", "rmdirs", "cleanup", "move", "moveto", "sync")),
    **dict.fromkeys(("dvc", "mlflow"), frozenset(("gc",))),
    "grpcurl": frozenset(),
}
_FAR_CODE: Final = re.compile(r"(?:-{1,2}[\w-]{1,40}=)?https?://[^\s?#]{1,400}\.(?:py|sh|[cm]?js|tsx?|rb|pl|ps1|php)(?:[?#].{0,400})?")
"""An address of a file of code: who is given that may run it."""
_REMOTE_CALL: Final = re.compile(r"[\w.]{1,200}[/.](?:Delete|Destroy|Drop|Purge|Remove|Truncate|Wipe)\w{0,80}")


GIVES: Final[dict[str, frozenset[str]]] = {
    "ansible-vault": frozenset(("view", "decrypt", "edit", "rekey")),
    "sops": frozenset(("-d", "--decrypt", "decrypt", "exec-env", "edit")),
}
"""Words by which a program shows credentials."""


def note_losses(call: ProgramCall) -> None:
    """Note a sub-command, an option or a statement that deletes, and one that publishes."""
    if (call.longs and rehearses(call.args, _NOTHING)) or call.args[:1] == ("help",):
        return
    if call.name in GIVES and not GIVES[call.name].isdisjoint(call.args[:_WORDS]):
        call.traits |= Trait.SECRET
        call.note("high", "reads credentials", call.command.text)
    verbs = [word for word in call.operands[:_VERB_AMONG] if len(word) <= _WORD_CHARS]
    is_named = _NAMED.fullmatch(call.name) is not None
    if is_named or any(map(_DELETES.fullmatch, verbs)) or not call.longs.isdisjoint(_OPTIONS) or _further(call) or any(
            [arg[:7].lower() == "-delete" for arg in call.args[:_WORDS]]):
        call.at_least("high", "deletes something, by its own words", call.command.text)
    elif any(map(_PUBLISHES.fullmatch, verbs)) and not rehearses(call.args, REHEARSALS):
        call.at_least("high", "publishes or deploys, by its own words", call.command.text)
    said = [word for word in call.operands[:_VERB_AMONG + 1] if len(word) <= _WORD_CHARS]
    if _hands_out(said):
        call.traits |= Trait.SECRET
        call.at_least("high", "reads credentials, by its own words", call.command.text)
    elif _lets_in(said):
        call.at_least("high", "changes who may do what, by its own words", call.command.text)
    if (code := next(filter(_FAR_CODE.fullmatch, call.args[:_WORDS]), None)) is not None:
        call.at_least("high", "may run code from an address", code)
    fed = given(call) if call.command.redirects or call.command.stdin_from >= 0 else None
    texts = [*call.args[:_WORDS], *(fed.texts if fed is not None else ())]
    statement = next((text for text in texts if " " in text and CHANGES.search(text[:4096]) is not None), None)
    if statement is not None:
        call.at_least("high", "changes or deletes data", statement)


_EMPTIES: Final = re.compile(r"(?:[\w-]{1,60}[:.]){0,3}(?:clear|flush|truncate|empty|prune|drain)(?:[-:_][\w:-]{1,60})?")
_HOLDS: Final = frozenset(
    "data database databases db dbs metadata table tables collection collections index indexes indices queue queues topic topics "
    "stream streams bucket buckets storage volume volumes schema schemas keyspace keyspaces dataset datasets record records "
    "document documents user users account accounts message messages job jobs task tasks event events redis mongo mongodb "
    "postgres mysql sql elastic elasticsearch kafka rabbit nats rq sidekiq celery trash backup backups snapshot snapshots secret "
    "secrets env vars variables state site post posts order orders key keys namespace registry mail dlq s3 object objects "
    "session sessions history memcached bull bullmq resque delayed search algolia".split())
"""What holds data that nobody makes anew, by the parts of names."""
_MADE_ANEW: Final = re.compile(r"(?:.{0,60}_)?caches?|builders?|builds?|dist|te?mp|coverage|screen|node_modules", re.IGNORECASE)
_PARTS: Final = re.compile(r"[-_:./\s]+")


_FRAMEWORKS: Final = frozenset("artisan manage.py console rails drush wp magento craft occ typo3 typo3cms".split())
"""Files of a project that are the program of its framework: their tasks are not the project's own."""


def note_emptied(call: ProgramCall, is_unknown: bool) -> None:
    """Note a sub-command that empties what holds data: ``hasura metadata clear``. A cache is made anew, and what a script of the
    project calls so is its own."""
    words = [word for word in call.operands[:_VERB_AMONG] if len(word) <= _WORD_CHARS]
    if call.args[:1] == ("help",) or not any(map(_EMPTIES.fullmatch, words)) or (call.longs and rehearses(call.args, _NOTHING)):
        return
    if not is_unknown and _FRAMEWORKS.isdisjoint([word.rpartition("/")[2] for word in (call.name, *words)]):
        return
    parts = [part.lower() for word in (call.name, *words) for part in _PARTS.split(word) if part]
    if not _HOLDS.isdisjoint(parts) and not any(map(_MADE_ANEW.fullmatch, parts)):
        call.at_least("high", "empties what holds data, by its own words", call.command.text)


_KEPT: Final = re.compile(
    r"(?:connections?|secrets?|credentials?|tokens?|passwords?|api-?keys?|fernet_key|env:decrypt|variables)")
_SHOWN_BY: Final = re.compile(r"(?:get(?:-value)?|export|show|reveal|print|dump|decrypt|create)(?:-[\w-]{1,40})?")
_PEOPLE: Final = re.compile(r"(?:users?|admins?|roles?|members?|permissions?)")
_MADE: Final = re.compile(r"(?:create|add|grant|passwd|set-password|change-password|promote)(?:-[\w-]{1,40})?")


def _hands_out(verbs: list[str]) -> bool:
    """Whether words say that credentials are shown: ``x connections export``."""
    return "env:decrypt" in verbs or (any(map(_KEPT.fullmatch, verbs)) and any(map(_SHOWN_BY.fullmatch, verbs)))


def _lets_in(verbs: list[str]) -> bool:
    """Whether words say that somebody may do more from then on: ``x users create``."""
    return any(map(_PEOPLE.fullmatch, verbs)) and any(map(_MADE.fullmatch, verbs))


def _further(call: ProgramCall) -> bool:
    words = FURTHER.get(call.name)
    if words is None:
        return False
    if call.name == "grpcurl":
        return any(_REMOTE_CALL.fullmatch(word) for word in call.operands if len(word) <= _WORD_CHARS * 3)
    return not words.isdisjoint(call.args[:_WORDS])
