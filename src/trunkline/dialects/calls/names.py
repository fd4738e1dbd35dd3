"""The one table of tool names: what a tool is for, and what it is usually called.

Rule 1: spellings in general use stand here, without regard to case and signs. A vendor's own stand in its catalog entry, and
arrive as ``ToolNames``.
Rule 2: a name of a server's tool (``mcp__x__y``) is never taken apart to find out what it is: it stays what it is.
Rule 3: what an unknown name says (``purge``, ``deploy``) can only make a call worse.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from trunkline.dialects import late_re as re
from trunkline.dialects.calls.types import ToolRole

_MCP: Final = "mcp__"
_HEAD_CHARS: Final = 200
"""No tool has a longer name, and a title may be of any length."""
_TITLE_HEAD: Final = re.compile(r"[:·(`]|\s-\s")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_IN_PARTS: Final = re.compile(r"[A-Za-z_][\w-]{0,63}(?:(?:[.:/]|::)[A-Za-z_][\w-]{0,63}){0,3}(?:[.:/]|::)([A-Za-z_][\w-]{0,63})")
_GRAVE_ROLES: Final[frozenset[ToolRole | None]] = frozenset({"terminal", "delete", "move"})
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")

_SPELLINGS: Final[tuple[tuple[ToolRole, str | None, str], ...]] = (
    ("terminal", "bash", "bash shell sh zsh terminal exec execute executecommand runcommand runterminalcmd runshellcommand "
     "runinterminal shellcommand localshell runbash bashtool powershell developershell commandexecution executebash "
     "terminalcreate runcommands runinbackground execcommand sendcommand"),
    ("write", "write", "write writefile createfile writetofile filewrite fswrite savefile fswritetextfile writetextfile"),
    ("write", None, "append save createdirectory mkdir"),
    ("edit", "edit", "edit multiedit editfile strreplace strreplaceeditor strreplacebasededittool replace replaceinfile "
     "inserttext insertcontent fileedit searchreplace texteditor editor"),
    ("edit", None, "notebookedit editnotebook insert update"),
    ("patch", "apply_patch", "applypatch applydiff patch"),
    ("delete", None, "delete deletefile deletefiles remove removefile rm deletedirectory trash"),
    ("move", None, "move rename movefile renamefile mv copyfile"),
    ("read", "read", "read readfile view viewfile cat openfile readtextfile fsread"),
    ("read", None, "readmanyfiles notebookread"),
    ("search", "glob", "glob"),
    ("search", "grep", "grep ripgrep grepsearch"),
    ("search", None, "ls list listdirectory listdir listfiles search searchfiles find filesearch codebasesearch searchtext"),
    ("fetch", "webfetch", "webfetch fetch urlfetch fetchurl readurl"),
    ("fetch", None, "browse httprequest"),
    ("web_search", "websearch", "websearch googlewebsearch"),
    ("task", "task", "task"),
    ("task", None, "agent"),
    ("todos", "todowrite", "todowrite"),
    ("todos", None, "todoread"),
    ("ask_user", None, "askuserquestion askuser"),
    ("plan", None, "plan updateplan exitplanmode enterplanmode"),
    ("think", None, "think skill toolsearch bashoutput taskoutput"),
)
_ROLES: Final[dict[str, ToolRole]] = {name: role for role, _, names in _SPELLINGS for name in names.split()}
_USUAL: Final[dict[str, str]] = {name: usual for _, usual, names in _SPELLINGS if usual for name in names.split()}
_USUAL_OF_ROLE: Final[dict[ToolRole, str]] = {
    "read": "read", "write": "write", "edit": "edit", "patch": "apply_patch", "terminal": "bash", "fetch": "webfetch",
    "web_search": "websearch", "task": "task", "todos": "todowrite",
}
_ROLE_OF_KIND: Final[dict[str, ToolRole]] = {
    "read": "read", "edit": "edit", "delete": "delete", "move": "move", "search": "search", "execute": "terminal",
    "fetch": "fetch", "think": "think", "switch_mode": "plan",
}
_NAME_OF_KIND: Final[dict[str, str]] = {
    "read": "read", "edit": "edit", "delete": "delete", "move": "move", "search": "search", "execute": "bash",
    "fetch": "webfetch", "think": "think", "switch_mode": "switch_mode",
}
_SAYS_NOTHING: Final = frozenset(("other", "file", ""))
_DOES: Final[frozenset[ToolRole]] = frozenset({"terminal", "delete", "move", "write", "edit", "patch"})
_DESTROYS: Final = frozenset(
    "delete remove drop destroy force exec execute shell eval terminal purge shred wipe truncate erase kill clear reset "
    "format uninstall overwrite revoke rm rmtree rmdir unlink del nuke obliterate trash".split())
_CHANGES: Final = frozenset(
    "create update write push merge send post run deploy set put insert rename move save append edit modify replace publish "
    "upload install apply commit grant patch start stop restart".split())

Verb = Literal["destroys", "changes"]


class ToolNames(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's names for its tools. ``parent_call`` is where its ``_meta`` names the call that a sub-agent works for;
    ``members`` are those of its tools' inputs that change nothing, as ``inputs.bare_key`` spells them, and ``variables`` what it
    gives to every command (``NAME=value``)."""

    roles: dict[str, ToolRole] = {}
    parent_call: str = ""
    members: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()

    def role_of(self, name: str) -> ToolRole | None:
        """The role of a tool by its name; None where neither this agent's table nor the spellings in general use have it."""
        if name.startswith(_MCP):
            return "mcp"
        return self.roles.get(name) or self.roles.get(name.lower()) or role_of_name(name)

    def usual(self, name: str) -> str:
        """What events call a tool of this name."""
        return usual_name(name, self.roles.get(name) or self.roles.get(name.lower()))

    def named_in(self, call_id: str, title: str) -> str | None:
        """A name of this agent's table that stands at the front of a call's id or title; some agents say it nowhere else."""
        if not self.roles:
            return None
        title = _TITLE_HEAD.split(title[:_HEAD_CHARS], maxsplit=1)[0].strip()
        heads = (call_id.split("__", 1)[0], call_id.rsplit("-", 1)[0], title)
        return next((head for head in heads if head in self.roles), None)


def role_of_name(name: str) -> ToolRole | None:
    """The role of a tool under a name in general use."""
    return None if name.startswith(_MCP) else _ROLES.get(_bare(name))


def role_of_kind(kind: str) -> ToolRole | None:
    """The role that a kind of the Agent Client Protocol stands for, and what another kind says that is done: it is a word that
    the agent chose, and can only make a call worse."""
    known = _ROLE_OF_KIND.get(kind)
    return known if known is not None or kind in _SAYS_NOTHING else _role_of_word(kind[:_HEAD_CHARS].strip().lower())


def _role_of_word(kind: str) -> ToolRole | None:
    role = _ROLE_OF_KIND.get(kind) or role_of_name(kind)
    if role is not None:
        return role if role in _DOES else None
    verb = verb_in(kind)
    return "delete" if verb == "destroys" else "edit" if verb == "changes" else None


def name_of_kind(kind: str) -> str | None:
    """What to call a tool of which only the kind is known."""
    return _NAME_OF_KIND.get(kind)


def usual_name(name: str, role: ToolRole | None) -> str:
    """What a tool is called in events: by its usual name, or that of the role which its agent's table gives it, else as it is."""
    if name.startswith(_MCP):
        return name
    return _USUAL.get(_bare(name)) or (_USUAL_OF_ROLE.get(role) if role else None) or name


def is_name(title: str) -> bool:
    """Whether a title reads as the name of a tool: one word, as programs are written, or a server's tool; of several parts
    (``fs.delete``, ``files/remove``) where the last one says that something is changed or run. Others are names of files."""
    if _IDENTIFIER.fullmatch(title) is not None or (title.startswith(_MCP) and " " not in title[:_HEAD_CHARS]):
        return True
    last = _IN_PARTS.fullmatch(title)
    return last is not None and (verb_in(last[1]) is not None or role_of_name(last[1]) in _GRAVE_ROLES)


def is_grave_name(word: str) -> bool:
    """Whether a word that stands for a deed or a tool says that something is deleted, moved or run."""
    return len(word) <= _HEAD_CHARS and (role_of_name(word) in _GRAVE_ROLES or verb_in(word) == "destroys")


def verb_in(name: str) -> Verb | None:
    """What an unknown tool does by its name; of a server's tool only the last part counts."""
    words = {word.lower() for word in _WORD.findall(name.rpartition("__")[2][:_HEAD_CHARS])}
    if words & _DESTROYS or any(word.startswith(("exec", "delet", "remov", "destroy")) for word in words):
        return "destroys"
    return "changes" if words & _CHANGES else None


def _bare(name: str) -> str:
    if not name.isascii():
        return name  # what cannot be seen, or looks like a letter, is part of a name
    return re.sub(r"[^a-z]", "", name[:_HEAD_CHARS].lower())
