// @vitest-environment node
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withBasePath, withSharedBasePath, forgetBasePath, setBasePath } from '../../src/hub/base_path';
import { http } from '../../src/hub/http';

const BASE = `/at/${'k'.repeat(32)}`;

/** A browser's caches, as far as they are needed. */
function cachesStub(): { open: (name: string) => Promise<{ put: (key: string, value: Response) => Promise<void>; match: (key: string) => Promise<Response | undefined> }> } {
  const kept = new Map<string, string>();
  return {
    open: async (name) => ({
      put: async (key, value) => void kept.set(name + key, await value.text()),
      match: async (key) => (kept.has(name + key) ? new Response(kept.get(name + key)) : undefined),
    }),
  };
}

describe('the path that this browser is known below', () => {
  beforeEach(() => vi.stubGlobal('caches', cachesStub()));
  afterEach(() => {
    forgetBasePath();
    vi.unstubAllGlobals();
  });

  it('is nothing until somebody has logged in, and again when they have logged out', () => {
    expect(withBasePath('/sessions')).toBe('/sessions');
    setBasePath({ base: BASE });
    expect(withBasePath('/sessions')).toBe(`${BASE}/sessions`);
    forgetBasePath();
    expect(withBasePath('/sessions')).toBe('/sessions');
  });

  it('stands before addresses of the hub and no others', () => {
    setBasePath({ base: BASE });
    expect(withBasePath('data:image/png;base64,AA==')).toBe('data:image/png;base64,AA==');
    expect(withBasePath('https://elsewhere.example/x')).toBe('https://elsewhere.example/x');
  });

  it.each([{ base: '//evil.example' }, { base: '/at/short' }, { base: `${BASE}/..` }, { base: 7 }, {}, null, 'x'])('is nothing where an answer says %j', (answer) => {
    setBasePath(answer);
    expect(withBasePath('/sessions')).toBe('/sessions');
  });

  it('is where every request goes', async () => {
    const fetch = vi.fn(async () => new Response('{}'));
    vi.stubGlobal('fetch', fetch);
    setBasePath({ base: BASE });
    await http.get('/agents');
    expect(fetch).toHaveBeenCalledWith(`${BASE}/agents`, expect.anything());
  });

  it.each(['/auth/login', '/pair/claim'] as const)('comes with the answer of %s', async (path) => {
    vi.stubGlobal('fetch', vi.fn(async () => new Response(JSON.stringify({ scope: 'view', base: BASE }))));
    await http.enter(path, {});
    expect(withBasePath('/sessions')).toBe(`${BASE}/sessions`);
  });

  it('is known to the worker, which cannot read the storage of the page', async () => {
    setBasePath({ base: BASE });
    await vi.waitFor(async () => expect(await withSharedBasePath('/push')).toBe(`${BASE}/push`));
    forgetBasePath();
    await vi.waitFor(async () => expect(await withSharedBasePath('/push')).toBe('/push'));
  });
});
