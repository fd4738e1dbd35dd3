// What a program wrote to a terminal, as lines of styled text, for output that grows.
//
// Rule 1: appending costs what is new. A line that nothing touched keeps its identity (the same object).
// Rule 2: colours, carriage return, backspace, tab, erasing and small moves of the cursor are carried out; every other sequence is
// dropped, whole, also when it is cut in the middle by the end of a chunk.
// Rule 3: a line has no more than so many runs.
// Rule 4: no more than `most` lines are kept; how many were dropped is shown.

import { colour256, type Rgb } from './colour';
import { judgeLink } from '../markdown/links';

/** A colour: one of the theme's 16, or one of the program's own. */
export type Colour = number | Rgb;

export interface Style {
  readonly fg?: Colour;
  readonly bg?: Colour;
  readonly bold?: true;
  readonly dim?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly strike?: true;
  readonly inverse?: true;
  readonly hidden?: true;
  /** Where an OSC 8 link leads; only addresses of the web. */
  readonly link?: string;
}

export interface Run {
  readonly text: string;
  readonly style: Style;
}

/** One line. `key` stays the same while it is written. */
export interface Line {
  readonly key: number;
  readonly runs: readonly Run[];
}

const PLAIN: Style = {};
const LONGEST_LINE = 8_192;
const LONGEST_SEQUENCE = 4_096;
const MOST_RUNS = 500;
const FURTHEST_MOVE = 500;
// A control sequence, a string (OSC, DCS, APC, PM, SOS) up to its end, a two-character escape, or one of the controls.
const CONTROL =
  /\x1b\[([0-?]*)([ -/]*)([@-~])|\x1b\]([^\x07\x1b\x9c\n]*)(?:\x07|\x1b\\|\x9c)|\x1b[PX^_][^\x1b\x9c\n]*(?:\x1b\\|\x9c)|\x1b[ -/]*[0-Z\\`-~]|[\x00-\x1f\x7f-\x9f]/g;
const CUT_OFF = /^\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b\x9c\n]*\x1b?|[PX^_][^\x1b\x9c\n]*\x1b?|[ -/]*)?$/;

export class AnsiStream {
  /** Lines that were dropped at the top. */
  dropped = 0;
  private readonly kept: Line[] = [{ key: 0, runs: [] }];
  private nextKey = 1;
  private row = 0;
  private column = 0;
  private style: Style = PLAIN;
  private held = '';

  constructor(private readonly most: number = 20_000) {}

  /** The lines, without an empty last one. */
  get lines(): readonly Line[] {
    const last = this.kept[this.kept.length - 1];
    return last !== undefined && last.runs.length === 0 ? this.kept.slice(0, -1) : this.kept.slice();
  }

  /** More output. */
  append(chunk: string): void {
    const all = this.held + chunk;
    const end = all.length - cutOff(all);
    const text = all.slice(0, end);
    this.held = all.slice(end);
    // Of a string that does not end, its beginning is enough to know that it goes on.
    if (this.held.length > LONGEST_SEQUENCE) this.held = this.held.slice(0, 2);
    let at = 0;
    for (const found of text.matchAll(CONTROL)) {
      if (found.index > at) this.write(text.slice(at, found.index));
      at = found.index + found[0].length;
      this.obey(found);
    }
    if (at < text.length) this.write(text.slice(at));
    this.dropOld();
  }

  private obey(found: RegExpMatchArray): void {
    const [whole, parameters, , final, string] = found;
    if (final !== undefined) this.sequence(final, parameters ?? '');
    else if (string !== undefined) this.operate(string);
    else if (whole === '\n' || whole === '\x0b' || whole === '\x0c') this.newline();
    else if (whole === '\r') this.column = 0;
    else if (whole === '\b') this.column = Math.max(0, this.column - 1);
    else if (whole === '\t') this.write(' '.repeat(8 - (this.column % 8)));
  }

  private sequence(final: string, parameters: string): void {
    if (/[<=>?]/.test(parameters)) return;
    const n = Math.min(Number.parseInt(parameters, 10) || 0, FURTHEST_MOVE);
    if (final === 'm') this.style = styled(this.style, parameters);
    else if (final === 'K') this.eraseLine(n);
    else if (final === 'J') this.eraseBelow(n);
    else if (final === 'A' || final === 'F') this.move(-(n || 1), final === 'F');
    else if (final === 'B' || final === 'E') this.move(n || 1, final === 'E');
    else if (final === 'C') this.column = Math.min(this.column + (n || 1), LONGEST_LINE);
    else if (final === 'D') this.column = Math.max(0, this.column - (n || 1));
    else if (final === 'G') this.column = Math.max(0, (n || 1) - 1);
  }

  /** OSC 8 is a link; other operating system commands are dropped. */
  private operate(string: string): void {
    const found = /^8;[^;]*;(.*)$/.exec(string);
    if (found === null) return;
    const link = judgeLink(found[1] ?? '', '');
    const { link: _before, ...rest } = this.style;
    this.style = link.kind === 'web' ? { ...rest, link: link.href } : rest;
  }

  private newline(): void {
    this.row += 1;
    this.column = 0;
    if (this.row === this.kept.length) this.kept.push({ key: this.nextKey++, runs: [] });
  }

  private move(rows: number, toStart: boolean): void {
    this.row = Math.max(0, Math.min(this.kept.length - 1, this.row + rows));
    if (toStart) this.column = 0;
  }

  private write(text: string): void {
    const line = this.kept[this.row];
    if (line === undefined || this.column >= LONGEST_LINE) return;
    const shown = text.slice(0, LONGEST_LINE - this.column);
    this.kept[this.row] = { key: line.key, runs: written(line.runs, this.column, { text: shown, style: this.style }) };
    this.column += shown.length;
  }

  private eraseLine(what: number): void {
    const line = this.kept[this.row];
    if (line === undefined) return;
    const left = what === 0 ? before(line.runs, this.column) : [];
    const blank = what === 1 ? [{ text: ' '.repeat(this.column), style: PLAIN }, ...after(line.runs, this.column)] : left;
    this.kept[this.row] = { key: line.key, runs: blank };
  }

  /** 0: from here on. 2 and 3: everything; what was seen before is worth keeping, so only what is below is cleared. */
  private eraseBelow(what: number): void {
    if (what !== 0) return;
    this.eraseLine(0);
    this.kept.length = this.row + 1;
  }

  private dropOld(): void {
    const extra = this.kept.length - this.most;
    // In steps, so that a long stream does not move all lines with every one that comes.
    if (extra < Math.min(1_000, this.most)) return;
    this.kept.splice(0, extra);
    this.row = Math.max(0, this.row - extra);
    this.dropped += extra;
  }
}

/** How many characters at the end are the beginning of a sequence. */
function cutOff(text: string): number {
  const last = text.lastIndexOf('\x1b');
  if (last === -1) return 0;
  // An escape at the very end may be half of what ends a string.
  const before = last === text.length - 1 ? text.lastIndexOf('\x1b', last - 1) : -1;
  const start = before !== -1 && last > 0 && CUT_OFF.test(text.slice(before)) ? before : last;
  return CUT_OFF.test(text.slice(start)) ? text.length - start : 0;
}

/** The lines of output that will not change. */
export function ansiLines(text: string): readonly Line[] {
  const stream = new AnsiStream(Number.MAX_SAFE_INTEGER);
  stream.append(text);
  return stream.lines;
}

/** The text without any control sequence: what a copy takes. */
export function plainOf(lines: readonly Line[]): string {
  return lines.map((line) => line.runs.map((run) => run.text).join('')).join('\n');
}

// Runs of a line


function lengthOf(runs: readonly Run[]): number {
  return runs.reduce((sum, run) => sum + run.text.length, 0);
}

/** A line of more colours than anybody tells apart goes on in the last one. */
function written(runs: readonly Run[], column: number, run: Run): Run[] {
  const last = runs[runs.length - 1];
  if (runs.length < MOST_RUNS || last === undefined) return overwritten(runs, column, run);
  if (column >= lengthOf(runs)) return overwritten(runs, column, { text: run.text, style: last.style });
  return overwritten([{ text: runs.map((each) => each.text).join(''), style: PLAIN }], column, run);
}

function overwritten(runs: readonly Run[], column: number, run: Run): Run[] {
  const length = lengthOf(runs);
  if (column >= length) {
    const gap = column > length ? [{ text: ' '.repeat(column - length), style: PLAIN }] : [];
    return joined([...runs, ...gap, run]);
  }
  return joined([...before(runs, column), run, ...after(runs, column + run.text.length)]);
}

/** Neighbours of one style are one run. Only the last two can be new neighbours when text is appended, but lines are short. */
function joined(runs: readonly Run[]): Run[] {
  const found: Run[] = [];
  for (const run of runs) {
    const last = found[found.length - 1];
    if (last !== undefined && last.style === run.style) found[found.length - 1] = { text: last.text + run.text, style: run.style };
    else if (run.text !== '') found.push(run);
  }
  return found;
}

function before(runs: readonly Run[], column: number): Run[] {
  const found: Run[] = [];
  let at = 0;
  for (const run of runs) {
    if (at >= column) break;
    found.push({ text: run.text.slice(0, column - at), style: run.style });
    at += run.text.length;
  }
  return found;
}

function after(runs: readonly Run[], column: number): Run[] {
  const found: Run[] = [];
  let at = 0;
  for (const run of runs) {
    const end = at + run.text.length;
    if (end > column) found.push({ text: run.text.slice(Math.max(0, column - at)), style: run.style });
    at = end;
  }
  return found;
}

// Select graphic rendition


type Draft = { -readonly [K in keyof Style]: Style[K] };
type Switch = 'bold' | 'dim' | 'italic' | 'underline' | 'inverse' | 'hidden' | 'strike';

const ON: Readonly<Record<number, Switch>> = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 7: 'inverse', 8: 'hidden', 9: 'strike', 21: 'underline' };
const OFF: Readonly<Record<number, readonly Switch[]>> = {
  22: ['bold', 'dim'], 23: ['italic'], 24: ['underline'], 27: ['inverse'], 28: ['hidden'], 29: ['strike'],
};

function styled(from: Style, parameters: string): Style {
  const draft: Draft = { ...from };
  // Colons separate the parts of one parameter (38:2::r:g:b); the empty colour space in it is left out. 4:0 is no underline.
  const codes = parameters.replace(/(^|;)4:0(?=;|$)/g, (_, start: string) => `${start}24`).replace(/(^|;)4:\d(?=;|$)/g, (_, start: string) => `${start}4`).replace(/([345]8):2:\d*:(?=\d+:\d+:\d)/g, '$1:2:').split(/[;:]/).map(Number);
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0;
    if (code === 38 || code === 48 || code === 58) index += extended(draft, code, codes.slice(index + 1));
    else apply(draft, code);
  }
  return Object.keys(draft).length === 0 ? PLAIN : draft;
}

function apply(draft: Draft, code: number): void {
  const on = ON[code];
  if (code === 0) for (const key of Object.keys(draft) as (keyof Draft)[]) { if (key !== 'link') delete draft[key]; }
  else if (on !== undefined) draft[on] = true;
  else if (OFF[code] !== undefined) for (const name of OFF[code]) delete draft[name];
  else if (code === 39) delete draft.fg;
  else if (code === 49) delete draft.bg;
  else if (code >= 30 && code <= 37) draft.fg = code - 30;
  else if (code >= 40 && code <= 47) draft.bg = code - 40;
  else if (code >= 90 && code <= 97) draft.fg = code - 82;
  else if (code >= 100 && code <= 107) draft.bg = code - 92;
}

/** 38;5;n and 38;2;r;g;b: returns how many codes it took. */
function extended(draft: Draft, which: number, rest: readonly number[]): number {
  const taken = rest[0] === 5 ? 2 : rest[0] === 2 ? 4 : 1;
  const colour = colourOf(rest);
  if (colour !== null && which === 38) draft.fg = colour;
  if (colour !== null && which === 48) draft.bg = colour;
  return taken;
}

function colourOf(rest: readonly number[]): Colour | null {
  const [how, a = 0, b = 0, c = 0] = rest;
  const byte = (value: number): number => Math.max(0, Math.min(255, value || 0));
  if (how === 5) return byte(a) < 16 ? byte(a) : colour256(byte(a));
  return how === 2 ? [byte(a), byte(b), byte(c)] : null;
}
