import { describe, expect, it, vi } from 'vitest';
import type { Route } from '../src/route';

vi.resetModules(); // Another file may have loaded it, into a window that is gone: it has to listen to this one.
const { go, read, route, secretIn, sessionHref, write } = await import('../src/route');

const ROUTES: Route[] = [
  { view: 'home' },
  { view: 'new' },
  { view: 'new', cwd: '/home/me/a b&c#d' },
  { view: 'approvals' },
  { view: 'policy' },
  { view: 'devices' },
  { view: 'session', id: 'ses_1', tab: 'timeline' },
  { view: 'session', id: 'odd/id?#%', tab: 'files' },
  { view: 'session', id: 'ses_1', tab: 'artifacts' },
  { view: 'session', id: 'ses_1', tab: 'timeline', seq: 50_000 },
];

describe('addresses', () => {
  it.each(ROUTES)('are read as they were written: $view', (to) => expect(read(write(to))).toEqual(to));

  it.each(['', '#', '#/', '#/nowhere', '#/s', '#/s/', '#/%E0%A4%A', '#code=abc'])('that nobody wrote lead home: %s', (fragment) => {
    expect(read(fragment)).toEqual({ view: 'home' });
  });

  it('ignore an event that is no number', () => expect(read('#/s/x/e/../1')).toEqual({ view: 'session', id: 'x', tab: 'timeline' }));

  it('of webhooks and pushes lead to the session', () => {
    expect(read('#/sessions/ses_1/approvals/req_1')).toEqual({ view: 'session', id: 'ses_1', tab: 'timeline' });
    expect(sessionHref('ses_1', 7)).toBe('#/s/ses_1/e/7');
  });

  it('that carry a code are known as such', () => {
    expect(secretIn('#code=aB3-_x')).toEqual({ kind: 'code', value: 'aB3-_x' });
    expect(secretIn('#/pair/ABCD-EFGH')).toEqual({ kind: 'pair', value: 'ABCD-EFGH' });
    for (const fragment of ['', '#/', '#/s/code=1', '#code=', '#/pair/', '#/pair/a/b']) expect(secretIn(fragment)).toBeNull();
  });

  it('that carry a code may lead on to a session, and nowhere else', () => {
    expect(secretIn('#code=aB3&to=/s/ses_a%2Fb')).toEqual({ kind: 'code', value: 'aB3', to: { view: 'session', id: 'ses_a/b', tab: 'timeline' } });
    for (const to of ['', '/', '/s/', '/policy', '//evil.example', 'https://evil.example', '/s/a/files', '/s/a&b=c']) expect(secretIn(`#code=aB3&to=${to}`)).toBeNull();
  });

  it('move the page', async () => {
    go({ view: 'approvals' });
    await new Promise((done) => setTimeout(done, 5));
    expect([location.hash, route.value]).toEqual(['#/approvals', { view: 'approvals' }]);
  });

  it('never keep a code, also where it arrives late', async () => {
    location.hash = '#/pair/ABCD-EFGH';
    await new Promise((done) => setTimeout(done, 5));
    expect(location.hash).toBe('#/');
    const { lateSecret } = await import('../src/route');
    expect(lateSecret.value).toEqual({ kind: 'pair', value: 'ABCD-EFGH' });
    location.hash = '#code=aB3&to=/s/ses_1';
    await new Promise((done) => setTimeout(done, 5));
    expect([location.hash, route.value]).toEqual(['#/s/ses_1', { view: 'session', id: 'ses_1', tab: 'timeline' }]);
    expect(lateSecret.value?.value).toBe('aB3');
  });
});
