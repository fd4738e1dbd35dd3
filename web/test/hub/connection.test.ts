import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ACPEvent } from '../../src/generated/agent-context';
import { HubError } from '../../src/hub/http';
import { Connection, retryWhenPageWakes } from '../../src/hub/connection';
import { FakeSocket, FakeStorage } from './fake_socket';

let sockets: FakeSocket[];
let storage: FakeStorage;
let link: Connection;
let posted: { path: string; body: unknown }[];
let postAnswer: () => Promise<unknown>;

const last = (): FakeSocket => sockets.at(-1)!;

function newLink(random = 1, ours?: Promise<boolean>): Connection {
  return new Connection({
    ...(ours ? { ours } : {}),
    socket: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket as unknown as WebSocket;
    },
    post: (path, body) => {
      posted.push({ path, body });
      return postAnswer();
    },
    storage,
    now: () => Date.now(),
    random: () => random,
  });
}

function delta(seq: number, text = `${seq}`): ACPEvent {
  return { type: 'message:delta', seq, sessionId: 's', timestamp: '', messageId: 'm', role: 'assistant', delta: text };
}

beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
  posted = [];
  postAnswer = () => Promise.resolve({ id: '', ok: true, result: { turnId: 't' } });
  storage = new FakeStorage();
  link = newLink();
});

afterEach(() => {
  link.stop();
  vi.useRealTimers();
});

describe('getting in', () => {
  it('says hello without a token, and is online when the hub welcomes', () => {
    link.start();
    expect(link.state.value).toBe('connecting');
    last().welcome();
    expect(last().sent[0]).toEqual({ type: 'hello', versions: ['1.0.0'] });
    expect([link.state.value, link.scope.value, link.hubVersion.value]).toEqual(['online', 'admin', '0.1.0']);
  });

  it('is locked by 4401 and tries nothing until somebody asks it to', () => {
    link.start();
    last().open();
    last().drop(4401);
    expect(link.state.value).toBe('locked');
    vi.advanceTimersByTime(600_000);
    expect(sockets).toHaveLength(1);
    link.retryNow();
    last().welcome();
    expect(link.state.value).toBe('online');
  });

  it('does not come back by itself where no version is spoken by both', () => {
    link.start();
    last().open();
    last().drop(4400);
    vi.advanceTimersByTime(600_000);
    expect([link.state.value, sockets.length, link.outdated.value]).toEqual(['offline', 1, true]);
    link.retryNow();
    last().welcome();
    expect(link.outdated.value).toBe(false);
  });

  it('gives up a connection that is never welcomed', () => {
    link.start();
    last().open();
    vi.advanceTimersByTime(12_000);
    expect(sockets[0]!.closed).toBe(true);
    expect(link.state.value).toBe('offline');
  });
});

describe('coming back', () => {
  it('says at once that the network is gone where the browser says so, and takes it back when the hub answers', () => {
    retryWhenPageWakes(link);
    link.start();
    last().welcome();
    dispatchEvent(new Event('offline'));
    expect([link.state.value, last().sent.at(-1)]).toEqual(['offline', { type: 'ping' }]);
    const sent = link.command('s', { command: 'cancel' } as never);
    expect(sent.state).toBe('queued');
    last().receive({ type: 'pong' });
    expect(link.state.value).toBe('online');
    expect(last().sent.at(-1)).toMatchObject({ type: 'command', id: sent.id });
    dispatchEvent(new Event('offline'));
    vi.advanceTimersByTime(6_000);
    expect([link.state.value, sockets[0]!.closed]).toEqual(['offline', true]);
  });

  it('waits longer after every failure, and begins anew after a welcome', () => {
    link.start();
    const pauses: number[] = [];
    for (let round = 0; round < 9; round += 1) {
      const before = sockets.length;
      last().drop();
      const start = Date.now();
      while (sockets.length === before) vi.advanceTimersByTime(50);
      pauses.push(Date.now() - start);
    }
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
    last().welcome();
    last().drop();
    expect(link.state.value).toBe('connecting');
    vi.advanceTimersByTime(250);
    expect(sockets).toHaveLength(11);
  });

  it('puts chance into the pauses: never less than half of them', () => {
    link.stop();
    link = newLink(0);
    link.start();
    last().drop();
    vi.advanceTimersByTime(124);
    expect(sockets).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(sockets).toHaveLength(2);
  });

  it('notices a half-open connection within 25 s of the last sign of life', () => {
    link.start();
    last().welcome();
    vi.advanceTimersByTime(12_000);
    expect(last().ofType('ping').length).toBeGreaterThan(0);
    vi.advanceTimersByTime(13_000);
    expect(sockets[0]!.closed).toBe(true);
    expect(link.state.value).not.toBe('online');
    expect(sockets.length).toBeGreaterThan(1);
  });

  it('stays while pings are answered, and while events come no ping is needed', () => {
    link.start();
    last().welcome();
    for (let second = 0; second < 120; second += 1) {
      vi.advanceTimersByTime(1_000);
      if (second < 60) last().receive({ type: 'event', pos: second, event: delta(second) });
      else if (last().ofType('ping').length) last().receive({ type: 'pong' });
      if (second === 59) expect(last().ofType('ping')).toHaveLength(0);
    }
    expect([link.state.value, sockets.length]).toEqual(['online', 1]);
  });

  it('asks at once when somebody looks again, and gives up after 4 s without an answer', () => {
    link.start();
    last().welcome();
    link.retryNow();
    expect(last().ofType('ping')).toHaveLength(1);
    vi.advanceTimersByTime(6_000);
    expect(sockets[0]!.closed).toBe(true);
  });

  it('tries at once when asked to, however long the pause is', () => {
    link.start();
    for (let round = 0; round < 6; round += 1) {
      last().drop();
      vi.advanceTimersByTime(15_000);
    }
    last().drop();
    const before = sockets.length;
    link.retryNow();
    expect(sockets).toHaveLength(before + 1);
    vi.advanceTimersByTime(9_000);
    expect(sockets).toHaveLength(before + 1);
  });

  it('listens to no connection that it has given up', () => {
    link.start();
    last().welcome();
    const old = last();
    link.lock();
    old.receive({ type: 'welcome', version: '1.0.0', hub: { name: '', version: '' }, scope: 'view', tokenId: 't1', name: 'me', pos: 0, pending: [] });
    expect(link.state.value).toBe('locked');
  });
});

describe('following', () => {
  it('goes on after the last event it took in, each once and in order, over any number of connections', () => {
    const seen: number[] = [];
    link.follow('s', 3, (event) => seen.push(event.seq), () => expect.fail('no reset'));
    link.start();
    last().welcome();
    const name = last().ofType('subscribe')[0]!;
    expect(name).toMatchObject({ sessions: ['s'], after: 3 });
    for (const seq of [4, 5]) last().receive({ type: 'event', subscription: name.id, pos: seq, event: delta(seq) });
    last().drop();
    vi.advanceTimersByTime(250);
    last().welcome();
    expect(last().ofType('subscribe')[0]).toMatchObject({ sessions: ['s'], after: 5 });
    for (const seq of [5, 6]) last().receive({ type: 'event', subscription: name.id, pos: seq, event: delta(seq) });
    expect(seen).toEqual([4, 5, 6]);
  });

  it('takes a snapshot as the whole truth and goes on after it', () => {
    const resets: number[] = [];
    link.follow('s', 90, () => undefined, (_state, seq) => resets.push(seq));
    link.start();
    last().welcome();
    const { id } = last().ofType('subscribe')[0]!;
    last().receive({ type: 'gap', subscription: id, sessionId: 's', from: 90, floor: 0, seq: 7 });
    last().receive({ type: 'snapshot', subscription: id, sessionId: 's', seq: 7, state: {} as never });
    last().drop();
    vi.advanceTimersByTime(250);
    last().welcome();
    expect(resets).toEqual([7]);
    expect(last().ofType('subscribe')[0]).toMatchObject({ after: 7 });
  });

  it('ends with an unsubscribe, and with a session that is gone', () => {
    link.start();
    last().welcome();
    const stop = link.follow('s', 0, () => expect.fail('ended'), () => undefined);
    const { id } = last().ofType('subscribe')[0]!;
    stop();
    expect(last().ofType('unsubscribe')[0]).toMatchObject({ subscription: id });
    last().receive({ type: 'event', subscription: id, pos: 1, event: delta(1) });
    const ended: string[] = [];
    link.follow('t', 0, () => undefined, () => undefined, (error) => ended.push(error.code));
    last().receive({ type: 'ack', id: last().ofType('subscribe')[1]!.id, ok: false, error: { code: 'session_not_found', message: '', recoverable: false } });
    expect(ended).toEqual(['session_not_found']);
    last().drop();
    vi.advanceTimersByTime(250);
    last().welcome();
    expect(last().ofType('subscribe')).toHaveLength(0);
  });

  it('counts by pos where it follows all sessions, and tells strays apart', () => {
    const seen: number[] = [];
    const strays: number[] = [];
    link.followAll('session:', (_event, pos) => seen.push(pos), () => undefined);
    link.onUnfollowed((event) => strays.push(event.seq));
    link.start();
    last().welcome();
    const { id, types, after } = last().ofType('subscribe')[0]!;
    expect([types, after]).toEqual(['session:', undefined]);
    last().receive({ type: 'snapshot', subscription: id, sessionId: '*', seq: 10, state: { pending: [] } });
    for (const pos of [10, 11, 12]) last().receive({ type: 'event', subscription: id, pos, event: delta(1) });
    last().receive({ type: 'event', pos: 13, event: delta(77) });
    expect([seen, strays]).toEqual([[11, 12], [77]]);
  });

  it('hears what is deleted, and takes all sessions anew after a loss, because it did not hear then', () => {
    const gone: string[] = [];
    link.followAll('session:', () => undefined, () => undefined, (id) => gone.push(id));
    link.start();
    last().welcome();
    const { id } = last().ofType('subscribe')[0]!;
    last().receive({ type: 'snapshot', subscription: id, sessionId: '*', seq: 10, state: { pending: [] } });
    last().receive({ type: 'deleted', subscription: id, sessionId: 's' });
    last().drop();
    vi.advanceTimersByTime(250);
    last().welcome();
    expect(gone).toEqual(['s']);
    expect(last().ofType('subscribe')[0]!.after).toBeUndefined();
  });
});

describe('commands', () => {
  it('are answered by their id', async () => {
    link.start();
    last().welcome();
    const sent = link.command('s', { command: 'cancel' });
    expect(sent.state).toBe('sent');
    last().receive({ type: 'ack', id: sent.id, ok: true, result: { cancelled: true } });
    await expect(sent.done).resolves.toEqual({ cancelled: true });
    expect(link.outbox.value).toEqual([]);
  });

  it('wait in sight while the hub is away, and are sent again with the same id until they are answered', async () => {
    const sent = link.command('s', { command: 'send_message', message: 'hello' });
    expect(link.outbox.value.map((each) => each.state)).toEqual(['queued']);
    link.start();
    last().welcome();
    expect(last().ofType('command')).toMatchObject([{ id: sent.id, sessionId: 's' }]);
    last().drop();
    expect(sent.state).toBe('queued');
    vi.advanceTimersByTime(250);
    last().welcome();
    expect(last().ofType('command')).toMatchObject([{ id: sent.id }]);
    last().receive({ type: 'ack', id: sent.id, ok: true });
    await sent.done;
    last().drop();
    vi.advanceTimersByTime(250);
    last().welcome();
    expect(last().ofType('command')).toHaveLength(0);
  });

  it('survive a reload with their ids', () => {
    const sent = link.command('s', { command: 'send_message', message: 'hello' });
    link = newLink();
    expect(link.outbox.value).toMatchObject([{ id: sent.id, sessionId: 's', command: { message: 'hello' }, state: 'queued' }]);
    link.start();
    last().welcome();
    last().receive({ type: 'ack', id: sent.id, ok: true });
    expect([...storage.kept]).toEqual([]);
  });

  it('that fail say why and stay until they are dropped, but not over a reload', async () => {
    link.start();
    last().welcome();
    const sent = link.command('s', { command: 'resume' });
    last().receive({ type: 'ack', id: sent.id, ok: false, error: { code: 'invalid', message: 'it is not paused', recoverable: true } });
    await expect(sent.done).rejects.toMatchObject({ code: 'invalid', message: 'it is not paused' });
    expect(link.outbox.value).toMatchObject([{ state: 'failed', error: { code: 'invalid' } }]);
    expect([...storage.kept]).toEqual([]);
    sent.drop();
    expect(link.outbox.value).toEqual([]);
  });

  it('that are prompts stay over a reload where they were refused, until they are dropped', () => {
    link.start();
    last().welcome();
    const sent = link.command('s', { command: 'send_message', message: 'hard work' });
    last().receive({ type: 'ack', id: sent.id, ok: false, error: { code: 'invalid', message: 'not now', recoverable: true } });
    link.stop();
    link = newLink();
    expect(link.outbox.value).toMatchObject([{ id: sent.id, state: 'failed', error: { code: 'invalid', message: 'not now' } }]);
    link.start();
    last().welcome();
    expect(last().ofType('command')).toHaveLength(0);
    link.outbox.value[0]!.drop();
    expect([...storage.kept]).toEqual([]);
  });

  it('that were stored stay so when one comes that does not fit', () => {
    link.command('s', { command: 'send_message', message: 'small' });
    storage.most = 2_000;
    link.command('s', { command: 'send_message', message: 'x'.repeat(4_000) });
    link.command('s', { command: 'send_message', message: 'small too' });
    expect(newLink().outbox.value.map((sent) => (sent.command as { message: string }).message)).toEqual(['small', 'small too']);
  });

  it('are sent by the tab whose they are, not by its duplicate', async () => {
    link.command('s', { command: 'send_message', message: 'once' });
    const [duplicate, reloaded] = [newLink(1, Promise.resolve(false)), newLink(1, new Promise<boolean>((done) => setTimeout(() => done(true), 300)))];
    duplicate.start();
    last().welcome();
    await vi.advanceTimersByTimeAsync(1);
    expect([last().ofType('command').length, duplicate.outbox.value.length]).toEqual([0, 0]);
    duplicate.stop();
    reloaded.start();
    last().welcome();
    expect(last().ofType('command')).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(400);
    expect(last().ofType('command')).toHaveLength(1);
    reloaded.stop();
  });

  it('go when somebody leaves: the next person does not send them', () => {
    for (const shut of [() => link.lock(), () => last().drop(4401)]) {
      link.start();
      last().open();
      link.command('s', { command: 'send_message', message: 'mine' });
      shut();
      expect([link.outbox.value.length, storage.kept.size]).toEqual([0, 0]);
      link.retryNow();
      last().welcome();
      expect(last().ofType('command')).toHaveLength(0);
      link.stop();
      link = newLink();
    }
  });

  it('that are dropped before they were sent are never sent', async () => {
    const sent = link.command('s', { command: 'cancel' });
    sent.drop();
    await expect(sent.done).rejects.toMatchObject({ code: 'dropped' });
    link.start();
    last().welcome();
    expect(last().ofType('command')).toHaveLength(0);
  });

  it('that are too large for a frame go over HTTP, and are tried again where the hub was not reached', async () => {
    link.start();
    last().welcome();
    postAnswer = () => Promise.reject(new HubError('unreachable', ''));
    const sent = link.command('s', { command: 'send_message', message: 'x'.repeat(1 << 20) });
    await vi.advanceTimersByTimeAsync(1);
    expect([posted.length, sent.state, last().ofType('command').length]).toEqual([1, 'sent', 0]);
    postAnswer = () => Promise.resolve({ id: sent.id, ok: true, result: { turnId: 't' } });
    last().drop();
    vi.advanceTimersByTime(250);
    last().welcome();
    await expect(sent.done).resolves.toEqual({ turnId: 't' });
    expect(posted[1]).toMatchObject({ path: '/sessions/s/commands', body: { id: sent.id } });
  });

  it('live without a storage, with a full one, and with one that holds nonsense', () => {
    storage.full = true;
    expect(link.command('s', { command: 'cancel' }).state).toBe('queued');
    storage.full = false;
    storage.kept.set('trunkline.outbox', '{"not": "a list"}');
    expect(newLink().outbox.value).toEqual([]);
    storage.kept.set('trunkline.outbox', 'not even JSON');
    expect(newLink().outbox.value).toEqual([]);
  });
});
