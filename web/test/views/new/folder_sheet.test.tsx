import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FolderSheet } from '../../../src/views/new/folder_sheet';

let place: HTMLElement;
let answers: Map<string, (answer: Response) => void>;

const folder = (name: string, ...inside: string[]) => new Response(JSON.stringify({
  path: `/home/me/${name}`, parent: '/home/me', home: '/home/me', truncated: false,
  folders: inside.map((each) => ({ name: each, path: `/home/me/${name}/${each}`, isProject: false, hidden: false })),
}));

beforeEach(() => {
  place = document.body.appendChild(document.createElement('div'));
  answers = new Map();
  vi.stubGlobal('fetch', vi.fn((path: string) => new Promise((resolve) => answers.set(new URL(path, 'http://hub').searchParams.get('path') ?? '', resolve))));
});

afterEach(() => {
  vi.unstubAllGlobals();
  render(null, place);
  place.remove();
});

async function answer(path: string, with_: Response): Promise<void> {
  await act(async () => {
    answers.get(path)?.(with_);
    await vi.waitFor(() => expect(with_.bodyUsed).toBe(true));
  });
}

const button = (name: string): HTMLButtonElement => [...document.querySelectorAll('button')].find((each) => (each.getAttribute('aria-label') ?? each.textContent) === name) as HTMLButtonElement;

it('shows the folder that was asked for last, in whatever order the answers come', async () => {
  await act(() => render(<FolderSheet start="/home/me/work" node="" onChoose={() => undefined} onClose={() => undefined} />, place));
  await answer('/home/me/work', folder('work', 'herons', 'storks'));
  await act(() => button('herons').click());
  await act(() => button('storks').click());
  expect(button('Use this folder').disabled).toBe(true);
  await answer('/home/me/work/storks', folder('work/storks', 'young'));
  await answer('/home/me/work/herons', folder('work/herons'));
  await vi.waitFor(() => expect(button('Use this folder').disabled).toBe(false));
  expect(document.querySelector('.new-walk-path')?.textContent).toBe('/home/me/work/storks');
});
