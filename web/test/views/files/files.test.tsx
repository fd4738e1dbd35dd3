import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { goInstead } from '../../../src/route';
import { HOSTILE } from '../../text/hostile';
import { ArtifactsTab } from '../../../src/views/files/artifacts';
import { FilesTab } from '../../../src/views/files/files';
import { artifactHref, filesHref, readFilesAddress } from '../../../src/views/files/address';

vi.setConfig({ testTimeout: 30_000 });
// What is framed is the browser's business; here only how it is framed counts.
Object.assign((globalThis as unknown as { happyDOM: { settings: object } }).happyDOM.settings, { disableIframePageLoading: true, handleDisabledFileLoadingAsSuccess: true });

let place: HTMLElement;
let answers: Record<string, unknown>;

const entry = (path: string, isDirectory = false) => ({
  name: path.split('/').pop(), path, isDirectory, size: isDirectory ? null : 12, mimeType: null, modifiedAt: '2026-01-01T00:00:00.000Z', isSymlink: false,
});
const DIFF = {
  base: 'HEAD', truncated: false, reason: null,
  files: [{ path: 'src/a.py', status: 'modified', additions: 1, deletions: 1 }, { path: 'new.txt', status: 'added', additions: 1, deletions: 0 }],
  diff: 'diff --git a/src/a.py b/src/a.py\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-old\n+now\ndiff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+hello\n',
};

beforeEach(() => {
  place = document.body.appendChild(document.createElement('div'));
  answers = {
    '/sessions/s1/files?path=.': { path: '.', entries: [entry('src', true), entry('.git', true), entry('README.md')], truncated: false },
    '/sessions/s1/files?path=src': { path: 'src', entries: [entry('src/a.py')], truncated: false },
    '/sessions/s1/files/content?path=README.md': '# Read me\n\nText.',
    '/sessions/s1/files/content?path=src%2Fa.py': 'one\ntwo\nthree\n',
    '/sessions/s1/diff': DIFF,
  };
  vi.stubGlobal('fetch', vi.fn((path: string) => {
    const found = answers[path];
    const body = typeof found === 'string' ? found : JSON.stringify(found ?? { code: 'not_found', message: `nothing at ${path}` });
    return Promise.resolve(new Response(body, { status: found === undefined ? 404 : 200 }));
  }));
});

afterEach(() => {
  render(null, place);
  place.remove();
  vi.unstubAllGlobals();
});

async function at(fragment: string): Promise<void> {
  history.replaceState(null, '', `/${fragment}`);
  goInstead({ view: 'session', id: 's1', tab: 'files' });
  history.replaceState(null, '', `/${fragment}`);
  dispatchEvent(new Event('hashchange'));
  await act(() => render(<FilesTab sessionId="s1" news="" />, place));
  await settled();
}

/** Until what is fetched is drawn. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 4 || (turn < 400 && place.querySelector('.ui-spinner') !== null); turn += 1) {
    await act(() => new Promise((resolve) => setTimeout(resolve, 5)));
  }
}

describe('the files tab', () => {
  it('opens folders, and leaves out what git keeps for itself', async () => {
    await at('#/s/s1/files');
    expect(place.textContent).toContain('README.md');
    expect(place.textContent).not.toContain('.git');
    await act(() => place.querySelector<HTMLElement>('[aria-expanded]')?.click());
    await settled();
    expect([...place.querySelectorAll('a.files-entry')].map((link) => link.getAttribute('href'))).toEqual(['#/s/s1/files?path=src%2Fa.py', '#/s/s1/files?path=README.md']);
  });

  it('shows a file at a line', async () => {
    await at('#/s/s1/files?path=src%2Fa.py&line=2');
    expect(place.querySelector('[aria-current="location"]')?.textContent).toBe('two\n');
  });

  it('renders markdown, and shows its source on request', async () => {
    await at('#/s/s1/files?path=README.md');
    expect(place.querySelector('h3')?.textContent).toBe('Read me');
    await act(() => [...place.querySelectorAll('button')].find((button) => button.textContent === 'Source')?.click());
    expect(place.querySelector('.content-code-lines')?.textContent).toContain('# Read me');
  });

  it('finds what a markdown file names beside that file, and nothing outside of the session', async () => {
    answers['/sessions/s1/files/content?path=odd%2Frel.md'] = '[data](data.csv) [up](../README.md) [out](../../secret) ![a picture](./pic.png)';
    await at('#/s/s1/files?path=odd%2Frel.md');
    const links = [...place.querySelectorAll('.files-rendered a')].map((link) => link.getAttribute('href'));
    expect(links).toEqual(['#/s/s1/files?path=odd%2Fdata.csv', '#/s/s1/files?path=README.md']);
    expect(place.querySelector('.content-dead')?.textContent).toBe('out');
    expect(place.querySelector('img')?.getAttribute('src')).toBe('/sessions/s1/files/content?path=odd%2Fpic.png');
  });

  it('lists changes with their counts, and shows all of them or one', async () => {
    await at('#/s/s1/files?list=changes');
    expect(place.querySelector('.files-changes')?.textContent).toContain('+2');
    await vi.waitFor(() => expect(place.querySelectorAll('.content-diff')).toHaveLength(2), { timeout: 15_000 });
    await at('#/s/s1/files?list=changes&path=new.txt');
    await vi.waitFor(() => expect(place.querySelectorAll('.content-diff')).toHaveLength(1), { timeout: 15_000 });
    expect(place.querySelector('.content-diff')?.textContent).toContain('hello');
  });

  it('says what the hub says when it cannot', async () => {
    answers = {};
    await at('#/s/s1/files?path=gone.txt');
    expect(place.querySelector('[role="alert"]')?.textContent).toContain('nothing at');
  });

  it('takes hostile names and contents for text', async () => {
    const pwned = vi.fn();
    vi.stubGlobal('pwned', pwned);
    for (const text of HOSTILE.slice(0, 60)) {
      answers['/sessions/s1/files?path=.'] = { path: '.', entries: [{ ...entry('x'), name: text, path: text }], truncated: false };
      answers['/sessions/s1/files/content?path=x.txt'] = text;
      render(null, place);
      await at('#/s/s1/files?path=x.txt');
      expect(place.querySelector('script, iframe, object, embed, style, form, base, meta, link, [onerror], [onload]')).toBeNull();
    }
    expect(pwned).not.toHaveBeenCalled();
  }, 60_000);
});

describe('the artifacts tab', () => {
  const artifact = { id: 'a1', sessionId: 's1', type: 'file', name: 'made.html', path: 'made.html', preview_url: '/preview/00ff/made.html', version: 2, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' };

  async function shown(artifacts: unknown[]): Promise<void> {
    answers['/sessions/s1/artifacts'] = artifacts;
    await act(() => render(<ArtifactsTab sessionId="s1" news="" />, place));
    await settled();
    if (artifacts.length > 0) await follow(place.querySelector<HTMLAnchorElement>('.files-artifact'));
  }

  async function follow(link: HTMLAnchorElement | null): Promise<void> {
    history.replaceState(null, '', `/${link?.getAttribute('href')}`);
    await act(() => void dispatchEvent(new Event('hashchange')));
  }

  it('frames a page that is still: without an origin and without scripts', async () => {
    await shown([artifact]);
    const frame = place.querySelector('iframe');
    expect(frame?.getAttribute('sandbox')).toBe('');
    expect(frame?.getAttribute('src')).toBe('/preview/00ff/made.html');
  });

  it('asks for an address of another kind only when the reader wants it live', async () => {
    await shown([artifact]);
    expect(place.textContent).toContain('Shown without scripts and remote content.');
    const fetched = vi.mocked(fetch);
    const before = fetched.mock.calls.length;
    answers['/sessions/s1/artifacts/a1/preview'] = { preview_url: '/preview/11ee/made.html' };
    await act(() => [...place.querySelectorAll('button')].find((button) => button.textContent === 'Run scripts and load remote content')?.click());
    await settled();
    expect(fetched.mock.calls.slice(before).map(([path, init]) => [path, init?.method, init?.body])).toEqual([['/sessions/s1/artifacts/a1/preview', 'POST', '{"live":true}']]);
    const frame = place.querySelector('iframe');
    expect([frame?.getAttribute('src'), frame?.getAttribute('sandbox')]).toEqual(['/preview/11ee/made.html', 'allow-scripts']);
    expect(place.textContent).not.toContain('Run scripts');
    expect(place.querySelector('a[target="_blank"]')?.getAttribute('href')).toBe('/preview/11ee/made.html');
  });

  it.each(['https://evil.example/', 'javascript:pwned()', '/sessions/s1', '//evil.example/x', '/preview/../sessions'])('never frames %s', async (address) => {
    await shown([{ ...artifact, preview_url: address }]);
    expect(place.querySelector('iframe')).toBeNull();
  });

  it('shows code as it is written, and only markdown as it is meant to be read', async () => {
    answers['/sessions/s1/files/content?path=hello.py'] = '# Greet\ndef greet():\n    return 1\n';
    await shown([{ ...artifact, name: 'hello.py', path: 'hello.py' }]);
    await settled();
    expect(place.querySelector('.files-rendered')).toBeNull();
    expect(place.querySelector('.content-code-lines')?.textContent).toBe('# Greet\ndef greet():\n    return 1\n');
    answers['/sessions/s1/files/content?path=notes.md'] = '# Notes';
    render(null, place);
    await shown([{ ...artifact, name: 'notes.md', path: 'notes.md' }]);
    await settled();
    expect(place.querySelector('.files-rendered')?.textContent).toBe('Notes');
  });

  it('is where a link to one of them leads, and back to all of them', async () => {
    history.replaceState(null, '', `/${artifactHref('s1', 'a1')}`);
    dispatchEvent(new Event('hashchange'));
    answers['/sessions/s1/artifacts'] = [artifact, { ...artifact, id: 'a2', name: 'other.html' }];
    await act(() => render(<ArtifactsTab sessionId="s1" news="" />, place));
    await settled();
    expect(place.querySelector('article')?.getAttribute('aria-label')).toBe('made.html');
    await follow(place.querySelector('.files-back'));
    expect(place.querySelector('article')).toBeNull();
  });

  it('says so where there is nothing', async () => {
    await shown([]);
    expect(place.textContent).toContain('made nothing to look at yet');
  });
});

it('an address of the files tab leads to where it says', () => {
  const to = { path: 'a b/ä#1.py', line: 7, list: 'changes' as const };
  expect(readFilesAddress(filesHref('s1', to))).toEqual(to);
  expect(readFilesAddress('#/s/s1/files?line=x')).toEqual({ path: null, line: null, list: 'tree' });
});
