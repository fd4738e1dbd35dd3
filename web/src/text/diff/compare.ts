// Two texts compared line by line (the longest common subsequence), as a unified diff. Runs in the worker.

import { createTwoFilesPatch } from 'diff';

const LONGEST_EDIT = 20_000;

/** The unified diff from one text to the other; empty where they are the same. */
export function comparedTexts(before: string, after: string): string {
  if (before === after) return '';
  const patch = createTwoFilesPatch('a', 'b', before, after, '', '', { context: 3, maxEditLength: LONGEST_EDIT });
  // Beyond that many edits nothing is gained by finding the shortest: all of it is new.
  return (patch ?? allNew(before, after)).replace(/^=+\n/, '');
}

function allNew(before: string, after: string): string {
  const old = before.split('\n').map((line) => `-${line}`);
  const now = after.split('\n').map((line) => `+${line}`);
  return [`--- a`, `+++ b`, `@@ -1,${old.length} +1,${now.length} @@`, ...old, ...now, ''].join('\n');
}
