import { type ComponentChild, render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { drawn } from '../../src/content/markdown/block';
import { CodeView } from '../../src/content/code';
import { DiffView } from '../../src/content/diff/diff';
import { Json } from '../../src/content/json';
import { Markdown } from '../../src/content/markdown/markdown';
import { ContentSession } from '../../src/content/location';
import { SearchHits } from '../../src/content/search_hits';
import { Terminal } from '../../src/content/terminal';

vi.setConfig({ testTimeout: 60_000 });

let place: HTMLElement;

beforeEach(() => {
  place = document.body.appendChild(document.createElement('div'));
});

afterEach(() => {
  render(null, place);
  place.remove();
});

function shown(what: ComponentChild): HTMLElement {
  void act(() => render(<ContentSession.Provider value="s1">{what}</ContentSession.Provider>, place));
  return place;
}

describe('markdown', () => {
  it('is drawn as GitHub would', () => {
    shown(<Markdown text={'# T\n\n**b** _i_ ~~s~~ `c` &lt;x&gt;\n\n- [x] done\n- [ ] open\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n1. one\n\n```js\nlet x\n```\n'} />);
    expect(place.querySelector('h3')?.textContent).toBe('T');
    expect(['strong', 'em', 'del'].map((name) => place.querySelector(name)?.textContent)).toEqual(['b', 'i', 's']);
    expect([...place.querySelectorAll('input')].map((box) => box.checked)).toEqual([true, false]);
    expect(place.querySelector('td.content-align-right')?.textContent).toBe('2');
    expect(place.querySelector('pre code')?.textContent).toBe('let x');
    expect(place.textContent).toContain('<x>');
  });

  it('makes links of addresses, and of paths links into the files tab', () => {
    shown(<Markdown text={'See https://example.org/a and [app](src/app.ts:12).'} />);
    const [web, file] = [...place.querySelectorAll('a')];
    expect(web?.getAttribute('href')).toBe('https://example.org/a');
    expect(file?.getAttribute('href')).toBe('#/s/s1/files?path=src%2Fapp.ts&line=12');
  });

  it('reads each block in the direction of its words, and code from left to right', () => {
    shown(<Markdown text={'# \u05e9\u05dc\u05d5\u05dd\n\n\u0645\u0631\u062d\u0628\u0627 `rm -rf x` \u202e\n\n- \u05d0\n\n> \u05d1\n\n| \u05d2 |\n|---|\n| d |\n\n```js\nlet x\n```\n'} />);
    for (const name of ['h3', 'p', 'ul', 'blockquote', '.content-table']) expect(place.querySelector(name)?.getAttribute('dir')).toBe('auto');
    for (const name of ['.content-codespan', '.content-code-block', '.content-unseen']) expect(place.querySelector(name)?.getAttribute('dir')).toBe('ltr');
    expect(place.querySelector('.content-unseen')?.textContent).toContain('202E');
  });

  it('tries a picture that did not load again, twice, and then once for each time that somebody asks', () => {
    vi.useFakeTimers();
    const fails = (): void => void act(() => void place.querySelector('img')?.dispatchEvent(new Event('error')));
    const waits = (ms: number): void => void act(() => void vi.advanceTimersByTime(ms));
    try {
      shown(<Markdown text={'![a heron](heron.png)'} />);
      for (const pause of [500, 2_000]) {
        const before = place.querySelector('img');
        fails();
        waits(pause - 1);
        expect(place.querySelector('img')).toBe(before);
        waits(1);
        expect(place.querySelector('img')).not.toBe(before);
        expect(place.querySelector('img')?.getAttribute('src')).toBe(before?.getAttribute('src'));
      }
      fails();
      expect(place.querySelector('img')).toBeNull();
      expect(place.textContent).toContain('a heron');
      void act(() => place.querySelector<HTMLButtonElement>('.content-picture-missing button')?.click());
      expect(place.querySelector('img')).not.toBeNull();
    } finally {
      vi.useRealTimers();
    }
  });

  it('draws only what is new: two thousand chunks draw each block a few times', () => {
    const chunk = 'some words. ';
    let text = '';
    const before = drawn.blocks;
    for (let index = 0; index < 2_000; index += 1) {
      text += index % 5 === 4 ? `${chunk}\n\n` : chunk;
      shown(<Markdown text={text} live />);
    }
    // Every chunk changes one block, and settles one now and then. Drawing all blocks each time would be 400,000.
    expect(drawn.blocks - before).toBeLessThan(2_000 * 2.2);
    expect(place.querySelectorAll('p')).toHaveLength(400);
    const live = place.textContent;
    const blocks = drawn.blocks;
    shown(<Markdown text={text} />);
    expect(place.textContent === live).toBe(true);
    expect(drawn.blocks - blocks).toBeLessThan(5);
  });

  it('keeps the elements of finished blocks while text comes', () => {
    shown(<Markdown text={'First.\n\nSecond.\n\nThi'} live />);
    const first = place.querySelector('p');
    shown(<Markdown text={'First.\n\nSecond.\n\nThird.\n\nMore'} live />);
    expect(place.querySelector('p')).toBe(first);
    shown(<Markdown text={'First.\n\nSecond.\n\nThird.\n\nMore.'} />);
    expect(place.querySelector('p')).toBe(first);
  });

  it('begins anew when the text is another one', () => {
    shown(<Markdown text={'One text'} live />);
    shown(<Markdown text={'Another text'} live />);
    expect(place.textContent).toBe('Another text');
  });
});

describe('a terminal', () => {
  const linked = (address: string, text: string): string => `\x1b]8;;${address}\x1b\\${text}\x1b]8;;\x1b\\`;

  it.each([
    ['one piece', 'https://github.com/login'],
    ['pieces of several colours', 'https://\x1b[31mgithub\x1b[1m.com\x1b[0m/login'],
  ])('calls out a link whose text names another host, in %s', (_, text) => {
    shown(<Terminal text={`see ${linked('https://evil.example/', text)} now`} />);
    expect(place.querySelectorAll('a')).toHaveLength(1);
    expect(place.querySelector('a')?.textContent).toMatch(/^https:\/\/github\.com\/login.*leads to evil\.example/);
  });

  it('says where a link leads whose text does not, and nothing where it does', () => {
    shown(<Terminal text={`${linked('https://example.org/a', 'here')} ${linked('https://example.org/b', 'https://example.org/b')}`} />);
    expect([...place.querySelectorAll('.content-host')].map((host) => host.textContent)).toEqual(['example.org']);
  });

  it('shows colours, and takes more', () => {
    shown(<Terminal text={'\x1b[31mred\x1b[0m\n10%'} live />);
    expect(place.querySelector('.content-fg-1')?.textContent).toBe('red');
    shown(<Terminal text={'\x1b[31mred\x1b[0m\n10%\r20%\n'} live />);
    expect(place.querySelector('pre')?.textContent).toBe('red\n20%\n');
  });

  it('cuts five megabytes, and shows more on request', async () => {
    const line = 'a line of output that is about fifty characters long\n';
    shown(<Terminal text={line.repeat(100_000)} />);
    expect(place.querySelectorAll('.content-terminal-line').length).toBeLessThan(5_000);
    const lines = place.querySelectorAll('.content-terminal-line').length;
    await act(() => [...place.querySelectorAll('button')].find((button) => button.textContent === 'Show more')?.click());
    expect(place.querySelectorAll('.content-terminal-line').length).toBeGreaterThan(lines);
  });
});

describe('a diff', () => {
  const diff = '--- a/src/x.py\n+++ b/src/x.py\n@@ -5,3 +5,3 @@ def f():\n one\n-two = foo(1)\n+two = bar(1)\n three\n';

  it('has true numbers, counts and marked words', () => {
    shown(<DiffView diff={diff} path="src/x.py" />);
    expect([...place.querySelectorAll('.content-line')].map((row) => [...row.querySelectorAll('.content-number')].map((cell) => cell.getAttribute('data-n'))))
      .toEqual([['5', '5'], ['6', ''], ['', '6'], ['7', '7']]);
    expect(place.querySelector('.content-added')?.textContent).toBe('+1');
    expect([...place.querySelectorAll('.content-changed')].map((mark) => mark.textContent)).toEqual(['foo', 'bar']);
    expect(place.querySelector('.content-fold')?.textContent).toContain('4 unchanged lines');
  });

  it('is text where it is no diff', () => {
    expect(shown(<DiffView diff="not a diff" path="x" />).textContent).toBe('not a diff');
  });

  it('draws a huge one on demand', () => {
    const lines = Array.from({ length: 50_000 }, (_, index) => `+line ${index}`).join('\n');
    shown(<DiffView diff={`--- /dev/null\n+++ b/x\n@@ -0,0 +1,50000 @@\n${lines}\n`} path="x" />);
    expect(place.querySelectorAll('.content-line')).toHaveLength(0);
    void act(() => [...place.querySelectorAll('button')].find((button) => button.textContent === 'Show')?.click());
    expect(place.querySelectorAll('.content-line').length).toBeLessThan(500);
  });
});

describe('code', () => {
  it('takes the numbers that a tool printed for its own', () => {
    shown(<CodeView text={'    10→def f():\n    11→    return 1\n'} path="a.py" />);
    expect([...place.querySelectorAll('.content-number')].map((cell) => cell.getAttribute('data-n'))).toEqual(['10', '11']);
    expect(place.querySelector('.content-code-lines')?.textContent).toBe('def f():\n    return 1\n');
  });

  it('points at a line', () => {
    shown(<CodeView text={'a\nb\nc'} firstLine={1} line={2} />);
    expect(place.querySelector('[aria-current]')?.textContent).toBe('b\n');
  });
});

it('search hits lead to the file and the line', () => {
  shown(<SearchHits results={[{ file: 'a.py', line: 3, content: 'x = 1' }, { file: 'a.py', line: 9, content: 'x = 2' }]} />);
  expect([...place.querySelectorAll('a')].map((link) => link.getAttribute('href'))).toEqual([
    '#/s/s1/files?path=a.py', '#/s/s1/files?path=a.py&line=3', '#/s/s1/files?path=a.py&line=9',
  ]);
});

it('a value is a tree that opens', async () => {
  shown(<Json value={{ a: { b: 'deep' } }} />);
  expect(place.textContent).not.toContain('deep');
  await act(() => place.querySelectorAll<HTMLElement>('.content-json-toggle')[1]?.click());
  expect(place.textContent).toContain('deep');
});
