"""Tasks of build tools that publish or deploy: what they send out is there for everybody, and cannot be taken back.

Rule 1: what runs a task is judged elsewhere; here are only the words behind it, and they only ever raise.
Rule 2: what is known of tasks is data. A rehearsal publishes nothing. What a project calls its own task ``deploy`` is a script of
the project as any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from trunkline.dialects.risk.call import ProgramCall

WORDS: Final = 12
"""Words of a command in which a task is looked for, of so many characters."""
_WORD_CHARS: Final = 200
REHEARSALS: Final = frozenset("--dry-run --dryrun --snapshot --skip-publish --no-publish".split())

Phrase = tuple[re.Pattern[str], ...]


def _phrases(*phrases: str) -> tuple[Phrase, ...]:
    """Each is words with blanks between them, that follow one another; a word is an expression for all of it."""
    return tuple(tuple(re.compile(word) for word in phrase.split()) for phrase in phrases)


_MAVEN: Final = _phrases(
    r"deploy|deploy:[\w.-]{1,40}|[\w.:-]{1,80}:(?:deploy|upload|publish|push)[\w.:@-]{0,80}|release:(perform|prepare)|nexus-staging:[\w.-]{1,40}")
_GRADLE: Final = _phrases(
    r":?([\w-]{1,60}:){0,8}(publish(?!ToMavenLocal)\w{0,80}|release|deploy\w{0,40}|\w{0,40}[uU]pload\w{0,40}|close\w{0,20}Release\w{0,40})")

RELEASES: Final[dict[str, tuple[Phrase, ...]]] = {
    **dict.fromkeys(("mvn", "mvnw", "mvnd"), _MAVEN),
    **dict.fromkeys(("gradle", "gradlew"), _GRADLE),
    "sbt": _phrases(r"([\w-]{1,60}/)?\+?(publish(?!Local|M2)\w{0,40}|release|deploy\w{0,40}|sonatype\w{1,40}|ci-release)"),
    "dotnet": _phrases("nuget (push|delete)"),
    "nuget": _phrases("(push|delete)"),
    "mix": _phrases(r"hex\.(publish|retire)"),
    "rebar3": _phrases("hex publish"),
    **dict.fromkeys(("stack", "cabal"), _phrases("upload")),
    **dict.fromkeys(("lerna", "changeset", "@changesets/cli", "vsce", "ovsx"), _phrases("publish")),
    "nx": _phrases("release"),
    "mkdocs": _phrases("gh-deploy"),
    "hugo": _phrases("deploy"),
    **dict.fromkeys(("bazel", "bazelisk"), _phrases(
        r"run //[\w/.-]{0,200}[:/][\w.-]{0,60}(?:deploy|push|publish|release)[\w.-]{0,60}")),
    "mike": _phrases("deploy|delete"),
    "goreleaser": _phrases("release|publish"),
    "rake": _phrases(r"([\w:]{1,60}:)?release(:[\w:]{1,60})?"),
    "lein": _phrases("deploy|release"),
    "deno": _phrases("publish"),
    "nimble": _phrases("publish"),
    "maturin": _phrases("publish|upload"),
    "cargo": _phrases("release (--execute|-x)", "workspaces publish", "smart-release (--execute|-e)"),
    "setup.py": _phrases("upload|register|upload_docs"),
    "twine": _phrases("upload|register"),
    "flit": _phrases("publish"),
    **dict.fromkeys(("dart", "flutter"), _phrases("pub publish")),
    "skopeo": _phrases("copy|delete|sync"),
    "crane": _phrases("push|delete|copy|cp|tag|append|mutate|rebase"),
    "oras": _phrases("push|attach|copy|cp|tag", "(manifest|blob|repo) (push|delete)"),
    "ko": _phrases("build|publish|apply|create|delete|resolve"),
    "pod": _phrases("trunk push"),
    "fastlane": _phrases("(release|deploy|deliver|pilot|supply|beta)"),
    "eas": _phrases("(submit|update)"),
    **dict.fromkeys("skaffold kamal waypoint devspace garden okteto".split(),
                    _phrases("run|deploy|apply|up|delete|remove|rollback|destroy|purge")),
}
"""The program, and words that follow it in this order."""
PUBLISHERS: Final = frozenset(("semantic-release", "release-it", "np", "gh-pages", "auto"))
"""They do nothing else."""
_KNOWN: Final = PUBLISHERS | RELEASES.keys()


_PLAIN: Final = frozenset(
    "--clean --rm-dist --allow-dirty --yes -y --verbose -v --debug --no-verify --quiet -q --ci --skip-validate --json".split())
"""Options that take no value, whatever program it is."""


def rehearses(words: Sequence[str], wanted: frozenset[str]) -> bool:
    """Whether one of these options is there, and not as the value of an option before it."""
    for at, word in enumerate(words):
        if word == "--":
            return False
        before = words[at - 1] if at else ""
        if word in wanted and (before[:1] != "-" or "=" in before or before in _PLAIN or before in wanted):
            return True
    return False


def note_released(call: ProgramCall) -> None:
    """Note a task that publishes or deploys."""
    names = [word.rpartition("/")[2] if "/" in word else word for word in (call.name, *call.args[:2])]
    if _KNOWN.isdisjoint(names):
        return
    words = [call.name, *call.args[:WORDS]]
    if rehearses(words, REHEARSALS):
        return
    if not PUBLISHERS.isdisjoint(names[:2]) or names == ["goreleaser"] or any([
            _follows(phrase, words[at + 1:]) for at, name in enumerate(names) for phrase in RELEASES.get(name, ())]):
        call.at_least("high", "publishes or deploys", call.command.text)


def _follows(phrase: Phrase, words: Sequence[str]) -> bool:
    rest = iter(words)
    return all(any(len(word) <= _WORD_CHARS and wanted.fullmatch(word) for word in rest) for wanted in phrase)
