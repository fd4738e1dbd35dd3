// Long lists of rows, drawn where the reader is.
//
// Rule: rows come in blocks; a block far from the screen is an empty box of the height that it had, or is expected to have.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

const WINDOW_ROWS = 100;
const AHEAD = '800px 0px';

/** `children` draws rows from `start` up to `end`. */
export function Windowed({ count, rowHeight, children, reveal }: {
  count: number;
  rowHeight: number;
  /** A row that has to be drawn, wherever it is. */
  reveal?: number | undefined;
  children: (start: number, end: number) => ComponentChildren;
}): JSX.Element {
  const blocks = Math.ceil(count / WINDOW_ROWS);
  if (blocks <= 2) return <>{children(0, count)}</>;
  return (
    <>
      {Array.from({ length: blocks }, (_, index) => {
        const start = index * WINDOW_ROWS;
        const end = Math.min(count, start + WINDOW_ROWS);
        const wanted = reveal !== undefined && reveal >= start && reveal < end;
        return <Box key={index} rows={end - start} rowHeight={rowHeight} near={index === 0 || wanted}>{() => children(start, end)}</Box>;
      })}
    </>
  );
}

function Box({ rows, rowHeight, near: first, children }: { rows: number; rowHeight: number; near: boolean; children: () => ComponentChildren }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const height = useRef(rows * rowHeight);
  const [near, setNear] = useState(first);
  useEffect(() => {
    if (first) setNear(true);
  }, [first]);
  useEffect(() => {
    const element = box.current;
    if (element === null || typeof IntersectionObserver === 'undefined') return undefined;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry === undefined) return;
      if (!entry.isIntersecting && entry.boundingClientRect.height > 0) height.current = entry.boundingClientRect.height;
      setNear(entry.isIntersecting);
    }, { rootMargin: AHEAD, scrollMargin: AHEAD } as IntersectionObserverInit);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return <div ref={box} style={near ? undefined : { height: `${height.current}px` }}>{near ? children() : null}</div>;
}
