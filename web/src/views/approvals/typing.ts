/**
 * In whose card somebody types.
 *
 * Rule: what somebody types into is not taken away from them. An ask that ends meanwhile keeps its fields until they are left: the rest
 * of a sentence would go to the page, where letters decide.
 */
import { signal, type ReadonlySignal } from '@preact/signals';

const typed = signal<string | null>(null);
let field: Element | null = null;

/** The ask whose card has the field that somebody is in. */
export const typedIn: ReadonlySignal<string | null> = typed;

/** The field that this is, or is in. */
export function fieldOf(target: EventTarget | null): Element | null {
  return target instanceof Element ? target.closest('input, textarea, select, [contenteditable]') : null;
}

/** The focus came to something in a card. */
export function focusCame(ask: string, target: EventTarget | null): void {
  field = fieldOf(target);
  typed.value = field === null ? null : ask;
}

/** The focus left something in a card. Who only turns to another window is still there. */
export function focusLeft(ask: string, target: EventTarget | null): void {
  if (typed.peek() === ask && document.activeElement !== target) typed.value = null;
}

/** A card was drawn again or is gone: a field that went with it holds nothing any more. */
export function forgetGone(ask: string): void {
  if (typed.peek() === ask && !field?.isConnected) typed.value = null;
}

/** Be on the card before its field goes, so that the next Tab does not begin at the top of the page. For who came by keys: a press
 * by mouse or finger leaves nothing behind that would hold the list. */
export function backToCard(inside: Element | null): void {
  const active = document.activeElement;
  if (inside?.contains(active) && active?.matches(':focus-visible')) inside.closest<HTMLElement>('[data-ask]')?.focus({ preventScroll: true });
}
