// @vitest-environment node
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { contrast, type Rgb } from '../../src/text/terminal/colour';

const read = (file: string): string => readFileSync(new URL(`../../src/style/${file}`, import.meta.url), 'utf8');
const content = read('content/colours.css');
const tokens = read('tokens.css');
const [lightTokens = '', darkTokens = ''] = tokens.split(':root[data-theme="dark"]');

function rgb(hex: string): Rgb {
  const part = (at: number): number => Number.parseInt(hex.slice(at, at + 2), 16);
  return [part(1), part(3), part(5)];
}

function own(name: string): [light: Rgb, dark: Rgb] {
  const found = new RegExp(`${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(content);
  if (found?.[1] === undefined || found[2] === undefined) throw new Error(`no ${name}`);
  return [rgb(found[1]), rgb(found[2])];
}

function token(name: string): [light: Rgb, dark: Rgb] {
  const one = (text: string): Rgb => rgb(new RegExp(`${name}: (#\\w{6});`).exec(text)?.[1] ?? '#000000');
  return [one(lightTokens), one(darkTokens)];
}

const names = (start: string): string[] => [...content.matchAll(new RegExp(`^  (--${start}[\\w-]+): light-dark`, 'gm'))].map((found) => found[1] ?? '');

describe.each([['light', 0], ['dark', 1]] as const)('in the %s theme', (_theme, which) => {
  const behindCode: [string, Rgb][] = [
    ...['--surface', '--surface-2', '--good-soft', '--bad-soft', '--accent-soft'].map((name): [string, Rgb] => [name, token(name)[which]]),
    ['added word', own('--content-added-word')[which]], ['removed word', own('--content-removed-word')[which]],
  ];

  it.each(names('content-hl'))('%s can be read wherever code stands', (name) => {
    for (const [where, behind] of behindCode) expect(contrast(own(name)[which], behind), where).toBeGreaterThanOrEqual(4.5);
  });

  it.each(names('content-fg'))('%s can be read in a terminal', (name) => {
    expect(contrast(own(name)[which], own('--content-terminal')[which])).toBeGreaterThanOrEqual(4.5);
  });
});

it('text on a coloured background can be read', () => {
  const rules = [...read('content/terminal.css').matchAll(/\.content-bg-\d+ \{ background: (#\w{6}); color: (#\w{6}); \}/g)];
  expect(rules).toHaveLength(16);
  for (const rule of rules) expect(contrast(rgb(rule[1] ?? ''), rgb(rule[2] ?? '')), rule[0]).toBeGreaterThanOrEqual(4.5);
});
