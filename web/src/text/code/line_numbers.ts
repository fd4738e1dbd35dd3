// Text that came with line numbers in front, as tools print it: the numbers are taken off and shown as numbers.

interface Numbered {
  text: string;
  firstLine: number;
}

const NUMBER = /^[ \t]*(\d{1,7})(?:→|\t|\||: ?|[ ]{2})/;
const WITH_PLAIN_COLON = /^\d+:/;

const FILE = /^\s*<file>\n([\s\S]*?)\n?<\/file>\s*$/;
const FILE_NUMBER = /^(\d{5,7})\| ?/;
const REMARK = /\n\n?\((?:End of file|File has more lines|Output truncated)[^\n]*\)$/;

/** A file as a tool shows it, `<file>` around numbered lines: the file. Null where it is something else. */
export function fileWithin(text: string): Numbered | null {
  const inside = FILE.exec(text)?.[1]?.replace(REMARK, '');
  if (inside === undefined) return null;
  return stripped(inside.split('\n'), FILE_NUMBER) ?? { text: inside, firstLine: 1 };
}

/** The text without its numbers, or null where its lines are not numbered one after the other. */
export function withoutNumbers(text: string): Numbered | null {
  const lines = text.split('\n');
  const trailing = lines.length > 1 && lines[lines.length - 1] === '' ? 1 : 0;
  const numbered = lines.slice(0, lines.length - trailing);
  if (numbered.length < 2 && WITH_PLAIN_COLON.test(text)) return null;
  const found = stripped(numbered, NUMBER);
  return found === null || trailing === 0 ? found : { ...found, text: `${found.text}\n` };
}

function stripped(lines: string[], number: RegExp): Numbered | null {
  const first = Number(number.exec(lines[0] ?? '')?.[1] ?? Number.NaN);
  if (Number.isNaN(first)) return null;
  const plain: string[] = [];
  for (const [index, line] of lines.entries()) {
    const found = number.exec(line);
    if (found === null || Number(found[1]) !== first + index) return null;
    plain.push(line.slice(found[0].length));
  }
  return { text: plain.join('\n'), firstLine: first };
}
