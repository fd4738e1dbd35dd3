/**
 * Every session of the hub and all that waits for somebody, kept true by one subscription to all of them.
 *
 * Rule 1: the hub's own view is the truth. Events change at once what they say plainly; for the rest the view is asked for again.
 * Rule 2: an event that a view already contains (its seq is not above lastSeq) changes nothing.
 * Rule 3: only the events that this needs are subscribed to: the text of other sessions does not travel.
 * Rule 4: a snapshot has the newest sessions only. What was loaded beyond them stays when the next one comes, and is looked after;
 * what is looked for is asked of the hub, not of what happens to be loaded.
 */
import { computed, signal, type ReadonlySignal } from '@preact/signals';
import type { ACPEvent, ApprovalRequestedEvent, UserQuestionEvent } from '../generated/agent-context';
import type { ApprovalView, Pending, QuestionView, SessionPage, SessionView } from '../generated/api';
import { readApprovalMeta } from './approval_meta';
import { http, HubError, pathOf } from './http';
import { connection, type Connection } from './connection';

export type { Pending, SessionView } from '../generated/api';

export const EVENT_TYPES = 'session:,message:complete,approval:,interaction:question,resource:cost,file:,progress:todo_update,custom';

const RENEW_MS = 400;

/** How many sessions a snapshot of the hub has. */
const SNAPSHOT = 200;
/** How many pages of what is looked for are fetched at once. */
const SOUGHT_PAGES = 5;

/** What is looked for; `text` is a part of a title or a folder. */
export interface SessionFilter {
  agent?: string;
  node?: string;
  text?: string;
}

/** How the store asks the hub; tests bring their own. */
interface SessionSource {
  session(id: string): Promise<SessionView>;
  /** A page of the list; without a cursor the newest, as many as a snapshot has. */
  page(before: string | null, sought?: SessionFilter): Promise<SessionPage>;
}

export class SessionList {
  private readonly byId = signal<ReadonlyMap<string, SessionView>>(new Map());
  private readonly asks = signal<ReadonlyMap<string, Pending>>(new Map());
  private readonly isLoaded = signal(false);
  private readonly more = signal(false);
  private readonly looking = signal(0);
  private olderThan: string | null = null;
  private snapshots = 0;
  private readonly listeners = new Set<(event: ACPEvent) => void>();
  private readonly renewals = new Map<string, ReturnType<typeof setTimeout>>();

  /** Newest activity first. */
  readonly sessions: ReadonlySignal<SessionView[]> = computed(() => newestFirst([...this.byId.value.values()]));

  /** What waits for somebody; the one that expires first at the top. */
  readonly pending: ReadonlySignal<Pending[]> = computed(() => firstToExpire([...this.asks.value.values()].map((ask) => this.withSession(ask))));

  private readonly seeks = computed(() => this.looking.value > 0);

  constructor(private readonly source: SessionSource) {}

  /** Whether the hub has sent its sessions yet. */
  get loaded(): ReadonlySignal<boolean> {
    return this.isLoaded;
  }

  attach(to: Connection): void {
    to.onWelcome((welcome) => this.setAsks(welcome.pending));
    to.onUnfollowed((event) => this.onEvent(event));
    to.followAll(EVENT_TYPES, (event) => this.onEvent(event), (state) => this.reset(state.sessions ?? [], state.pending), (id) => this.forget(id));
  }

  reset(sessions: SessionView[], pending: Pending[]): void {
    const kept = this.olderThanSnapshot(sessions);
    this.byId.value = new Map([...sessions, ...kept].map((view) => [view.id, view]));
    this.setAsks(pending);
    this.isLoaded.value = true;
    this.more.value = sessions.length >= SNAPSHOT;
    this.olderThan = null;
    this.snapshots += 1;
    if (kept.length) void this.refreshOlder(kept, this.snapshots).catch(() => undefined); // the next snapshot tries again
  }

  /** What is loaded and too old to be in this snapshot; what is missing from it otherwise is gone. */
  private olderThanSnapshot(sessions: SessionView[]): SessionView[] {
    if (sessions.length < SNAPSHOT) return [];
    const oldest = sessions.reduce((least, { updatedAt }) => (updatedAt < least ? updatedAt : least), '~');
    const inSnapshot = new Set(sessions.map(({ id }) => id));
    return [...this.byId.peek().values()].filter(({ id, updatedAt }) => !inSnapshot.has(id) && updatedAt <= oldest);
  }

  /** Read the list on, as far as it was loaded, and forget what is no longer in it. */
  private async refreshOlder(kept: SessionView[], snapshot: number): Promise<void> {
    const unseen = new Map(kept.map((view) => [view.id, view]));
    let { next } = await this.source.page(null);
    let oldest = '~';
    for (let read = 0; next !== null && read < kept.length; ) {
      const page: SessionPage = await this.source.page(next);
      if (snapshot !== this.snapshots) return;
      for (const view of page.sessions) {
        unseen.delete(view.id);
        this.put(view);
        if (view.updatedAt < oldest) oldest = view.updatedAt;
      }
      read += Math.max(page.sessions.length, 1);
      next = page.next;
    }
    if (snapshot !== this.snapshots) return;
    this.olderThan = next;
    this.more.value = next !== null;
    // What was read this far back without being there is gone, unless something happened in it meanwhile.
    for (const [id, view] of unseen) {
      if ((next === null || view.updatedAt > oldest) && this.byId.peek().get(id) === view) this.forget(id);
    }
  }

  /** Whether the hub is being asked for what is looked for. */
  get searching(): ReadonlySignal<boolean> {
    return this.seeks;
  }

  /** Put what is looked for into the list, however old; nothing is asked where all sessions are in it. */
  async search(sought: SessionFilter): Promise<void> {
    if (!this.more.peek()) return;
    this.looking.value += 1;
    try {
      let before: string | null = null;
      for (let pages = 0; pages < SOUGHT_PAGES; pages += 1) {
        const page: SessionPage = await this.source.page(before, sought);
        page.sessions.forEach((view) => this.put(view));
        before = page.next;
        if (before === null) return;
      }
    } finally {
      this.looking.value -= 1;
    }
  }

  /** Whether there are sessions that are not in the list yet. */
  get hasOlder(): ReadonlySignal<boolean> {
    return this.more;
  }

  /** Put the next older ones into the list. */
  async loadOlder(): Promise<void> {
    const before = this.olderThan ?? (await this.source.page(null)).next;
    const page = before === null ? { sessions: [], next: null } : await this.source.page(before);
    page.sessions.forEach((view) => this.put(view));
    this.olderThan = page.next;
    this.more.value = page.next !== null;
  }

  /** What is known of a session. Whoever reads this while it draws is drawn anew when it changes. */
  find(id: string): SessionView | undefined {
    return this.byId.value.get(id);
  }

  /** A view that somebody got from the hub. */
  put(view: SessionView): void {
    const old = this.byId.peek().get(view.id);
    if (old && old.lastSeq > view.lastSeq) return;
    this.byId.value = new Map(this.byId.peek()).set(view.id, view);
  }

  forget(id: string): void {
    const left = new Map(this.byId.peek());
    if (left.delete(id)) this.byId.value = left;
    const asks = [...this.asks.peek()].filter(([, ask]) => ask.sessionId !== id);
    if (asks.length !== this.asks.peek().size) this.asks.value = new Map(asks);
  }

  /** Called with every event that comes here; gives the end of it. */
  listen(listener: (event: ACPEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  onEvent(event: ACPEvent): void {
    this.listeners.forEach((listener) => listener(event));
    this.trackPending(event);
    const view = this.byId.peek().get(event.sessionId);
    if (view && event.seq <= view.lastSeq) return;
    if (view) this.put({ ...view, ...changesOf(view, event), lastSeq: event.seq, updatedAt: event.timestamp });
    if (!view || needsReload(event)) this.renewSoon(event.sessionId);
  }

  private trackPending(event: ACPEvent): void {
    if (event.type === 'approval:requested') this.addAsk(event.requestId, { ...pendingIn(event), approval: approvalOf(event) });
    else if (event.type === 'interaction:question') this.addAsk(event.questionId, { ...pendingIn(event), question: questionOf(event) });
    else if (event.type === 'approval:resolved') this.removeAsk(event.requestId);
    else if (event.type === 'custom' && event.eventName === 'question_resolved') this.removeAsk(String(event.data['questionId']));
  }

  private addAsk(id: string, ask: Pending): void {
    if (!this.asks.peek().has(id)) this.asks.value = new Map(this.asks.peek()).set(id, ask);
  }

  private removeAsk(id: string): void {
    const left = new Map(this.asks.peek());
    if (left.delete(id)) this.asks.value = left;
  }

  private setAsks(pending: Pending[]): void {
    this.asks.value = new Map(pending.map((ask) => [askId(ask), ask]));
  }

  /** An ask that came as an event does not say which agent and folder it is of. */
  private withSession(ask: Pending): Pending {
    const view = this.byId.value.get(ask.sessionId);
    return view ? { ...ask, agent: view.agent, title: view.title, cwd: view.cwd } : ask;
  }

  private renewSoon(id: string): void {
    if (this.renewals.has(id)) return;
    this.renewals.set(id, setTimeout(() => void this.renew(id), RENEW_MS));
  }

  private async renew(id: string): Promise<void> {
    this.renewals.delete(id);
    try {
      this.put(await this.source.session(id));
    } catch (error) {
      if (error instanceof HubError && error.status === 404) this.forget(id);
    }
  }
}

/** What an event says plainly about its session. */
function changesOf(view: SessionView, event: ACPEvent): Partial<SessionView> {
  switch (event.type) {
    case 'session:status_changed':
      return { status: event.to };
    case 'session:completed':
      return { status: 'completed' };
    case 'session:error':
      return { failed: { code: event.error.code, message: event.error.message, at: event.timestamp } };
    case 'message:complete':
      return event.role === 'assistant' ? { lastText: textOf(event.content) || view.lastText } : {};
    case 'approval:resolved':
      return event.resolvedBy === 'timeout' ? { missed: event.timestamp } : {};
    case 'resource:cost':
      return { cost: { ...event.cumulative, amount: event.cumulative.total } };
    default:
      return {};
  }
}

function textOf(content: readonly { type: string; text?: string }[]): string {
  return content.map((part) => (part.type === 'text' ? part.text ?? '' : '')).join('').slice(0, 2_000);
}

const NEEDS_RELOAD = new Set([
  'turn_started', 'turn_ended', 'session_renamed', 'session_info_update', 'artifact_created', 'current_mode_update',
  'config_option_update', 'question_resolved', 'prompt_queued', 'prompt_edited', 'prompt_dropped', 'limits_set', 'agent_exited', 'agent_stopped', 'session_moved',
]);

function needsReload(event: ACPEvent): boolean {
  if (event.type === 'custom') return NEEDS_RELOAD.has(event.eventName);
  return event.type.startsWith('session:') || event.type.startsWith('file:') || event.type === 'progress:todo_update';
}

function pendingIn(event: ACPEvent): Pending {
  return { sessionId: event.sessionId, agent: '', title: '', cwd: '' };
}

function approvalOf(event: ApprovalRequestedEvent): ApprovalView {
  const meta = (event._meta ?? {}) as Partial<ApprovalView> & { risk?: { reason?: string } };
  return {
    requestId: event.requestId, toolCallId: event.toolCallId, toolName: event.toolName, toolInput: event.toolInput,
    description: event.description, riskLevel: event.riskLevel, expiresAt: event.expiresAt, requestedAt: event.timestamp,
    preview: event.preview ?? null, title: meta.title ?? '', options: meta.options ?? [], riskReason: meta.risk?.reason ?? '',
    always: meta.always ?? null, editable: meta.editable ?? false, ...(meta.parts ? { parts: meta.parts } : {}),
    ...(typeof meta.noRule === 'string' ? { noRule: meta.noRule } : {}), ...(meta.answerThere === true ? { answerThere: true } : {}),
    ...readApprovalMeta(event._meta),
  };
}

function questionOf(event: UserQuestionEvent): QuestionView {
  const meta = (event._meta ?? {}) as Partial<QuestionView>;
  return {
    questionId: event.questionId, question: event.question, askedAt: event.timestamp, options: event.options ?? null,
    url: meta.url ?? null, cap: meta.cap ?? null,
    ...(meta.schema ? { schema: meta.schema } : {}), ...(event.expiresAt ? { expiresAt: event.expiresAt } : {}),
  };
}

/** The id of what waits. */
export function askId(ask: Pending): string {
  return ask.approval?.requestId ?? ask.question?.questionId ?? '';
}

function newestFirst(views: SessionView[]): SessionView[] {
  return views.sort((one, other) => (one.updatedAt < other.updatedAt ? 1 : one.updatedAt > other.updatedAt ? -1 : 0));
}

function firstToExpire(asks: Pending[]): Pending[] {
  const end = (ask: Pending): string => ask.approval?.expiresAt ?? ask.question?.expiresAt ?? '~';
  return asks.sort((one, other) => (end(one) < end(other) ? -1 : end(one) > end(other) ? 1 : 0));
}

export const sessionList = new SessionList({
  session: (id) => http.get<SessionView>(pathOf(['sessions', id])),
  page: (before, sought = {}) => http.get<SessionPage>(pathOf(['sessions'], { ...sought, ...(before === null ? { limit: SNAPSHOT } : { before, limit: 100 }) })),
});

/** A live list of all sessions, newest activity first. */
export const sessions = sessionList.sessions;

/** Approvals and questions of all sessions, kept true by events. */
export const pending = sessionList.pending;

/** Begin to listen. */
export function followSessions(): void {
  sessionList.attach(connection);
}
