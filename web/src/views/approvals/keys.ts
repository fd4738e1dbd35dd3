/**
 * What keys do with the cards that are on the screen.
 *
 * Rule 1: a key acts on the card that is selected, by the id of its ask, never on "the first one".
 * Rule 2: when the selection moved by itself, because somebody else decided, keys rest for a moment: the press was meant for
 * what was there before. So they do on a card that came or moved just now.
 * Rule 3: when a field goes away under somebody who types, keys rest until the typing pauses: what comes is the rest of a sentence. So
 * they do after a "deny" that was refused: what comes is the reason, for a field that did not open.
 * Rule 4: a key that is held down does what it does once, and types nothing into what it opened.
 */
import type { Refusal } from './refusals';
import { fieldOf } from './typing';

interface CardKeys {
  approve(): void;
  deny(): void;
  edit?(): void;
}

const cards = new Map<string, CardKeys>();
const rests = new Map<string, () => Refusal | null>();

/** How to know whether and why a card takes no press now; gives the end of it. */
export function keepRest(ask: string, resting: () => Refusal | null): () => void {
  rests.set(ask, resting);
  return () => {
    if (rests.get(ask) === resting) rests.delete(ask);
  };
}

/** A card is there, and this is what its keys do; gives the end of it. */
export function keepKeys(ask: string, keys: CardKeys): () => void {
  cards.set(ask, keys);
  return () => {
    if (cards.get(ask) === keys) cards.delete(ask);
  };
}

/** How long nobody types before letters are keys again. */
export const PAUSE_MS = 1_500;
/** The same after a "deny" that was refused. */
export const REASON_PAUSE_MS = 1_000;

/** Knows whether keys are the rest of what was typed into a field that went away. */
export class Sentence {
  private field: Element | null = null;
  private cut = false;
  private pause = PAUSE_MS;
  private last = 0;

  /** The focus is somewhere now. */
  came(target: EventTarget | null): void {
    this.field = fieldOf(target);
  }

  /** The focus left: somebody went, or the field did. Seen when all that happens at once has happened. */
  left(now: number): void {
    const { field } = this;
    if (field === null || field === document.activeElement) return;
    this.field = null;
    if (!field.isConnected) this.cutAt(now);
  }

  /** A key was pressed; true where it belongs to the sentence. */
  goesOn(event: KeyboardEvent, now: number): boolean {
    if (fieldOf(event.target)) this.cut = false;
    else if (this.field !== null && !this.field.isConnected) this.cutAt(now);
    else if (now - this.last >= this.pause) this.cut = false;
    this.last = now;
    return this.cut;
  }

  /** No field opened where somebody expects one to write into. */
  missed(now: number): void {
    this.cutAt(now, REASON_PAUSE_MS);
  }

  private cutAt(now: number, pause = PAUSE_MS): void {
    this.field = null;
    this.cut = true;
    this.pause = pause;
    this.last = now;
  }
}

/** The key that is still down from when it did something. */
export class HeldKey {
  private key: string | null = null;

  did(key: string): void {
    this.key = key;
  }

  /** Whether this press is that key, which was never let go. */
  goesOn(event: KeyboardEvent): boolean {
    if (!event.repeat) this.key = null;
    return event.repeat && event.key === this.key;
  }
}

/** Whether a key means something to the page, and not to a field or to the browser. */
export function isForPage(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return false;
  const target = event.target as HTMLElement | null;
  return !target?.closest('input, textarea, select, [contenteditable], dialog, [role=menu]');
}

/** Do what the key means to the card; says why it was not done, and null where the key means nothing there. */
export function press(ask: string | null, key: string): 'done' | Refusal | null {
  const keys = ask === null ? undefined : cards.get(ask);
  const act = key === 'a' ? keys?.approve : key === 'd' ? keys?.deny : key === 'e' ? keys?.edit : undefined;
  if (ask === null || act === undefined) return null;
  const refused = rests.get(ask)?.() ?? null;
  if (refused !== null) return refused;
  act();
  return 'done';
}

/** The ask after or before the selected one. */
export function stepFrom(asks: readonly string[], selected: string | null, step: 1 | -1): string | null {
  const at = selected === null ? -1 : asks.indexOf(selected);
  if (at < 0) return (step === 1 ? asks[0] : asks.at(-1)) ?? null;
  return asks[Math.min(asks.length - 1, Math.max(0, at + step))] ?? null;
}

/** What is selected when the list has changed: the same, else what took its place. */
export function selectionAfter(before: readonly string[], asks: readonly string[], selected: string | null): string | null {
  if (selected !== null && asks.includes(selected)) return selected;
  if (selected === null) return asks[0] ?? null;
  const place = before.slice(before.indexOf(selected) + 1).find((ask) => asks.includes(ask));
  return place ?? asks.at(-1) ?? null;
}
