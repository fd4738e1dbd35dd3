// A command, and what it printed, with its colours, while it prints.
//
// Rule 1: a long output, or one of very many colours, is cut from the top; more of it can be shown. A chunk costs what is new.
// Rule 2: the view follows the end while the reader is there.

import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../i18n';
import { AnsiStream, type Colour, type Line, plainOf, type Run, type Style } from '../text/terminal/ansi';
import { css, readable, type Rgb, TERMINAL_DARK, TERMINAL_LIGHT } from '../text/terminal/colour';
import { isAppended } from '../text/appended';
import { Button, Copy } from '../ui';
import '../style/content/index.css';
import { AgentLink } from './markdown/link';
import { skipUnchanged } from './skip_unchanged';
import { VisibleText } from './visible_text';

const FIRST_CHARACTERS = 200_000;
const FIRST_LINES = 1_000;
/** Pieces of one colour: each is an element. */
const FIRST_RUNS = 6_000;
const MORE_TIMES = 5;
const GROUP_LINES = 100;
const AT_END_PX = 24;

export function Terminal({ text, live = false }: { text: string; live?: boolean }): JSX.Element {
  const [times, setTimes] = useState(1);
  const { stream, skipped } = useTerminal(text, times);
  const all = stream.lines;
  const lines = lastRuns(all, FIRST_RUNS * times);
  const hidden = stream.dropped + all.length - lines.length;
  const box = useRef<HTMLDivElement>(null);
  useFollow(box, live, text.length);
  return (
    <div class="content-terminal">
      <div class="content-terminal-tools"><Copy text={() => plainOf(all)} label={t('content.copyOutput')} /></div>
      <div class="content-terminal-box" ref={box} tabIndex={0} role="group" aria-label={t('content.output')}>
        {(skipped > 0 || hidden > 0) && <More skipped={skipped} dropped={hidden} show={() => setTimes(times * MORE_TIMES)} />}
        <pre>{groupsOf(lines).map((group) => <Group key={Math.floor((group[0]?.key ?? 0) / GROUP_LINES)} lines={group} />)}</pre>
      </div>
    </div>
  );
}

/** The last lines that have no more than so many runs together. */
function lastRuns(lines: readonly Line[], most: number): readonly Line[] {
  let start = lines.length;
  for (let runs = 0; start > 0; start -= 1) {
    runs += (lines[start - 1]?.runs.length ?? 0) + 1;
    if (runs > most) break;
  }
  return start === 0 ? lines : lines.slice(Math.min(start, lines.length - 1));
}

function More({ skipped, dropped, show }: { skipped: number; dropped: number; show: () => void }): JSX.Element {
  const what = skipped > 0 ? t('content.earlierKb', { n: Math.ceil(skipped / 1_000) }) : t('content.earlierLines', { n: dropped });
  return <div class="content-terminal-more"><span>{what}</span><Button kind="quiet" onClick={show}>{t('content.showMore')}</Button></div>;
}

interface Held {
  stream: AnsiStream;
  text: string;
  times: number;
  skipped: number;
}

function useTerminal(text: string, times: number): Held {
  const held = useRef<Held | null>(null);
  const before = held.current;
  if (before !== null && before.text === text && before.times === times) return before;
  const grew = before !== null && before.times === times && isAppended(before.text, text);
  const now = grew && before !== null ? { ...before, text } : begun(text, times);
  if (grew && before !== null) now.stream.append(text.slice(before.text.length));
  held.current = now;
  return now;
}

/** From the beginning, or, of a long text, from the line where its last part begins. */
function begun(text: string, times: number): Held {
  const cut = text.length - FIRST_CHARACTERS * times;
  const line = cut > 0 ? text.indexOf('\n', cut) + 1 : 0;
  const skipped = cut > 0 ? (line > 0 ? line : cut) : 0;
  const stream = new AnsiStream(FIRST_LINES * times);
  stream.append(text.slice(skipped));
  return { stream, text, times, skipped };
}

function useFollow(box: { current: HTMLDivElement | null }, live: boolean, length: number): void {
  const away = useRef(false);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const scrolled = (): void => {
      away.current = element.scrollHeight - element.scrollTop - element.clientHeight > AT_END_PX;
    };
    element.addEventListener('scroll', scrolled, { passive: true });
    return () => element.removeEventListener('scroll', scrolled);
  }, []);
  useLayoutEffect(() => {
    if (live && !away.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [live, length]);
}

function groupsOf(lines: readonly Line[]): Line[][] {
  const groups: Line[][] = [];
  let last = -1;
  for (const line of lines) {
    const group = Math.floor(line.key / GROUP_LINES);
    if (group !== last) groups.push([]);
    last = group;
    groups[groups.length - 1]?.push(line);
  }
  return groups;
}

const Group = skipUnchanged(({ lines }: { lines: readonly Line[] }): JSX.Element => <>{lines.map((line) => <LineView key={line.key} line={line} />)}</>);

const LineView = skipUnchanged(({ line }: { line: Line }): JSX.Element => (
  <span class="content-terminal-line">{stretchesOf(line.runs).map(({ link, runs }, index) => <Stretch key={index} link={link} runs={runs} />)}{'\n'}</span>
));

interface StretchProps {
  link: string | undefined;
  runs: Run[];
}

/** What leads to the same place is one link, in however many colours it is written: its text is judged as it is read. */
function stretchesOf(runs: readonly Run[]): StretchProps[] {
  const found: StretchProps[] = [];
  for (const run of runs) {
    const last = found.at(-1);
    if (last !== undefined && last.link === run.style.link) last.runs.push(run);
    else found.push({ link: run.style.link, runs: [run] });
  }
  return found;
}

function Stretch({ link, runs }: StretchProps): JSX.Element {
  const shown = runs.map((run, index) => <RunView key={index} run={run} />);
  return link === undefined ? <>{shown}</> : <AgentLink address={link} shown={runs.map((run) => run.text).join('')}>{shown}</AgentLink>;
}

function RunView({ run }: { run: Run }): JSX.Element {
  const { style } = run;
  if (Object.keys(style).length === 0) return <VisibleText text={run.text} />;
  const names = classNames(style);
  return <span class={names} style={ownColours(style)}><VisibleText text={run.text} /></span>;
}

function classNames(style: Style): string {
  const [fg, bg] = shownColours(style);
  const names = [
    typeof fg === 'number' ? `content-fg-${fg}` : '', typeof bg === 'number' ? `content-bg-${bg}` : '',
    style.inverse === true && fg === undefined ? 'content-fg-inverse' : '', style.inverse === true && bg === undefined ? 'content-bg-inverse' : '',
    Array.isArray(fg) || Array.isArray(bg) ? 'content-fg-own' : '', Array.isArray(bg) ? 'content-bg-own' : '',
    ...(['bold', 'dim', 'italic', 'underline', 'strike'] as const).filter((name) => style[name] === true).map((name) => `content-ansi-${name}`),
  ];
  return names.filter(Boolean).join(' ');
}

function shownColours(style: Style): [Colour | undefined, Colour | undefined] {
  return style.inverse === true ? [style.bg, style.fg] : [style.fg, style.bg];
}

/** The program's own colours, moved until they can be read in either theme. On the program's own background both themes are one. */
function ownColours(style: Style): Record<string, string> | undefined {
  const [fg, bg] = shownColours(style);
  if (!Array.isArray(fg) && !Array.isArray(bg)) return undefined;
  const found: Record<string, string> = {};
  if (Array.isArray(bg)) found['--own-bg'] = css(bg as unknown as Rgb);
  if (Array.isArray(fg)) {
    found['--own-light'] = css(readable(fg as unknown as Rgb, Array.isArray(bg) ? bg as unknown as Rgb : TERMINAL_LIGHT));
    found['--own-dark'] = css(readable(fg as unknown as Rgb, Array.isArray(bg) ? bg as unknown as Rgb : TERMINAL_DARK));
  } else if (Array.isArray(bg)) {
    found['--own-light'] = found['--own-dark'] = css(readable(typeof fg === 'number' ? [128, 128, 128] : [0, 0, 0], bg as unknown as Rgb));
  }
  return found;
}

/** A shell command, as it is. */
export function Command({ command }: { command: string }): JSX.Element {
  return (
    <div class="content-command">
      <pre tabIndex={0}><code>{command !== '' && <span><VisibleText text={command} /></span>}</code></pre>
      <Copy text={command} label={t('content.copyCommand')} />
    </div>
  );
}
