"""What a line puts on the input of a program whose words are its commands: ``redis-cli <<< flushall`` is ``redis-cli flushall``.

Rule 1: pure, and it only ever restricts: no allow rule is read by this.
Rule 2: which programs those are is data: the option behind which such a word stands in a line, or none where it stands alone.
What comes from elsewhere (a file, another program) nobody knows here; whoever judges that says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from trunkline.dialects.shell import SimpleCommand

LINES: Final = 16
"""Of an input that are looked at; a program that is given more may be told anything (``hidden.py``)."""
CHARS: Final = 300
_FED_BY: Final = frozenset(("echo", "printf", "cat"))
_SPEAKS: Final[dict[str, str]] = {
    **dict.fromkeys("redis-cli valkey-cli keydb-cli iredis sqlite3 sqlite litecli duckdb bc ftp etcdctl zkcli.sh bluetoothctl "
                    "fdisk gdisk parted virsh nmcli wpa_cli nft".split(), ""),
    **dict.fromkeys("psql pgcli usql lftp smbclient clickhouse-client mysqlsh".split(), "-c"),
    **dict.fromkeys("mysql mariadb mycli cqlsh dc lftp".split(), "-e"),
    **dict.fromkeys(("mongo", "mongosh"), "--eval"),
    **dict.fromkeys(("gdb", "lldb"), "-ex"),
    "sqlcmd": "-Q",
}
"""The programs, each with the option by which a line gives it a command."""


def spoken(commands: Sequence[SimpleCommand]) -> dict[int, list[str]]:
    """By the identity of a command: that command with each line of its input among its words."""
    return {id(one): list(_said(one, option, commands, at)) for at, one in enumerate(commands)
            if (option := _SPEAKS.get((one.name or "").lower())) is not None}


def _said(one: SimpleCommand, option: str, commands: Sequence[SimpleCommand], at: int) -> Iterator[str]:
    for line in islice(_lines(one, commands, at), LINES):
        words = " ".join(line[:CHARS].split())
        for start in dict.fromkeys((one.name or "", one.plain)):
            yield f"{start} {words}"
            if option:
                yield f"{start} {option} {words}"


def _lines(one: SimpleCommand, commands: Sequence[SimpleCommand], at: int) -> Iterator[str]:
    """What stands on the input, statement by statement."""
    texts = [one.stdin_text] if one.stdin_text is not None else []
    for feeder in commands[one.stdin_from:at] if one.stdin_from >= 0 else ():
        if feeder.name in _FED_BY:
            printed = " ".join(word for word in feeder.sketch[1:] if word[:1] != "-") if feeder.name != "cat" else ""
            texts.append(feeder.stdin_text or printed.replace("\\n", "\n").replace("\\r", "\n"))
    for text in texts:
        for line in text.replace(";", "\n").split("\n"):
            if line.strip():
                yield line
