/**
 * The policy's text and the lines that things in it are at.
 *
 * Rule: pure, and by the hub's own reading: a rule begins at its `[[rules]]`.
 */

const HEADER = /^[^\S\n]*\[\[[^\S\n]*rules[^\S\n]*\]\]/gm;

/** The line of each rule of the text, from 1; empty where the text does not say it plainly. */
export function ruleLines(text: string, count: number): number[] {
  const lines = [...text.matchAll(HEADER)].map((found) => lineAt(text, found.index));
  return lines.length === count ? lines : [];
}

/** The line that an error of the hub's names; null where it names none. */
export function problemLine(message: string): number | null {
  const found = /\bline (\d+)/.exec(message);
  return found ? Number(found[1]) : null;
}

/** Where a line begins and ends in the text. */
export function lineRange(text: string, line: number): { from: number; to: number } {
  let from = 0;
  for (let at = 1; at < line; at += 1) {
    const end = text.indexOf('\n', from);
    if (end < 0) break;
    from = end + 1;
  }
  const end = text.indexOf('\n', from);
  return { from, to: end < 0 ? text.length : end };
}

/** The text with a rule at its end, one empty line before it. */
export function withRule(text: string, rule: string): string {
  if (!text.trim()) return rule;
  return text.replace(/\n*$/, '\n\n') + rule;
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
