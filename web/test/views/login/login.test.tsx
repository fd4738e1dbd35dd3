import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { http } from '../../../src/hub/http';
import { LoginView } from '../../../src/views/login/login';

const root = document.createElement('div');
const shown = async (way: Promise<unknown>): Promise<string> => {
  vi.spyOn(http, 'get').mockReturnValue(way);
  await act(() => render(<LoginView />, root));
  await act(async () => { await way.catch(() => undefined); });
  return root.textContent ?? '';
};
afterEach(async () => {
  await act(() => render(null, root));
  vi.restoreAllMocks();
});

describe('the login', () => {
  it('names the command that the hub tells, and a plain one until it does', async () => {
    expect(await shown(Promise.resolve({ command: '/opt/trunkline open --print' }))).toContain('/opt/trunkline open --print');
    await act(() => render(null, root));
    expect(await shown(Promise.reject(new Error('away')))).toContain('trunkline open --print');
  });
  it('tells a browser whose access was taken back that it was', async () => {
    expect(await shown(Promise.resolve({ command: 'x', revoked: true }))).toContain('access was taken back');
    await act(() => render(null, root));
    expect(await shown(Promise.resolve({ command: 'x' }))).toContain('is not known here');
  });
});
