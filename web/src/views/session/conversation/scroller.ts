// Scrolling of a long list of which only what is near the screen is drawn.
//
// Rule 1: what the reader looks at does not move: when rows come before it or change their height, the row at the top of the screen
// keeps its place. At the end of the list, the end keeps its place instead, but for as long as somebody is about to press something:
// then that row does. Asks that do not fit the screen, one or several, are shown from the beginning of the first, until the reader
// scrolls on.
// Rule 2: only the reader leaves the end, and comes back to it: by scrolling, by opening something, by a button. What moves because the
// view has another size (the composer grew, a keyboard opened, the window changed) is not the reader's doing. What the reader scrolled
// counts at once, by a pixel too, and whatever is drawn or let go before the browser tells of it.
// Rule 3: heights are measured before the browser paints, so that nobody sees a guess.
// Rule 4: what somebody writes into is in view when it opens, and stays there when the view shrinks.
// Rule 5: what has to be drawn for where the view is, is drawn so. To think again where it should be, which it may be too short for,
// would never come to an end.
// Rule 6: what this scrolls by itself is passed on to those who take presses (steady.ts); it is not the reader's doing.

import { computed, signal, type ReadonlySignal } from '@preact/signals';
import { lookAtCards, scrolledByPage } from '../../approvals/steady';
import { fieldOf } from '../../approvals/typing';
import { Heights } from './heights';

interface Range {
  first: number;
  /** One after the last. */
  end: number;
}

export interface Anchor {
  key: string;
  /** How far the row's top is below the top of the screen. */
  below: number;
}

interface ScrollerParts {
  view: HTMLElement;
  space: HTMLElement;
  block: HTMLElement;
}

const OVERSCAN = 700;
const AT_END = 12;
const NEAR = 1_500;
/** What was opened may take a moment to have its height. */
const HELD_MS = 1_000;
/** What stands below the last row, about. */
const BELOW_LAST = 56;

export class Scroller {
  readonly heights = new Heights();
  private drawn: Range = { first: 0, end: 0 };
  /** Whether the next drawing keeps to it. */
  private isChosen = false;
  private readonly drawings = signal(0);
  private readonly _stuck = signal(true);
  private readonly stillKey = signal<string | undefined>(undefined);
  private readonly asks = new Set<string>();
  private readonly atAsk = signal(false);
  private readonly _still = computed(() => this.stillKey.value !== undefined || this.atAsk.value);
  private parts: ScrollerParts | undefined;
  private anchor: Anchor | undefined;
  private lastTop = 0;
  private lastHeight = 0;
  private lastView = '';
  private writtenInto: Element | null = null;
  private heldUntil = 0;
  private readonly observed = new Set<Element>();
  private readonly observer = typeof ResizeObserver === 'undefined' ? undefined : new ResizeObserver(() => this.settle());

  /** `stands`: the row that shows what had this key, where there is no such row any more. */
  constructor(
    private readonly stands: (key: string) => string | undefined,
    private readonly nearTop: () => void,
    private readonly nearEnd: () => void,
    private readonly moved: (anchor: Anchor | undefined) => void,
  ) {}

  /** What has to be drawn. Who reads it draws again when that changes by scrolling. */
  get range(): Range {
    void this.drawings.value;
    return this.drawn;
  }

  /** Whether the reader is at the end and stays there. */
  get stuck(): ReadonlySignal<boolean> {
    return this._stuck;
  }

  /** Whether a row is kept where it is, although the reader is at the end. */
  get still(): ReadonlySignal<boolean> {
    return this._still;
  }

  attach(parts: ScrollerParts): void {
    this.parts = parts;
    this.observer?.observe(parts.view);
  }

  detach(): void {
    this.observer?.disconnect();
    this.observed.clear();
    this.parts = undefined;
  }

  /** The rows there are from now on. What has to be drawn for them is in `range` at once. */
  setRows(keys: readonly string[], estimate: (index: number) => number): void {
    this.heights.setRows(keys, estimate);
    if (!this.isChosen) this.drawn = this.rangeAt(this.follows ? 0 : this.wantedTop());
    this.isChosen = false;
  }

  /** After drawing: measure, place, and see whether more has to be drawn. */
  settle(): void {
    const { parts } = this;
    if (parts === undefined) return;
    this.heedReader(parts);
    this.measure(parts);
    this.place(parts);
    const resized = this.lastView !== '' && this.lastView !== sizeOf(parts.view);
    this.scrollTo(parts.view, this.wantedTop());
    this.showWrittenInto(parts.view, resized);
    if (this.distance(parts) <= AT_END && performance.now() > this.heldUntil) this._stuck.value = true;
    this.atAsk.value = this._stuck.peek() && this.askToShow() !== undefined;
    this.remember(parts);
    this.choose(parts.view.scrollTop);
    this.place(parts);
    lookAtCards();
  }

  /** The reader scrolled, or we did. */
  scrolled(): void {
    const { parts } = this;
    if (parts === undefined) return;
    if (this.lastView !== sizeOf(parts.view)) return this.settle();
    this.heedReader(parts);
    this.remember(parts);
    this.choose(parts.view.scrollTop);
    this.place(parts);
    this.wantMore(parts);
  }

  /** Whether the reader went away from the end, or came to it, since we looked last. */
  private heedReader(parts: ScrollerParts): void {
    const { scrollTop, scrollHeight } = parts.view;
    const by = scrollTop - this.lastTop;
    if (this.lastView !== sizeOf(parts.view) || Math.abs(by) < 1) return;
    const away = this.distance(parts);
    const shrank = scrollHeight < this.lastHeight; // then the browser may have moved it
    if (by < 0 && away > 1 && !shrank) this.leave();
    else if (away <= AT_END) this._stuck.value = true;
    else if (by > 0) this._stuck.value = false;
    if (!shrank || away > 1) this.asks.clear();
    this.lastTop = scrollTop;
    if (this.anchor !== undefined) this.anchor = { ...this.anchor, below: this.anchor.below - by };
  }

  /** The reader goes up: not even the end that is still near takes them back. */
  private leave(): void {
    this._stuck.value = false;
    this.heldUntil = performance.now() + HELD_MS;
  }

  /** Keep this row where it is while it changes: the reader works on it. What is no row is below them, and what is seen first stays. */
  hold(key: string): void {
    const { parts } = this;
    if (parts === undefined) return;
    this.anchor = this.anchorAt(parts, this.heights.indexOf(key)) ?? this.firstSeen(parts);
    this.heldUntil = performance.now() + HELD_MS;
    this._stuck.value = false;
  }

  /** Keep this row where it is until it is let go: somebody is about to press something in it. */
  keepStill(key: string): void {
    if (this.stillKey.peek() === key) return;
    if (this.parts !== undefined) this.heedReader(this.parts);
    this.stillKey.value = key;
    if (this.parts !== undefined) this.remember(this.parts);
  }

  letGo(key: string): void {
    if (this.stillKey.peek() !== key) return;
    this.stillKey.value = undefined;
    this.settle();
  }

  /** Somebody is asked in this row: who reads at the end sees it from its beginning. */
  showFrom(key: string): void {
    if (this._stuck.peek()) this.asks.add(key);
  }

  /** Nobody is asked there any more. */
  showOn(key: string): void {
    if (this.asks.delete(key)) this.settle();
  }

  /** Be at the end and stay there. */
  follow(): void {
    if (this.parts !== undefined) this.heedReader(this.parts); // what they did before is over
    this._stuck.value = true;
    this.stillKey.value = undefined;
    this.anchor = undefined;
    this.settle();
  }

  /** The reader wants the end, whatever is asked before it. */
  toEnd(): void {
    this.asks.clear();
    this.follow();
  }

  /** Put a row a third down the screen, or where it was once. */
  toRow(key: string, below?: number): boolean {
    const { parts } = this;
    const at = this.heights.indexOf(key);
    if (parts === undefined || at === undefined) return false;
    this.heedReader(parts);
    this._stuck.value = false;
    this.anchor = { key, below: below ?? Math.round(parts.view.clientHeight / 4) };
    this.settle();
    return true;
  }

  toTop(): void {
    this._stuck.value = false;
    if (this.parts !== undefined) this.scrollTo(this.parts.view, 0);
  }

  /** Whether the end of the list keeps its place. */
  private get follows(): boolean {
    return this._stuck.peek() && this.stillKey.peek() === undefined && this.askToShow() === undefined;
  }

  /** The first ask, where it does not fit the screen with those behind it: its beginning keeps its place instead. */
  private askToShow(): number | undefined {
    const { parts } = this;
    if (parts === undefined || this.stillKey.peek() !== undefined) return undefined;
    const room = parts.view.clientHeight - BELOW_LAST;
    const asked = [...this.asks].flatMap((key) => this.heights.indexOf(key) ?? []);
    if (asked.length === 0) return undefined;
    const [first, last] = [Math.min(...asked), Math.max(...asked)];
    return this.heights.offsetOf(last) + this.heights.heightOf(last) - this.heights.offsetOf(first) > room ? first : undefined;
  }

  private scrollTo(view: HTMLElement, top: number): void {
    const from = view.scrollTop;
    if (Math.abs(from - top) < 1) return;
    view.scrollTop = top;
    scrolledByPage(view, view.scrollTop - from);
  }

  /** A form in the list that has the focus is whole above the lower edge, as far as there is room. */
  private showWrittenInto(view: HTMLElement, resized: boolean): void {
    const field = view.contains(document.activeElement) ? fieldOf(document.activeElement) : null;
    const before = this.writtenInto;
    this.writtenInto = field;
    if (field === null || (field === before && !resized)) return;
    const form = (field.closest('form') ?? field).getBoundingClientRect();
    const shown = view.getBoundingClientRect();
    const hidden = Math.min(form.bottom - shown.bottom, field.getBoundingClientRect().top - shown.top);
    if (hidden > 0) this.scrollTo(view, view.scrollTop + hidden);
  }

  private wantMore(parts: ScrollerParts): void {
    if (parts.view.scrollTop < NEAR) this.nearTop();
    if (this.distance(parts) < NEAR) this.nearEnd();
  }

  private distance({ view }: ScrollerParts): number {
    return view.scrollHeight - view.clientHeight - view.scrollTop;
  }

  private measure(parts: ScrollerParts): void {
    const drawn = new Set<Element>();
    // What is above and below the rows too: where it shrinks the browser moves the view, which is not the reader's doing.
    for (const element of [...parts.block.children, ...parts.view.children]) {
      drawn.add(element);
      const key = (element as HTMLElement).dataset['key'];
      if (key !== undefined) this.heights.measure(key, element.getBoundingClientRect().height);
      if (!this.observed.has(element)) {
        this.observed.add(element);
        this.observer?.observe(element);
      }
    }
    for (const element of this.observed) {
      if (drawn.has(element)) continue;
      this.observer?.unobserve(element);
      this.observed.delete(element);
    }
  }

  private place(parts: ScrollerParts): void {
    const { first } = this.drawn;
    parts.space.style.height = `${this.heights.total}px`;
    // Not by a transform: what sticks inside, such as the buttons of an ask, would stick where it is without it.
    parts.block.style.top = `${this.heights.offsetOf(Math.min(first, this.heights.count))}px`;
  }

  /** Where the view has to be, so that what counts keeps its place. */
  private wantedTop(): number {
    const { parts } = this;
    if (parts === undefined) return 0;
    if (this.follows) return Math.max(0, parts.view.scrollHeight - parts.view.clientHeight);
    const ask = this._stuck.peek() ? this.askToShow() : undefined;
    if (ask !== undefined) return this.topOf(ask);
    const { anchor } = this;
    if (anchor === undefined) return parts.view.scrollTop;
    const at = this.heights.indexOf(anchor.key) ?? this.heights.indexOf(this.stands(anchor.key) ?? '');
    return at === undefined ? parts.view.scrollTop : Math.max(0, this.topOf(at) - anchor.below);
  }

  private topOf(at: number): number {
    return (this.parts?.space.offsetTop ?? 0) + this.heights.offsetOf(at);
  }

  private remember(parts: ScrollerParts): void {
    this.lastTop = parts.view.scrollTop;
    this.lastHeight = parts.view.scrollHeight;
    this.lastView = sizeOf(parts.view);
    this.anchor = this.anchorAt(parts, this.heights.indexOf(this.stillKey.peek() ?? '')) ?? this.firstSeen(parts);
    this.moved(this._stuck.peek() ? undefined : this.anchor);
  }

  private firstSeen(parts: ScrollerParts): Anchor | undefined {
    if (this.heights.count === 0) return undefined;
    return this.anchorAt(parts, this.heights.rowAt(parts.view.scrollTop - parts.space.offsetTop));
  }

  private anchorAt(parts: ScrollerParts, at: number | undefined): Anchor | undefined {
    return at === undefined ? undefined : { key: this.heights.keyAt(at)!, below: this.topOf(at) - parts.view.scrollTop };
  }

  /** What has to be drawn when the view is there. */
  private rangeAt(top: number): Range {
    const { parts, heights } = this;
    if (heights.count === 0) return { first: 0, end: 0 };
    const height = parts?.view.clientHeight ?? 800;
    if (this.follows) return { first: heights.rowAt(heights.total - height - OVERSCAN), end: heights.count };
    const from = top - (parts?.space.offsetTop ?? 0);
    return { first: heights.rowAt(from - OVERSCAN), end: heights.rowAt(from + height + OVERSCAN) + 1 };
  }

  private choose(top: number): void {
    const wanted = this.rangeAt(top);
    if (wanted.first === this.drawn.first && wanted.end === this.drawn.end) return;
    this.drawn = wanted;
    this.isChosen = true;
    this.drawings.value += 1;
  }
}

function sizeOf(view: HTMLElement): string {
  return `${view.clientWidth} ${view.clientHeight}`;
}
