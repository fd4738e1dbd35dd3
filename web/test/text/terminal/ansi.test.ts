// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { AnsiStream, ansiLines, plainOf } from '../../../src/text/terminal/ansi';
import { colour256, contrast, readable, TERMINAL_DARK, TERMINAL_LIGHT, type Rgb } from '../../../src/text/terminal/colour';

const plain = (text: string) => plainOf(ansiLines(text));
const runs = (text: string) => ansiLines(text).flatMap((line) => line.runs);

describe('styles', () => {
  it('knows colours of 16, of 256 and of all', () => {
    expect(runs('\x1b[31mred\x1b[0m plain')).toEqual([{ text: 'red', style: { fg: 1 } }, { text: ' plain', style: {} }]);
    expect(runs('\x1b[96;44mx')).toEqual([{ text: 'x', style: { fg: 14, bg: 4 } }]);
    expect(runs('\x1b[38;5;196mx')).toEqual([{ text: 'x', style: { fg: [255, 0, 0] } }]);
    expect(runs('\x1b[38;5;9;1mx')).toEqual([{ text: 'x', style: { fg: 9, bold: true } }]);
    expect(runs('\x1b[38;2;1;2;3m\x1b[48:2::4:5:6mx')).toEqual([{ text: 'x', style: { fg: [1, 2, 3], bg: [4, 5, 6] } }]);
  });

  it('switches on and off', () => {
    expect(runs('\x1b[1;2;3;4;7;9ma\x1b[22;23;24;27;29mb')).toEqual([
      { text: 'a', style: { bold: true, dim: true, italic: true, underline: true, inverse: true, strike: true } }, { text: 'b', style: {} },
    ]);
    expect(runs('\x1b[31ma\x1b[mb')[1]).toEqual({ text: 'b', style: {} });
  });

  it('keeps links of the web and no others', () => {
    expect(runs('\x1b]8;;https://example.org\x1b\\here\x1b]8;;\x07 after')).toEqual([
      { text: 'here', style: { link: 'https://example.org/' } }, { text: ' after', style: {} },
    ]);
    expect(runs('\x1b]8;;javascript:alert(1)\x07here')).toEqual([{ text: 'here', style: {} }]);
  });
});

describe('moving about', () => {
  it('writes over what is there', () => {
    expect(plain('10%\r50%\r100%\n')).toBe('100%');
    expect(plain('a long line\rshort\x1b[K')).toBe('short');
    expect(plain('abc\b\bX')).toBe('aXc');
    expect(plain('a\tb')).toBe('a       b');
    expect(plain('one\r\ntwo\r\n')).toBe('one\ntwo');
    expect(plain('abc\x1b[2Kx')).toBe('   x');
  });

  it('goes up to lines that are shown, as progress bars do', () => {
    expect(plain('a: 0%\nb: 0%\n\x1b[2A\x1b[2K\ra: 9%\n\x1b[2Kb: 9%\n')).toBe('a: 9%\nb: 9%');
  });

  it('drops what it does not know, whole', () => {
    expect(plain('\x1b[?25lx\x1b[?2004h\x1b]0;title\x07y\x1bP1$r\x1b\\z\x1b(B!\x07')).toBe('xyz!');
    expect(plain('a\x1b[>4;2mb\x1b[6nc')).toBe('abc');
  });
});

describe('output that grows', () => {
  const sample = 'pre\x1b[1;38;2;10;20;30mbold\x1b[0m\r\n\x1b]8;;https://example.org/\x1b\\link\x1b]8;;\x1b\\ 1%\r2%\x1b[K\nend\tx\x1b[31m\n\x1b[32mgreen';

  it('comes out the same, however it was cut', () => {
    for (let size = 1; size < 20; size += 1) {
      const stream = new AnsiStream();
      for (let at = 0; at < sample.length; at += size) stream.append(sample.slice(at, at + size));
      expect(plainOf(stream.lines), `by ${size}`).toBe(plain(sample));
      expect(stream.lines.map((line) => line.runs.map((run) => run.style))).toEqual(ansiLines(sample).map((line) => line.runs.map((run) => run.style)));
    }
  });

  it('keeps lines that nothing touched', () => {
    const stream = new AnsiStream();
    stream.append('one\ntwo\nthr');
    const [one, two] = stream.lines;
    stream.append('ee\nfour\n');
    expect(stream.lines[0]).toBe(one);
    expect(stream.lines[1]).toBe(two);
  });

  it('keeps no more lines than asked for, and says how many are gone', () => {
    const stream = new AnsiStream(100);
    for (let index = 0; index < 1_000; index += 1) stream.append(`${index}\n`);
    expect(stream.lines.length).toBeLessThanOrEqual(200);
    expect(stream.lines.length + stream.dropped).toBe(1_000);
    expect(plainOf(stream.lines.slice(-1))).toBe('999');
  });

  it('keeps a bounded part of five megabytes', () => {
    const stream = new AnsiStream(2_000);
    for (let index = 0; index < 500; index += 1) stream.append('\x1b[32mok\x1b[0m a line of some output that goes on\n'.repeat(200));
    expect(stream.dropped).toBeGreaterThan(90_000);
    expect(stream.lines.length).toBeLessThanOrEqual(3_000);
  });

  it('holds an endless line and an endless sequence', () => {
    const stream = new AnsiStream();
    for (let index = 0; index < 200; index += 1) stream.append('x'.repeat(1_000));
    expect(plainOf(stream.lines).length).toBeLessThan(10_000);
    const other = new AnsiStream();
    other.append('\x1b]0;' + 'a'.repeat(100_000));
    other.append('b\x07done');
    expect(plainOf(other.lines)).toContain('done');
  });
});

it('moves every colour until it can be read, in both themes', () => {
  for (let index = 16; index < 256; index += 1) {
    for (const behind of [TERMINAL_LIGHT, TERMINAL_DARK, [128, 128, 128] as Rgb]) {
      expect(contrast(readable(colour256(index), behind), behind)).toBeGreaterThanOrEqual(4.5);
    }
  }
});
