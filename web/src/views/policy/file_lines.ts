/**
 * The policy's text and the lines that things in it are at.
 *
 * Rule: pure, and by the hub's own reading: a rule begins at its `[[rules]]`.
 */

const HEADER = /^[^\S\n]*\[\[[^\S\n]*rules[^\S\n]*\]\]/gm;
const TABLE = /^[^\S\n]*\[/;
const MULTILINE = /"""|'''/;
/** A line with more than a comment on it. */
const SAYS = /^[^\S\n]*[^\s#]/;

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

/**
 * Where the lines of a rule are in the text: from its `[[rules]]` to its last line that says something. Comments and empty lines that
 * follow belong to what comes after. Null where the text does not say it plainly: in a text of several lines anything can stand.
 */
export function ruleSpan(text: string, count: number, index: number): { from: number; to: number } | null {
  const line = ruleLines(text, count)[index];
  if (line === undefined || MULTILINE.test(text)) return null;
  const { from } = lineRange(text, line);
  let to = nextLine(text, from);
  for (let at = to; at < text.length; at = nextLine(text, at)) {
    const words = text.slice(at, nextLine(text, at));
    if (TABLE.test(words)) break;
    if (SAYS.test(words)) to = at + words.length;
  }
  return { from, to };
}

/** The text without what is there; of the empty lines around it those before it stay. */
export function cutOut(text: string, { from, to }: { from: number; to: number }): string {
  const before = text.slice(0, from);
  const after = text.slice(to);
  if (!after.trim()) return before.replace(/\n+$/, '\n');
  return before + (before === '' || before.endsWith('\n\n') ? after.replace(/^(?:[^\S\n]*\n)+/, '') : after);
}

/** Where the line after the one that begins here begins. */
function nextLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end + 1;
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
