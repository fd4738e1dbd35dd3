import { signal } from '@preact/signals';
import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, expect, it, vi } from 'vitest';
import { http } from '../../../src/hub/http';
import type { OpenSession } from '../../../src/model/open_session';
import { LimitsSheet } from '../../../src/views/controls/limits_sheet';

const place = document.body.appendChild(document.createElement('div'));

afterEach(() => {
  render(null, place);
  vi.restoreAllMocks();
});

it('sets a wait that was chosen back to what the hub is set to', async () => {
  const post = vi.spyOn(http, 'post').mockResolvedValue({});
  const state = signal({ caps: null, waits: { approvalS: 300, onTimeout: 'cancel' }, tokens: null, cost: null });
  await act(() => render(<LimitsSheet session={{ sessionId: 's1', state } as unknown as OpenSession} state={{ can: true, why: null } as never} onClose={() => undefined} />, place));
  const select = document.querySelector<HTMLSelectElement>('select');
  expect([...(select?.options ?? [])].map((option) => option.textContent)[0]).toBe('As it is set for all sessions');
  if (select) select.value = '';
  await act(() => void select?.dispatchEvent(new Event('change', { bubbles: true })));
  await act(() => [...document.querySelectorAll('button')].find((button) => button.textContent === 'Save')?.click());
  expect(post.mock.calls).toEqual([['/sessions/s1/limits', { caps: {}, waits: { approvalS: null, onTimeout: 'cancel' } }]]);
});
