// An ask in the conversation that somebody is about to press, or writes in: it keeps its place for so long.
//
// Rule 1: the end of the conversation is not followed meanwhile: another ask would come under the pointer that aims at this one.
// Rule 2: only who moves a pointer points. What slides under one that rests does not stop the conversation.
// Rule 3: a finger is not seen before it presses. On a touch screen an ask that is in view keeps its place for as long as it waits.
// Rule 4: nobody is to decide what they did not see: one that is taller than the screen comes with its beginning.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { COARSE, useMedia } from '../../../ui/media';
import { fieldOf } from '../../approvals/typing';
import { useSessionView } from '../view_state';

/** A finger is not seen before it presses: after it was there, the next press finds things where they were. */
const FINGER_MS = 4_000;

/** After something was let go the list moves, and only then is it known what is in view. */
const SETTLED_MS = 150;

type Reason = 'pointer' | 'focus' | 'seen';

export function KeepStill({ rowKey, children }: { rowKey: string; children: ComponentChildren }): JSX.Element {
  const { scroller } = useSessionView();
  const reasons = useRef(new Set<Reason>());
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const keep = (reason: Reason): void => {
    clearTimeout(timer.current);
    reasons.current.add(reason);
    scroller.keepStill(rowKey);
  };
  const end = (reason: Reason): void => {
    reasons.current.delete(reason);
    if (reasons.current.size === 0) scroller.letGo(rowKey);
  };
  useEffect(() => () => {
    clearTimeout(timer.current);
    scroller.letGo(rowKey);
  }, [scroller, rowKey]);
  useLayoutEffect(() => {
    scroller.showFrom(rowKey);
    return () => scroller.showOn(rowKey);
  }, [scroller, rowKey]);
  const bottom = useWhileSeen(() => keep('seen'), () => end('seen'));
  const left = (event: PointerEvent): void => {
    clearTimeout(timer.current);
    if (event.pointerType === 'touch') timer.current = setTimeout(() => end('pointer'), FINGER_MS);
    else end('pointer');
  };
  const focused = (target: EventTarget | null): void => {
    if (!isWorkedOn(target)) return end('focus');
    keep('focus');
    scroller.settle(); // what opened may be below the edge
  };
  return (
    <div class="session-ask" onPointerDown={() => keep('pointer')} onPointerMove={() => keep('pointer')} onPointerLeave={left}
      onFocusIn={({ target }) => focused(target)} onFocusOut={() => end('focus')}>
      {children}
      <div ref={bottom} />
    </div>
  );
}

/** On a touch screen, calls while the end of a card is in view and nothing else is kept still. Gives where the card ends. */
function useWhileSeen(keep: () => void, end: () => void): { current: HTMLDivElement | null } {
  const { scroller } = useSessionView();
  const touch = useMedia(COARSE);
  const bottom = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!touch || !bottom.current || typeof IntersectionObserver === 'undefined') return undefined;
    let seen = false;
    let settling: ReturnType<typeof setTimeout> | undefined;
    const look = (): void => {
      if (seen && !scroller.still.peek()) keep();
    };
    const observer = new IntersectionObserver((entries) => {
      seen = entries.at(-1)?.isIntersecting ?? false;
      if (seen) look();
      else end();
    });
    observer.observe(bottom.current);
    const forget = scroller.still.subscribe((still) => {
      clearTimeout(settling);
      if (!still) settling = setTimeout(look, SETTLED_MS);
    });
    return () => {
      clearTimeout(settling);
      forget();
      observer.disconnect();
    };
  }, [touch, scroller]);
  return bottom;
}

function isWorkedOn(target: EventTarget | null): boolean {
  return fieldOf(target) !== null || (target instanceof HTMLElement && target.matches('button:focus-visible'));
}
