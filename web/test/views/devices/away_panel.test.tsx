import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, expect, it, vi } from 'vitest';
import { http } from '../../../src/hub/http';
import { AwayPanel } from '../../../src/views/devices/away_panel';

vi.mock('../../../src/views/controls/availability', () => ({ mayDo: () => true }));

afterEach(() => vi.restoreAllMocks());

it('switches between away and here', async () => {
  vi.spyOn(http, 'get').mockResolvedValue({ away: false });
  const put = vi.spyOn(http, 'put').mockResolvedValue({ away: true });
  const root = document.createElement('div');
  await act(() => render(<AwayPanel />, root));
  const toggle = await vi.waitUntil(() => root.querySelector<HTMLInputElement>('[role="switch"]'));
  expect(toggle.checked).toBe(false);
  toggle.checked = true;
  await act(() => void toggle.dispatchEvent(new Event('change', { bubbles: true })));
  expect(put).toHaveBeenCalledWith('/away', { away: true });
  await vi.waitUntil(() => root.querySelector<HTMLInputElement>('[role="switch"]')?.checked);
});
