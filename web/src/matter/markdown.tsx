// Markdown that an agent wrote, drawn block by block while it is written.
//
// Rule 1: what is drawn comes from tokens, element by element; no markup is ever inserted as markup.
// Rule 2: a chunk of a live text draws only the blocks that it changed.

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { t } from '../i18n';
import { type Block, MarkdownStream, PAGE_BLOCKS } from '../text/markdown';
import { grewFrom } from '../text/grown';
import { Button } from '../ui';
import '../style/matter.css';
import { BlockView } from './block';
import { whileSame } from './same';

export interface MarkdownProps {
  text: string;
  /** More is coming. */
  live?: boolean;
  /** Whether a newline is a line break, as in a conversation; not in files. */
  breaks?: boolean;
}

const SHOWN_FIRST = 200_000;

export function Markdown({ text, live = false, breaks = true }: MarkdownProps): JSX.Element {
  // What was seen while it was written is not taken away when it is complete.
  const [whole, setWhole] = useState(live);
  const cut = !live && !whole && text.length > SHOWN_FIRST;
  const stream = useStream(cut ? text.slice(0, SHOWN_FIRST) : text, live, breaks);
  return (
    <div class="matter-markdown">
      {pagesOf(stream).map((page, index) => <PageView key={index} page={page} />)}
      {cut && <Button kind="quiet" onClick={() => setWhole(true)}>{t('matter.showRest', { n: Math.ceil((text.length - SHOWN_FIRST) / 1_000) })}</Button>}
    </div>
  );
}

const PageView = whileSame(({ page }: { page: readonly Block[] }): JSX.Element => <>{page.map((block) => <BlockView key={block.key} block={block} />)}</>);

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
  return before.live && grewFrom(before.text, text) ? before.stream : null;
}
