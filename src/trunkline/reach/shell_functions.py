"""What ``trunkline shell-init`` prints: functions for shells that start a program as ever, and with a line to the hub where the
person agreed to one.

Rule 1: pure text. Nothing of ours is started when the program is: no hub, no consent, no trunkline is the program as ever.
Rule 2: the person's own flags win, and whatever is no session in a terminal is left alone.
Rule 3: one pair of files for each start, in a folder of its own that only its owner can look into; gone when the program is.
The folder's name begins with the shell's process id, so that whoever finds it knows whose it was.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from trunkline.errors import Invalid

Shell = Literal["bash", "zsh", "fish"]
EVENTS: Final = "events.jsonl"
INPUT: Final = "input.jsonl"
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


class Paired(NamedTuple):
    """A program that is started with a pair of files."""

    program: str
    flags: tuple[str, str]
    """Of the file that it writes, and of the one that it reads."""
    alone: Sequence[str]
    """Further flags with which it is started as ever."""
    folder: Path
    consent: Path
    socket: Path
    """It is there while a hub runs."""


class Chatted(NamedTuple):
    """A program in whose place the hub's chat is started."""

    program: str
    words: Sequence[str]


def function_of(shell: Shell, started: Paired | Chatted) -> str:
    """The function of one program."""
    if not _NAME.fullmatch(started.program):
        raise Invalid(f"{started.program!r} is no name that a shell's function can have")
    if isinstance(started, Chatted):
        return (_fish_chat if shell == "fish" else _posix_chat)(started)
    return (_fish_pair if shell == "fish" else _posix_pair)(started)


def _posix_pair(given: Paired) -> str:
    flags = map(shlex.quote, (*given.flags, *given.alone))
    flagged = "|".join(pattern for flag in flags for pattern in (flag, f"{flag}=*"))
    template = f"{shlex.quote(f'{given.folder}/')}$$.XXXXXXXX"
    events, reads = map(shlex.quote, given.flags)
    return f'''\
function {given.program} {{
  local trunkline_word trunkline_pair trunkline_code=0
  case ${{1-}} in ''|-*) ;; *) command {given.program} "$@"; return ;; esac
  for trunkline_word in "$@"; do
    case $trunkline_word in {flagged}) command {given.program} "$@"; return ;; esac
  done
  if [ -t 0 ] && [ -t 1 ] && [ -S {shlex.quote(str(given.socket))} ] && [ -f {shlex.quote(str(given.consent))} ] &&
    trunkline_pair=$(exec 2>/dev/null; umask 077
      p=$(command mktemp -d {template}) && : > "$p/{EVENTS}" && : > "$p/{INPUT}" && printf %s "$p")
  then
    command {given.program} {events} "$trunkline_pair/{EVENTS}" {reads} "$trunkline_pair/{INPUT}" "$@" || trunkline_code=$?
    command rm -f -- "$trunkline_pair/{EVENTS}" "$trunkline_pair/{INPUT}"
    command rmdir -- "$trunkline_pair" 2>/dev/null
    return $trunkline_code
  fi
  command {given.program} "$@"
}}
'''


def _fish_pair(given: Paired) -> str:
    flagged = " ".join(pattern for flag in (*given.flags, *given.alone) for pattern in (_fish(flag), _fish(f"{flag}=*")))
    made = f'umask 077; p=$(mktemp -d "$1") && : > "$p/{EVENTS}" && : > "$p/{INPUT}" && printf %s "$p"'
    events, reads = map(_fish, given.flags)
    return f'''\
function {given.program} --wraps {given.program}
    if set -q argv[1]; and not string match -q -- '-*' $argv[1]
        command {given.program} $argv
        return
    end
    for word in $argv
        switch $word
            case {flagged}
                command {given.program} $argv
                return
        end
    end
    if isatty stdin; and isatty stdout; and test -S {_fish(str(given.socket))}; and test -f {_fish(str(given.consent))}
        set -l pair (command sh -c {_fish(made)} sh {_fish(f"{given.folder}/")}$fish_pid.XXXXXXXX 2>/dev/null)
        if test -n "$pair"
            command {given.program} {events} $pair/{EVENTS} {reads} $pair/{INPUT} $argv
            set -l code $status
            command rm -f -- $pair/{EVENTS} $pair/{INPUT}
            command rmdir -- $pair 2>/dev/null
            return $code
        end
    end
    command {given.program} $argv
end
'''


def _posix_chat(given: Chatted) -> str:
    return f'''\
function {given.program} {{
  if [ $# -eq 0 ] && [ -t 0 ] && [ -t 1 ] && command -v trunkline > /dev/null 2>&1; then
    command trunkline {shlex.join(given.words)}
  else
    command {given.program} "$@"
  fi
}}
'''


def _fish_chat(given: Chatted) -> str:
    return f'''\
function {given.program} --wraps {given.program}
    if not set -q argv[1]; and isatty stdin; and isatty stdout; and command -q trunkline
        command trunkline {" ".join(map(_fish, given.words))}
    else
        command {given.program} $argv
    end
end
'''


def _fish(word: str) -> str:
    """A word as fish takes it literally."""
    return "'" + word.replace("\\", "\\\\").replace("'", "\\'") + "'"
