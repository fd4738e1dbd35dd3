// A file's diff as rows to show: unchanged runs folded, in one column or in two.

import type { DiffLine, FileDiff, Hunk } from './diff';

/** Lines that are not shown: inside a hunk (`lines`), or between hunks, where only their numbers are known. */
export interface Fold {
  row: 'fold';
  key: string;
  count: number;
  /** The first one, by its number in the old file and in the new one. */
  before: number;
  after: number;
  lines: readonly DiffLine[] | null;
  heading: string;
}

interface LineRow {
  row: 'line';
  line: DiffLine;
}

/** Two columns: what was, and what is. */
interface PairRow {
  row: 'pair';
  left: DiffLine | null;
  right: DiffLine | null;
}

export type DiffRow = Fold | LineRow;
export type SplitRow = Fold | PairRow;

const SHOWN_AROUND = 3;
const FOLDED_LEAST = 6;

/** The rows of a file, in one column. `open` are the keys of folds that are opened; `whole` the new file's lines, if known. */
export function diffRowsOf(file: FileDiff, open: ReadonlySet<string>, whole: readonly string[] | null): DiffRow[] {
  const rows: DiffRow[] = [];
  let [beforeAt, afterAt] = [1, 1];
  file.hunks.forEach((hunk, index) => {
    addGap(rows, { index, hunk, beforeAt, afterAt }, open, whole);
    addHunk(rows, hunk, index, open);
    beforeAt = endOf(hunk.beforeStart, hunk.lines.filter((line) => line.before !== null).length);
    afterAt = endOf(hunk.afterStart, hunk.lines.filter((line) => line.after !== null).length);
  });
  if (whole !== null && file.hunks.length > 0 && file.status === 'modified') addRest(rows, beforeAt, afterAt, open, whole);
  return rows;
}

/** A hunk of no lines stands after the line that it names. */
function endOf(start: number, count: number): number {
  return count === 0 ? start + 1 : start + count;
}

interface Gap {
  index: number;
  hunk: Hunk;
  beforeAt: number;
  afterAt: number;
}

function addGap(rows: DiffRow[], { index, hunk, beforeAt, afterAt }: Gap, open: ReadonlySet<string>, whole: readonly string[] | null): void {
  const count = hunk.afterStart - afterAt;
  if (count <= 0) {
    if (index > 0) rows.push({ row: 'fold', key: `gap ${index}`, count: 0, before: beforeAt, after: afterAt, lines: null, heading: hunk.heading });
    return;
  }
  const key = `gap ${index}`;
  const lines = whole === null ? null : sameLines(whole, beforeAt, afterAt, count);
  addFold(rows, { row: 'fold', key, count, before: beforeAt, after: afterAt, lines, heading: hunk.heading }, open);
}

function addRest(rows: DiffRow[], beforeAt: number, afterAt: number, open: ReadonlySet<string>, whole: readonly string[]): void {
  const count = whole.length - afterAt + 1;
  if (count <= 0) return;
  addFold(rows, { row: 'fold', key: 'rest', count, before: beforeAt, after: afterAt, lines: sameLines(whole, beforeAt, afterAt, count), heading: '' }, open);
}

function addFold(rows: DiffRow[], fold: Fold, open: ReadonlySet<string>): void {
  if (open.has(fold.key) && fold.lines !== null) for (const line of fold.lines) rows.push({ row: 'line', line });
  else rows.push(fold);
}

function sameLines(whole: readonly string[], before: number, after: number, count: number): DiffLine[] {
  return whole.slice(after - 1, after - 1 + count).map((text, index) => ({ kind: 'same', text, before: before + index, after: after + index }));
}

function addHunk(rows: DiffRow[], hunk: Hunk, index: number, open: ReadonlySet<string>): void {
  for (const run of runsOf(hunk.lines)) {
    const first = run.start === 0 ? 0 : SHOWN_AROUND;
    const last = run.end === hunk.lines.length ? 0 : SHOWN_AROUND;
    const hidden = hunk.lines.slice(run.start + first, Math.max(run.start + first, run.end - last));
    if (!run.same || hidden.length < FOLDED_LEAST) {
      for (const line of hunk.lines.slice(run.start, run.end)) rows.push({ row: 'line', line });
      continue;
    }
    for (const line of hunk.lines.slice(run.start, run.start + first)) rows.push({ row: 'line', line });
    const [head] = hidden;
    addFold(rows, { row: 'fold', key: `run ${index} ${run.start}`, count: hidden.length, before: head?.before ?? 0, after: head?.after ?? 0, lines: hidden, heading: '' }, open);
    for (const line of hunk.lines.slice(run.end - last, run.end)) rows.push({ row: 'line', line });
  }
}

function runsOf(lines: readonly DiffLine[]): { start: number; end: number; same: boolean }[] {
  const runs: { start: number; end: number; same: boolean }[] = [];
  lines.forEach((line, index) => {
    const last = runs[runs.length - 1];
    if (last !== undefined && last.same === (line.kind === 'same')) last.end = index + 1;
    else runs.push({ start: index, end: index + 1, same: line.kind === 'same' });
  });
  return runs;
}

/** The same rows in two columns: removed lines left of the added ones that took their place. */
export function inTwoColumns(rows: readonly DiffRow[]): SplitRow[] {
  const found: SplitRow[] = [];
  let [removed, added]: [DiffLine[], DiffLine[]] = [[], []];
  const flush = (): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      found.push({ row: 'pair', left: removed[index] ?? null, right: added[index] ?? null });
    }
    [removed, added] = [[], []];
  };
  for (const row of rows) {
    if (row.row === 'line' && row.line.kind === 'removed') {
      if (added.length > 0) flush();
      removed.push(row.line);
    } else if (row.row === 'line' && row.line.kind === 'added') added.push(row.line);
    else {
      flush();
      found.push(row.row === 'fold' ? row : { row: 'pair', left: row.line, right: row.line });
    }
  }
  flush();
  return found;
}

/** Whether a file is what the diff says it is now: only then may its lines fill the gaps. */
export function fits(file: FileDiff, whole: readonly string[]): boolean {
  return file.hunks.every((hunk) => hunk.lines.every((line) => line.after === null || whole[line.after - 1] === line.text));
}
