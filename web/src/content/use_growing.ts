// Work that is done in steps, as a hook: between two of them what was drawn is seen, and whatever else waits has its turn.

import { useEffect, useRef, useState } from 'preact/hooks';

const FRAME_MS = 16;

/** A number that grows to `target` a step at a time, with time for everything else between: what is new each time is done at once.
 * `falls`: where the target was lower meanwhile, it grows from there. */
export function useGrowing(target: number, first: number, step: number, falls = false): number {
  const [reached, setReached] = useState(first);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const isDue = reached < target;
  // An effect for each chunk of a text would cost as much as drawing it: it runs only where there is something to do.
  const fallsTo = falls && reached > target ? target : undefined;
  useEffect(() => {
    if (fallsTo !== undefined) setReached(fallsTo);
    if (!isDue) return undefined;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      setReached((so) => so + step);
    }, FRAME_MS);
    return undefined;
  }, [reached, isDue, fallsTo]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return Math.min(target, reached);
}
