import { afterEach, describe, expect, it, vi } from 'vitest';
import { http, HubError } from '../../hub/http';
import { store } from '../../hub/sessions';
import { Starting } from './start';

const PLAN = { agent: 'demo', cwd: '/x/', mode: '', options: {}, prompt: [{ type: 'text' as const, text: 'go' }] };
const view = (id: string, more = {}): object => ({ id, agent: 'demo', cwd: '/x', turn: null, lastText: '', updatedAt: '', lastSeq: 0, ...more });

afterEach(() => {
  vi.restoreAllMocks();
  store.forget('made');
});

describe('starting', () => {
  it('goes on with the session that was made though the answer was lost', async () => {
    const post = vi.spyOn(http, 'post').mockRejectedValueOnce(new HubError('unreachable', '')).mockResolvedValue({});
    vi.spyOn(http, 'get').mockResolvedValue({ sessions: [view('busy', { lastText: 'hello' }), view('made')] });
    const starting = new Starting();
    await expect(starting.run(PLAN)).rejects.toThrow();
    expect((await starting.run(PLAN)).id).toBe('made');
    expect(post.mock.calls.map(([path]) => path)).toEqual(['/sessions', '/sessions/made/send-message']);
  });
  it('makes one where none was made', async () => {
    const post = vi.spyOn(http, 'post').mockRejectedValueOnce(new HubError('unreachable', '')).mockResolvedValue(view('made'));
    vi.spyOn(http, 'get').mockResolvedValue({ sessions: [] });
    const starting = new Starting();
    await expect(starting.run(PLAN)).rejects.toThrow();
    await starting.run(PLAN);
    expect(post.mock.calls.filter(([path]) => path === '/sessions')).toHaveLength(2);
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
