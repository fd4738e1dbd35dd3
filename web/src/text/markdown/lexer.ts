// Markdown to blocks: one call of the lexer, made safe for texts that nobody vouches for.
//
// Rule 1: nothing throws and nothing takes long: what is too deep or too long to parse is shown as plain text.
// Rule 2: a long list is cut into pieces, always at the same items, so that a list that grows costs what is new.

import { Lexer, type Links, type Token, type Tokens } from 'marked';

/** Text that is shown as it is. */
interface PlainText {
  type: 'plain';
  raw: string;
}

/** Code that is still being written; see fence.ts. */
export interface OpenCode {
  type: 'open_code';
  raw: string;
  info: string;
  pieces: readonly string[];
  pieceCount: number;
  tail: string;
}

export type BlockToken = Token | PlainText | OpenCode;

const LIST_PIECE = 24;
const LONGEST_INLINE = 16_384;
const DEEPEST = 60;

interface Lexed {
  /** Blocks and the spaces between them, in order. */
  tokens: BlockToken[];
  /** Every link definition known, those that were given included. */
  links: Links;
}

/** The blocks of some markdown. */
export function lex(text: string, links: Links, breaks: boolean): Lexed {
  if (tooDeep(text)) return { tokens: [{ type: 'plain', raw: text }], links };
  const lexer = new Lexer({ gfm: true, breaks });
  Object.assign(lexer.tokens.links, links);
  try {
    lexer.blockTokens(text, lexer.tokens);
    for (const waiting of lexer.inlineQueue) inline(lexer, waiting.src, waiting.tokens);
  } catch {
    // The lexer recurses; a text made to exhaust it is shown as it is.
    return { tokens: [{ type: 'plain', raw: text }], links };
  }
  if (deeperThan(lexer.tokens, DEEPEST)) return { tokens: [{ type: 'plain', raw: text }], links };
  return { tokens: lexer.tokens.flatMap(inPieces), links: { ...lexer.tokens.links } };
}

function inline(lexer: Lexer, text: string, into: Token[]): void {
  if (text.length > LONGEST_INLINE) into.push({ type: 'text', raw: text, text, escaped: false });
  else lexer.inlineTokens(text, into);
}

/** Many markers of quotes or list items at the beginning of one line: each is a level, and levels recurse. */
function tooDeep(text: string): boolean {
  return text.split('\n').some((line) => levels(line) > DEEPEST);
}

function levels(line: string): number {
  let count = 0;
  for (const mark = /[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))/y; mark.test(line) && count <= DEEPEST;) count += 1;
  return count;
}

/** What is drawn is drawn level by level: more of them than any text needs would exhaust the stack. */
function deeperThan(tokens: readonly Token[], most: number): boolean {
  if (most === 0) return tokens.length > 0;
  return tokens.some((token) => childrenOf(token).some((children) => deeperThan(children, most - 1)));
}

function childrenOf(token: Token): (readonly Token[])[] {
  if (token.type === 'list') return (token as Tokens.List).items.map((item) => item.tokens);
  if (token.type === 'table') return [...(token as Tokens.Table).header, ...(token as Tokens.Table).rows.flat()].map((cell) => cell.tokens);
  return 'tokens' in token && token.tokens !== undefined ? [token.tokens] : [];
}

function inPieces(token: Token): Token[] {
  if (token.type !== 'list' || (token as Tokens.List).items.length <= LIST_PIECE) return [token];
  const list = token as Tokens.List;
  const pieces: Tokens.List[] = [];
  for (let at = 0; at < list.items.length; at += LIST_PIECE) {
    const items = list.items.slice(at, at + LIST_PIECE);
    const start = list.ordered && typeof list.start === 'number' ? list.start + at : list.start;
    pieces.push({ ...list, items, start, raw: items.map((item) => item.raw).join('') });
  }
  return pieces;
}
