// An ask in the conversation that somebody is about to press, or writes in: it keeps its place for so long.
//
// Rule 1: the end of the conversation is not followed meanwhile: another ask would come under the pointer that aims at this one.
// Rule 2: only who moves a pointer points. What slides under one that rests does not stop the conversation.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { fieldOf } from '../approvals/typing';
import { useRoom } from './context';

/** A finger is not seen before it presses: after it was there, the next press finds things where they were. */
const FINGER_MS = 4_000;

export function Still({ rowKey, children }: { rowKey: string; children: ComponentChildren }): JSX.Element {
  const { scroller } = useRoom();
  const reasons = useRef(new Set<'pointer' | 'focus'>());
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const keep = (reason: 'pointer' | 'focus'): void => {
    clearTimeout(timer.current);
    reasons.current.add(reason);
    scroller.keepStill(rowKey);
  };
  const end = (reason: 'pointer' | 'focus'): void => {
    reasons.current.delete(reason);
    if (reasons.current.size === 0) scroller.letGo(rowKey);
  };
  useEffect(() => () => {
    clearTimeout(timer.current);
    scroller.letGo(rowKey);
  }, [scroller, rowKey]);
  const left = (event: PointerEvent): void => {
    clearTimeout(timer.current);
    if (event.pointerType === 'touch') timer.current = setTimeout(() => end('pointer'), FINGER_MS);
    else end('pointer');
  };
  return (
    <div class="session-ask" onPointerDown={() => keep('pointer')} onPointerMove={() => keep('pointer')} onPointerLeave={left}
      onFocusIn={({ target }) => (isWorkedOn(target) ? keep('focus') : end('focus'))} onFocusOut={() => end('focus')}>
      {children}
    </div>
  );
}

function isWorkedOn(target: EventTarget | null): boolean {
  return fieldOf(target) !== null || (target instanceof HTMLElement && target.matches('button:focus-visible'));
}
