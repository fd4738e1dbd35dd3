// The list of a conversation: draws the rows that are near the screen and leaves their places to the scroller.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Scroller } from './scroller';

interface ListProps<R extends { key: string }> {
  rows: readonly R[];
  scroller: Scroller;
  draw: (row: R) => ComponentChildren;
  estimate: (row: R) => number;
  label: string;
  before?: ComponentChildren;
  after?: ComponentChildren;
  busy?: boolean;
}

export function List<R extends { key: string }>({ rows, scroller, draw, estimate, label, before, after, busy }: ListProps<R>): JSX.Element {
  const view = useRef<HTMLDivElement>(null);
  const space = useRef<HTMLDivElement>(null);
  const block = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    scroller.attach({ view: view.current!, space: space.current!, block: block.current! });
    return () => scroller.detach();
  }, [scroller]);
  scroller.setRows(rows.map((row) => row.key), (at) => estimate(rows[at]!));
  const { first, end } = scroller.range;
  useLayoutEffect(() => scroller.settle());
  useEffect(() => {
    const fonts = (document as Document & { fonts?: { ready: Promise<unknown> } }).fonts;
    void fonts?.ready.then(() => scroller.settle());
  }, [scroller]);
  return (
    <div class="session-scroll" ref={view} role="feed" aria-label={label} aria-busy={busy ?? false} tabIndex={0}
      onScroll={() => scroller.scrolled()} onKeyDown={(event) => pressed(event, scroller)}>
      {before}
      <div class="session-space" ref={space}>
        <div class="session-block" ref={block}>{rows.slice(first, end).map(draw)}</div>
      </div>
      {after}
    </div>
  );
}

/** Home and End go to the ends of what there is; arrows and page keys are the browser's. */
function pressed(event: KeyboardEvent, scroller: Scroller): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return;
  const act = { Home: () => scroller.toTop(), End: () => scroller.toEnd(), j: () => step(event, 1), k: () => step(event, -1) }[event.key];
  if (act === undefined) return;
  event.preventDefault();
  act();
}

function step(event: KeyboardEvent, by: 1 | -1): void {
  const rows = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role="article"]')];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at === -1 ? (by === 1 ? 0 : rows.length - 1) : at + by];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName));
}
