// Text that came with line numbers in front, as tools print it: the numbers are taken off and shown as numbers.

export interface Numbered {
  text: string;
  firstLine: number;
}

const NUMBER = /^[ \t]*(\d{1,7})(?:→|\t|\||: ?|[ ]{2})/;
const WITH_PLAIN_COLON = /^\d+:/;

/** The text without its numbers, or null where its lines are not numbered one after the other. */
export function withoutNumbers(text: string): Numbered | null {
  const lines = text.split('\n');
  const trailing = lines.length > 1 && lines[lines.length - 1] === '' ? 1 : 0;
  const numbered = lines.slice(0, lines.length - trailing);
  const first = Number(NUMBER.exec(numbered[0] ?? '')?.[1] ?? Number.NaN);
  if (Number.isNaN(first) || (numbered.length < 2 && WITH_PLAIN_COLON.test(text))) return null;
  const plain: string[] = [];
  for (const [index, line] of numbered.entries()) {
    const found = NUMBER.exec(line);
    if (found === null || Number(found[1]) !== first + index) return null;
    plain.push(line.slice(found[0].length));
  }
  return { text: plain.join('\n') + (trailing === 1 ? '\n' : ''), firstLine: first };
}
