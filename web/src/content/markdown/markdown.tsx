// Markdown that an agent wrote, drawn block by block while it is written.
//
// Rule 1: what is drawn comes from tokens, element by element; no markup is ever inserted as markup.
// Rule 2: very many blocks are shown page by page.
// Rule 3: a chunk of a live text draws only the blocks that it changed.

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { t } from '../../i18n';
import { type Block, MarkdownStream, PAGE_BLOCKS } from '../../text/markdown/stream';
import { isAppended } from '../../text/appended';
import { Button } from '../../ui';
import '../../style/content/index.css';
import { BlockView } from './block';
import { skipUnchanged } from '../skip_unchanged';

interface MarkdownProps {
  text: string;
  /** More is coming. */
  live?: boolean;
  /** Whether a newline is a line break, as in a conversation; not in files. */
  breaks?: boolean;
}

const SHOWN_FIRST = 200_000;
/** Blocks and what is inside them: about as many elements are drawn. */
const FIRST_WEIGHT = 4_000;
const MORE_TIMES = 4;

export function Markdown({ text, live = false, breaks = true }: MarkdownProps): JSX.Element {
  // What was seen while it was written is not taken away when it is complete.
  const [whole, setWhole] = useState(live);
  const cut = !live && !whole && text.length > SHOWN_FIRST;
  const stream = useStream(cut ? text.slice(0, SHOWN_FIRST) : text, live, breaks);
  const [times, setTimes] = useState(1);
  const [fromEnd] = useState(live);
  const pages = pagesOf(stream);
  const [start, end] = shownPages(pages, FIRST_WEIGHT * times, fromEnd);
  const more = end - start < pages.length && <Button kind="quiet" onClick={() => setTimes(times * MORE_TIMES)}>{t('content.showMore')}</Button>;
  return (
    <div class="content-markdown">
      {fromEnd && more}
      {pages.slice(start, end).map((page, index) => <PageView key={start + index} page={page} />)}
      {!fromEnd && more}
      {cut && <Button kind="quiet" onClick={() => setWhole(true)}>{t('content.showRest', { n: Math.ceil((text.length - SHOWN_FIRST) / 1_000) })}</Button>}
    </div>
  );
}

const PageView = skipUnchanged(({ page }: { page: readonly Block[] }): JSX.Element => <>{page.map((block) => <BlockView key={block.key} block={block} />)}</>);

/** The first pages, or, of a text that was seen while it was written, the last ones, that are not too much to draw; one at least. */
function shownPages(pages: readonly (readonly Block[])[], most: number, fromEnd: boolean): [number, number] {
  let count = 0;
  for (let weight = 0; count < pages.length; count += 1) {
    weight += weightOf(pages[fromEnd ? pages.length - 1 - count : count] ?? []);
    if (count > 0 && weight > most) break;
  }
  return fromEnd ? [pages.length - count, pages.length] : [0, count];
}

const weights = new WeakMap<readonly Block[], number>();

/** A page that is full never changes, and is weighed once. */
function weightOf(page: readonly Block[]): number {
  const known = weights.get(page);
  if (known !== undefined) return known;
  const weight = page.reduce((sum, block) => sum + 1 + weightIn(block.token as Inside), 0);
  weights.set(page, weight);
  return weight;
}

interface Inside {
  tokens?: unknown;
  items?: unknown;
}

function weightIn(token: Inside): number {
  const inside = [token.tokens, token.items].flatMap((each) => (Array.isArray(each) ? each : [])) as Inside[];
  return inside.reduce((sum, each) => sum + 1 + weightIn(each), 0);
}

/** Open blocks stand with the page that they will be on, so that they need not move there. */
function pagesOf(stream: MarkdownStream): (readonly Block[])[] {
  const pages: (readonly Block[])[] = [...stream.pages];
  const last = pages[pages.length - 1];
  if (stream.open.length === 0) return pages;
  if (last !== undefined && last.length < PAGE_BLOCKS) pages[pages.length - 1] = [...last, ...stream.open];
  else pages.push(stream.open);
  return pages;
}

interface Held {
  stream: MarkdownStream;
  text: string;
  live: boolean;
}

function useStream(text: string, live: boolean, breaks: boolean): MarkdownStream {
  const held = useRef<Held | null>(null);
  const before = held.current;
  if (before !== null && before.text === text && before.live === live) return before.stream;
  const stream = continued(before, text, live) ?? new MarkdownStream(breaks);
  if (!live) stream.end(text);
  else stream.append(before !== null && stream === before.stream ? text.slice(before.text.length) : text);
  held.current = { stream, text, live };
  return stream;
}

/** The stream so far, where the text only grew, or is complete now. */
function continued(before: Held | null, text: string, live: boolean): MarkdownStream | null {
  if (before === null) return null;
  if (!live) return before.stream;
  return before.live && isAppended(before.text, text) ? before.stream : null;
}
