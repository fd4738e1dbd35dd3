// A fenced code block that is still being written, line by line.
//
// Rule 1: a line costs what it is long, however long the block already is: what is finished is kept in pieces that never change.
// Rule 2: no markdown is parsed in here; only the closing fence ends it.

export const PIECE_LINES = 40;
export const LONGEST_LINE = 4_096;
const OPENING = /^( {0,3})(`{3,}|~{3,})([^\n]*)\n/;

/** What an opening fence says. */
interface Opening {
  indent: number;
  marker: string;
  info: string;
  length: number;
}

/** The opening fence at the beginning of a text, or null. Its line has to be whole. */
export function openingOf(raw: string): Opening | null {
  const found = OPENING.exec(raw);
  if (found === null) return null;
  const [whole, spaces = '', marker = '', info = ''] = found;
  if (marker.startsWith('`') && info.includes('`')) return null;
  return { indent: spaces.length, marker, info: info.trim(), length: whole.length };
}

/** The language that an info string names, in lower case, or nothing. */
export function languageOf(info: string): string {
  return (/^\{?\.?([^\s,{}]+)/.exec(info)?.[1] ?? '').toLowerCase();
}

export class Fence {
  readonly info: string;
  /** Finished pieces; they only become more. */
  readonly pieces: string[] = [];
  private piece = '';
  private pieceLines = 0;
  private rest = '';
  private readonly indent: RegExp;
  private readonly closing: RegExp;
  private readonly maybeClosing: RegExp;

  constructor(opening: Pick<Opening, 'indent' | 'marker' | 'info'>) {
    const mark = opening.marker.charAt(0);
    this.info = opening.info;
    this.indent = new RegExp(`^ {0,${opening.indent}}`);
    this.closing = new RegExp(`^[ ]{0,${Math.max(3, opening.indent)}}${mark}{${opening.marker.length},}[ \\t]*$`);
    this.maybeClosing = new RegExp(`^[ ]{0,${Math.max(3, opening.indent)}}${mark}+[ \\t]*$`);
  }

  /** Take more text. Returns what comes after the closing fence, or null while it is open. */
  feed(chunk: string): string | null {
    let text = this.rest + chunk;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
      const line = text.slice(0, end);
      text = text.slice(end + 1);
      if (this.closing.test(line)) {
        this.rest = '';
        return text;
      }
      this.take(line.replace(this.indent, '') + '\n', 1);
    }
    if (text.length > LONGEST_LINE) {
      this.take(text, 0);
      text = '';
    }
    this.rest = text;
    return null;
  }

  /** What is not in `pieces` yet; what may become the closing fence is kept back. */
  get tail(): string {
    return this.piece + (this.maybeClosing.test(this.rest) ? '' : this.rest.replace(this.indent, ''));
  }

  /** The whole code, without the newline before the closing fence. */
  get text(): string {
    return (this.pieces.join('') + this.tail).replace(/\n$/, '');
  }

  private take(text: string, lines: number): void {
    this.piece += text;
    this.pieceLines += lines;
    if (this.pieceLines < PIECE_LINES && this.piece.length < LONGEST_LINE) return;
    this.pieces.push(this.piece);
    this.piece = '';
    this.pieceLines = 0;
  }
}

/** The fence that is open at the end of some markdown, at whatever indentation, or null. */
export function openFenceIn(text: string): Fence | null {
  let open: Opening | null = null;
  for (const line of text.split('\n')) {
    const found = /^(?:[ >]|[-*+] |\d+[.)] )*?( *)(`{3,}|~{3,})(.*)$/.exec(line);
    const marker = found?.[2] ?? '';
    if (marker === '') continue;
    if (open === null) open = { indent: line.indexOf(marker), marker, info: (found?.[3] ?? '').trim(), length: 0 };
    else if (marker.startsWith(open.marker) && (found?.[3] ?? '').trim() === '') open = null;
  }
  return open === null ? null : new Fence(open);
}
