"""Commands that run other commands: where the inner one is in their words.

Rule 1: a wrapper stays in the line as a command of its own, and what it runs follows it. A rule for either of them sees it.
Rule 2: what cannot be found (``sh -c "$X"``) gives nothing here. Whoever judges the wrapper must ask for that.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct, structs

from trunkline.dialects.shell.managers import MANAGERS, bound_texts, managed
from trunkline.dialects.shell.options import given_value, in_full
from trunkline.dialects.shell.prefixes import FEEDS_ARGUMENTS, PREFIXES, RUNNERS, Prefix, prefix
from trunkline.dialects.shell.syntax import SimpleCommand
from trunkline.dialects.shell.verbs import readings

SHELLS: Final = frozenset("sh bash dash zsh ksh mksh ash rbash fish csh tcsh hush yash elvish".split())
_SHELL_VALUES: Final = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file", "-C", "--init-command"})

STDIN_NAMES: Final = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/proc/$$/fd/0", "/proc/thread-self/fd/0"))
"""What a program may be given as a file that is its input."""
_FD_RUNS: Final = re.compile(r"--exec(?:-batch)?=|-[xX](?=.)", re.DOTALL)
"""What fd runs, joined to the option."""

Words = tuple[str | None, ...]
_SHORT: Final = 4
"""So many characters and fewer are too few for an option that is cut short, where not all options are known."""


class Inner(Struct, frozen=True, gc=False):
    """What a command runs: texts that a shell reads, or words (by index; a string stands for a dynamic word)."""

    inside: str
    texts: tuple[str, ...] = ()
    commands: tuple[tuple[int | str, ...], ...] = ()
    assignments: tuple[str, ...] = ()
    transparent: bool = False


def unwrap(command: SimpleCommand) -> Inner | None:
    """What a command runs, or None when it runs nothing that is in its words."""
    name = command.name
    if name not in _STARTERS:
        return None
    words = command.words
    if name in SHELLS:
        return _shell(command, words)
    if name in ("source", ".") and command.stdin_text is not None and not STDIN_NAMES.isdisjoint(command.sketch[1:3]):
        return Inner("here-doc", texts=(command.stdin_text,))
    reader = _READERS.get(name)
    if reader is not None and ((inner := reader(words)) is not None or _runner(name, words) is None):
        return inner
    starter = PREFIXES.get(name)
    if starter is not None:
        return _rest(name, starter, words, 1)
    if name in MANAGERS and (found := managed(name, words)) is not None:
        return Inner(name, found.texts, (tuple(range(found.begins, len(words))),) if found.begins >= 0 else ())
    found_by = _runner(name, words)
    if found_by is not None:
        runner, start = found_by
        return _rest(" ".join([name, *map(str, words[1:start])]), runner, words, start)
    return None


def _runner(name: str, words: Words) -> tuple[Prefix, int] | None:
    """The row of a sub-command that runs what stands behind it, and where its own words begin; it may be two words."""
    for verbs in (words[1:2], words[1:3]):
        if verbs and None not in verbs and len(words) > 1 + len(verbs) and (
                row := RUNNERS.get((name, " ".join(map(str, verbs))))) is not None:
            return row, 1 + len(verbs)
    return None


def first_operand(words: Words, start: int, values: frozenset[str]) -> int:
    """The index of the first word that is no option; ``values`` are the options that take the next word."""
    at = start
    while at < len(words):
        word = words[at]
        if word == "--":
            return at + 1
        if word is None or not word.startswith(("-", "+")) or word in ("-", "+"):
            return at
        at += 2 if word in values or _ends_with_value(word, values) or _is_cut_short(word, values) else 1
    return at


def _is_cut_short(word: str, values: frozenset[str]) -> bool:
    """Whether a word is a long option that takes the next word, cut short: ``timeout --sig 9 x``."""
    return len(word) > _SHORT and in_full(word, values) != ""


def _ends_with_value(word: str, values: frozenset[str]) -> bool:
    """Whether a bundle of short options ends with one that takes the next word: ``env -iC x``."""
    if len(word) < 3 or word[0] != "-" or not word[1:].isalnum() or f"-{word[-1]}" not in values:
        return False
    return not any([f"-{letter}" in values for letter in word[1:-1]])


def _rest(name: str, starter: Prefix, words: Words, start: int) -> Inner | None:
    """The words after a wrapper's own options and operands."""
    if name == "command" and any(word in ("-v", "-V") for word in words[1:2]):
        return None
    if name == "env" and (split := _split_string(words)) is not None:
        return split
    at = first_operand(words, start, starter.values)
    assignments: list[str] = []
    while starter.assigns and at < len(words) and (word := words[at]) is not None and "=" in word and not word.startswith("="):
        assignments.append(word)
        at += 1
    at += starter.operands
    if at >= len(words):
        return None
    picked: list[int | str] = list(range(at, len(words)))
    if name in FEEDS_ARGUMENTS:
        picked = [index if not _is_slot(words[index]) else "{}" for index in range(at, len(words)) if words[index] != ":::"]
        picked.append("{}")
    return Inner(name, commands=(tuple(picked),), assignments=tuple(assignments), transparent=starter.transparent)


def _is_slot(word: str | None) -> bool:
    return word is not None and word in ("{}", "{.}", "{/}", "%")


def _split_string(words: Words) -> Inner | None:
    """``env -S 'ls -l' x``: a text that env itself splits, and more words behind it."""
    found = given_value(words, ("-S", "--split-string"), PREFIXES["env"].values, leading=True)
    if found is None:
        return None
    text, behind = found
    rest = [shlex.quote(word) for word in words[behind:] if word is not None]
    return Inner("env", texts=() if text is None else (" ".join((text, *rest)),))


def shell_script(words: Words) -> tuple[bool, int]:
    """Whether a shell's words have ``-c``, and the index of its script: a text with ``-c``, else a file, else past the end."""
    if len(words) == 1:
        return False, 1
    at = 1
    text = stdin = False
    while at < len(words):
        word = words[at]
        if word is None or not word.startswith(("-", "+")) or word == "-":
            break
        if word == "--":
            at += 1
            break
        short = word[1:] if word[0] == "-" and not word.startswith("--") else ""
        text = text or word == "--command" or "c" in short
        stdin = stdin or "s" in short
        at += 2 if word in _SHELL_VALUES or short[-1:] in ("o", "O") else 1
    return text, at if text or not stdin else len(words)


def _shell(command: SimpleCommand, words: Words) -> Inner | None:
    """``sh -c 'text'``, or a here-doc that a shell reads."""
    text, at = shell_script(words)
    script = words[at] if at < len(words) else None
    if text:
        return Inner(f"{command.name} -c", texts=() if script is None else (script,))
    if (at >= len(words) or script in STDIN_NAMES) and command.stdin_text is not None:
        return Inner("here-doc", texts=(command.stdin_text,))
    return None


def _eval(words: Words) -> Inner | None:
    known = [word for word in words[1:] if word is not None]
    return Inner("eval", texts=(" ".join(known),) if len(known) == len(words) - 1 else ())


def _find(words: Words) -> Inner | None:
    """``find … -exec rm {} +``."""
    found: list[tuple[int | str, ...]] = []
    at = 1
    while at < len(words):
        if words[at] in ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"):
            end = next((i for i in range(at + 1, len(words)) if words[i] in (";", "+")), len(words))
            inner = tuple("{}" if words[i] == "{}" else i for i in range(at + 1, end))
            found.extend([inner] if inner else [])
            at = end
        at += 1
    return Inner(f"{_base(words)} -exec", commands=tuple(found)) if found else None


def _fd(words: Words) -> Inner | None:
    for at, word in enumerate(words):
        joined = _FD_RUNS.match(word) if word is not None else None
        if joined is not None and word is not None:
            rest = [one if one is not None else "{}" for one in words[at + 1:]]
            return Inner("fd -exec", texts=(" ".join((word[joined.end():], *rest, "{}")),))
    inner = _find(words)
    return None if inner is None else structs.replace(inner, commands=tuple((*command, "{}") for command in inner.commands))


def _after_option(options: str, inside: str, taking: str = "", *, leading: bool = False) -> Callable[[Words], Inner | None]:
    """A wrapper that takes a shell text behind an option: ``su -c 'text'``. ``taking`` are its others that take a value;
    ``leading``: options end at its first operand."""
    wanted, others = options.split(), taking.split()

    def read(words: Words) -> Inner | None:
        found = given_value(words, wanted, others, leading=leading)
        return None if found is None or not found[0] else Inner(inside, texts=(found[0],))

    return read


def _joined_rest(values: str, operands: int, inside: str) -> Callable[[Words], Inner | None]:
    """A wrapper that joins its remaining words into a shell text: ``ssh host rm x``, ``watch ls``."""
    taking = frozenset(values.split())

    def read(words: Words) -> Inner | None:
        at = first_operand(words, 1, taking) + operands
        if operands:
            at = first_operand(words, at, taking)
        rest = words[at:]
        known = [word for word in rest if word is not None]
        return Inner(inside, texts=(" ".join(known),) if len(known) == len(rest) else ()) if rest else None

    return read


def _alias(words: Words) -> Inner | None:
    texts = tuple(word.partition("=")[2] for word in words[1:] if word is not None and "=" in word)
    return Inner("alias", texts=texts) if texts else None


def _trap(words: Words) -> Inner | None:
    at = first_operand(words, 1, frozenset())
    text = words[at] if at < len(words) - 1 else None
    return None if text is None or text in ("", "-") else Inner("trap", texts=(text,))


_FLOCK_VALUES: Final = "-w -E --timeout --wait --conflict-exit-code"


def _flock(words: Words) -> Inner | None:
    """``flock x ls``, ``flock x -c 'text'``: the file first, then a command or an option with a text."""
    at = first_operand(words, 1, frozenset(_FLOCK_VALUES.split()))
    behind = (words[0], *words[at + 1:])
    for part in (words[:at + 1], behind):
        if (by_text := _after_option("-c --command", "flock", _FLOCK_VALUES, leading=True)(part)) is not None:
            return by_text
    return _rest("flock", prefix(_FLOCK_VALUES, 1), words, 1)


_SCRIPT_VALUES: Final = "-B -E -I -O -o -m -T --log-io --log-in --log-out --log-timing --output-limit --logging-format --echo -F"


def _script(words: Words) -> Inner | None:
    """``script -qc 'text'``, ``script x ls``: a text behind an option, or a command behind the file."""
    by_text = _after_option("-c --command", "script -c", _SCRIPT_VALUES)(words)
    at = first_operand(words, 1, frozenset(_SCRIPT_VALUES.split())) + 1
    at += at < len(words) and words[at] == "--"
    return by_text or (Inner("script", commands=(tuple(range(at, len(words))),)) if at < len(words) else None)


def _npx(words: Words) -> Inner | None:
    by_text = _after_option("-c --call", "npx", "-p --package -w --workspace", leading=True)(words)
    return by_text or _rest("npx", prefix("-p --package -w --workspace"), words, 1)


_HATCH_VALUES: Final = frozenset("-e --env -p --project --data-dir --cache-dir --config --color".split())
_HATCH_ENV: Final = re.compile(r"[\w.+-]{0,80}:(.*)", re.DOTALL)


def _hatch(words: Words) -> Inner | None:
    """``hatch run env:ls src``: a shell reads its words; the first may name an environment."""
    verb = first_operand(words, 1, _HATCH_VALUES)
    at = next((place for place in range(verb + 1, len(words)) if (words[place] or "x")[:1] not in "+-"), len(words))
    if verb >= len(words) or words[verb] != "run" or at >= len(words):
        return None
    first, rest = words[at], words[at + 1:]
    named = _HATCH_ENV.fullmatch(first) if first is not None else None
    if first is None or None in rest or (named is None and " " not in first):
        return Inner("hatch run", commands=(tuple(range(at, len(words))),))
    return Inner("hatch run", texts=(" ".join([named[1] if named is not None else first, *[word or "" for word in rest]]),))


def _debugged(words: Words) -> Inner | None:
    """``gdb --args ls x``: what is debugged, with its words."""
    at = next((place for place, word in enumerate(words) if word in ("--args", "-args")), len(words)) + 1
    return Inner(f"{_base(words)} --args", commands=(tuple(range(at, len(words))),)) if at < len(words) else None


def _jobs(words: Words) -> Inner | None:
    """``jobs -x ls``: the words behind it are a command."""
    at = next((place for place, word in enumerate(words) if word is not None and word[:1] == "-" and "x" in word), len(words)) + 1
    return Inner("jobs -x", commands=(tuple(range(at, len(words))),)) if at < len(words) else None


def _completes(words: Words) -> Inner | None:
    """``compgen -C 'text'`` runs a command; ``-W 'text'`` expands its words as a shell does."""
    by_text = _after_option("-C", str(words[0]), _COMPLETE_VALUES)(words)
    expanded = given_value(words, ("-W",), (*_COMPLETE_VALUES.split(), "-C"))
    if by_text is None and expanded is not None and expanded[0]:
        return Inner(f"{words[0]} -W", texts=(f"echo {expanded[0]}",))
    return by_text


_COMPLETE_VALUES: Final = "-o -A -G -F -X -P -S"


def _coverage(words: Words) -> Inner | None:
    """c8 and nyc run the command behind their options, unless the word there is a verb of their own."""
    at = first_operand(words, 1, _COVERAGE_VALUES)
    if at >= len(words) or words[at] in ("report", "check-coverage", "merge", "instrument", "help"):
        return None
    return Inner(_base(words), commands=(tuple(range(at, len(words))),))


def _su(words: Words) -> Inner | None:
    return _after_option("-c --command --session-command", str(words[0]), "-s -g -G -w -u -T --shell --group --supp-group --user "
                         "--whitelist-environment")(words)


def _container(words: Words) -> Inner | None:
    """``docker exec box rm x`` and ``docker run image rm x``: the words after the container or the image."""
    verb = _container_verb(words, range(len(words)))
    if verb is None:
        named = [_base(words), *["$" if word is None else word for word in words[1:]]]
        found = (_container_verb(words, reading.places) for reading in readings(named))
        verb = next((one for one in found if one is not None), None)
    if verb is None:
        return None
    at = first_operand(words, verb + 1, _DOCKER_VALUES) + 1
    return Inner(f"{_base(words)} {words[verb]}", commands=(tuple(range(at, len(words))),)) if at < len(words) else None


def _container_verb(words: Words, places: Sequence[int]) -> int | None:
    """The index of ``exec`` or ``run``, where that is what a container's program is to do; of its words those in ``places``."""
    read = tuple([words[place] for place in places])
    verb = first_operand(read, 1, _DOCKER_VALUES)
    if verb < len(read) and read[verb] in ("compose", "container"):
        verb = first_operand(read, verb + 1, _DOCKER_VALUES)
    return places[verb] if verb < len(read) and read[verb] in ("exec", "run") else None


def _kubectl(words: Words) -> Inner | None:
    if "--" not in words or not any(verb in words for verb in ("exec", "debug", "run")):
        return None
    at = words.index("--") + 1
    return Inner("kubectl exec", commands=(tuple(range(at, len(words))),)) if at < len(words) else None


def _tmux(words: Words) -> Inner | None:
    """``tmux new-session -d 'text'`` and ``tmux send-keys -t x 'text' Enter``."""
    verb = first_operand(words, 1, frozenset({"-L", "-S", "-f"}))
    if verb >= len(words) or words[verb] not in _TMUX_STARTERS:
        return None
    at = first_operand(words, verb + 1, frozenset({"-t", "-s", "-n", "-c", "-x", "-y", "-e", "-F", "-l"}))
    texts = tuple(word for word in words[at:] if word is not None and word not in ("Enter", "C-m", "C-c", ""))
    return Inner("tmux", texts=(" ".join(texts),)) if texts else None


def _fzf(words: Words) -> Inner | None:
    texts = bound_texts(words)
    return Inner("fzf", texts=texts) if texts else None


def _parallel(words: Words) -> Inner | None:
    """parallel joins its words to a text for a shell: one with blanks is a line already."""
    inner = _rest("parallel", PREFIXES["parallel"], words, 1)
    first = inner.commands[0][0] if inner is not None else ""
    text = words[first] if isinstance(first, int) else None
    return inner if text is None or " " not in text else Inner("parallel", texts=(text,))


def _traced(words: Words) -> Inner | None:
    """strace runs the command behind it, and another one that reads its report: ``-o '|cat'``."""
    name = _base(words)
    inner = _rest(name, PREFIXES[name], words, 1) or Inner(name)
    texts = [word for at, word in enumerate(words[1:], 1) if word and (words[at - 1] in ("-o", "--output") or word[0] == "-")]
    piped = tuple([text.partition("|")[2] for text in texts if text.removeprefix("--output=").removeprefix("-o")[:1] in "|!"
                   and "|" in text])
    return structs.replace(inner, texts=piped) if piped or inner.commands else None


def _watchexec(words: Words) -> Inner | None:
    """watchexec hands its words to a shell."""
    at = first_operand(words, 1, _WATCHEXEC_VALUES)
    rest = [word for word in words[at:] if word is not None]
    return Inner("watchexec", texts=(" ".join(rest),)) if rest and len(rest) == len(words) - at else None


def _corepack(words: Words) -> Inner | None:
    """``corepack yarn …`` is yarn."""
    if len(words) < 2 or (words[1] or "").partition("@")[0] not in ("yarn", "pnpm", "npm", "npx", "pnpx", "yarnpkg"):
        return None
    return Inner("corepack", commands=(tuple(range(1, len(words))),))


def _base(words: Words) -> str:
    return str(words[0]).rpartition("/")[2]


_DOCKER_VALUES: Final = frozenset(
    "-v --volume -e --env -p --publish -w --workdir -u --user --name --network --net --mount --entrypoint -h --hostname "
    "--env-file -l --label --cpus -m --memory --device --cap-add --cap-drop --security-opt --ipc --pid --userns --platform "
    "--gpus --add-host --restart --shm-size --tmpfs --ulimit -f --file --profile -H --host --context --pull --log-driver".split()
)
_COVERAGE_VALUES: Final = frozenset(
    "-r --reporter -x --exclude -n --include -e --extension -o --reports-dir --report-dir -t --temp-dir --temp-directory --src "
    "-c --config -i --require --cwd --lines --functions --branches --statements --allowExternal --nycrc-path".split()
)
_WATCHEXEC_VALUES: Final = frozenset(
    "-e --exts -w --watch -i --ignore -f --filter -s --signal -d --debounce -E --env --shell -o --on-busy-update --workdir "
    "--delay-run --stop-signal --stop-timeout --project-origin --fs-events -W --watch-non-recursive".split()
)
_TMUX_STARTERS: Final = frozenset(
    "new-session new new-window neww split-window splitw send-keys send respawn-pane run-shell run".split()
)
_SSH_VALUES: Final = "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"

_READERS: Final[dict[str, Callable[[Words], Inner | None]]] = {
    "eval": _eval,
    "find": _find,
    "gfind": _find,
    "fd": _fd,
    "fdfind": _fd,
    "su": _su,
    "runuser": _su,
    "script": _script,
    "hatch": _hatch,
    "gdb": _debugged,
    "lldb": _debugged,
    "jobs": _jobs,
    "compgen": _completes,
    "complete": _completes,
    "alias": _alias,
    "trap": _trap,
    "flock": _flock,
    "npx": _npx,
    "c8": _coverage,
    "nyc": _coverage,
    "bunx": _npx,
    "watch": _joined_rest("-n --interval", 0, "watch"),
    "ssh": _joined_rest(_SSH_VALUES, 1, "ssh"),
    "mosh": _joined_rest("-p --ssh", 1, "ssh"),
    "docker": _container,
    "podman": _container,
    "nerdctl": _container,
    "docker-compose": _container,
    "podman-compose": _container,
    "kubectl": _kubectl,
    "oc": _kubectl,
    "tmux": _tmux,
    "nix-shell": _after_option("--run --command", "nix-shell", "-p -I -A --packages --attr --arg --argstr"),
    "entr": _joined_rest("", 0, "entr"),
    "fzf": _fzf,
    "parallel": _parallel,
    "strace": _traced,
    "ltrace": _traced,
    "watchexec": _watchexec,
    "corepack": _corepack,
    "nodemon": _after_option("--exec -x", "nodemon", "-e --ext -w --watch -i --ignore -d --delay --config -r -s --signal"),
}
_STARTERS: Final = SHELLS | {"source", "."} | _READERS.keys() | PREFIXES.keys() | MANAGERS.keys() | {name for name, _ in RUNNERS}
"""Every program that may run another; most programs are none."""
