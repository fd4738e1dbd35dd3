// One opened session: its newest page of history, older ones on demand, and what happens from then on.
//
// Rule 1: `events` is a window of the journal without a hole. Live events are put behind it, or, while the window does not reach the
// end, only move the view.
// Rule 2: pages that come before what is loaded are folded together with it, by the same fold; keys of items stay.
// Rule 3: a gap in what is heard is filled from history; a reset of the stream begins anew.

import { effect, signal, type ReadonlySignal } from '@preact/signals';
import type { ACPEvent, SessionStatusChangedEvent } from '../generated/agent-context';
import type { EventPage, SessionState, Snapshot } from '../generated/api';
import { asHubError, http, pathOf, type HubError } from '../hub/http';
import { link, type Link } from '../hub/connection';
import { append } from './joined_events';
import { JournalPages } from './history';
import { OwnPrompts, type OwnPrompt } from './outgoing_prompts';
import { Spending } from './spending';
import { advance, blank, needsSnapshot } from './session_state';
import { Timeline } from './timeline/timeline';

const SNAPSHOT_PAUSE_MS = 200;
const RETRY_FIRST_MS = 1_000;
const RETRY_LONGEST_MS = 8_000;
/** A permalink this far from the end opens a window of its own instead of everything since. */
const NEAR = 2_000;

type StoryState = 'loading' | 'ready' | 'failed' | 'gone';

/** What a story needs of the hub; tests bring their own. */
interface StoryWorld {
  get<T>(path: string): Promise<T>;
  link: Pick<Link, 'follow' | 'outbox' | 'state'>;
}

export class Story {
  readonly timeline = new Timeline();
  readonly spending = new Spending();
  readonly view: ReadonlySignal<SessionState>;
  readonly state = signal<StoryState>('loading');
  readonly error = signal<HubError | undefined>(undefined);
  /** Why the session has its status, and since when (milliseconds). */
  readonly reason = signal<{ text?: string; since?: number }>({});
  readonly hasOlder = signal(false);
  /** Whether the window reaches the newest event. */
  readonly atEnd = signal(true);
  /** Prompts of this page that the journal does not tell of yet. */
  readonly prompts: ReadonlySignal<OwnPrompt[]>;

  private readonly _view;
  private readonly own: OwnPrompts;
  private readonly pages: JournalPages;
  private events: ACPEvent[] = [];
  private before: number | null = null;
  private heardSeq = 0;
  private viewSeq = 0;
  /** How often it was loaded: only the last time counts. */
  private loads = 0;
  /** How often in a row it could not be loaded. */
  private failures = 0;
  private older: Promise<boolean> | undefined;
  private newer: Promise<boolean> | undefined;
  private unfollow: () => void = () => undefined;
  private snapshotTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly stopWatching: () => void;
  private closed = false;

  constructor(readonly sessionId: string, private readonly world: StoryWorld) {
    this._view = signal(blank(sessionId));
    this.view = this._view;
    this.pages = new JournalPages(sessionId, world.get);
    this.own = new OwnPrompts(sessionId, world.link.outbox, this.timeline, () => this._view.value.queue);
    this.prompts = this.own.unseen;
    this.stopWatching = effect(() => this.retryWhenOnline());
  }

  /** Begin, at the end or around an entry. */
  async load(around?: number): Promise<void> {
    const load = (this.loads += 1);
    this.unfollow();
    this.state.value = 'loading';
    try {
      const [snapshot, page] = await Promise.all([this.snapshot(), this.pages.first(around)]);
      if (this.closed || load !== this.loads) return;
      this.begin(snapshot, page, around === undefined);
      void this.fillSpending();
    } catch (error) {
      if (load !== this.loads) return;
      this.error.value = asHubError(error);
      this.state.value = this.error.value.status === 404 ? 'gone' : 'failed';
      if (isOfTheLine(this.error.value)) this.retryLater(around);
    }
  }

  /** The page before what is loaded; false: there is none. */
  loadOlder(): Promise<boolean> {
    this.older ??= this.pageBefore().finally(() => (this.older = undefined));
    return this.older;
  }

  /** The page after the window, where it does not reach the end; false: it does. */
  loadNewer(): Promise<boolean> {
    this.newer ??= this.pageAfter().finally(() => (this.newer = undefined));
    return this.newer;
  }

  /** Load what is around an entry; gives the key of the item that tells of it. */
  async show(seq: number): Promise<string | undefined> {
    if (!this.holds(seq)) {
      if ((this.events[0]?.seq ?? 0) - seq > NEAR || !this.atEnd.peek()) await this.load(seq);
      else while (!this.holds(seq) && (await this.loadOlder()));
    }
    return this.timeline.ownerOf(seq);
  }

  /** Leave a window in the past for the end. */
  async toEnd(): Promise<void> {
    if (!this.atEnd.peek()) await this.load();
  }

  /** The whole text of a diff that was too long for its event, and the like. */
  get<T>(path: string): Promise<T> {
    return this.world.get<T>(path);
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.snapshotTimer);
    this.unfollow();
    this.stopWatching();
    this.own.close();
  }

  private snapshot(): Promise<Snapshot> {
    return this.world.get<Snapshot>(pathOf(['sessions', this.sessionId, 'snapshot']));
  }

  /** `newest`: the page was asked for as the last one, so what came after it while it was on its way is heard by following. */
  private begin(snapshot: Snapshot, page: EventPage, newest: boolean): void {
    this.events = [...page.events];
    this.before = page.nextBefore;
    this.hasOlder.value = page.nextBefore !== null;
    const last = page.events[page.events.length - 1]?.seq ?? 0;
    this.atEnd.value = newest || page.nextAfter === null || last >= page.lastSeq;
    this.timeline.refold(this.events);
    this.heardSeq = this.atEnd.peek() ? last : snapshot.seq;
    // Both were asked for at once: what the page has and the snapshot has not will not be heard again.
    const since = this.atEnd.peek() ? page.events.filter((event) => event.seq > snapshot.seq) : [];
    this.viewSeq = Math.max(snapshot.seq, this.heardSeq);
    this._view.value = since.reduce(advance, snapshot.state);
    if (since.some(needsSnapshot)) this.renewView();
    this.reason.value = {};
    for (const event of page.events) this.hearStatus(event);
    this.error.value = undefined;
    this.failures = 0;
    this.state.value = 'ready';
    this.unfollow = this.world.link.follow(
      this.sessionId, this.heardSeq, (event) => this.hear(event), () => void this.load(), (error) => this.ended(error));
  }

  private async pageBefore(): Promise<boolean> {
    if (this.before === null || this.state.peek() !== 'ready') return false;
    const before = this.before;
    const page = await this.pages.page({ before });
    if (this.closed || before !== this.before) return false;
    this.before = page.nextBefore;
    this.hasOlder.value = page.nextBefore !== null;
    if (page.events.length === 0) return page.nextBefore !== null;
    this.events = [...page.events, ...this.events];
    this.timeline.refold(this.events);
    return true;
  }

  private async pageAfter(): Promise<boolean> {
    if (this.atEnd.peek() || this.state.peek() !== 'ready') return false;
    const page = await this.pages.page({ after: this.events[this.events.length - 1]?.seq ?? 0 });
    if (this.closed) return false;
    this.events.push(...page.events);
    this.timeline.applyAll(page.events);
    this.atEnd.value = this.timeline.seq >= this.heardSeq;
    return true;
  }

  private async fillSpending(): Promise<void> {
    const page = await this.pages.spending().catch(() => undefined);
    if (page !== undefined) this.spending.refill([...page.events, ...this.events.filter((event) => event.seq > page.lastSeq)]);
  }

  private holds(seq: number): boolean {
    const first = this.events[0]?.seq;
    if (first === undefined) return true;
    return (seq >= first || !this.hasOlder.peek()) && (seq <= this.timeline.seq || this.atEnd.peek());
  }

  private hear(event: ACPEvent): void {
    if (event.seq <= this.heardSeq) return;
    if (this.atEnd.peek() && event.seq > this.heardSeq + 1) void this.heal(event);
    else this.takeIn(event);
  }

  private takeIn(event: ACPEvent): void {
    this.heardSeq = event.seq;
    this.hearStatus(event);
    this.spending.apply(event);
    if (event.seq > this.viewSeq) {
      this.viewSeq = event.seq;
      this._view.value = advance(this._view.peek(), event);
      if (needsSnapshot(event)) this.renewView();
    }
    if (!this.atEnd.peek()) return;
    append(this.events, event);
    this.timeline.apply(event);
  }

  /** Something between was not heard: the journal has it. */
  private async heal(event: ACPEvent): Promise<void> {
    const page = await this.pages.page({ after: this.heardSeq }).catch(() => undefined);
    if (page === undefined || this.closed) return;
    for (const one of page.events) if (one.seq > this.heardSeq) this.takeIn(one);
    if (event.seq > this.heardSeq) this.takeIn(event);
  }

  private hearStatus(event: ACPEvent): void {
    if (event.type !== 'session:status_changed') return;
    const { reason, timestamp } = event as SessionStatusChangedEvent;
    this.reason.value = { since: Date.parse(timestamp), ...(reason !== undefined ? { text: reason } : {}) };
  }

  private ended(error: HubError): void {
    this.error.value = error;
    this.state.value = 'gone';
  }

  /** An event told that something changed, and not all of what. */
  private renewView(): void {
    this.snapshotTimer ??= setTimeout(() => {
      this.snapshotTimer = undefined;
      void this.snapshot().then((snapshot) => this.takeView(snapshot), () => undefined);
    }, SNAPSHOT_PAUSE_MS);
  }

  private takeView(snapshot: Snapshot): void {
    if (this.closed || this.state.peek() !== 'ready') return;
    const since = this.events.filter((event) => event.seq > snapshot.seq);
    this._view.value = since.reduce(advance, snapshot.state);
    this.viewSeq = Math.max(this.viewSeq, snapshot.seq);
  }

  /** A request can be cut while the line stands: nobody but we would notice. */
  private retryLater(around: number | undefined): void {
    const load = this.loads;
    const pause = Math.min(RETRY_LONGEST_MS, RETRY_FIRST_MS * 2 ** this.failures++);
    setTimeout(() => {
      if (!this.closed && load === this.loads && this.world.link.state.peek() === 'online') void this.load(around);
    }, pause);
  }

  private retryWhenOnline(): void {
    if (this.world.link.state.value === 'online' && this.state.peek() === 'failed') void this.load();
  }
}

/** Nobody answered, or not wholly; or the hub had a trouble of its own. */
function isOfTheLine({ status }: HubError): boolean {
  return status === 0 || status >= 500;
}

export function openStory(sessionId: string, around?: number): Story {
  const story = new Story(sessionId, { get: http.get, link });
  void story.load(around);
  return story;
}
