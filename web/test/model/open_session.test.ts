// An opened session against a scripted hub: pages, live events, gaps, resets, prompts on their way.

import { signal } from '@preact/signals';
import { describe, expect, test, vi } from 'vitest';
import type { ACPCommand, ACPEvent } from '../../src/generated/agent-context';
import type { SessionState } from '../../src/generated/api';
import { HubError } from '../../src/hub/http';
import type { LinkState } from '../../src/hub/connection';
import type { Sent } from '../../src/hub/outbox';
import { append } from '../../src/model/joined_events';
import { blank } from '../../src/model/session_state';
import { PAGE } from '../../src/model/history';
import { Story } from '../../src/model/open_session';
import { Timeline, type MessageItem } from '../../src/model/timeline/timeline';
import { numbers } from '../seeded_numbers';
import { recordedSessions } from './recorded_sessions';
import { seen } from './plain_items';

/** A hub with one session: answers pages and snapshots out of a list of events, and tells new ones. */
class ScriptedHub {
  readonly outbox = signal<Sent[]>([]);
  readonly state = signal<LinkState>('online');
  heard: ((event: ACPEvent) => void) | undefined;
  reset: ((state: SessionState, seq: number) => void) | undefined;
  followedAfter = -1;
  asked: string[] = [];
  canJoin = true;
  failing = false;

  constructor(readonly events: ACPEvent[], readonly pageSize = PAGE) {}

  get link() {
    return { outbox: this.outbox, state: this.state, follow: this.follow.bind(this) };
  }

  private follow(_id: string, after: number, on: (event: ACPEvent) => void, reset: (state: SessionState, seq: number) => void): () => void {
    this.followedAfter = after;
    this.heard = on;
    this.reset = reset;
    for (const event of this.events) if (event.seq > after) on(event);
    return () => (this.heard = undefined);
  }

  say(event: object): void {
    const told = { sessionId: 'ses_1', timestamp: new Date(1_700_000_000_000).toISOString(), seq: (this.events.at(-1)?.seq ?? 0) + 1, ...event } as unknown as ACPEvent;
    this.events.push(told);
    this.heard?.(told);
  }

  get = async <T>(path: string): Promise<T> => {
    this.asked.push(path);
    if (this.failing) throw new HubError('unreachable', 'gone', 0);
    const url = new URL(path, 'http://hub');
    if (url.pathname.endsWith('/snapshot')) return { sessionId: 'ses_1', seq: this.last, state: { ...blank('ses_1'), lastSeq: this.last } } as T;
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
    for (const event of cut) query.has('joined') ? append(events, event) : events.push(event);
    const [first, last] = [cut[0]?.seq ?? 0, cut.at(-1)?.seq ?? 0];
    return {
      events, lastSeq: this.last, nextAfter: all.some((event) => event.seq > last) ? last : null, nextBefore: all.some((event) => event.seq < first) ? first : null,
    };
  }
}

const chunk = (id: string, delta: string) => ({ type: 'message:delta', messageId: id, role: 'assistant', delta });

function hubWith(count: number, pageSize?: number): ScriptedHub {
  const hub = new ScriptedHub([], pageSize);
  for (let index = 0; index < count; index += 1) hub.say(chunk(`m${Math.floor(index / 5)}`, `${index} `));
  return hub;
}

async function opened(hub: ScriptedHub, around?: number): Promise<Story> {
  const story = new Story('ses_1', { get: hub.get, link: hub.link });
  await story.load(around);
  return story;
}

const keysOf = (story: Story): string[] => story.timeline.items.value.map((item) => item.key);
const textOf = (story: Story): string => story.timeline.items.value.map((item) => (item as MessageItem).text.value).join('');
const everything = (hub: ScriptedHub): string => hub.events.map((event) => (event as { delta?: string }).delta ?? '').join('');

test('what the first page tells beyond the snapshot counts for how the session stands', async () => {
  const hub = new ScriptedHub([]);
  hub.say({ type: 'custom', namespace: 'trunkline', eventName: 'turn_started', data: { turnId: 'turn_1' } });
  const turn = { turnId: 'turn_1', startedAt: '', by: '', seq: 1 };
  const early = { sessionId: 'ses_1', seq: 1, state: { ...blank('ses_1'), status: 'running', turn, lastSeq: 1 } };
  hub.say({ type: 'session:error', error: { code: 'agent_error', message: 'it failed' } });
  hub.say({ type: 'session:status_changed', from: 'running', to: 'idle' });
  const get = <T>(path: string): Promise<T> => (path.includes('/snapshot') ? Promise.resolve(early as T) : hub.get<T>(path));
  const story = new Story('ses_1', { get, link: hub.link });
  await story.load();
  expect(story.view.value.turn).toBeNull();
  expect(story.view.value.status).toBe('idle');
  expect(story.view.value.failed).toMatchObject({ code: 'agent_error', message: 'it failed' });
  hub.say({ type: 'custom', namespace: 'trunkline', eventName: 'turn_started', data: { turnId: 'turn_2' } });
  expect(story.view.value.failed).toBeNull();
  story.close();
});

describe('opening', () => {
  test('shows the newest page and goes on after its last entry', async () => {
    const hub = hubWith(3000);
    const story = await opened(hub);
    expect(story.state.value).toBe('ready');
    expect(story.hasOlder.value).toBe(true);
    hub.say(chunk('new', 'hello'));
    expect(keysOf(story).at(-1)).toBe('m:new');
  });

  test('hears by following what happened while its page was on its way', async () => {
    const hub = hubWith(10);
    const get = async <T>(path: string): Promise<T> => {
      const page = await hub.get<{ lastSeq?: number; nextAfter?: number | null }>(path);
      if (page.lastSeq !== undefined) {
        hub.say(chunk('late', 'late '));
        [page.nextAfter, page.lastSeq] = [10, page.lastSeq + 1];
      }
      return page as T;
    };
    const story = new Story('ses_1', { get, link: hub.link });
    await story.load();
    expect(story.atEnd.value).toBe(true);
    expect(textOf(story)).toContain('9 late ');
    hub.say(chunk('new', 'new'));
    expect(textOf(story)).toBe(everything(hub));
  });

  test('does without joined pages where the hub cannot join', async () => {
    const hub = hubWith(30);
    hub.canJoin = false;
    const story = await opened(hub);
    expect(textOf(story)).toBe(everything(hub));
  });

  test('that fails says why, and is tried again when the hub is there', async () => {
    const hub = hubWith(3);
    hub.failing = true;
    hub.state.value = 'offline';
    const story = await opened(hub);
    expect(story.state.value).toBe('failed');
    hub.failing = false;
    hub.state.value = 'online';
    await vi.waitFor(() => expect(story.state.value).toBe('ready'));
  });

  test('whose request was cut while the line stood is tried again by itself', async () => {
    const hub = hubWith(3);
    hub.failing = true;
    const story = await opened(hub);
    expect([hub.state.value, story.state.value]).toEqual(['online', 'failed']);
    hub.failing = false;
    await vi.waitFor(() => expect(story.state.value).toBe('ready'), 3_000);
  });

  test('misses nothing that happens between the page and the stream', async () => {
    const hub = hubWith(10);
    const story = new Story('ses_1', {
      get: async (path) => {
        const answer = await hub.get(path);
        if (path.includes('history')) hub.say(chunk('late', 'x'));
        return answer as never;
      },
      link: hub.link,
    });
    await story.load();
    expect(textOf(story)).toBe(everything(hub));
  });
});

describe('older pages', () => {
  test('are put before what is loaded until there are none, with the same keys', async () => {
    const hub = hubWith(950, 100);
    const story = await opened(hub);
    const before = keysOf(story);
    while (await story.loadOlder());
    expect(textOf(story)).toBe(everything(hub));
    expect(keysOf(story).slice(-before.length)).toEqual(before);
    expect(story.hasOlder.value).toBe(false);
  });

  test('and live events in between give what one fold of everything gives', async () => {
    for (const [name, events] of recordedSessions()) {
      const random = numbers(events.length);
      const cut = Math.floor(events.length * random());
      const hub = new ScriptedHub(events.slice(0, cut), 1 + Math.floor(random() * 50));
      const story = await opened(hub);
      for (const event of events.slice(cut)) {
        hub.say(event);
        if (random() < 0.1) await story.loadOlder();
      }
      while (await story.loadOlder());
      const whole = new Timeline();
      whole.applyAll(events);
      expect(seen(story.timeline.items.value, { places: false }), name).toEqual(seen(whole.items.value, { places: false }));
    }
  });
});

describe('a permalink', () => {
  test('near the end pages back to it', async () => {
    const hub = hubWith(2500, 300);
    const story = await opened(hub);
    expect(await story.show(1000)).toBe('m:m199');
    expect(story.atEnd.value).toBe(true);
  });

  test('far away opens a window of its own, from which one comes to the end', async () => {
    const hub = hubWith(9000, 500);
    const story = await opened(hub, 100);
    expect(story.atEnd.value).toBe(false);
    expect(keysOf(story)).toContain('m:m19');
    hub.say(chunk('new', 'hello'));
    expect(keysOf(story)).not.toContain('m:new');
    while (await story.loadNewer());
    expect(story.atEnd.value).toBe(true);
    expect(keysOf(story).at(-1)).toBe('m:new');
    hub.say(chunk('newer', 'hello'));
    expect(keysOf(story).at(-1)).toBe('m:newer');
  });
});

describe('the stream', () => {
  test('with a hole is mended from the journal', async () => {
    const hub = hubWith(10);
    const story = await opened(hub);
    const { heard } = hub;
    hub.heard = undefined;
    hub.say(chunk('a', '1'));
    hub.say(chunk('a', '2'));
    hub.heard = heard;
    hub.say(chunk('a', '3'));
    await vi.waitFor(() => expect(textOf(story)).toBe(everything(hub)));
  });

  test('that begins anew loads everything anew', async () => {
    const hub = hubWith(10);
    const story = await opened(hub);
    hub.events.splice(0);
    hub.say(chunk('other', 'hub'));
    hub.reset!(blank('ses_1'), 1);
    await vi.waitFor(() => expect(keysOf(story)).toEqual(['m:other']));
  });

  test('keeps the view true: status, title, to-dos, money, queue', async () => {
    const hub = hubWith(1);
    const story = await opened(hub);
    hub.say({ type: 'session:status_changed', from: 'idle', to: 'running', reason: 'a prompt came' });
    hub.say({ type: 'progress:todo_update', todos: [{ content: 'a', status: 'pending' }] });
    hub.say({ type: 'resource:cost', delta: { total: 1 }, cumulative: { total: 2, input: 1, output: 1, currency: 'USD' } });
    hub.say({ type: 'custom', namespace: 'acp', eventName: 'session_info_update', data: { title: 'Named' } });
    hub.say({ type: 'custom', namespace: 'trunkline', eventName: 'prompt_queued', data: { turnId: 't2', content: [], queuedAt: '', by: 'me' } });
    expect(story.view.value).toMatchObject({ status: 'running', title: 'Named', cost: { amount: 2 }, queue: [{ turnId: 't2' }] });
    hub.say({ type: 'custom', namespace: 'acp', eventName: 'session_info_update', data: { title: 'x'.repeat(9_000) } });
    expect(story.view.value.title, 'as long as after a reload').toHaveLength(500);
    expect(story.reason.value.text).toBe('a prompt came');
    hub.say({ type: 'custom', namespace: 'trunkline', eventName: 'turn_started', data: { turnId: 't2', turn: 2 } });
    expect(story.view.value).toMatchObject({ queue: [], turn: { turnId: 't2' } });
  });
});

describe('a prompt of this page', () => {
  function send(hub: ScriptedHub, text: string) {
    let answer!: (result: unknown) => void;
    const sent = {
      id: text, sessionId: 'ses_1', command: { command: 'send_message', message: text } as ACPCommand, at: 0, state: 'sent' as Sent['state'],
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
  const shown = (story: Story): string[] => story.prompts.value.map((prompt) => prompt.sent.id);

  test('is shown at once, and goes when its message comes before the answer', async () => {
    const hub = hubWith(1);
    const story = await opened(hub);
    send(hub, 'go');
    expect(shown(story)).toEqual(['go']);
    hub.say(message('t1', 'go'));
    expect(shown(story)).toEqual([]);
  });

  test('stays between the answer and its message, and never comes back', async () => {
    const hub = hubWith(1);
    const story = await opened(hub);
    const { answer } = send(hub, 'go');
    await answer('t1');
    expect(shown(story)).toEqual(['go']);
    hub.say({ type: 'custom', namespace: 'trunkline', eventName: 'prompt_queued', data: { turnId: 't1', content: [{ type: 'text', text: 'go' }], queuedAt: '', by: '' } });
    expect(shown(story)).toEqual([]);
    hub.say({ type: 'custom', namespace: 'trunkline', eventName: 'prompt_dropped', data: { turnId: 't1' } });
    expect(shown(story)).toEqual([]);
  });

  test('twice with the same words is shown once when one of them came', async () => {
    const hub = hubWith(1);
    const story = await opened(hub);
    send(hub, 'go');
    hub.outbox.value = [...hub.outbox.value, { ...hub.outbox.value[0]!, id: 'again' }];
    hub.say(message('t1', 'go'));
    expect(shown(story)).toEqual(['again']);
  });
});

test('folding fifty thousand events costs no more than a few times reading them', () => {
  const session = [...recordedSessions().values()].sort((a, b) => b.length - a.length)[0]!;
  const events: ACPEvent[] = [];
  while (events.length < 50_000) {
    const round = `$1":"${events.length}-`;
    const again = JSON.stringify(session).replace(/(toolCallId|messageId|requestId)":"/g, round);
    for (const event of JSON.parse(again) as ACPEvent[]) events.push({ ...event, seq: events.length + 1 });
  }
  const written = JSON.stringify(events);
  const reading = timed(() => JSON.parse(written));
  const timeline = new Timeline();
  const folding = timed(() => timeline.applyAll(events));
  expect(timeline.items.value.length).toBeGreaterThan(5_000);
  expect(folding / reading).toBeLessThan(8);
});

function timed(work: () => unknown): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}
