"""What a command is under another name: ``git-push`` is ``git push``, and a line may copy, link or alias a
program before it runs it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from enum import Enum
from typing import Final, Literal

from trunkline.dialects.calls.variables import replaced
from trunkline.dialects.risk.runners import git
from trunkline.dialects.risk.runners.table import ROWS, VERBS
from trunkline.dialects.risk.runners.words import base_name
from trunkline.dialects.shell import SHELLS, SimpleCommand


class Unknown(Enum):
    """The one value that says: it may run anything."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN

Ran = tuple[str, ...] | Literal[Unknown.UNKNOWN]

_LOADER: Final = re.compile(r"ld(-linux|-musl)?[\w.-]*\.so(\.\d+)*|ld\.so")

_OTHERWISE_NAMED: Final = frozenset(("git", "hub", "ip", "nix", *VERBS))
"""Programs that may be others, beside git's own and loaders."""

_SAME: Final[dict[str, str]] = {
    "wget2": "wget", "grm": "rm", "gmv": "mv", "gcp": "cp", "gln": "ln", "gchmod": "chmod", "gchown": "chown", "gdd": "dd",
    "docker.io": "docker", "podman-remote": "podman", "opentofu": "terraform", "tofu": "terraform", "doas": "sudo",
    "slogin": "ssh", "wcurl": "curl", "curlie": "curl", "tflocal": "terraform", "awslocal": "aws", "aws2": "aws",
    "cdklocal": "cdk",
    **{f"{before}{name}": name for before in ("g", "gnu", "uu-", "uu_")
       for name in "rm mv cp ln chmod chown chgrp dd truncate shred rmdir unlink kill install mkdir touch tee".split()
       if f"{before}{name}" != "ginstall"},
}
"""The same program under another name, or one with the same words for the same things."""
_SUFFIXES: Final = (".exe", ".cmd", ".bat", ".com")
_COPIERS: Final = frozenset("cp ln install mv link rsync ditto gcp ginstall".split())

_PRINTERS: Final = frozenset("cat tee zcat gzip xz base64".split())

_READS_SCRIPTS: Final = SHELLS | {"source", ".", "exec"}

_PARTS: Final = 40
"""Of a path that are looked at: one that is deeper is no script that a line has moved."""

_BINARIES: Final = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/")

_LOADER_CHARS: Final = 80

_IMPLICIT: Final = frozenset(
    "makefile gnumakefile package.json .npmrc .yarnrc .yarnrc.yml conftest.py setup.py setup.cfg pyproject.toml pytest.ini "
    "tox.ini build.rs cargo.toml config.toml justfile rakefile gemfile build.gradle pom.xml cmakelists.txt .gitconfig config "
    ".gitattributes dockerfile .bashrc .profile sitecustomize.py".split())
"""Files that programs run, or take what to run from, without being given them."""
_IMPLICIT_IN: Final = re.compile(r"(?:^|[/=])(?:\.git/hooks|\.?githooks|\.husky|\.cargo|\.vscode|\.direnv)/", re.IGNORECASE)
"""The same, by the folder that they lie in."""


QUIET: Final = frozenset("ls cat echo cd pwd head tail wc mkdir true false test [ printf grep".split()) - ROWS.keys()
"""Programs that run nothing, and make no other name of anything by their words; most commands are one of these."""


class _NamesMade:
    """What the commands of a line so far have made another name of."""

    def __init__(self) -> None:
        self.aliases: dict[str, str] = {}
        self.copies: dict[str, str] = {}
        """The program behind a name; empty: one that nobody knows."""
        self.paths: dict[str, str] = {}
        """Files and folders that are no programs, by their new paths: where they were."""
        self.written: set[str] = set()
        """Files that the line itself writes."""
        self.steers = False
        """Whether one of them says what programs run that are not given it."""

    def names(self, command: SimpleCommand) -> Ran:
        """What a copy, a link or an alias is really called; UNKNOWN where it is something that this line has made."""
        if not self.copies and not self.aliases and not self.written and not self.steers:
            return ()  # as mostly
        name = command.name
        if name is None or not command.words:
            return ()
        if self.copies.get(name, name) != name:
            words = (self.copies[name], *map(git.quoted, command.sketch[1:]))
            return (" ".join(words)[:git.CHARS], *self._moved(command)) if self.copies[name] else UNKNOWN
        if self.paths and (moved := self._moved(command)):
            return moved
        if self.aliases and name == "git":
            return git.aliased(command, self.aliases)
        if self.steers and (name == "git" or name in ROWS):
            return UNKNOWN
        first = command.sketch[0]
        if self.written and (("/" in first and name in self.written) or (
                (name in _READS_SCRIPTS or name in ROWS) and any(base_name(word) in self.written for word in command.sketch[1:]
                                                                 if word[:1] != "-"))):
            return UNKNOWN if name in _READS_SCRIPTS or "/" in first or ROWS[name].language == "code" else ()
        return ()

    def _moved(self, command: SimpleCommand) -> tuple[str, ...]:
        """A script that the line has copied, moved or linked, alone or with its folder, by the path that it had before."""
        words = command.sketch
        reads = (command.name in _INTERPRETERS or command.name in _READS_SCRIPTS) and len(words) > 1
        for at in range(min(len(words), _SCRIPT_AMONG) if reads else 1):
            path = posixpath.normpath(words[at]) if words[at][:1] != "-" else ""
            parts = path.split("/")[:_PARTS] if path and (at or "/" in words[at]) else []
            for end in range(len(parts), 0, -1):
                above = "/".join(parts[:end])
                if (before := self.paths.get(above, "")):
                    there = posixpath.normpath(before + path[len(above):])
                    there = there if "/" in there else f"./{there}"
                    return (" ".join(map(git.quoted, (*words[:at], there, *words[at + 1:])))[:git.CHARS],)
        return ()

    def learn(self, command: SimpleCommand) -> None:
        """Remember what a command makes another name of, or writes."""
        words, name = command.sketch, command.name
        if name in QUIET and not command.redirects and not command.assignments and not command.binds:
            return
        for assignment in command.sets:
            if (new := replaced(assignment)) is not None:
                self._named(new[0], next(iter(new[1].split()), ""))
        if name == "git" and "config" in words:
            self.aliases.update(git.aliases_set(command))
        elif name in _COPIERS:
            self._copied([word for word in words[1:] if word[:1] != "-" or word.startswith("-t")])
        elif name == "git" and "mv" in words[:_SCRIPT_AMONG]:
            self._copied([word for word in words[words.index("mv") + 1:] if word[:1] != "-"])
        elif name in ("alias", "hash"):
            self._aliased(name, words)
        elif name == "dd":
            parts = dict(word.partition("=")[::2] for word in words[1:])
            self._named(parts.get("of", ""), parts.get("if", ""))
        if name != "git" and any([_IMPLICIT_IN.search(f"{word}/") for word in words[1:] if "hooks" in word or "husky" in word]):
            self.steers = True  # whatever the program does there
        for redirect in command.redirects:
            if redirect.writes and redirect.sketch and not redirect.sketch.startswith("/dev/"):
                self._wrote(redirect.sketch)
                if name in _PRINTERS and len(words) == 2:
                    self._named(redirect.sketch, words[1])
        if name == "tee":
            for word in words[1:]:
                if word[:1] != "-":
                    self._wrote(word)

    def _wrote(self, path: str) -> None:
        """Remember a file that the line writes, in any case of letters."""
        name = base_name(path)
        small = name.lower()
        self.written.add(name)
        self.written.add(small)
        self._steered(path)

    def _steered(self, path: str) -> None:
        self.steers = self.steers or base_name(path).lower() in _IMPLICIT or _IMPLICIT_IN.search(path) is not None

    def _aliased(self, name: str, words: Sequence[str]) -> None:
        if name == "hash" and "-p" in words:
            self._named(words[-1], words[words.index("-p") + 1])
        for word in words[1:]:
            alias, equal, text = word.partition("=")
            if equal:
                self.copies[alias] = text

    def _copied(self, operands: list[str]) -> None:
        if operands and operands[0].startswith("-t"):  # the folder comes first
            operands = [*operands[2:], *operands[1:2]] if operands[0] == "-t" else [*operands[1:], operands[0][2:]]
        target = posixpath.normpath(operands[-1]) if operands else ""
        for source in operands[:-1]:
            self._steered(target)
            self._steered(posixpath.join(target, base_name(source)))
            before = self.paths.get(posixpath.normpath(source), source)
            if not source.startswith(_BINARIES):
                self.paths[target] = before
                self.paths[posixpath.join(target, base_name(source))] = before
            self._named(operands[-1], source)
            if base_name(source) not in self.copies:
                self._named(source, source)

    def _named(self, target: str, source: str) -> None:
        if not target or not source:
            return
        opened = "$" in source or "`" in source
        self.copies[base_name(target)] = "" if opened else self.copies.get(base_name(source), base_name(source))


def line_names(commands: Sequence[SimpleCommand]) -> list[Ran]:
    """For every command of a line what it is under its own name, with what the line has made before it; ``()``: what it says."""
    known = _NamesMade()
    found: list[Ran] = []
    for command in commands:
        name = command.name
        if name in QUIET and name not in known.copies and not (command.redirects or command.assignments or command.binds) and (
                command.words[0] == name):
            found.append(())  # as mostly: it is what it says, and makes no other name
            continue
        found.append(known.names(command) or real_name(command))
        known.learn(command)
    return found


def real_name(command: SimpleCommand) -> tuple[str, ...]:
    """The program that a program is under another name: ``git-push``, ``git send-pack``, an alias given with it, a loader."""
    name = command.name
    if not name or name in QUIET:
        return ()
    if (same := _SAME.get(name) or (_without_suffix(name) if "." in name else "")):
        return (" ".join((same, *map(git.quoted, command.sketch[1:])))[:git.CHARS],)
    if not (name in _OTHERWISE_NAMED or name.startswith(("git-", "ld"))):
        return ()
    if name == "git":
        return git.behind(command)
    if name.startswith("git-"):
        return git.behind_helper(command)
    if name == "hub":
        return (" ".join(("git", *map(git.quoted, command.sketch[1:])))[:git.CHARS],)
    if name in VERBS and len(command.sketch) > 1 and len(command.sketch[1]) > 2:
        return tuple([" ".join((name, verb, *command.sketch[2:]))[:git.CHARS] for verb in VERBS[name]
                      if verb.startswith(command.sketch[1]) and verb != command.sketch[1]])
    if name[:2] == "ld" and len(name) < _LOADER_CHARS and _LOADER.fullmatch(name):
        at = 1
        while at < len(command.sketch) and command.sketch[at][:1] == "-":
            at += 2 if command.sketch[at] in ("--library-path", "--preload", "--audit", "--argv0", "--inhibit-rpath") else 1
        line = joined(command, at)
        return () if line is UNKNOWN else line
    if name == "nix" and command.sketch[1:2] == ("run",):
        return _of_flake(command)
    if name == "ip" and "exec" in command.sketch:
        line = joined(command, command.sketch.index("exec") + 2)
        return () if line is UNKNOWN else line
    return ()


def _of_flake(command: SimpleCommand) -> tuple[str, ...]:
    """``nix run nixpkgs#curl -- x``: what it runs is called after its package, as far as anybody can see."""
    words = command.sketch
    at = next((at for at, word in enumerate(words) if at > 1 and word[:1] != "-"), 0)
    name = words[at].rpartition("#")[2].rpartition(".")[2] if at and "#" in words[at] else ""
    rest = words[words.index("--") + 1:] if "--" in words else ()
    return (" ".join((name, *map(git.quoted, rest)))[:git.CHARS],) if name else ()


def _without_suffix(name: str) -> str:
    """``curl`` for ``curl.exe``, ``terraform`` for ``terraform_1.5``; empty where there is no such suffix."""
    found = next((name[:-len(suffix)] for suffix in _SUFFIXES if name.lower().endswith(suffix)), "")
    return found or (_RELEASE.sub("", name) if _RELEASE.search(name) else "")


_RELEASE: Final = re.compile(r"(?<=[a-z])[-_]?v?\d{1,4}(?:\.\d{1,6}){1,3}$")
"""Behind the name of a program: which one of several that are installed."""


_INTERPRETERS: Final = frozenset(
    "node nodejs bun deno ruby jruby php perl lua luajit python python2 python3 pypy pypy3 java tsx ts-node".split()) | SHELLS
_MANAGERS: Final[dict[str, str]] = {
    **{name: name for name in (
        "npm npx pnpm pnpx yarn bunx corepack composer pip gem bundle rake poetry pdm pipenv uv twine flit hatch cargo "
        "gradle mvn ant sbt lein cpan cpanm luarocks wp drush gcloud gsutil aws az firebase vercel netlify wrangler ng nx "
        "lerna turbo rimraf shx semantic-release release-it np vsce ovsx changeset git-filter-repo ansible "
        "ansible-playbook conda gh-pages surge serverless sls cdk flyway liquibase sonar-scanner rails artisan").split()},
    "maven": "mvn", "gradlew": "gradle", "mvnw": "mvn", "yarnpkg": "yarn", "bundler": "bundle", "firebase-tools": "firebase",
}
"""Package managers, and what else publishes or deletes, by the names of their scripts."""
_SCRIPT: Final = re.compile(
    r"(?:.{0,400}/)?([a-z][a-z-]{1,40}?)\d?(?:[-_.]v?\d[\w.]{0,40})?(?:-cli|-wrapper)?"
    r"(?:\.(?:[cm]?[jt]s|phar|pyz?|rb|pl|jar|pex|sh))?")
_SCRIPT_AMONG: Final = 8


def manager_by_script(command: SimpleCommand) -> tuple[str, ...]:
    """``node …/npm-cli.js publish`` is ``npm publish``: a manager that its interpreter starts, by the name of its script."""
    name = (command.name or "").rstrip("0123456789.")
    if len(command.sketch) < 2 or (name not in _INTERPRETERS and command.name not in _INTERPRETERS):
        return ()
    for at, word in enumerate(command.sketch[1:_SCRIPT_AMONG], 1):
        if word[:1] == "-" or word in ("run", "x"):
            continue
        found = _SCRIPT.fullmatch(word)
        manager = _MANAGERS.get(found[1]) if found is not None else None
        return (" ".join((manager, *map(git.quoted, command.sketch[at + 1:])))[:git.CHARS],) if manager else ()
    return ()


def joined(command: SimpleCommand, at: int) -> Ran:
    """The words from here on as a command line."""
    if at >= len(command.words):
        return ()
    first = command.words[at]
    if first is None:
        return UNKNOWN
    return (" ".join(map(git.quoted, (base_name(first), *command.sketch[at + 1:])))[:git.CHARS],)
