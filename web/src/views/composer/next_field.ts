/**
 * Who has just started a session goes on writing in it: what they type is for its composer, as soon as that is there.
 *
 * Rule: only once, and never out of the hands of somebody who is at something else by then.
 */
let next: string | null = null;

export function goOnWritingIn(sessionId: string): void {
  next = sessionId;
}

/** Whether the composer of this session is where the focus belongs. */
export function isToBeWrittenIn(sessionId: string): boolean {
  const isNext = next === sessionId;
  if (isNext) next = null;
  const at = document.activeElement;
  return isNext && (at === null || at === document.body || at.id === 'main');
}
