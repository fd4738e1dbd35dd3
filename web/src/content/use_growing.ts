// Work that is done in steps, as a hook: between two of them what was drawn is seen, and whatever else waits has its turn.

import { useEffect, useRef, useState } from 'preact/hooks';

const FRAME_MS = 16;

/** A number that grows to `target` a step at a time, with time for everything else between: what is new each time is done at once.
 * `falls`: where the target was lower meanwhile, it grows from there. */
export function useGrowing(target: number, first: number, step: number, falls = false): number {
  const [reached, setReached] = useState(first);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const now = Math.min(target, reached);
  useEffect(() => {
    if (falls && reached > target) setReached(target);
    if (reached >= target) return undefined;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      setReached((so) => so + step);
    }, FRAME_MS);
    return undefined;
  }, [reached, target]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return now;
}
