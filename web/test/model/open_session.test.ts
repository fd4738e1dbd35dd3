// An opened session against a scripted hub: pages, live events, gaps, resets, prompts on their way.

import { signal } from '@preact/signals';
import { describe, expect, test, vi } from 'vitest';
import type { ACPCommand, ACPEvent } from '../../src/generated/agent-context';
import type { SessionState } from '../../src/generated/api';
import { HubError } from '../../src/hub/http';
import type { ConnectionState } from '../../src/hub/connection';
import type { OutgoingCommand } from '../../src/hub/outbox';
import { emptyState } from '../../src/model/session_state';
import { appendEvent, PAGE_EVENTS } from '../../src/model/history';
import { OpenSession } from '../../src/model/open_session';
import type { MessageItem } from '../../src/model/timeline/items';
import { Timeline } from '../../src/model/timeline/timeline';
import { numbers } from '../seeded_numbers';
import { recordedSessions } from './recorded_sessions';
import { seen } from './plain_items';

/** A hub with one session: answers pages and snapshots out of a list of events, and tells new ones. */
class ScriptedHub {
  readonly outbox = signal<OutgoingCommand[]>([]);
  readonly state = signal<ConnectionState>('online');
  follower: ((event: ACPEvent) => void) | undefined;
  reset: ((state: SessionState, seq: number) => void) | undefined;
  followedAfter = -1;
  requests: string[] = [];
  canJoin = true;
  failing = false;

  constructor(readonly events: ACPEvent[], readonly pageSize = PAGE_EVENTS) {}

  get connection() {
    return { outbox: this.outbox, state: this.state, follow: this.follow.bind(this) };
  }

  private follow(_id: string, after: number, on: (event: ACPEvent) => void, reset: (state: SessionState, seq: number) => void): () => void {
    this.followedAfter = after;
    this.follower = on;
    this.reset = reset;
    for (const event of this.events) if (event.seq > after) on(event);
    return () => (this.follower = undefined);
  }

  emit(event: object): void {
    const events = { sessionId: 'ses_1', timestamp: new Date(1_700_000_000_000).toISOString(), seq: (this.events.at(-1)?.seq ?? 0) + 1, ...event } as unknown as ACPEvent;
    this.events.push(events);
    this.follower?.(events);
  }

  get = async <T>(path: string): Promise<T> => {
    this.requests.push(path);
    if (this.failing) throw new HubError('unreachable', 'gone', 0);
    const url = new URL(path, 'http://hub');
    if (url.pathname.endsWith('/snapshot')) return { sessionId: 'ses_1', seq: this.last, state: { ...emptyState('ses_1'), lastSeq: this.last } } as T;
    if (url.searchParams.has('joined') && !this.canJoin) throw new HubError('invalid', 'no such parameter', 400);
    return this.page(url.searchParams) as T;
  };

  private get last(): number {
    return this.events.at(-1)?.seq ?? 0;
  }

  private page(query: URLSearchParams): unknown {
    const types = query.get('types')?.split(',');
    const all = this.events.filter((event) => types === undefined || types.includes(event.type));
    const [after, before] = [Number(query.get('after') ?? -1), Number(query.get('before') ?? Infinity)];
    const inside = all.filter((event) => event.seq > after && event.seq < before);
    const size = Math.min(Number(query.get('limit')), this.pageSize);
    const cut = query.has('after') ? inside.slice(0, size) : inside.slice(-size);
    const events: ACPEvent[] = [];
    for (const event of cut) query.has('joined') ? appendEvent(events, event) : events.push(event);
    const [first, last] = [cut[0]?.seq ?? 0, cut.at(-1)?.seq ?? 0];
    return {
      events, lastSeq: this.last, nextAfter: all.some((event) => event.seq > last) ? last : null, nextBefore: all.some((event) => event.seq < first) ? first : null,
    };
  }
}

const chunk = (id: string, delta: string) => ({ type: 'message:delta', messageId: id, role: 'assistant', delta });

function hubWith(count: number, pageSize?: number): ScriptedHub {
  const hub = new ScriptedHub([], pageSize);
  for (let index = 0; index < count; index += 1) hub.emit(chunk(`m${Math.floor(index / 5)}`, `${index} `));
  return hub;
}

async function opened(hub: ScriptedHub, around?: number): Promise<OpenSession> {
  const session = new OpenSession('ses_1', { get: hub.get, connection: hub.connection });
  await session.load(around);
  return session;
}

const keysOf = (session: OpenSession): string[] => session.timeline.items.value.map((item) => item.key);
const textOf = (session: OpenSession): string => session.timeline.items.value.map((item) => (item as MessageItem).text.value).join('');
const everything = (hub: ScriptedHub): string => hub.events.map((event) => (event as { delta?: string }).delta ?? '').join('');

test('what the first page tells beyond the snapshot counts for how the session stands', async () => {
  const hub = new ScriptedHub([]);
  hub.emit({ type: 'custom', namespace: 'trunkline', eventName: 'turn_started', data: { turnId: 'turn_1' } });
  const turn = { turnId: 'turn_1', startedAt: '', by: '', seq: 1 };
  const early = { sessionId: 'ses_1', seq: 1, state: { ...emptyState('ses_1'), status: 'running', turn, lastSeq: 1 } };
  hub.emit({ type: 'session:error', error: { code: 'agent_error', message: 'it failed' } });
  hub.emit({ type: 'session:status_changed', from: 'running', to: 'idle' });
  const get = <T>(path: string): Promise<T> => (path.includes('/snapshot') ? Promise.resolve(early as T) : hub.get<T>(path));
  const session = new OpenSession('ses_1', { get, connection: hub.connection });
  await session.load();
  expect(session.state.value.turn).toBeNull();
  expect(session.state.value.status).toBe('idle');
  expect(session.state.value.failed).toMatchObject({ code: 'agent_error', message: 'it failed' });
  hub.emit({ type: 'custom', namespace: 'trunkline', eventName: 'turn_started', data: { turnId: 'turn_2' } });
  expect(session.state.value.failed).toBeNull();
  session.close();
});

describe('opening', () => {
  test('tells how the session stands while its history is on its way', async () => {
    const hub = hubWith(3);
    let deliver = (): void => undefined;
    const arrival = new Promise<void>((resolve) => (deliver = resolve));
    const get = async <T>(path: string): Promise<T> => {
      if (path.includes('/snapshot')) return { sessionId: 'ses_1', seq: 3, state: { ...emptyState('ses_1'), title: 'Named' } } as T;
      await arrival;
      return hub.get<T>(path);
    };
    const session = new OpenSession('ses_1', { get, connection: hub.connection });
    const loading = session.load();
    await vi.waitUntil(() => session.state.value.title === 'Named');
    expect(session.loadState.value).toBe('loading');
    deliver();
    await loading;
    expect(session.loadState.value).toBe('ready');
    session.close();
  });

  test('shows the newest page and goes on after its last entry', async () => {
    const hub = hubWith(3000);
    const session = await opened(hub);
    expect(session.loadState.value).toBe('ready');
    expect(session.hasOlder.value).toBe(true);
    hub.emit(chunk('new', 'hello'));
    expect(keysOf(session).at(-1)).toBe('m:new');
  });

  test('hears by following what happened while its page was on its way', async () => {
    const hub = hubWith(10);
    const get = async <T>(path: string): Promise<T> => {
      const page = await hub.get<{ lastSeq?: number; nextAfter?: number | null }>(path);
      if (page.lastSeq !== undefined) {
        hub.emit(chunk('late', 'late '));
        [page.nextAfter, page.lastSeq] = [10, page.lastSeq + 1];
      }
      return page as T;
    };
    const session = new OpenSession('ses_1', { get, connection: hub.connection });
    await session.load();
    expect(session.atEnd.value).toBe(true);
    expect(textOf(session)).toContain('9 late ');
    hub.emit(chunk('new', 'new'));
    expect(textOf(session)).toBe(everything(hub));
  });

  test('does without joined pages where the hub cannot join', async () => {
    const hub = hubWith(30);
    hub.canJoin = false;
    const session = await opened(hub);
    expect(textOf(session)).toBe(everything(hub));
  });

  test('that fails says why, and is tried again when the hub is there', async () => {
    const hub = hubWith(3);
    hub.failing = true;
    hub.state.value = 'offline';
    const session = await opened(hub);
    expect(session.loadState.value).toBe('failed');
    hub.failing = false;
    hub.state.value = 'online';
    await vi.waitFor(() => expect(session.loadState.value).toBe('ready'));
  });

  test('whose request was cut while the line stood is tried again by itself', async () => {
    const hub = hubWith(3);
    hub.failing = true;
    const session = await opened(hub);
    expect([hub.state.value, session.loadState.value]).toEqual(['online', 'failed']);
    hub.failing = false;
    await vi.waitFor(() => expect(session.loadState.value).toBe('ready'), 3_000);
  });

  test('misses nothing that happens between the page and the stream', async () => {
    const hub = hubWith(10);
    const session = new OpenSession('ses_1', {
      get: async (path) => {
        const answer = await hub.get(path);
        if (path.includes('history')) hub.emit(chunk('late', 'x'));
        return answer as never;
      },
      connection: hub.connection,
    });
    await session.load();
    expect(textOf(session)).toBe(everything(hub));
  });
});

describe('older pages', () => {
  test('are put before what is loaded until there are none, with the same keys', async () => {
    const hub = hubWith(950, 100);
    const session = await opened(hub);
    const before = keysOf(session);
    while (await session.loadOlder());
    expect(textOf(session)).toBe(everything(hub));
    expect(keysOf(session).slice(-before.length)).toEqual(before);
    expect(session.hasOlder.value).toBe(false);
  });

  test('and live events in between give what one fold of everything gives', async () => {
    for (const [name, events] of recordedSessions()) {
      const random = numbers(events.length);
      const cut = Math.floor(events.length * random());
      const hub = new ScriptedHub(events.slice(0, cut), 1 + Math.floor(random() * 50));
      const session = await opened(hub);
      for (const event of events.slice(cut)) {
        hub.emit(event);
        if (random() < 0.1) await session.loadOlder();
      }
      while (await session.loadOlder());
      const whole = new Timeline();
      whole.apply(events);
      expect(seen(session.timeline.items.value, { places: false }), name).toEqual(seen(whole.items.value, { places: false }));
    }
  });
});

describe('a permalink', () => {
  test('near the end pages back to it', async () => {
    const hub = hubWith(2500, 300);
    const session = await opened(hub);
    expect(await session.show(1000)).toBe('m:m199');
    expect(session.atEnd.value).toBe(true);
  });

  test('far away opens a window of its own, from which one comes to the end', async () => {
    const hub = hubWith(9000, 500);
    const session = await opened(hub, 100);
    expect(session.atEnd.value).toBe(false);
    expect(keysOf(session)).toContain('m:m19');
    hub.emit(chunk('new', 'hello'));
    expect(keysOf(session)).not.toContain('m:new');
    while (await session.loadNewer());
    expect(session.atEnd.value).toBe(true);
    expect(keysOf(session).at(-1)).toBe('m:new');
    hub.emit(chunk('newer', 'hello'));
    expect(keysOf(session).at(-1)).toBe('m:newer');
  });
});

describe('the stream', () => {
  test('with a hole is mended from the journal', async () => {
    const hub = hubWith(10);
    const session = await opened(hub);
    const { follower: heard } = hub;
    hub.follower = undefined;
    hub.emit(chunk('a', '1'));
    hub.emit(chunk('a', '2'));
    hub.follower = heard;
    hub.emit(chunk('a', '3'));
    await vi.waitFor(() => expect(textOf(session)).toBe(everything(hub)));
  });

  test('that begins anew loads everything anew', async () => {
    const hub = hubWith(10);
    const session = await opened(hub);
    hub.events.splice(0);
    hub.emit(chunk('other', 'hub'));
    hub.reset!(emptyState('ses_1'), 1);
    await vi.waitFor(() => expect(keysOf(session)).toEqual(['m:other']));
  });

  test('keeps the view true: status, title, to-dos, money, queue', async () => {
    const hub = hubWith(1);
    const session = await opened(hub);
    hub.emit({ type: 'session:status_changed', from: 'idle', to: 'running', reason: 'a prompt came' });
    hub.emit({ type: 'progress:todo_update', todos: [{ content: 'a', status: 'pending' }] });
    hub.emit({ type: 'resource:cost', delta: { total: 1 }, cumulative: { total: 2, input: 1, output: 1, currency: 'USD' } });
    hub.emit({ type: 'custom', namespace: 'acp', eventName: 'session_info_update', data: { title: 'Named' } });
    hub.emit({ type: 'custom', namespace: 'trunkline', eventName: 'prompt_queued', data: { turnId: 't2', content: [], queuedAt: '', by: 'me' } });
    expect(session.state.value).toMatchObject({ status: 'running', title: 'Named', cost: { amount: 2 }, queue: [{ turnId: 't2' }] });
    hub.emit({ type: 'custom', namespace: 'acp', eventName: 'session_info_update', data: { title: 'x'.repeat(9_000) } });
    expect(session.state.value.title, 'as long as after a reload').toHaveLength(500);
    expect(session.reason.value.text).toBe('a prompt came');
    hub.emit({ type: 'custom', namespace: 'trunkline', eventName: 'turn_started', data: { turnId: 't2', turn: 2 } });
    expect(session.state.value).toMatchObject({ queue: [], turn: { turnId: 't2' } });
  });
});

describe('a prompt of this page', () => {
  function send(hub: ScriptedHub, text: string) {
    let answer!: (result: unknown) => void;
    const sent = {
      id: text, sessionId: 'ses_1', command: { command: 'send_message', message: text } as ACPCommand, at: 0, state: 'sent' as OutgoingCommand['state'],
      done: new Promise((resolve) => (answer = resolve)), drop: () => undefined,
    };
    hub.outbox.value = [...hub.outbox.value, sent];
    return { sent, answer: async (turnId: string) => {
      sent.state = 'done';
      hub.outbox.value = hub.outbox.value.filter((one) => one !== sent);
      answer({ turnId });
      await Promise.resolve();
    } };
  }
  const message = (turnId: string, text: string) => (
    { type: 'message:complete', messageId: `user-${turnId}`, role: 'user', content: [{ type: 'text', text }] });
  const shown = (session: OpenSession): string[] => session.prompts.value.map((prompt) => prompt.sent.id);

  test('is shown at once, and goes when its message comes before the answer', async () => {
    const hub = hubWith(1);
    const session = await opened(hub);
    send(hub, 'go');
    expect(shown(session)).toEqual(['go']);
    hub.emit(message('t1', 'go'));
    expect(shown(session)).toEqual([]);
  });

  test('stays between the answer and its message, and never comes back', async () => {
    const hub = hubWith(1);
    const session = await opened(hub);
    const { answer } = send(hub, 'go');
    await answer('t1');
    expect(shown(session)).toEqual(['go']);
    hub.emit({ type: 'custom', namespace: 'trunkline', eventName: 'prompt_queued', data: { turnId: 't1', content: [{ type: 'text', text: 'go' }], queuedAt: '', by: '' } });
    expect(shown(session)).toEqual([]);
    hub.emit({ type: 'custom', namespace: 'trunkline', eventName: 'prompt_dropped', data: { turnId: 't1' } });
    expect(shown(session)).toEqual([]);
  });

  test('twice with the same words is shown once when one of them came', async () => {
    const hub = hubWith(1);
    const session = await opened(hub);
    send(hub, 'go');
    hub.outbox.value = [...hub.outbox.value, { ...hub.outbox.value[0]!, id: 'again' }];
    hub.emit(message('t1', 'go'));
    expect(shown(session)).toEqual(['again']);
  });
});

test('folding twenty thousand events costs no more than a few times reading them', () => {
  const session = [...recordedSessions().values()].sort((a, b) => b.length - a.length)[0]!;
  const events: ACPEvent[] = [];
  while (events.length < 20_000) {
    const round = `$1":"${events.length}-`;
    const again = JSON.stringify(session).replace(/(toolCallId|messageId|requestId)":"/g, round);
    for (const event of JSON.parse(again) as ACPEvent[]) events.push({ ...event, seq: events.length + 1 });
  }
  const written = JSON.stringify(events);
  const reading = timed(() => JSON.parse(written));
  const timeline = new Timeline();
  const folding = timed(() => timeline.apply(events));
  expect(timeline.items.value.length).toBeGreaterThan(2_000);
  expect(folding / reading).toBeLessThan(8);
});

function timed(work: () => unknown): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}
