// @vitest-environment node
import type { Tokens } from 'marked';
import { describe, expect, it, vi } from 'vitest';
import { languageOf } from '../../../src/text/markdown/fence';
import type { OpenCode } from '../../../src/text/markdown/lexer';
import { type Block, blocksOf, MarkdownStream } from '../../../src/text/markdown/stream';

vi.setConfig({ testTimeout: 60_000 });

const SAMPLE = [
  '# Title', '', 'A paragraph with **bold** and `code`', 'on two lines.', '', '- one', '- two', '  - nested', '', '1. first', '2. second', '',
  '| a | b |', '|---|:-:|', '| 1 | 2 |', '| 3 | 4 |', '', '```ts', 'const x = 1;', '', '# not a heading', '```', '', '> quoted', '> more', '',
  'Setext', '------', '', '- [ ] open', '- [x] done', '', '~~gone~~ https://example.org/x', '', '~~~', 'plain', '~~~', 'last',
].join('\n');

const shape = (blocks: readonly Block[]) => blocks.map((block) => ({ ...block.token, raw: undefined }));

function streamed(text: string, sizes: () => number): MarkdownStream {
  const stream = new MarkdownStream();
  for (let at = 0; at < text.length;) {
    const size = sizes();
    stream.append(text.slice(at, at + size));
    at += size;
  }
  return stream;
}

function random(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}

describe('text that grows', () => {
  it('comes out the same, however it was cut', () => {
    for (let seed = 1; seed < 60; seed += 1) {
      const next = random(seed);
      const stream = streamed(SAMPLE, () => 1 + Math.floor(next() * 9));
      stream.end(SAMPLE);
      expect(shape(stream.blocks)).toEqual(shape(blocksOf(SAMPLE)));
    }
  });

  it('shows the same blocks before its end is known, but for how the last one ends', () => {
    const stream = streamed(SAMPLE, () => 1);
    const types = (blocks: readonly Block[]) => blocks.map((block) => block.token.type);
    expect(types(stream.blocks)).toEqual(types(blocksOf(SAMPLE)));
  });

  it('takes carriage returns for newlines, also when one is cut off from its newline', () => {
    const text = SAMPLE.replaceAll('\n', '\r\n');
    const stream = streamed(text, () => 1);
    stream.end(text);
    expect(shape(stream.blocks)).toEqual(shape(blocksOf(SAMPLE)));
  });

  it('keeps finished blocks as they are', () => {
    const stream = new MarkdownStream();
    stream.append('First.\n\nSecond.\n\nThird');
    const first = stream.blocks[0];
    stream.append(' goes on.\n\nFourth.\n');
    expect(stream.blocks[0]).toBe(first);
    stream.end('First.\n\nSecond.\n\nThird goes on.\n\nFourth.\n');
    expect(stream.blocks[0]).toBe(first);
    expect(stream.blocks).toHaveLength(4);
  });

  it('does not call a block finished while the line after it may still belong to it', () => {
    const stream = new MarkdownStream();
    stream.append('text\n#');
    stream.append('hashtag');
    expect(stream.blocks.map((block) => block.token.type)).toEqual(['paragraph']);
  });

  it('costs what is new: two thousand chunks lex a bounded number of blocks each', () => {
    const stream = new MarkdownStream();
    const chunk = 'word **bold** `code` and so on. ';
    let worst = 0;
    for (let index = 0; index < 2_000; index += 1) {
      const before = stream.lexed;
      stream.append(index % 12 === 11 ? `${chunk}\n\n` : chunk);
      worst = Math.max(worst, stream.lexed - before);
    }
    expect(worst).toBeLessThanOrEqual(8);
    expect(stream.blocks.length).toBeGreaterThan(160);
  });

  it('costs what is new in one endless code block, list, or paragraph', () => {
    const texts = { code: 'let x = 1; // line\n', list: '- an item of a list\n', paragraph: 'a line of one paragraph\n' };
    for (const [kind, line] of Object.entries(texts)) {
      const stream = new MarkdownStream();
      if (kind === 'code') stream.append('```js\n');
      let worst = 0;
      for (let index = 0; index < 1_000; index += 1) {
        const before = stream.lexed;
        stream.append(line);
        worst = Math.max(worst, stream.lexed - before);
      }
      expect(worst, kind).toBeLessThanOrEqual(8);
    }
  });
});

describe('what is not finished', () => {
  it('is code from the opening fence on, without what may become the closing one', () => {
    const stream = new MarkdownStream();
    stream.append('Look:\n\n```python\nprint(1)\n``');
    const open = stream.blocks[1]?.token as OpenCode;
    expect(open).toMatchObject({ type: 'open_code', info: 'python', tail: 'print(1)\n' });
    stream.append('`\nAfter');
    expect(stream.blocks.map((block) => block.token.type)).toEqual(['paragraph', 'code', 'paragraph']);
    expect((stream.blocks[1]?.token as Tokens.Code).text).toBe('print(1)');
  });

  it('keeps the place of code that is closed', () => {
    const stream = new MarkdownStream();
    stream.append('```\na\n');
    const key = stream.blocks[0]?.key;
    stream.append('```\n');
    expect(stream.blocks[0]?.key).toBe(key);
  });

  it('is a table as soon as its second line begins', () => {
    const stream = new MarkdownStream();
    stream.append('| a | b |\n|-');
    const table = stream.blocks[0]?.token as Tokens.Table;
    expect(table.type).toBe('table');
    expect(table.header.map((cell) => cell.text)).toEqual(['a', 'b']);
    stream.append('--|---|\n| 1 | 2');
    expect((stream.blocks[0]?.token as Tokens.Table).rows).toHaveLength(1);
  });

  it('goes on as code when a fence inside a list has become too long to parse again', () => {
    const stream = new MarkdownStream();
    stream.append('- item\n\n  ```\n');
    for (let index = 0; index < 3_000; index += 1) stream.append(`  line ${index} # of code\n`);
    expect(stream.blocks.at(-1)?.token.type).toBe('open_code');
    stream.append('  ```\n\nafter\n');
    expect(stream.blocks.at(-1)?.token.type).toBe('paragraph');
  });
});

describe('texts made to hurt', () => {
  it.each([
    ['quotes', '>'.repeat(50_000)], ['spaced quotes', '> '.repeat(20_000)], ['lists', '- '.repeat(20_000)], ['brackets', '['.repeat(50_000)],
    ['stars', '*a **a '.repeat(8_000)], ['images', '!['.repeat(30_000)], ['underscores', '_a_ '.repeat(9_000)], ['numbers', '1. '.repeat(9_000)],
  ])('%s are shown, all of them', (_name, text) => {
    expect(blocksOf(text).map((block) => block.token.raw).join('').trim()).toBe(text.trim());
  });

  it('links are resolved by definitions that come later', () => {
    const stream = new MarkdownStream();
    const text = 'See [here][1].\n\nMore.\n\n[1]: https://example.org\n';
    for (const character of text) stream.append(character);
    stream.end(text);
    const paragraph = stream.blocks[0]?.token as Tokens.Paragraph;
    expect(paragraph.tokens.some((token) => token.type === 'link')).toBe(true);
  });
});

it('reads the language of an info string', () => {
  expect(['ts', 'TSX title="a"', '{.python}', 'rust,ignore', ''].map(languageOf)).toEqual(['ts', 'tsx', 'python', 'rust', '']);
});
