// One opened session: its newest page of history, older ones on demand, and what happens from then on.
//
// Rule 1: `events` is a window of the journal without a hole. Live events are put behind it, or, while the window does not reach the
// end, only change the state.
// Rule 2: pages that come before what is loaded are folded together with it, by the same fold; keys of items stay.
// Rule 3: a gap in what comes live is filled from history; a reset of the stream begins anew.

import { effect, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import type { ACPEvent, SessionStatusChangedEvent } from '../generated/agent-context';
import type { EventPage, SessionState, Snapshot } from '../generated/api';
import { asHubError, http, pathOf, type HubError } from '../hub/http';
import { connection, type Connection } from '../hub/connection';
import { appendEvent, HistoryPages, wholeText } from './history';
import { OutgoingPrompts, type OutgoingPrompt } from './outgoing_prompts';
import { Spending } from './spending';
import { applyEvent, emptyState, needsSnapshot } from './session_state';
import type { MessageItem, ThinkingItem } from './timeline/items';
import { Timeline } from './timeline/timeline';

const SNAPSHOT_PAUSE_MS = 200;
const RETRY_FIRST_MS = 1_000;
const RETRY_LONGEST_MS = 8_000;
/** A permalink this far from the end opens a window of its own instead of everything since. */
const NEAR = 2_000;

type LoadState = 'loading' | 'ready' | 'failed' | 'gone';

/** What an opened session needs of the hub; tests bring their own. */
interface HubAccess {
  get<T>(path: string): Promise<T>;
  connection: Pick<Connection, 'follow' | 'outbox' | 'state'>;
}

export class OpenSession {
  readonly timeline = new Timeline();
  readonly spending = new Spending();
  readonly state: ReadonlySignal<SessionState>;
  readonly loadState = signal<LoadState>('loading');
  readonly error = signal<HubError | undefined>(undefined);
  /** Why the session has its status, and since when (milliseconds). */
  readonly reason = signal<{ text?: string; since?: number }>({});
  readonly hasOlder = signal(false);
  /** Whether the window reaches the newest event. */
  readonly atEnd = signal(true);
  /** Prompts of this page that the journal does not have yet. */
  readonly prompts: ReadonlySignal<OutgoingPrompt[]>;

  private readonly _state;
  private readonly outgoing: OutgoingPrompts;
  private readonly pages: HistoryPages;
  private events: ACPEvent[] = [];
  private before: number | null = null;
  private liveSeq = 0;
  private stateSeq = 0;
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

  constructor(readonly sessionId: string, private readonly hub: HubAccess) {
    this._state = signal(emptyState(sessionId));
    this.state = this._state;
    this.pages = new HistoryPages(sessionId, hub.get);
    this.outgoing = new OutgoingPrompts(sessionId, hub.connection.outbox, this.timeline, () => this._state.value.queue);
    this.prompts = this.outgoing.unseen;
    this.stopWatching = effect(() => this.retryWhenOnline());
  }

  /** Begin, at the end or around an entry. */
  async load(around?: number): Promise<void> {
    const load = (this.loads += 1);
    this.unfollow();
    this.loadState.value = 'loading';
    try {
      const [snapshot, page] = await Promise.all([this.snapshot().then((early) => this.introduce(early, load)), this.pages.first(around)]);
      if (this.closed || load !== this.loads) return;
      this.begin(snapshot, page, around === undefined);
      void this.fillSpending();
    } catch (error) {
      if (load !== this.loads) return;
      this.error.value = asHubError(error);
      this.loadState.value = this.error.value.status === 404 ? 'gone' : 'failed';
      if (mayPass(this.error.value)) this.retryLater(around);
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

  /** Load what is around an entry; gives the key of the item that shows it. */
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
    return this.hub.get<T>(path);
  }

  /** Put all of a text that was too long for its event into its item. */
  async loadWhole({ text, state }: MessageItem | ThinkingItem): Promise<void> {
    const { cut } = state.peek();
    if (cut === undefined) return;
    const whole = await wholeText(cut.url, this.hub.get);
    if (state.peek().cut !== cut) return;
    text.value = whole;
    (state as Signal<object>).value = { ...state.peek(), cut: undefined };
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.snapshotTimer);
    this.unfollow();
    this.stopWatching();
    this.outgoing.close();
  }

  private snapshot(): Promise<Snapshot> {
    return this.hub.get<Snapshot>(pathOf(['sessions', this.sessionId, 'snapshot']));
  }

  /** What it is called and how it stands need not wait for what was said in it: that may be megabytes. */
  private introduce(snapshot: Snapshot, load: number): Snapshot {
    if (!this.closed && load === this.loads && this.loadState.peek() === 'loading') this._state.value = snapshot.state;
    return snapshot;
  }

  /** `newest`: the page was asked for as the last one, so what came after it while it was on its way comes by following. */
  private begin(snapshot: Snapshot, page: EventPage, newest: boolean): void {
    this.events = [...page.events];
    this.before = page.nextBefore;
    this.hasOlder.value = page.nextBefore !== null;
    const last = page.events[page.events.length - 1]?.seq ?? 0;
    this.atEnd.value = newest || page.nextAfter === null || last >= page.lastSeq;
    this.timeline.refold(this.events);
    this.liveSeq = this.atEnd.peek() ? last : snapshot.seq;
    // Both were asked for at once: what the page has and the snapshot has not will not come again.
    const since = this.atEnd.peek() ? page.events.filter((event) => event.seq > snapshot.seq) : [];
    this.stateSeq = Math.max(snapshot.seq, this.liveSeq);
    this._state.value = since.reduce(applyEvent, snapshot.state);
    if (since.some(needsSnapshot)) this.renewStateSoon();
    this.reason.value = {};
    for (const event of page.events) if (event.type === 'session:status_changed') this.setReason(event);
    this.error.value = undefined;
    this.failures = 0;
    this.loadState.value = 'ready';
    this.unfollow = this.hub.connection.follow(
      this.sessionId, this.liveSeq, (event) => this.onEvent(event), () => void this.load(), (error) => this.onEnded(error));
  }

  private async pageBefore(): Promise<boolean> {
    if (this.before === null || this.loadState.peek() !== 'ready') return false;
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
    if (this.atEnd.peek() || this.loadState.peek() !== 'ready') return false;
    const page = await this.pages.page({ after: this.events[this.events.length - 1]?.seq ?? 0 });
    if (this.closed) return false;
    this.events.push(...page.events);
    this.timeline.apply(page.events);
    this.atEnd.value = this.timeline.seq >= this.liveSeq;
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

  private onEvent(event: ACPEvent): void {
    if (event.seq <= this.liveSeq) return;
    if (this.atEnd.peek() && event.seq > this.liveSeq + 1) void this.fillGap(event);
    else this.append(event);
  }

  private append(event: ACPEvent): void {
    this.liveSeq = event.seq;
    if (event.type === 'session:status_changed') this.setReason(event);
    this.spending.apply(event);
    if (event.seq > this.stateSeq) {
      this.stateSeq = event.seq;
      this._state.value = applyEvent(this._state.peek(), event);
      if (needsSnapshot(event) || this.isNamedBy(event)) this.renewStateSoon();
    }
    if (!this.atEnd.peek()) return;
    appendEvent(this.events, event);
    this.timeline.apply([event]);
  }

  /** A session without a title is called after the first thing that a person says; no event says so. */
  private isNamedBy(event: ACPEvent): boolean {
    return event.type === 'message:complete' && event.role === 'user' && this._state.peek().title === '';
  }

  /** Something between did not come: the journal has it. */
  private async fillGap(event: ACPEvent): Promise<void> {
    const page = await this.pages.page({ after: this.liveSeq }).catch(() => undefined);
    if (page === undefined || this.closed) return;
    for (const one of page.events) if (one.seq > this.liveSeq) this.append(one);
    if (event.seq > this.liveSeq) this.append(event);
  }

  private setReason({ reason, timestamp }: SessionStatusChangedEvent): void {
    this.reason.value = { since: Date.parse(timestamp), ...(reason !== undefined ? { text: reason } : {}) };
  }

  private onEnded(error: HubError): void {
    this.error.value = error;
    this.loadState.value = 'gone';
  }

  /** Something changed, and its event does not have all of it. */
  private renewStateSoon(): void {
    this.snapshotTimer ??= setTimeout(() => {
      this.snapshotTimer = undefined;
      void this.snapshot().then((snapshot) => this.onSnapshot(snapshot), () => undefined);
    }, SNAPSHOT_PAUSE_MS);
  }

  private onSnapshot(snapshot: Snapshot): void {
    if (this.closed || this.loadState.peek() !== 'ready') return;
    const since = this.events.filter((event) => event.seq > snapshot.seq);
    this._state.value = since.reduce(applyEvent, snapshot.state);
    this.stateSeq = Math.max(this.stateSeq, snapshot.seq);
  }

  /** A request can be cut while the connection stands: nobody but we would notice. */
  private retryLater(around: number | undefined): void {
    const load = this.loads;
    const pause = Math.min(RETRY_LONGEST_MS, RETRY_FIRST_MS * 2 ** this.failures++);
    setTimeout(() => {
      if (!this.closed && load === this.loads && this.hub.connection.state.peek() === 'online') void this.load(around);
    }, pause);
  }

  private retryWhenOnline(): void {
    if (this.hub.connection.state.value === 'online' && this.loadState.peek() === 'failed') void this.load();
  }
}

/** Nobody answered, or not wholly; or the hub had a trouble of its own. */
function mayPass({ status }: HubError): boolean {
  return status === 0 || status >= 500;
}

export function openSession(sessionId: string, around?: number): OpenSession {
  const session = new OpenSession(sessionId, { get: http.get, connection });
  void session.load(around);
  return session;
}
