import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connection } from '../../../src/hub/connection';
import { attach, discovered, watchFiles } from '../../../src/views/home/discovered';

const VIEW = {
  id: 'a', agent: 'demo', cwd: '/home/dev/project', project: 'project', title: 'Mine', createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-02T00:00:00.000Z',
  lastText: 'Done.', running: true, pid: 7, model: null, tokens: null, where: 'elsewhere',
};

function answers(...bodies: (object | number)[]): string[] {
  const asked: string[] = [];
  vi.stubGlobal('fetch', vi.fn((path: string) => {
    asked.push(path);
    const body = bodies.shift();
    if (body === undefined) return new Promise(() => undefined);
    return Promise.resolve(typeof body === 'number' ? new Response('{"code":"forbidden","message":"no"}', { status: body }) : new Response(JSON.stringify(body)));
  }));
  return asked;
}

function may(scope: string): void {
  (connection as unknown as { currentScope: { value: string } }).currentScope.value = scope;
}

beforeEach(() => may('control'));

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('what other programs write is asked for again behind each state of it, until nobody looks', async () => {
  vi.useFakeTimers();
  const asked = answers({ sessions: [VIEW], revision: 4 }, { sessions: [], revision: 5 });
  const stop = watchFiles();
  await vi.advanceTimersByTimeAsync(10);
  expect(discovered.value.map((one) => [one.id, one.sessionName, one.running, one.pid])).toEqual([['a', 'Mine', true, 7]]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(discovered.value).toEqual([]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(asked).toEqual(['/found?wait=20', '/found?after=4&wait=20', '/found?after=5&wait=20']);
  stop();
});

test('who may not see them does not go on asking', async () => {
  vi.useFakeTimers();
  const asked = answers(403);
  const stop = watchFiles();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toEqual(['/found?wait=20']);
  stop();
});

test('a hub that is away is asked again later', async () => {
  vi.useFakeTimers();
  const asked = answers(502, { sessions: [VIEW], revision: 1 });
  const stop = watchFiles();
  await vi.advanceTimersByTimeAsync(6_000);
  expect(asked.length).toBe(3);
  stop();
});

test('who may only look does not ask at all', async () => {
  vi.useFakeTimers();
  may('approve');
  const asked = answers({ sessions: [VIEW], revision: 1 });
  watchFiles()();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked).toEqual([]);
});

test('one of another node of a cluster says of which, and is joined there', async () => {
  vi.useFakeTimers();
  answers({ sessions: [{ ...VIEW, node: 'box' }], revision: 1 });
  const stop = watchFiles();
  await vi.advanceTimersByTimeAsync(10);
  stop();
  expect(discovered.value.map(({ id, node }) => [id, node])).toEqual([['a', 'box']]);
  const asked = answers({ id: 'made', agent: 'demo', updatedAt: '', lastSeq: 0 });
  await attach(discovered.value[0]!);
  expect(asked).toEqual(['/adapters/demo/sessions/a/attach?node=box']);
});
