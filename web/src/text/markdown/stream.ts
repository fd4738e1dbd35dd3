// Markdown by block, for text that grows.
//
// Rule 1: a block that is finished keeps its identity (the same object) for good; only the last block or two are parsed again, and
// how much of the text that can be is bounded. Appending costs what is new, not what is there.
// Rule 2: when the text is complete it is parsed once as a whole, and every block that comes out the same keeps its identity. What is
// seen then does not depend on how the text came in. A text that is too long to be parsed at once stays as its pieces were parsed.
// Rule 3: nothing here touches the DOM.

import type { Links, Tokens } from 'marked';
import { Fence, openFenceIn, openingOf } from './fence';
import { type BlockToken, lex } from './lexer';

/** One top-level block. `open`: it may still change. */
export interface Block {
  readonly key: number;
  readonly token: BlockToken;
  readonly open: boolean;
}

/** Finished blocks by the page, so that a long message is compared page by page. A full page never changes. */
type Page = readonly Block[];

export const PAGE_BLOCKS = 32;
const LONGEST_TAIL = 8_192;

export class MarkdownStream {
  /** How many blocks were lexed since the beginning: what the work is measured by. */
  lexed = 0;
  private pagesFull: Page[] = [];
  private page: Block[] = [];
  private tailBlocks: Block[] = [];
  private tail = '';
  private fence: Fence | null = null;
  private links: Links = {};
  private nextKey = 0;
  private heldReturn = '';

  constructor(private readonly breaks: boolean = true) {}

  /** Pages of finished blocks; the last one is not full yet. */
  get pages(): readonly Page[] {
    return this.page.length === 0 ? this.pagesFull : [...this.pagesFull, this.page];
  }

  /** Blocks that may still change. */
  get open(): readonly Block[] {
    return this.tailBlocks;
  }

  /** Every block, in order. */
  get blocks(): Block[] {
    return [...this.pagesFull.flat(), ...this.page, ...this.tailBlocks];
  }

  /** More text. */
  append(chunk: string): void {
    const text = this.withPlainNewlines(chunk);
    if (this.fence !== null) this.feedFence(this.fence, text);
    else {
      this.tail += text;
      this.advance();
    }
  }

  /** The text is complete: `whole` is all of it. */
  end(whole: string): void {
    const before = bySameness(this.blocks);
    const { tokens, links } = this.lexing(whole.replace(/\r\n?/g, '\n'), {});
    const hasLinks = Object.keys(links).length > 0;
    this.pagesFull = [];
    this.page = [];
    for (const token of tokens.filter(isShown)) {
      // A definition further down may have made a link of what was text.
      const known = hasLinks && token.raw.includes('[') ? undefined : before.get(sameness(token))?.pop();
      this.settle(known ?? this.block(token, false));
    }
    this.tail = '';
    this.tailBlocks = [];
    this.fence = null;
    this.links = links;
  }

  /** The text is complete, and too long to be parsed as a whole: what is open is settled as it is. */
  finish(): void {
    const left = this.fence !== null ? [closedCode(this.fence)] : this.lexing(this.tail, this.links).tokens.filter(isShown);
    left.forEach((token, index) => this.settle(this.block(token, false, this.tailBlocks[index])));
    this.tail = '';
    this.tailBlocks = [];
    this.fence = null;
  }

  /** Carriage returns are newlines; one at the end waits for what follows it. */
  private withPlainNewlines(chunk: string): string {
    const text = this.heldReturn + chunk;
    this.heldReturn = text.endsWith('\r') ? '\r' : '';
    const whole = this.heldReturn === '' ? text : text.slice(0, -1);
    return whole.includes('\r') ? whole.replace(/\r\n?/g, '\n') : whole;
  }

  private advance(): void {
    const { tokens, links } = this.lexing(withWholeTable(this.tail), this.links);
    const first = firstUnfinished(tokens);
    const finished = tokens.slice(0, first);
    const length = finished.reduce((sum, token) => sum + token.raw.length, 0);
    // Tokens that do not add up to the text cannot be cut off it: then all of it stays open.
    const fits = this.tail.startsWith(finished.map((token) => token.raw).join(''));
    if (fits) {
      for (const token of finished.filter(isShown)) this.settle(this.block(token, false));
      this.tail = this.tail.slice(length);
      this.links = links;
    }
    const rest = fits ? tokens.slice(first) : tokens;
    if (this.startFence(rest)) return;
    if (this.tail.length > LONGEST_TAIL) this.cut();
    else this.showOpen(rest.filter(isShown));
  }

  /** Leave the lexer for as long as a top-level fence is open. */
  private startFence(rest: readonly BlockToken[]): boolean {
    const shown = rest.filter(isShown);
    const last = shown[shown.length - 1];
    if (shown.length !== 1 || last?.type !== 'code') return false;
    const text = this.tail.replace(/^\n+/, '');
    const opening = openingOf(text);
    if (opening === null) return false;
    const fence = new Fence(opening);
    this.tail = '';
    this.fence = fence;
    this.feedFence(fence, text.slice(opening.length));
    return true;
  }

  private feedFence(fence: Fence, text: string): void {
    const after = fence.feed(text);
    if (after === null) {
      this.showOpen([openCode(fence)]);
      return;
    }
    this.fence = null;
    this.settle(this.block(closedCode(fence), false, this.tailBlocks[0]));
    this.tailBlocks = [];
    this.tail = after;
    this.advance();
  }

  /** The open text is too long to be parsed again and again: take it as it is up to the last line. */
  private cut(): void {
    const at = Math.max(this.tail.lastIndexOf('\n') + 1, this.tail.lastIndexOf(' ') + 1) || this.tail.length;
    const head = this.tail.slice(0, at);
    const rest = this.tail.slice(at);
    for (const token of this.lexing(head, this.links).tokens.filter(isShown)) this.settle(this.block(token, false));
    this.tailBlocks = [];
    this.fence = openFenceIn(head);
    this.tail = this.fence === null ? rest : '';
    if (this.fence !== null) this.feedFence(this.fence, rest);
  }

  private lexing(text: string, links: Links): ReturnType<typeof lex> {
    const found = lex(text, links, this.breaks);
    this.lexed += found.tokens.length;
    return found;
  }

  private showOpen(tokens: readonly BlockToken[]): void {
    const before = this.tailBlocks;
    this.tailBlocks = tokens.map((token, index) => this.block(token, true, before[index]));
  }

  /** A block; it takes the place of `before`, if there is one of the same kind, and is that one if nothing changed. */
  private block(token: BlockToken, open: boolean, before?: Block): Block {
    if (before !== undefined && before.open === open && token.type !== 'open_code' && sameness(before.token) === sameness(token)) return before;
    return { key: before?.key ?? this.nextKey++, token, open };
  }

  private settle(block: Block): void {
    this.page = [...this.page, block];
    if (this.page.length < PAGE_BLOCKS) return;
    this.pagesFull = [...this.pagesFull, this.page];
    this.page = [];
  }
}

/** The blocks of a text that will not change. */
export function blocksOf(text: string, breaks = true): Block[] {
  const stream = new MarkdownStream(breaks);
  stream.end(text);
  return stream.blocks;
}

function isShown(token: BlockToken): boolean {
  return token.type !== 'space' && token.type !== 'def';
}

/** From here on blocks may change: the last one, and the one before it while the last has no whole line. */
function firstUnfinished(tokens: readonly BlockToken[]): number {
  const shown = tokens.flatMap((token, index) => (token.type === 'space' ? [] : [index]));
  const last = shown[shown.length - 1];
  if (last === undefined) return 0;
  const beforeLast = shown[shown.length - 2];
  return tokens[last]?.raw.includes('\n') || beforeLast === undefined ? last : beforeLast;
}

/** Blocks that look the same, the last one first: they are taken from the end. */
function bySameness(blocks: readonly Block[]): Map<string, Block[]> {
  const found = new Map<string, Block[]>();
  for (const block of [...blocks].reverse()) {
    const key = sameness(block.token);
    const same = found.get(key);
    if (same === undefined) found.set(key, [block]);
    else same.push(block);
  }
  return found;
}

/** Two tokens of the same sameness look the same. */
function sameness(token: BlockToken): string {
  if (token.type === 'code') return `code ${(token as Tokens.Code).lang ?? ''}\n${(token as Tokens.Code).text}`;
  const loose = token.type === 'list' ? String((token as Tokens.List).loose) : '';
  return `${token.type} ${loose}\n${token.raw.trimEnd()}`;
}

function openCode(fence: Fence): BlockToken {
  return { type: 'open_code', raw: '', info: fence.info, pieces: fence.pieces, pieceCount: fence.pieces.length, tail: fence.tail };
}

function closedCode(fence: Fence): BlockToken {
  return { type: 'code', raw: fence.text, lang: fence.info, text: fence.text };
}

/** A table whose second line is being written is a table already: else it would stand there as pipes. */
function withWholeTable(text: string): string {
  const found = /(?:^|\n\n)( {0,3}\|[^\n]*\|)[ \t]*\n([ \t|:-]*)$/.exec(text);
  const header = found?.[1];
  if (found == null || header === undefined) return text;
  const columns = header.trim().slice(1, -1).split(/(?<!\\)\|/).length;
  return text.slice(0, text.length - (found[2] ?? '').length) + `|${' --- |'.repeat(columns)}`;
}
