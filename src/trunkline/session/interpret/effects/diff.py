"""What changed between two texts: exact line counts, and a unified diff where it is short enough to be read.

Rule 1: bounded work. Equal beginnings and ends are taken off first; the rest is compared by the shortest edit script, given up
beyond QUICK edits, or DIFF_LINES where the count says that it is worth it. Nothing here may hold up the loop, whatever an
agent sends.
A whole diff (``whole``) is made off the loop and may take WHOLE_CELLS; beyond that, what differs is shown as removed and added.
Rule 2: counts are exact (of the shortest edit) wherever COUNT_CELLS allows; ``exact`` says when they are an upper bound.
Rule 3: lines end at line feeds only. A last line without one is another line than the same with one.
"""

from __future__ import annotations

from typing import Final, NamedTuple

DIFF_LINES: Final = 400
"""Lines of a diff that an event carries; nobody reads more of it there."""

DIFF_CHARS: Final = 64 << 10
"""Characters of a diff that an event carries; a file may be one long line."""

CONTEXT: Final = 3
QUICK: Final = 100
"""Edits that are looked for without counting first; the search's time grows with their square."""
WORK: Final = 200_000
"""Lines that the search may walk over."""
COUNT_CELLS: Final = 16_000_000
"""Old lines times new lines that are counted exactly: some milliseconds."""
WHOLE_CELLS: Final = 64_000_000
"""The same for a whole diff: a tenth of a second, and 8 MB while it lasts."""
CHUNK: Final = 512

_NO_NEWLINE = "\n\\ No newline at end of file"

Edit = tuple[int, int, int, int]
"""Old lines from, to; new lines from, to: what stands between equal lines."""


class Compared(NamedTuple):
    """The difference of two texts. ``text`` is the unified diff, None where it is too long; ``lines`` is its length."""

    added: int
    removed: int
    lines: int
    text: str | None
    exact: bool = True


def compare(old: str | None, new: str | None, name: str) -> Compared:
    """How ``new`` differs from ``old``; None means that there is no such file. ``name`` is the path in the headers."""
    if old == new:
        return Compared(0, 0, 0, "")
    before, after = _lines(old or ""), _lines(new or "")
    start = _same(before, after)
    end = _same(before[:start - 1 if start else None:-1], after[:start - 1 if start else None:-1])
    old_end, new_end = len(before) - end, len(after) - end
    edits = _changed(before[start:old_end], after[start:new_end])
    if isinstance(edits, Compared):
        return edits
    shifted = [(a + start, b + start, c + start, d + start) for a, b, c, d in edits]
    return _compared(_header(old, new, name), before, after, shifted)


def whole(old: str | None, new: str | None, name: str) -> str:
    """The unified diff, however long it is; nothing where no line differs. Takes too long for the loop."""
    before, after = _lines(old or ""), _lines(new or "")
    start = _same(before, after)
    end = _same(before[:start - 1 if start else None:-1], after[:start - 1 if start else None:-1])
    a, b = before[start:len(before) - end], after[start:len(after) - end]
    if not a and not b:
        return ""
    edits = (_edits(a, b, QUICK) or _counted_edits(a, b)) if a and b else [(0, len(a), 0, len(b))]
    shown: list[str] = []
    for group in _groups([(c + start, d + start, e + start, f + start) for c, d, e, f in edits]):
        shown += _hunk(before, after, group)
    return _header(old, new, name) + "\n".join(shown) + "\n"


def line_count(text: str) -> int:
    """How many lines a text has; the last may be without its end."""
    return text.count("\n") + (not text.endswith("\n") and text != "")


def _header(old: str | None, new: str | None, name: str) -> str:
    return f"--- {'/dev/null' if old is None else f'a/{name}'}\n+++ {'/dev/null' if new is None else f'b/{name}'}\n"


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    else:
        lines[-1] += _NO_NEWLINE
    return lines


def _same(a: list[str], b: list[str]) -> int:
    """How many lines at the front are equal; compared by the chunk, since that is done in C."""
    most, at = min(len(a), len(b)), 0
    while at + CHUNK <= most and a[at:at + CHUNK] == b[at:at + CHUNK]:
        at += CHUNK
    while at < most and a[at] == b[at]:
        at += 1
    return at


def _changed(a: list[str], b: list[str]) -> list[Edit] | Compared:
    """The edits where they are few enough to show, else the counts alone."""
    if not a or not b:
        edits = [(0, len(a), 0, len(b))]
        return edits if len(a) + len(b) <= DIFF_LINES else Compared(len(b), len(a), len(a) + len(b), None)
    if (few := _edits(a, b, QUICK)) is not None:
        return few
    counted = _counts(a, b)
    more = _edits(a, b, DIFF_LINES) if counted.exact and counted.lines <= DIFF_LINES else None
    return counted if more is None else more


def _edits(a: list[str], b: list[str], most: int) -> list[Edit] | None:
    """The shortest edit script (Myers); None where it has more than ``most`` edits, or is too much work to find."""
    trace = _trace(a, b, most)
    return None if trace is None else _joined(_walk_back(trace, len(a), len(b)))


def _trace(a: list[str], b: list[str], most: int) -> list[dict[int, int]] | None:
    reached, trace, work = {1: 0}, [], 0
    for edits in range(min(len(a) + len(b), most) + 1):
        trace.append(reached.copy())
        for diagonal in range(-edits, edits + 1, 2):
            x = _step(reached, diagonal, edits)
            y = x - diagonal
            first = x
            while x < len(a) and y < len(b) and a[x] == b[y]:
                x, y = x + 1, y + 1
            work += x - first
            reached[diagonal] = x
            if x >= len(a) and y >= len(b):
                return trace
        work += edits
        if work > WORK:
            return None
    return None


def _step(reached: dict[int, int], diagonal: int, edits: int) -> int:
    down = diagonal == -edits or (diagonal != edits and reached[diagonal - 1] < reached[diagonal + 1])
    return reached[diagonal + 1] if down else reached[diagonal - 1] + 1


def _walk_back(trace: list[dict[int, int]], x: int, y: int) -> list[Edit]:
    """Single-line edits in order, from the recorded search."""
    found: list[Edit] = []
    for edits in range(len(trace) - 1, 0, -1):
        reached, diagonal = trace[edits], x - y
        down = diagonal == -edits or (diagonal != edits and reached[diagonal - 1] < reached[diagonal + 1])
        before = diagonal + 1 if down else diagonal - 1
        x = reached[before]
        y = x - before
        found.append((x, x, y, y + 1) if down else (x, x + 1, y, y))
    found.reverse()
    return found


def _joined(edits: list[Edit]) -> list[Edit]:
    """Neighbouring edits as one, so that removed lines stand before added ones."""
    joined: list[Edit] = []
    for edit in edits:
        if joined and joined[-1][1] == edit[0] and joined[-1][3] == edit[2]:
            joined[-1] = (joined[-1][0], edit[1], joined[-1][2], edit[3])
        else:
            joined.append(edit)
    return joined


def _counts(a: list[str], b: list[str]) -> Compared:
    """Counts without a diff: by the length of the longest common subsequence, where that can be afforded."""
    exact = len(a) * len(b) <= COUNT_CELLS
    kept = _common(a, b) if exact else 0
    added, removed = len(b) - kept, len(a) - kept
    return Compared(added, removed, added + removed, None, exact)


def _common(a: list[str], b: list[str]) -> int:
    """The length of the longest common subsequence, a row of the table at a time as one big number (Hyyrö)."""
    where = _places(a, b)
    full = (1 << len(a)) - 1
    row = full
    for line in b:
        if match := where.get(line):
            row = ((row + (row & match)) | (row & ~match)) & full
    return len(a) - row.bit_count()


def _counted_edits(a: list[str], b: list[str]) -> list[Edit]:
    """The edits around a longest common subsequence, from all rows of that table; one edit of all where they are too many."""
    if len(a) * len(b) > WHOLE_CELLS:
        return [(0, len(a), 0, len(b))]
    rows = _rows(a, b)
    found: list[Edit] = []
    x, y = len(a), len(b)
    row, above = rows.pop(), rows.pop()
    while x and y:
        if _bit(row, x - 1):
            found.append((x - 1, x, y, y))
            x -= 1
            continue
        if _bit(above, x - 1):
            x -= 1
        else:
            found.append((x, x, y - 1, y))
        y, row, above = y - 1, above, rows.pop() if rows else b""
    found += [(0, x, 0, y)] if x or y else []
    found.reverse()
    return _joined(found)


def _bit(row: bytes, at: int) -> int:
    return row[at >> 3] >> (at & 7) & 1


def _places(lines: list[str], wanted: list[str]) -> dict[str, int]:
    """Where each line that is wanted stands, as a number with a bit for each place."""
    size = len(lines) + 7 >> 3
    where = {line: bytearray(size) for line in set(wanted).intersection(lines)}
    for index, line in enumerate(lines):
        if line in where:
            where[line][index >> 3] |= 1 << (index & 7)
    return {line: int.from_bytes(bits, "little") for line, bits in where.items()}


def _rows(a: list[str], b: list[str]) -> list[bytes]:
    """That table: a row for no line of ``b``, and one after each. A bit that is not set says that there the length grows."""
    where, full, size = _places(a, b), (1 << len(a)) - 1, len(a) + 7 >> 3
    row, rows = full, [full.to_bytes(size, "little")]
    for line in b:
        if match := where.get(line):
            row = ((row + (row & match)) | (row & ~match)) & full
        rows.append(row.to_bytes(size, "little"))
    return rows


def _compared(header: str, before: list[str], after: list[str], edits: list[Edit]) -> Compared:
    added = sum(d - c for _, _, c, d in edits)
    removed = sum(b - a for a, b, _, _ in edits)
    shown: list[str] = []
    for group in _groups(edits):
        shown += _hunk(before, after, group)
    text = header + "\n".join(shown) + "\n"
    short = len(shown) <= DIFF_LINES and len(text) <= DIFF_CHARS
    return Compared(added, removed, len(shown), text if short else None)


def _groups(edits: list[Edit]) -> list[list[Edit]]:
    """Edits that are near enough to share a hunk."""
    groups: list[list[Edit]] = []
    for edit in edits:
        if groups and edit[0] - groups[-1][-1][1] <= 2 * CONTEXT:
            groups[-1].append(edit)
        else:
            groups.append([edit])
    return groups


def _hunk(before: list[str], after: list[str], group: list[Edit]) -> list[str]:
    lead = min(CONTEXT, group[0][0])
    trail = min(CONTEXT, len(before) - group[-1][1])
    a, b, c, d = group[0][0] - lead, group[-1][1] + trail, group[0][2] - lead, group[-1][3] + trail
    lines = [f"@@ -{_range(a, b)} +{_range(c, d)} @@"]
    at = a
    for old_from, old_to, new_from, new_to in group:
        lines += [f" {line}" for line in before[at:old_from]]
        lines += [f"-{line}" for line in before[old_from:old_to]]
        lines += [f"+{line}" for line in after[new_from:new_to]]
        at = old_to
    return [*lines, *(f" {line}" for line in before[at:b])]


def _range(start: int, end: int) -> str:
    count = end - start
    return f"{start + 1 if count else start},{count}" if count != 1 else f"{start + 1}"
