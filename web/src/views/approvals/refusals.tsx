/**
 * Presses that count for nothing, and the words that say so.
 *
 * Rule: no press is lost in silence. Whoever presses a key, clicks or taps and is not obeyed reads why on the card itself, beside what
 * they pressed. The line lies over the card and takes no room: nothing moves because of it.
 */
import { signal } from '@preact/signals';
import { createContext, type JSX } from 'preact';
import { useContext, useLayoutEffect, useRef } from 'preact/hooks';
import { t, type Key } from '../../i18n';

/** Why: it came or moved just now, not all of it was shown, the selection went on by itself, a sentence goes on, a key is held down,
 * an answer is on its way. */
export type Refusal = 'moved' | 'unseen' | 'next' | 'typing' | 'held' | 'sending';

const WORDS: Record<Refusal, Key> = {
  moved: 'approvals.refusedMoved', unseen: 'approvals.refusedUnseen', next: 'approvals.refusedNext',
  typing: 'approvals.refusedTyping', held: 'approvals.refusedHeld', sending: 'approvals.refusedSending',
};
/** Why a button that is dimmed is so, before anybody presses it. */
export function whyResting(why: Refusal): string {
  return t(why === 'unseen' ? 'approvals.restsUnseen' : 'approvals.restsMoved');
}

const SHOWN_MS = 3_000;

const last = signal<{ ask: string; why: Refusal; spoken: number; count: number } | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;
let count = 0;

/** A press on this ask did nothing. */
export function refuse(ask: string | null, why: Refusal): void {
  if (ask === null) return;
  const before = last.peek();
  count += 1;
  // What goes on for a sentence is said once; every other press is answered anew.
  const spoken = why === 'typing' && before?.why === why && before.ask === ask ? before.spoken : count;
  last.value = { ask, why, spoken, count };
  clearTimeout(timer);
  timer = setTimeout(() => void (last.value = null), SHOWN_MS);
}

/** The ask whose card this is in. */
export const CardOf = createContext('');

/** Why the last press on this card did nothing. */
export function RefusalLine(): JSX.Element | null {
  const ask = useContext(CardOf);
  const line = useRef<HTMLParagraphElement>(null);
  const told = last.value;
  const shown = told !== null && told.ask === ask;
  useLayoutEffect(() => {
    if (line.current) line.current.classList.toggle('approvals-refused-below', isCutOff(line.current));
  }, [shown && told.count]);
  if (!shown) return null;
  return <p ref={line} key={told.spoken} class="approvals-refused" role="alert" data-refused={told.count}>{t(WORDS[told.why])}</p>;
}

/** Whether it would reach above the top of what is scrolled, where nobody reads it. */
function isCutOff(line: HTMLElement): boolean {
  line.classList.remove('approvals-refused-below');
  const top = line.closest('[role=feed]')?.getBoundingClientRect().top ?? document.querySelector('.shell-bar')?.getBoundingClientRect().bottom ?? 0;
  return line.getBoundingClientRect().top < top;
}
