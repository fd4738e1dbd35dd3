// Code in a message: with its language, a button to copy it, and colours once it is finished.
//
// Rule 1: code is drawn in pieces of some lines, each laid out by itself: a line that comes costs its piece, not all of the code.
// Rule 2: of long code a part is drawn, of code that was seen while it was written the last part; more on demand. Colours come to it
// a few pieces at a time.

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { t } from '../../i18n';
import { languageOf, LONGEST_LINE, PIECE_LINES } from '../../text/markdown/fence';
import type { BlockToken, OpenCode } from '../../text/markdown/lexer';
import { languageByWord } from '../../text/code/language';
import { pieces as piecesOf, type TokenLines } from '../../text/code/tokens';
import { Button, Copy } from '../../ui';
import { skipUnchanged } from '../skip_unchanged';
import { Pieces, VisibleText } from '../visible_text';
import { useGrowing } from '../use_growing';
import { useTokens } from '../use_tokens';

/** Pieces that are drawn at first. */
const FIRST_PIECES = 25;
const MORE_TIMES = 4;
/** Pieces that get their colours at once: some thousand elements. */
const COLOURED_AT_ONCE = 5;
/** Characters of code that are about one element. */
const CHARACTERS = 50;

/** About how many elements the code of a block is, as far as it is drawn. */
export function codeWeight(token: BlockToken): number {
  if (token.type === 'open_code') return Math.min((token as OpenCode).pieceCount, FIRST_PIECES) * PIECE_LINES;
  return Math.min(Math.ceil(token.raw.length / CHARACTERS), FIRST_PIECES * PIECE_LINES);
}

/** Code that is complete, or, with `live`, that is being written. `open`: the block around it is being written, and it stays plain. */
export function CodeBlock({ text = '', info, open = false, live }: { text?: string; info: string; open?: boolean; live?: OpenCode | undefined }): JSX.Element {
  const language = languageOf(info);
  const [fromEnd] = useState(live !== undefined);
  const [times, setTimes] = useState(1);
  const complete = useMemo(() => inPieces(text), [text]);
  const all = live === undefined ? complete.texts : live.pieces.slice(0, live.pieceCount);
  const start = fromEnd ? Math.max(0, all.length - FIRST_PIECES * times) : 0;
  const shown = all.slice(start, start + FIRST_PIECES * times);
  const tokens = useTokens(text, open || live !== undefined ? '' : languageByWord(language));
  const coloured = useGrowing(tokens === null && shown.length > COLOURED_AT_ONCE ? 0 : shown.length, COLOURED_AT_ONCE, COLOURED_AT_ONCE, true);
  // Those that are read first have theirs first.
  const coloursOf = (at: number): TokenLines | null => ((fromEnd ? all.length - 1 - at : at) < coloured ? tokensOf(complete.lines[at], tokens) : null);
  const more = shown.length < all.length && <Button kind="quiet" onClick={() => setTimes(times * MORE_TIMES)}>{t('content.showMore')}</Button>;
  return (
    <div class="content-code-block" dir="ltr">
      <div class="content-code-head"><span>{language}</span><Copy text={live === undefined ? text : () => live.pieces.join('') + live.tail} label={t('content.copyCode')} /></div>
      {fromEnd && more}
      <pre tabIndex={0}><code>
        {shown.map((piece, index) => <Piece key={start + index} text={piece} whole={isWhole(all, start + index, live === undefined)} tokens={coloursOf(start + index)} />)}
        {live !== undefined && <VisibleText text={live.tail} />}
      </code></pre>
      {!fromEnd && more}
    </div>
  );
}

/** The colours of the lines of a piece, by the number of its first one. */
function tokensOf(line: number | undefined, tokens: TokenLines | null): TokenLines | null {
  return line === undefined || tokens === null ? null : tokens.slice(line, line + PIECE_LINES);
}

/** One piece; what is there already is not drawn again. `whole`: it is made of lines, and stands by itself. */
const Piece = skipUnchanged(({ text, whole, tokens }: { text: string; whole: boolean; tokens: TokenLines | null }): JSX.Element => (
  <span class={whole ? 'content-code-piece' : undefined}>
    {tokens === null ? <VisibleText text={text} /> : linesOf(text).map((line, index) => <span key={index}><Pieces pieces={piecesOf(line, tokens[index])} /></span>)}
  </span>
));

/** Whether a piece neither goes on with a line nor leaves one open. */
function isWhole(all: readonly string[], index: number, complete: boolean): boolean {
  return (index === 0 || all[index - 1]!.endsWith('\n')) && (all[index]!.endsWith('\n') || (complete && index === all.length - 1));
}

/** Lines with their ends. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? [];
}

interface CodePieces {
  texts: string[];
  /** The number of each one's first line; none for a part of a line that is too long to be read, or coloured. */
  lines: (number | undefined)[];
}

/** Pieces of so many lines; a very long line is several. Without a list of lines: there may be a hundred thousand. */
function inPieces(text: string): CodePieces {
  const found: CodePieces = { texts: [], lines: [] };
  const add = (from: number, to: number, line?: number): void => {
    if (from >= to) return;
    found.texts.push(text.slice(from, to));
    found.lines.push(line);
  };
  let [start, first] = [0, 0];
  for (let at = 0, line = 0; at < text.length; line += 1) {
    const end = (text.indexOf('\n', at) + 1) || text.length;
    if (end - at > LONGEST_LINE) {
      add(start, at, first);
      for (let part = at, next = at; part < end; part = next) {
        next = Math.min(end, betweenCharacters(text, part + LONGEST_LINE));
        add(part, next);
      }
      [start, first] = [end, line + 1];
    } else if (line + 1 - first === PIECE_LINES) {
      add(start, end, first);
      [start, first] = [end, line + 1];
    }
    at = end;
  }
  add(start, text.length, first);
  return found;
}

/** That place, or the next one where it is inside of a character. */
function betweenCharacters(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at + 1 : at;
}
