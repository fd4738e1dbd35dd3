// @vitest-environment node
import { afterEach, describe, expect, it, vi } from 'vitest';
import { http, HubError } from '../../../src/hub/http';
import { sessionList } from '../../../src/hub/session_list';
import { Starting } from '../../../src/views/new/start';

const PLAN = { agent: 'demo', cwd: '/x/', mode: '', sandbox: '' as const, options: {}, prompt: [{ type: 'text' as const, text: 'go' }] };
const view = (id: string, more = {}): object => ({ id, agent: 'demo', cwd: '/x', turn: null, lastText: '', updatedAt: '', lastSeq: 0, ...more });

afterEach(() => {
  vi.restoreAllMocks();
  sessionList.forget('made');
});

describe('starting', () => {
  it('asks again under the same key where the answer was lost, and under another for another folder', async () => {
    const post = vi.spyOn(http, 'post').mockRejectedValueOnce(new HubError('unreachable', '')).mockResolvedValue(view('made'));
    const starting = new Starting();
    await expect(starting.run(PLAN)).rejects.toThrow();
    expect((await starting.run(PLAN)).id).toBe('made');
    await starting.run({ ...PLAN, cwd: '/y' });
    const keys = post.mock.calls.filter(([path]) => path === '/sessions').map(([, , headers]) => (headers as Record<string, string>)['Idempotency-Key']);
    expect(keys).toHaveLength(3);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });
  it('asks for the sandbox that was chosen, and for none where none was', async () => {
    const post = vi.spyOn(http, 'post').mockResolvedValue(view('made'));
    for (const sandbox of ['', 'on', 'offline'] as const) await new Starting().run({ ...PLAN, sandbox, prompt: [] });
    const place = { agent: 'demo', cwd: '/x/' };
    expect(post.mock.calls.map(([, body]) => body)).toEqual([
      place, { ...place, sandbox: 'bwrap' }, { ...place, sandbox: 'bwrap', sandboxNetwork: false },
    ]);
  });
  it('asks for the node that was chosen; another node is another session', async () => {
    const post = vi.spyOn(http, 'post').mockResolvedValue(view('made'));
    const starting = new Starting();
    await starting.run({ ...PLAN, node: 'box', prompt: [] });
    await starting.run({ ...PLAN, node: '', prompt: [] });
    expect(post.mock.calls.map(([, body]) => body)).toEqual([{ agent: 'demo', cwd: '/x/', node: 'box' }, { agent: 'demo', cwd: '/x/' }]);
  });
  it('goes on with what was made: a second press starts no other', async () => {
    const post = vi.spyOn(http, 'post').mockResolvedValue(view('made'));
    const starting = new Starting();
    await starting.run(PLAN);
    await starting.run(PLAN);
    expect(post.mock.calls.map(([path]) => path)).toEqual(['/sessions', '/sessions/made/send-message']);
  });
  it('says the prompt again under the same key', async () => {
    const post = vi.spyOn(http, 'post').mockResolvedValueOnce(view('made')).mockRejectedValueOnce(new HubError('unreachable', '')).mockResolvedValue({});
    const starting = new Starting();
    await expect(starting.run(PLAN)).rejects.toThrow();
    await starting.run(PLAN);
    const [first, second] = post.mock.calls.slice(1).map(([, , headers]) => (headers as Record<string, string>)['Idempotency-Key']);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(second).toBe(first);
  });
});
