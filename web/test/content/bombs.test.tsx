// Texts that are made to be too much to draw.

import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ansiLines } from '../../src/text/terminal/ansi';
import { revealed, spelledOut } from '../../src/text/unseen';
import { drawn as counted } from '../../src/content/markdown/block';
import { Markdown } from '../../src/content/markdown/markdown';
import { VisibleText } from '../../src/content/visible_text';
import { Terminal } from '../../src/content/terminal';

async function drawn(what: preact.JSX.Element): Promise<HTMLElement> {
  const root = document.createElement('div');
  await act(() => render(what, root));
  return root;
}

/** As many steps of drawing as there are: each is due by the clock, and the clock is turned here. */
async function drawOn(): Promise<void> {
  for (let step = 0; step < 50 && vi.getTimerCount() > 0; step += 1) await act(() => void vi.runOnlyPendingTimers());
}

const nodes = (root: HTMLElement): number => root.querySelectorAll('*').length;
const press = (root: HTMLElement, name: RegExp): Promise<void> => act(() => [...root.querySelectorAll('button')].find((each) => name.test(each.textContent ?? ''))?.click());

afterEach(() => void vi.useRealTimers());

describe('a terminal', () => {
  it('draws only so many colours at once, and more on demand', async () => {
    const line = '\x1b[31ma\x1b[32mb'.repeat(50);
    const root = await drawn(<Terminal text={`${line}\n`.repeat(180)} />);
    expect(nodes(root)).toBeLessThan(8_000);
    const before = root.querySelectorAll('.content-terminal-line').length;
    await press(root, /Show more/);
    expect(root.querySelectorAll('.content-terminal-line').length).toBeGreaterThan(before);
  });
  it('bounds the runs of one line and keeps its text', () => {
    const [line] = ansiLines('\x1b[31ma\x1b[32mb'.repeat(2_000));
    expect(line?.runs.length).toBeLessThanOrEqual(501);
    expect(line?.runs.map((run) => run.text).join('')).toBe('ab'.repeat(2_000));
    const [again] = ansiLines(`${'x'.repeat(3_000)}\r${'\x1b[31ma\x1b[32mb'.repeat(1_000)}`);
    expect(again?.runs.length).toBeLessThanOrEqual(502);
    expect(again?.runs.map((run) => run.text).join('')).toBe('ab'.repeat(1_000) + 'x'.repeat(1_000));
  });
  it('is not stopped by carriage returns and backspaces', async () => {
    for (const bomb of ['a\r', 'a\b', '\x1b[2J\x1b[H']) expect(nodes(await drawn(<Terminal text={bomb.repeat(50_000)} />))).toBeLessThan(100);
  });
});

describe('markdown', () => {
  it('draws a long table by pages', async () => {
    const row = `|${' a |'.repeat(20)}\n`;
    const root = await drawn(<Markdown text={`${row}|${' --- |'.repeat(20)}\n${row.repeat(600)}`} />);
    expect(root.querySelectorAll('td').length).toBe(2_000);
    await press(root, /500 more/);
    expect(root.querySelectorAll('td').length).toBe(8_000);
  });
  it('draws very many blocks by pages, of a live text the last ones', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const text = Array.from({ length: 6_000 }, (_, at) => `p${at}.`).join('\n\n');
    const root = await drawn(<Markdown text={text} />);
    const first = root.querySelectorAll('p').length;
    expect(first).toBeLessThan(4_000);
    expect(root.textContent).toContain('p0.');
    await press(root, /Show more/);
    await drawOn();
    expect(root.querySelectorAll('p').length).toBe(6_000);
    const live = await drawn(<Markdown text={text} live />);
    expect([live.querySelectorAll('p').length < 4_000, live.textContent?.includes('p5999.')]).toEqual([true, true]);
  });
});

describe('a long complete text', () => {
  it('is not drawn in one piece', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const before = counted.blocks;
    const root = await drawn(<Markdown text={Array.from({ length: 1_800 }, (_, at) => `paragraph ${at}.`).join('\n\n')} />);
    expect(counted.blocks - before).toBeLessThan(600);
    await drawOn();
    expect(root.querySelectorAll('p').length).toBe(1_800);
  });
  it('that is short is drawn at once, and once', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await drawn(<Markdown text={'one\n\ntwo'} />);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a long live text', () => {
  it('is not drawn in one piece when it is complete', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const text = Array.from({ length: 5_000 }, (_, at) => `${'word '.repeat(12)}${at}.`).join('\n\n');
    const root = await drawn(<Markdown text={text} live />);
    await drawOn();
    const live = root.querySelectorAll('p').length;
    const steps: number[] = [];
    const noting = async (step: () => void): Promise<void> => {
      const before = counted.blocks;
      await act(step);
      steps.push(counted.blocks - before);
    };
    await noting(() => render(<Markdown text={text} />, root));
    while (vi.getTimerCount() > 0 && steps.length < 50) await noting(() => void vi.runOnlyPendingTimers());
    expect(Math.max(...steps)).toBeLessThan(600);
    expect(root.querySelectorAll('p').length).toBeGreaterThan(3 * live);
  });
});

describe('long code', () => {
  const code = (lines: number): string => `\`\`\`text\n${Array.from({ length: lines }, (_, at) => `line ${at}`).join('\n')}\n`;

  it('is drawn in part while it is written, the last part, and the same part when it is complete', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const root = await drawn(<Markdown text={code(20_000)} live />);
    await drawOn();
    const shown = (): string => root.querySelector('pre')?.textContent ?? '';
    expect(shown().length).toBeLessThan(20_000);
    expect(shown()).toContain('line 19999');
    await act(() => render(<Markdown text={`${code(20_000)}\`\`\`\n`} />, root));
    await drawOn();
    expect(shown().length).toBeLessThan(20_000);
    expect(shown().endsWith('line 19999')).toBe(true);
  });
  it('of a complete message is drawn from its beginning, and more on demand, every line of it', async () => {
    const root = await drawn(<Markdown text={`${code(3_000)}\`\`\`\n`} />);
    const shown = (): string[] => (root.querySelector('pre')?.textContent ?? '').split('\n');
    expect(shown().filter((line) => line !== '')).toHaveLength(1_000);
    await press(root, /Show more/);
    expect(shown()).toEqual(Array.from({ length: 3_000 }, (_, at) => `line ${at}`));
  });
  it('that is one long line is drawn in part, and has its line in one piece', async () => {
    const line = 'x'.repeat(150_000);
    const root = await drawn(<Markdown text={`\`\`\`js\nfirst\n${line}\nlast\n\`\`\`\n`} />);
    expect(root.querySelector('pre')?.textContent?.length).toBeLessThan(110_000);
    await press(root, /Show more/);
    expect(root.querySelector('pre')?.textContent).toBe(`first\n${line}\nlast`);
    expect([...root.querySelectorAll('.content-code-piece')].map((piece) => piece.textContent)).toEqual(['first\n', 'last']);
  });
  it('that is one long line is not cut inside of a character', async () => {
    const line = `x${'😀'.repeat(6_000)}`;
    const root = await drawn(<Markdown text={`\`\`\`\n${line}\n\`\`\`\n`} />);
    expect(root.querySelector('pre')?.textContent?.trimEnd()).toBe(line);
  });
  it('changes one of its pieces when a line comes', async () => {
    const root = await drawn(<Markdown text={code(500)} live />);
    const before = [...root.querySelectorAll('.content-code-piece')];
    await act(() => render(<Markdown text={`${code(500)}one more`} live />, root));
    const after = [...root.querySelectorAll('.content-code-piece')];
    expect(before.length).toBeGreaterThan(5);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(root.querySelector('pre')?.textContent?.endsWith('line 499\none more')).toBe(true);
  });
});

describe('marks', () => {
  it('that pile up on one letter are counted', () => {
    const pile = `a${'\u0301'.repeat(50_000)}b`;
    expect(spelledOut(pile)).toBe(`a${'\u0301'.repeat(16)}+49984b`);
    expect(revealed(pile, true)).toHaveLength(3);
    expect(revealed('e\u0301\u0302').length).toBe(1);
  });
  it('that nobody sees are elements only so often', async () => {
    const root = await drawn(<VisibleText text={'a\u202e'.repeat(20_000)} />);
    expect(nodes(root)).toBeLessThan(500);
    expect(root.textContent?.match(/U\+202E/g)).toHaveLength(20_000);
  });
});
