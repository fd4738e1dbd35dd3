// @vitest-environment node
import { afterEach, describe, expect, it, vi } from 'vitest';
import { asHubError, http, HubError, onUnauthorized, pathOf } from '../../src/hub/http';

afterEach(() => vi.unstubAllGlobals());

function answering(body: string, status = 200): ReturnType<typeof vi.fn> {
  const fetch = vi.fn(async () => new Response(status === 204 ? null : body, { status }));
  vi.stubGlobal('fetch', fetch);
  return fetch;
}

describe('asking the hub', () => {
  it('sends JSON with the cookie, to our own origin, and reads JSON', async () => {
    const fetch = answering('{"id":"s"}');
    expect(await http.post('/sessions', { agent: 'demo' })).toEqual({ id: 's' });
    expect(fetch).toHaveBeenCalledWith('/sessions', expect.objectContaining({
      method: 'POST', body: '{"agent":"demo"}', credentials: 'same-origin', headers: expect.objectContaining({ 'Content-Type': 'application/json' }),
    }));
  });

  it('sends no body and reads none where there is none', async () => {
    const fetch = answering('', 204);
    expect(await http.del('/sessions/s')).toBeUndefined();
    expect(fetch).toHaveBeenCalledWith('/sessions/s', expect.objectContaining({ method: 'DELETE', body: null }));
  });

  it.each(['https://elsewhere.example/x', '//elsewhere.example/x', 'sessions'])('goes nowhere else: %s', async (path) => {
    const fetch = answering('{}');
    await expect(http.get(path)).rejects.toThrow(TypeError);
    expect(fetch).not.toHaveBeenCalled();
  });

  it("gives the hub's own code and words when it refuses", async () => {
    answering('{"code":"invalid","message":"cwd: no such folder","recoverable":true,"details":{"field":"cwd"}}', 400);
    const error = await http.get('/x').catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(HubError);
    expect(error).toMatchObject({ code: 'invalid', status: 400, message: 'cwd: no such folder', details: { field: 'cwd' }, recoverable: true });
  });

  it('says so where somebody else answers, and where nobody does', async () => {
    answering('<html>Bad gateway</html>', 502);
    await expect(http.get('/x')).rejects.toMatchObject({ code: 'failed', status: 502 });
    vi.stubGlobal('fetch', vi.fn(async () => Promise.reject(new TypeError('network'))));
    await expect(http.get('/x')).rejects.toMatchObject({ code: 'unreachable', status: 0, recoverable: true });
  });

  it('gives up an answer that does not come, and one that does not end', async () => {
    vi.useFakeTimers();
    const aborted = (signal: AbortSignal): Promise<never> => new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason)));
    vi.stubGlobal('fetch', vi.fn((_: string, { signal }: { signal: AbortSignal }) => aborted(signal)));
    const silent = http.get('/x').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await silent).toMatchObject({ code: 'unreachable', message: 'Trunkline has not answered in time.', recoverable: true });
    vi.stubGlobal('fetch', vi.fn(async (_: string, { signal }: { signal: AbortSignal }) => ({ ok: true, status: 200, text: () => aborted(signal) })));
    const endless = http.get('/x').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(await endless).toMatchObject({ code: 'unreachable' });
    vi.useRealTimers();
  });

  it('takes an answer that is cut off for none', async () => {
    vi.stubGlobal('fetch', vi.fn(async () => ({ ok: true, status: 200, text: () => Promise.reject(new TypeError('cut')) })));
    await expect(http.get('/x')).rejects.toMatchObject({ code: 'unreachable', recoverable: true });
    for (const part of ['', '{"state": {"ti']) { // cut within the head: nobody knows how long it was to be
      vi.stubGlobal('fetch', vi.fn(async () => ({ ok: true, status: 200, text: async () => part })));
      await expect(http.get('/x')).rejects.toMatchObject({ code: 'unreachable', recoverable: true });
    }
  });

  it('tells who listens that it is not let in', async () => {
    const calls = vi.fn();
    const stop = onUnauthorized(calls);
    answering('{"code":"unauthorized","message":"no token"}', 401);
    await http.get('/x').catch(() => undefined);
    stop();
    await http.get('/x').catch(() => undefined);
    expect(calls).toHaveBeenCalledTimes(1);
  });

  it('quotes the parts of an address and leaves out what is undefined', () => {
    expect(pathOf(['sessions', 'a/b ?', 'files'], { path: 'ä b', limit: 3, after: undefined })).toBe('/sessions/a%2Fb%20%3F/files?path=%C3%A4+b&limit=3');
    expect(asHubError(new Error('x'))).toMatchObject({ code: 'failed', message: 'x' });
  });
});
