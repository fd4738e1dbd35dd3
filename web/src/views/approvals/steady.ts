/**
 * Cards that hold still: a press counts only where somebody could have seen what they press.
 *
 * Rule 1: a card that came or moved less than a moment ago takes no press, by mouse, finger or key. Who scrolls moves nothing: the
 * whole list goes along with the eye. What the page scrolls by itself, or the browser because what is below shrank, does move.
 * Rule 2: while somebody points at the list or has a card in focus, places do not change: what is new goes below, what is decided
 * stays where it was, without its buttons.
 * Rule 3: what was not shown is not decided: a card takes no press before all of what it decides was on the screen for as long as a
 * new card rests; of what is taller than the screen, as much from its top as fits. What flies past while somebody scrolls, or stood
 * there for a frame before the page placed it, nobody has seen. So it is with its title; what lies over either hides it.
 * Rule 4: a press that is not taken is answered, never swallowed (refusals.tsx).
 */
import { createContext } from 'preact';
import { useEffect, useMemo, useReducer, useRef } from 'preact/hooks';
import type { Refusal } from './refusals';

export const REST_MS = 1_000;
const LOOK_MS = 100;
const STILL_PX = 4;

/** Where a card is: on the screen, and in what it is a part of, as far as the reader scrolls that. */
interface Spot {
  onScreen: number;
  inPage: number;
}

/** Whether one card has held still for long enough. */
export class Steadiness {
  private readonly came: number;
  private moved = -REST_MS;
  private last: Spot | null = null;

  constructor(now: number) {
    this.came = now;
  }

  look(spot: Spot, now: number): void {
    const before = this.last;
    this.last = spot;
    if (before === null) return;
    if (Math.abs(spot.onScreen - before.onScreen) > STILL_PX && Math.abs(spot.inPage - before.inPage) > STILL_PX) this.moved = now;
  }

  rests(now: number): boolean {
    return now - this.came < REST_MS || now - this.moved < REST_MS;
  }
}

/** Scrolling that was not the reader's: how much in all, and where it was when this was looked at last. */
const others = new WeakMap<Element, { by: number; top: number }>();

/** The page itself has scrolled this. */
export function scrolledByPage(view: Element, by: number): void {
  others.set(view, { by: (others.get(view)?.by ?? 0) + by, top: view.scrollTop });
}

function scrolledByReader(view: Element): number {
  const top = view.scrollTop;
  const known = others.get(view);
  if (known === undefined && top === 0) return 0;
  const most = view.scrollHeight - view.clientHeight;
  const shrunk = known !== undefined && known.top > most ? top - known.top : 0;
  const by = (known?.by ?? 0) + shrunk;
  others.set(view, { by, top });
  return top - by;
}

function spotOf(element: Element): Spot {
  const onScreen = element.getBoundingClientRect().top;
  let scrolled = 0;
  for (let around = element.parentElement; around !== null; around = around.parentElement) scrolled += scrolledByReader(around);
  return { onScreen, inPage: onScreen + scrolled };
}

/** What has to have been seen of what a card decides on the shortest screen, from its top: about the first lines of it. */
const BEGINNING_PX = 120;
const LOOKED_PX = 10;
/** For how long it has to have been there without a break. */
export const SEEN_MS = REST_MS;
/** What a screen need not show of its own height: edges, and the part of a line. */
const EDGE_PX = 24;
/** Where it is looked at, from its left: beside what may lie over its end. */
const INSIDE_PX = 12;

/** Whether a card has been seen: its title, and what it decides. */
export class Shown {
  private readonly title = new SeenPart();
  private readonly decided = new SeenPart();

  /** Whether all of it, or as much as the screen takes, has been seen by now. */
  wasSeen(card: Element, now: number): boolean {
    const decided = card.querySelector('[data-decided]');
    if (decided === null) return true;
    const head = card.querySelector('.approvals-head');
    const titled = head === null || this.title.wasSeen(head, head.getBoundingClientRect().height, BEGINNING_PX, now);
    return this.decided.wasSeen(decided, heightOf(decided), Math.max(BEGINNING_PX, roomFor(decided)), now) && titled;
  }
}

/** How far down a part of a card has been seen, all at once or bit by bit. */
class SeenPart {
  private seen = 0;
  /** Since when each bit that is not yet seen has been on the screen, by how far down it is. */
  private readonly since = new Map<number, number>();

  wasSeen(part: Element, height: number, most: number, now: number): boolean {
    if (this.seen >= height) return true;
    const end = Math.min(height, most);
    this.look(part, end, now);
    while (this.seen < end && now - (this.since.get(this.seen) ?? now) >= SEEN_MS) this.seen += LOOKED_PX;
    return this.seen >= end;
  }

  private look(part: Element, end: number, now: number): void {
    const { left, top } = part.getBoundingClientRect();
    for (let down = this.seen; down < end; down += LOOKED_PX) {
      if (!isOnScreen(part, left + INSIDE_PX, top + down + 1)) this.since.delete(down);
      else if (!this.since.has(down)) this.since.set(down, now);
    }
  }
}

/** How tall what it decides is. What can be opened at its end, and is closed, hides nothing that anybody was shown. */
function heightOf(decided: Element): number {
  const shown = decided.firstElementChild;
  if (shown === null) return 0;
  const last = shown.lastElementChild;
  const { top, height } = shown.getBoundingClientRect();
  return last instanceof HTMLDetailsElement && !last.open ? last.getBoundingClientRect().top - top : height;
}

/** How much of it the screen can show at once, beside the buttons where these lie over it. */
function roomFor(decided: Element): number {
  const view = decided.closest('[role=feed]');
  const top = view?.getBoundingClientRect().top ?? document.querySelector('.shell-bar')?.getBoundingClientRect().bottom ?? 0;
  const bottom = Math.min(innerHeight, view?.getBoundingClientRect().bottom ?? innerHeight);
  const buttons = decided.querySelector('[data-decides]');
  const covered = buttons && getComputedStyle(buttons).position === 'sticky' ? buttons.getBoundingClientRect().height : 0;
  return bottom - top - covered - EDGE_PX;
}

/** Whether this is what is there, and not something that lies over it, such as the buttons themselves. */
function isOnScreen(part: Element, x: number, y: number): boolean {
  const there = document.elementFromPoint(x, y);
  return there !== null && part.contains(there) && there.closest('[data-decides]') === null;
}

/** Why the card around this takes no press now; null where it does. */
export const Resting = createContext<Refusal | null>(null);

interface Steady {
  resting: Refusal | null;
  /** Asked at the moment of a press, why it is not taken, or null: it looks where the card is now. */
  refusal(): Refusal | null;
}

const looks = new Set<() => void>();

/** The places on the screen may have changed: whatever moved says so before it is drawn. */
export function lookAtCards(): void {
  looks.forEach((look) => look());
}

export function useSteady(card: { current: HTMLElement | null }): Steady {
  const steadiness = useMemo(() => new Steadiness(performance.now()), []);
  const shown = useMemo(() => new Shown(), []);
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const drawn = useRef<Refusal | null>('moved');
  const refusal = (): Refusal | null => {
    const now = performance.now();
    if (card.current) steadiness.look(spotOf(card.current), now);
    const seen = card.current === null || shown.wasSeen(card.current, now);
    const why = steadiness.rests(now) ? 'moved' : seen ? null : 'unseen';
    if (why !== drawn.current) draw(0);
    drawn.current = why;
    return why;
  };
  useEffect(() => {
    const look = (): void => void refusal();
    looks.add(look);
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => {
      looks.delete(look);
      clearInterval(timer);
    };
  }, []);
  return { resting: drawn.current, refusal };
}

/** Who is where in the list: as it should be, or, while it is held, as it was, with what is new below. */
export function placesAfter<T>(before: readonly T[], waiting: readonly T[], held: boolean, idOf: (one: T) => string): T[] {
  if (!held) return [...waiting];
  const now = new Map(waiting.map((one) => [idOf(one), one]));
  const kept = before.map((one) => now.get(idOf(one)) ?? one);
  const places = new Set(before.map(idOf));
  return [...kept, ...waiting.filter((one) => !places.has(idOf(one)))];
}
