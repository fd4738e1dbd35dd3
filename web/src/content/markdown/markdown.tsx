// Markdown that an agent wrote, drawn block by block while it is written.
//
// Rule 1: what is drawn comes from tokens, element by element; no markup is ever inserted as markup.
// Rule 2: very many blocks are shown page by page, and what is long is parsed and drawn bit by bit: nothing holds the page for long.
// Rule 3: a chunk of a live text draws only the blocks that it changed.

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { t } from '../../i18n';
import { type Block, MarkdownStream, PAGE_BLOCKS } from '../../text/markdown/stream';
import { isAppended } from '../../text/appended';
import { Button, sizeInWords } from '../../ui';
import '../../style/content/index.css';
import { BlockView } from './block';
import { codeWeight } from './code_block';
import { skipUnchanged } from '../skip_unchanged';
import { useGrowing } from '../use_growing';

interface MarkdownProps {
  text: string;
  /** More is coming. */
  live?: boolean;
  /** Whether a newline is a line break, as in a conversation; not in files. */
  breaks?: boolean;
  /** What is not here yet: how long all of it is, and a way to fetch it. */
  rest?: { bytes: number; load: () => Promise<void> } | undefined;
}

const SHOWN_FIRST = 200_000;
/** How much of a long text is parsed at once. */
const PARSED_AT_ONCE = 16_384;
/** Blocks and what is inside them: about as many elements are drawn. */
const FIRST_WEIGHT = 4_000;
/** While a long text grows all of what is drawn is laid out again and again, and its end is what is read. */
const LIVE_WEIGHT = 1_000;
const MORE_TIMES = 4;

export function Markdown({ text, live = false, breaks = true, rest }: MarkdownProps): JSX.Element {
  // What was seen while it was written is not taken away when it is complete.
  const [whole, setWhole] = useState(live);
  const cut = !live && !whole && text.length > SHOWN_FIRST;
  const wanted = cut ? SHOWN_FIRST : text.length;
  const parsed = useGrowing(wanted, SHOWN_FIRST, PARSED_AT_ONCE);
  const stream = useStream(text, parsed, live || parsed < wanted, breaks);
  const [times, setTimes] = useState(1);
  const [fromEnd] = useState(live);
  const pages = pagesOf(stream);
  const grows = fromEnd && text.length > SHOWN_FIRST && (live || parsed < wanted);
  const most = (grows ? LIVE_WEIGHT : FIRST_WEIGHT) * times;
  // What is complete is drawn in steps as well, as many as there is something to draw in.
  const target = live || grows ? most : Math.min(most, Math.max(LIVE_WEIGHT, pages.reduce((sum, page) => sum + weightOf(page), 0)));
  const weight = useGrowing(target, live ? FIRST_WEIGHT : LIVE_WEIGHT, LIVE_WEIGHT, grows);
  const [start, end] = shownPages(pages, weight, fromEnd);
  const more = end - start < pages.length && <Button kind="quiet" onClick={() => setTimes(times * MORE_TIMES)}>{t('content.showMore')}</Button>;
  return (
    <div class="content-markdown">
      {fromEnd && more}
      {pages.slice(start, end).map((page, index) => <PageView key={start + index} page={page} />)}
      {!fromEnd && more}
      {(cut || rest) && <ShowRest bytes={(rest?.bytes ?? text.length) - Math.min(text.length, SHOWN_FIRST)} load={rest?.load} onShow={() => setWhole(true)} />}
    </div>
  );
}

interface ShowRestProps {
  bytes: number;
  load?: (() => Promise<void>) | undefined;
  onShow?: () => void;
}

export function ShowRest({ bytes, load, onShow }: ShowRestProps): JSX.Element {
  const [state, setState] = useState<'waits' | 'loads' | 'failed'>('waits');
  const show = (): void => {
    setState('loads');
    void (load?.() ?? Promise.resolve()).then(onShow, () => setState('failed'));
  };
  return (
    <>
      <Button kind="quiet" busy={state === 'loads'} onClick={show}>{t('content.showRest', { size: sizeInWords(bytes) })}</Button>
      {state === 'failed' && <p role="alert">{t('content.restFailed')}</p>}
    </>
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
  const weight = page.reduce((sum, { token }) => sum + 1 + (token.type.endsWith('code') ? codeWeight(token) : weightIn(token as Inside)), 0);
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

/** The first `length` characters as blocks. */
function useStream(all: string, length: number, live: boolean, breaks: boolean): MarkdownStream {
  const held = useRef<Held | null>(null);
  const before = held.current;
  // Not even looked at while nothing of it is due: a browser copies a text that grew before it looks into it.
  if (live && before?.live && before.text.length === length && length < all.length) return before.stream;
  const text = all.slice(0, length);
  if (before !== null && before.text === text && before.live === live) return before.stream;
  const stream = continued(before, text, live) ?? new MarkdownStream(breaks);
  if (!live && text.length <= SHOWN_FIRST) stream.end(text);
  else {
    stream.append(before !== null && stream === before.stream ? text.slice(before.text.length) : text);
    if (!live) stream.finish();
  }
  held.current = { stream, text, live };
  return stream;
}

/** The stream so far, where the text only grew, or is complete now. */
function continued(before: Held | null, text: string, live: boolean): MarkdownStream | null {
  if (before === null) return null;
  if (!live && text.length <= SHOWN_FIRST) return before.stream;
  return before.live && isAppended(before.text, text) ? before.stream : null;
}
