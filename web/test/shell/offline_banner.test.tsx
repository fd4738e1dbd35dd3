import { signal } from '@preact/signals';
import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, expect, it, vi } from 'vitest';
import { connection } from '../../src/hub/connection';
import { Banner } from '../../src/shell/offline_banner';
import { clockTime } from '../../src/ui';

afterEach(() => vi.restoreAllMocks());

it('says since when nothing was reached, in the words of every other time', async () => {
  const since = new Date().setHours(9, 5, 0, 0);
  vi.spyOn(connection, 'state', 'get').mockReturnValue(signal('offline'));
  vi.spyOn(connection, 'since', 'get').mockReturnValue(signal(since));
  const root = document.createElement('div');
  await act(() => render(<Banner />, root));
  expect(root.textContent).toContain(`since ${clockTime(since)}. Trying again.`);
  expect(root.textContent).not.toContain('09:05');
});
