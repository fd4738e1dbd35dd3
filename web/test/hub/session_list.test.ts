import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ACPEvent } from '../../src/generated/agent-context';
import type { SessionView } from '../../src/generated/api';
import { HubError } from '../../src/hub/http';
import { askId, SessionList, EVENT_TYPES } from '../../src/hub/session_list';

function view(id: string, more: Partial<SessionView> = {}): SessionView {
  return {
    id, status: 'idle', agent: 'demo', cwd: '/p', title: id, createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z', lastSeq: 10,
    turn: null, pendingApprovals: [], pendingQuestions: [], queue: [], todos: [], usage: null, cost: null, mode: null, modes: null,
    configOptions: null, artifacts: 0, paused: null, caps: null, waits: {}, rules: [], permissionPolicy: null, tokens: null, agentInfo: null,
    agentStart: null, lastText: '', agentSessionId: null, sandbox: null, resources: {}, watchOnly: false, line: false, resumeCommand: null, commands: null, changes: { files: 0, linesAdded: 0, linesRemoved: 0 }, failed: null, missed: null,
    ...more,
  };
}

const base = (sessionId: string, seq: number, second = 1) => ({ seq, sessionId, timestamp: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z` });

function status(id: string, seq: number, to: SessionView['status'], second = 1): ACPEvent {
  return { type: 'session:status_changed', ...base(id, seq, second), from: 'idle', to };
}

function requested(id: string, seq: number, requestId: string, expiresAt: string): ACPEvent {
  return {
    type: 'approval:requested', ...base(id, seq), requestId, toolCallId: 'c', toolName: 'bash', toolInput: { command: 'ls' }, description: 'List',
    riskLevel: 'low', expiresAt, _meta: { title: 'ls', options: [{ optionId: 'a', name: 'Allow', kind: 'allow_once' }], risk: { reason: 'reads' }, parts: [1] },
  };
}

let requests: string[];
let answers: Map<string, SessionView | HubError>;
let store: SessionList;

beforeEach(() => {
  vi.useFakeTimers();
  requests = [];
  answers = new Map();
  store = new SessionList({
    session: async (id) => {
      requests.push(id);
      const answer = answers.get(id) ?? new HubError('unreachable', '');
      if (answer instanceof HubError) throw answer;
      return answer;
    },
    page: async (before) => (before === null ? { sessions: [view('a')], next: 'x' } : { sessions: [view('old')], next: null }),
  });
});

afterEach(() => vi.useRealTimers());

describe('the list of sessions', () => {
  it('has the newest activity first, and moves a session up when it does something', () => {
    store.reset([view('a', { updatedAt: '2026-01-01T00:00:05Z' }), view('b', { updatedAt: '2026-01-01T00:00:09Z' })], []);
    expect(store.sessions.value.map((each) => each.id)).toEqual(['b', 'a']);
    store.onEvent(status('a', 11, 'running', 30));
    expect(store.sessions.value.map((each) => [each.id, each.status])).toEqual([['a', 'running'], ['b', 'idle']]);
  });

  it('is not changed by events that a view already contains', () => {
    store.reset([view('a', { lastSeq: 20, status: 'completed' })], []);
    store.onEvent(status('a', 20, 'running'));
    expect(store.sessions.value[0]!.status).toBe('completed');
  });

  it('takes text and cost from events at once, and asks for the rest once, however many events come', async () => {
    answers.set('a', view('a', { lastSeq: 40, title: 'from the hub' }));
    store.reset([view('a')], []);
    store.onEvent({ type: 'message:complete', ...base('a', 11), messageId: 'm', role: 'assistant', content: [{ type: 'text', text: 'done' }] });
    store.onEvent({ type: 'message:complete', ...base('a', 12), messageId: 'n', role: 'user', content: [{ type: 'text', text: 'thanks' }] });
    store.onEvent({ type: 'resource:cost', ...base('a', 13), delta: { total: 1, input: 0, output: 0, currency: 'USD' }, cumulative: { total: 3, input: 1, output: 2, currency: 'USD' } });
    expect(store.sessions.value[0]).toMatchObject({ lastText: 'done', cost: { amount: 3, currency: 'USD' } });
    expect(requests).toEqual([]);
    for (const seq of [14, 15, 16]) store.onEvent(status('a', seq, 'thinking'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(requests).toEqual(['a']);
    expect(store.sessions.value[0]!.title).toBe('from the hub');
  });

  it('knows that a turn failed as soon as it is told, and that another one runs', async () => {
    const again = { turnId: 't', startedAt: '', by: '', seq: 13 };
    answers.set('a', view('a', { lastSeq: 14, status: 'running', turn: again }));
    store.reset([view('a')], []);
    store.onEvent({ type: 'session:error', ...base('a', 11), error: { code: 'agent_exited', message: 'gone', recoverable: true } });
    expect(store.sessions.value[0]!.failed).toMatchObject({ code: 'agent_exited', message: 'gone' });
    store.onEvent({ type: 'custom', ...base('a', 14), namespace: 'trunkline', eventName: 'turn_started', data: { turnId: 't' } });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(store.sessions.value[0]!.failed).toBeNull();
  });

  it('never goes back to an older view', async () => {
    answers.set('a', view('a', { lastSeq: 12, status: 'running' }));
    store.reset([view('a')], []);
    store.onEvent(status('a', 12, 'running'));
    store.onEvent(status('a', 13, 'completed'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(store.sessions.value[0]!.status).toBe('completed');
  });

  it('learns of a session that is new, and forgets one that is gone', async () => {
    store.reset([view('b')], []);
    answers.set('new', view('new', { lastSeq: 2 }));
    store.onEvent({ type: 'session:started', ...base('new', 1) } as ACPEvent);
    answers.set('b', new HubError('session_not_found', '', 404));
    store.onEvent(status('b', 11, 'completed'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(store.sessions.value.map((each) => each.id)).toEqual(['new']);
  });

  it('keeps what it has where the hub is away', async () => {
    store.reset([view('a')], []);
    store.onEvent(status('a', 11, 'running'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(store.sessions.value).toHaveLength(1);
  });

  it('loads older ones after a snapshot that was full', async () => {
    store.reset([view('a')], []);
    expect(store.hasOlder.value).toBe(false);
    store.reset(Array.from({ length: 200 }, (_, at) => view(`s${at}`)), []);
    expect(store.hasOlder.value).toBe(true);
    await store.loadOlder();
    expect(store.sessions.value.map((each) => each.id)).toContain('old');
    expect(store.hasOlder.value).toBe(false);
  });
});

describe('a list that was loaded further than a snapshot goes', () => {
  const at = (second: number): string => `2026-01-01T${String(Math.floor(second / 3600)).padStart(2, '0')}:${String(Math.floor(second / 60) % 60).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}Z`;
  const snapshot = (first = 1000): SessionView[] => Array.from({ length: 200 }, (_, n) => view(`s${first - n}`, { updatedAt: at(first - n) }));
  const older = Array.from({ length: 3 }, (_, n) => view(`old${n}`, { updatedAt: at(700 - n) }));
  let pages: SessionView[];
  let far: SessionList;

  beforeEach(() => {
    pages = older;
    far = new SessionList({
      session: () => Promise.reject(new HubError('unreachable', '')),
      page: async (before, sought) => {
        requests.push(JSON.stringify([before, sought ?? null]));
        if (sought) return { sessions: [view('far', { updatedAt: at(1), agent: 'rare' })], next: null };
        return before === null ? { sessions: snapshot(), next: '200' } : { sessions: pages, next: null };
      },
    });
    far.reset(snapshot(), []);
  });
  const ids = (): string[] => far.sessions.value.map((each) => each.id);

  it('does not shrink when the line comes back', async () => {
    await far.loadOlder();
    expect(ids()).toHaveLength(203);
    far.reset(snapshot(), []);
    expect(ids()).toHaveLength(203);
    await vi.advanceTimersByTimeAsync(1);
    expect(ids()).toHaveLength(203);
    expect(far.hasOlder.value).toBe(false);
  });

  it('forgets what was deleted meanwhile, and keeps what has just done something', async () => {
    await far.loadOlder();
    pages = older.slice(0, 1);
    far.reset(snapshot().filter(({ id }) => id !== 's900').concat(view('s800', { updatedAt: at(800) })), []);
    far.onEvent(status('old1', 11, 'running', 59));
    await vi.advanceTimersByTimeAsync(1);
    expect(ids()).toContain('old0');
    expect(ids()).toContain('old1');
    expect(ids()).not.toContain('old2');
    expect(ids()).not.toContain('s900');
  });

  it('asks the hub for what is looked for, and for nothing where all is there', async () => {
    await far.search({ agent: 'rare' });
    expect(requests).toEqual(['[null,{"agent":"rare"}]']);
    expect(ids()).toContain('far');
    far.reset(snapshot(), []);
    await vi.advanceTimersByTimeAsync(1);
    far.reset([view('only')], []);
    requests = [];
    await far.search({ agent: 'rare' });
    expect(requests).toEqual([]);
    expect(ids()).toEqual(['only']);
  });
});

describe('what waits for somebody', () => {
  it('is kept true by events, the one that expires first at the top, with the place it waits in', () => {
    store.reset([view('a', { cwd: '/atlas', title: 'Fix it' })], []);
    store.onEvent(requested('a', 11, 'r1', '2026-01-01T01:00:00Z'));
    store.onEvent(requested('a', 12, 'r2', '2026-01-01T00:30:00Z'));
    store.onEvent({ type: 'interaction:question', ...base('a', 13), questionId: 'q', question: 'Why?', _meta: { schema: { type: 'object' } } });
    expect(store.pending.value.map(askId)).toEqual(['r2', 'r1', 'q']);
    expect(store.pending.value[0]).toMatchObject({ agent: 'demo', cwd: '/atlas', title: 'Fix it', approval: { title: 'ls', riskReason: 'reads', parts: [1] } });
    expect(store.pending.value[2]!.question).toMatchObject({ question: 'Why?', schema: { type: 'object' } });
    store.onEvent({ type: 'approval:resolved', ...base('a', 14), requestId: 'r2', toolCallId: 'c', approved: true, resolvedBy: 'user' });
    store.onEvent({ type: 'custom', ...base('a', 15), namespace: 'trunkline', eventName: 'question_resolved', data: { questionId: 'q' } });
    expect(store.pending.value.map(askId)).toEqual(['r1']);
  });

  it('is heard of once, though an event comes by two ways, and from sessions that are not in the list', () => {
    store.reset([], []);
    store.onEvent(requested('far', 3, 'r1', '2026-01-01T01:00:00Z'));
    store.onEvent(requested('far', 3, 'r1', '2026-01-01T01:00:00Z'));
    expect(store.pending.value).toHaveLength(1);
    store.forget('far');
    store.reset([view('far')], []);
    expect(store.pending.value).toHaveLength(0);
  });

  it('comes with the events that are subscribed to', () => {
    for (const type of ['approval:', 'interaction:question', 'custom', 'session:', 'message:complete']) expect(EVENT_TYPES.split(',')).toContain(type);
    expect(EVENT_TYPES).not.toContain('delta');
  });
});
