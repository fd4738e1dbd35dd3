import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, expect, it, vi } from 'vitest';
import { http } from '../../../src/hub/http';
import { Pair } from '../../../src/views/devices/pair_phone';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

it('gives the command that makes the machine reachable to be copied, without the full stop of a sentence', async () => {
  vi.spyOn(http, 'post').mockResolvedValue({ code: 'c', url: 'http://127.0.0.1:1/#/pair/c', expiresAt: 0, reach: 'machine', secure: false });
  vi.spyOn(http, 'get').mockResolvedValue({ command: "/opt/my/trunkline open --print --data '/a b'" });
  const copied: string[] = [];
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText: async (text: string) => void copied.push(text) } });
  const root = document.createElement('div');
  await act(() => render(<Pair devices={[]} onPairing={() => undefined} />, root));
  await act(() => [...root.querySelectorAll('button')].find((each) => each.textContent === 'Show the code')?.click());
  await vi.waitUntil(() => root.textContent?.includes('/opt/my/trunkline'));
  const copy = await vi.waitUntil(() => root.querySelector<HTMLElement>('[aria-label="Copy the command"]'));
  expect(root.textContent).toContain('--trusted-proxy 127.0.0.1');
  await act(() => copy.click());
  expect(copied).toEqual(["/opt/my/trunkline serve --host 0.0.0.0 --allow-host <name> --tls-cert <file> --tls-key <file> --public-url https://<name>:7420 --data '/a b'"]);
});
