"""What a title says that is done, where the call says by its name or kind that it only looks, or only writes.

Rule 1: it can only make a call worse. A title names nothing here; it is held against what the call is.
Rule 2: what a title repeats of the input (a path, a pattern, a question) says what is looked for, not what is done, and is
left out.
Rule 3: bounded: the beginning of a title, and so many texts of an input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from trunkline.dialects import late_re as re
from trunkline.dialects.calls.names import role_of_name, verb_in
from trunkline.dialects.calls.types import Act, ToolRole

TITLE_CHARS: Final = 400
_TEXTS: Final = 200
_DEPTH: Final = 6
_LOOKS: Final[frozenset[ToolRole]] = frozenset({"read", "search", "fetch", "web_search"})
_WRITES: Final[frozenset[ToolRole]] = frozenset({"write", "edit", "patch"})
_DELETES: Final = re.compile(
    r"(?:delet|remov|eras|purg|wip|truncat|overwrit)(?:es?|ing)|(?:unlink|destroy|trash|shred)(?:s|es|d?ing)?|rm|rmdir|del",
    re.IGNORECASE)
_MOVES: Final = re.compile(r"(?:mov|renam)(?:es?|ing)|mv", re.IGNORECASE)
_GRAVE: Final = re.compile(rf"\b(?:{_DELETES.pattern}|{_MOVES.pattern})\b", re.IGNORECASE)
_SENDS_IT: Final = re.compile(
    r"(?:\band|\bthen|,|;|&)\s{1,4}(?:upload|send|post|publish|deploy|e?mail|share|push)(?:s|es|ing)?\b", re.IGNORECASE)
"""That what is looked at goes elsewhere then."""
_LOOKING: Final = frozenset(
    "read reading view viewing list listing search searching find finding grep rg glob ls cat open opening show showing look "
    "looking "
    "get getting fetch fetching check checking inspect inspecting explore exploring scan scanning load loading browse browsing "
    "head tail wc tree stat review reviewing examine examining".split())
"""How the title of a look begins."""
_SIGNS: Final = frozenset(("|", "||", "&&", ";", ">", ">>", "<"))
_OPTION: Final = re.compile(r"--?[A-Za-z][\w-]*(?:=.*)?")
_BEGINS: Final = re.compile(
    r"[`$> ]{0,4}(?:(?:sudo|doas|reboot|poweroff|mkfs[.\w]{0,9}|killall|pkill|chmod|chown|dd|crontab|systemctl)\s{1,9}\S"
    r"|(?:git|npm|pnpm|yarn|docker|kubectl|terraform|pip3?|cargo|gh|brew|apt|apt-get)\s{1,9}"
    r"(?:push|reset|clean|publish|install|uninstall|run|rm|delete|apply|destroy|merge|exec|upload|i|ci|add|remove)\b)")
"""How a command begins that is one without an option or a sign in it."""
_AROUND: Final = "`'\"()[]{},.:;!?*…"
_WORD: Final = re.compile(r"[A-Za-z]+")


class Told(NamedTuple):
    """What a title says that is done, and the command that it reads as."""

    act: Act | None = None
    command: str = ""


_NOTHING: Final = Told()


def may_tell(title: str) -> bool:
    """Whether a title may say that something is done: most say which file is looked at."""
    first, _, rest = title[:TITLE_CHARS].partition(" ")
    if not rest or (first.lower() in _LOOKING and _GRAVE.search(rest) is None and _SENDS_IT.search(rest) is None):
        return False
    tokens = title[:TITLE_CHARS].split()
    return len(tokens) > 1 and _told(tokens, title) != _NOTHING


def reads_as_command(text: str) -> bool:
    """Whether a text reads as a command line that does more than look."""
    tokens = text[:TITLE_CHARS].split()
    return len(tokens) > 1 and (bool(_told(tokens, text).command) or bool(_further(text[:TITLE_CHARS])))


def _further(line: str) -> list[str]:
    """The commands of a line behind its first one that are known by how they begin."""
    pieces = [piece.strip() for piece in _BETWEEN.split(line)[1:] if piece.strip()]
    return [piece for piece in pieces if _BEGINS.match(piece) or (" " in piece and _is_program(piece.split()[0]))]


_BETWEEN: Final = re.compile(r"\s(?:&&|\|\|?)\s|;\s")


_LABEL: Final = re.compile(r"^\w[\w ]{0,30}(?::| ·)\s+(?=\S)|^(?i:run|running|execute|executing)\s+(?=`[^`]+`$)")


def without_label(title: str) -> str:
    """A title without what stands before the command: ``Run: ls``, ``shell · ls``, and a word before it in quotes."""
    return _LABEL.sub("", title, count=1)


_PROMPT: Final = re.compile(r"^[$>%#]\s+(?=\S)")
_CALLED: Final = re.compile(r"[A-Za-z]\w{0,40}\((.{1,400})\)", re.DOTALL)


def bare_line_of(title: str) -> str:
    """The same without quotes, a prompt or a tool's name around it (``Bash(ls)``), and only its beginning."""
    line = _PROMPT.sub("", without_label(title[:TITLE_CHARS]).strip("` "), count=1)
    called = _CALLED.fullmatch(line)
    return called[1].strip("` '\"") if called is not None else line


def line_beside(title: str, command: str) -> tuple[str, bool]:
    """The command line that the title of a call is which runs another one, and whether its program is another, too: what names
    the same program may sum up the command. Empty where it is no line, or that of the command."""
    line = " ".join(bare_line_of(title).split())
    beginning = line.rstrip("….")
    ran = " ".join(command.split())
    if not reads_as_command(line) or beginning in ran or _leads_to(line, ran):
        return "", False
    program = line.split()[0].rpartition("/")[2]
    is_other = program not in _OF_LINE.split(command)
    if _PROGRAM.fullmatch(program) is None or (not is_other and _PROSE.search(line)):
        return "", False  # a sentence
    return line, is_other or any(piece not in ran for piece in _further(line))


def _leads_to(line: str, command: str) -> bool:
    """Whether a line is words for people before the command itself: ``script execution via -c: python3 -c …``."""
    before = line.removesuffix(f": {command}")
    words = before.split()
    return before != line and len(words) > 1 and not _is_program(words[0]) and _SIGNS.isdisjoint(words) and words[1][:1] != "-"


_PROGRAM: Final = re.compile(r"[a-z][a-z0-9._+-]{0,40}")
_OF_LINE: Final = re.compile(r"[\s/;&|()'\"`=]+")
_PROSE: Final = re.compile(r"[()\[\]{}…]")


def told_by(title: str, role: ToolRole | None, members: Mapping[str, Any]) -> Told:
    """What a title says of a call for this, beside what it repeats of its input."""
    text = title[:TITLE_CHARS]
    if role in _WRITES:
        line = bare_line_of(text)
        is_line = _BEGINS.match(line) is not None or (" -" in line and _is_program(line.split()[0]))
        return Told("run", line) if is_line else _done_to(text.split(maxsplit=2), members)
    if role not in _LOOKS or not may_tell(text):
        return _NOTHING
    texts = list(islice(_texts(members, _DEPTH), _TEXTS))
    for given in sorted(texts, key=len, reverse=True):
        text = text.replace(given, " ") if given else text
    known = {part for given in texts for token in given.split() for part in (token, *token.split("/"))}
    begins = title.split()[0].strip(_AROUND) in known
    return _told([token for token in text.split() if token.strip(_AROUND) not in known], title, looks=begins)


_OF_FILES: Final[frozenset[ToolRole]] = frozenset({"read", "write", "edit", "delete"})
_FILE: Final = re.compile(r"(?:~|\.{1,2})?/[^\s:*?…]{1,300}|\.[A-Za-z][\w.-]{0,60}|[\w@.-]{1,80}(?:/[\w@.-]{1,80}){1,20}")


def file_beside(title: str, role: ToolRole | None, members: Mapping[str, Any], paths: Sequence[str]) -> str:
    """The file that the title of a call about files names, where its input names others: by its own name, for folders are often
    left out or written otherwise. Empty where it is one of these, or where not exactly one is named."""
    if role not in _OF_FILES or not paths or ("/" not in title and "." not in title):
        return ""
    tokens = [token.strip(_QUOTES).rstrip(".,;:") for token in title[:TITLE_CHARS].split()]
    named = [token for token in dict.fromkeys(tokens) if _FILE.fullmatch(token) is not None]
    if len(named) != 1:
        return ""
    own = named[0].rstrip("/").rpartition("/")[2]
    texts = (*paths, *islice(_texts(members, _DEPTH), _TEXTS))
    return "" if any(own in text for text in texts) else named[0]


_LEADS_OUT: Final = re.compile(
    r"(?:~|\.\.|\$HOME|\$\{HOME\})(?:/[^\s:…]{0,300})?|(?:file:/{0,2})?/[^\s:…]{1,300}|[A-Za-z]:\\[^\s…]{0,300}")


def folders_beside(title: str, role: ToolRole | None, members: Mapping[str, Any]) -> list[str]:
    """The folders that the title of a search names and its input does not, where they may lead out of the session's: it looks
    there as well, as far as anybody can tell."""
    if role != "search" or not any(sign in title for sign in ("/", "~", "..", "\\", "$")):
        return []
    words = title[:TITLE_CHARS].replace("](", " ").split()  # a link has its words and its address
    tokens = [token if token.startswith("${") else token.strip(_QUOTES).rstrip(",;:") for token in words]
    texts = list(islice(_texts(members, _DEPTH), _TEXTS))
    named = [token for before, token in zip(("", *tokens), tokens, strict=False)
             if _LEADS_OUT.fullmatch(token) or (token == "/" and before.lower() in _WITHIN)]
    return [token for token in dict.fromkeys(named) if not any((token.rstrip("/") or "no root") in text for text in texts)]


_WITHIN: Final = frozenset(("in", "within", "under", "below", "inside", "from", "of", "at"))
_QUOTES: Final = "`'\"()[]{}<>"


def _told(tokens: Sequence[str], title: str, *, looks: bool = False) -> Told:
    bare = [token.strip(_AROUND) for token in tokens]
    words = [word for word in bare if word]
    first = words[0].lower() if words else ""
    looks = looks or not first or first in _LOOKING or "/" in first or "." in first or role_of_name(first) in _LOOKS
    is_line = not looks and (_BEGINS.match(title) is not None
                             or any(token in _SIGNS or _OPTION.fullmatch(token) for token in tokens[1:]))
    is_grave = _GRAVE.search(title) is not None
    act = next((act for word in words if (act := _grave(word)) is not None), None) if is_grave else None
    if act is None and _SENDS_IT.search(title) is not None:
        act = "run"
    if act is None and not looks:
        act = next((act for word in words if (act := _changing(word)) is not None), None)
    if is_line or (act is not None and first == words[0] and _is_program(first)):
        return Told(act or "run", title[:TITLE_CHARS])
    return Told(act) if act is not None else _NOTHING


def _done_to(tokens: Sequence[str], members: Mapping[str, Any]) -> Told:
    """Whether the title of a call that writes says that its file is deleted or moved: what is in a file may well be."""
    act = _grave(tokens[0].strip(_AROUND)) if len(tokens) > 1 else None
    if act is None:
        return _NOTHING
    named = tokens[1].strip("`'\"")
    is_file = any(named == given or given.endswith(f"/{named}") for given in islice(_texts(members, _DEPTH), _TEXTS))
    return Told(act) if is_file else _NOTHING


def _grave(word: str) -> Act | None:
    return "delete" if _DELETES.fullmatch(word) else "move" if _MOVES.fullmatch(word) else None


def _changing(word: str) -> Act | None:
    """What a word says that changes or runs something; ``writing`` is ``write``, ``running`` is ``run``."""
    if _WORD.fullmatch(word) is None:
        return None
    low = word.lower()
    stem = low.removesuffix("ing")
    forms = (low, low.removesuffix("s"), *((stem, f"{stem}e", stem[:-1]) if stem != low else ()))
    verbs = {verb_in(form) for form in forms}
    return "run" if "destroys" in verbs or "run" in forms else "write" if "changes" in verbs else None


def _is_program(word: str) -> bool:
    return word in ("rm", "rmdir", "mv", "del", "unlink", "shred", "truncate")


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner, depth - 1)
