// Which words of a changed line changed.
//
// Rule: marks help only where most of a line stayed; a line that was rewritten is not marked at all.

import { diffArrays } from 'diff';
import type { DiffLine } from './diff';
import type { Mark } from '../code/tokens';

/** The changed stretches of a removed line and of the added one in its place. */
interface Pair {
  removed: Mark[];
  added: Mark[];
}

const LONGEST = 800;
const MOST_EDITS = 160;
const KEPT_LEAST = 0.35;

/** The marks for two lines; none where they have too little in common. */
export function changedWords(removed: string, added: string): Pair {
  const none: Pair = { removed: [], added: [] };
  if (removed.length > LONGEST || added.length > LONGEST) return none;
  const changes = diffArrays(wordsOf(removed), wordsOf(added), { maxEditLength: MOST_EDITS });
  if (changes === undefined) return none;
  const pair: Pair = { removed: [], added: [] };
  let [beforeAt, afterAt, kept] = [0, 0, 0];
  for (const change of changes) {
    const text = change.value.join('');
    const length = text.length;
    if (change.added) mark(pair.added, afterAt, (afterAt += length));
    else if (change.removed) mark(pair.removed, beforeAt, (beforeAt += length));
    else [beforeAt, afterAt, kept] = [beforeAt + length, afterAt + length, kept + text.trim().length];
  }
  const longest = Math.max(removed.trim().length, added.trim().length);
  return longest > 0 && kept / longest < KEPT_LEAST ? none : pair;
}

/** The marks of every changed line that has a counterpart: the first removed one belongs to the first added one, and so on. */
export function marksOf(lines: readonly DiffLine[]): Map<DiffLine, Mark[]> {
  const found = new Map<DiffLine, Mark[]>();
  for (const { removed, added } of changeRuns(lines)) {
    for (let index = 0; index < Math.min(removed.length, added.length); index += 1) {
      const [old, now] = [removed[index], added[index]];
      if (old === undefined || now === undefined) continue;
      const pair = changedWords(old.text, now.text);
      found.set(old, pair.removed).set(now, pair.added);
    }
  }
  return found;
}

/** Removed lines and the added ones that follow them, run by run. */
export function changeRuns(lines: readonly DiffLine[]): { removed: DiffLine[]; added: DiffLine[] }[] {
  const runs: { removed: DiffLine[]; added: DiffLine[] }[] = [];
  let run: { removed: DiffLine[]; added: DiffLine[] } | null = null;
  for (const line of lines) {
    if (line.kind === 'same') run = null;
    else {
      if (run === null || (line.kind === 'removed' && run.added.length > 0)) runs.push((run = { removed: [], added: [] }));
      run[line.kind].push(line);
    }
  }
  return runs;
}

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function mark(marks: Mark[], start: number, end: number): void {
  const last = marks[marks.length - 1];
  if (last !== undefined && last.end === start) last.end = end;
  else if (end > start) marks.push({ start, end });
}
