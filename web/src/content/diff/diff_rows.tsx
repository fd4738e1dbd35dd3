// The rows of one file's diff.

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { http } from '../../hub/http';
import { t } from '../../i18n';
import type { DiffLine, FileDiff } from '../../text/diff/diff';
import { languageByPath } from '../../text/code/language';
import { fits, type Fold, inTwoColumns, diffRowsOf, type DiffRow, type SplitRow } from '../../text/diff/rows';
import { type Mark, pieces, type Token } from '../../text/code/tokens';
import { marksOf } from '../../text/diff/changed_words';
import { Icon } from '../../ui';
import { ROW_HEIGHT } from '../code';
import { contentHref } from '../location';
import { Pieces } from '../visible_text';
import { useTokens } from '../use_tokens';
import { Windowed } from '../windowed';

type Look = (line: DiffLine) => { tokens: readonly Token[] | undefined; marks: readonly Mark[] };

export function DiffRows({ file, name, split, sessionId }: { file: FileDiff; name: string; split: boolean; sessionId: string | null }): JSX.Element {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [whole, setWhole] = useState<readonly string[] | null | undefined>(undefined);
  const look = useLook(file, whole ?? null);
  const rows = useMemo(() => diffRowsOf(file, open, whole ?? null), [file, open, whole]);
  const pairs = useMemo(() => (split ? inTwoColumns(rows) : []), [rows, split]);
  const digits = String(Math.max(1, ...file.hunks.map((hunk) => Math.max(hunk.beforeStart, hunk.afterStart) + hunk.lines.length))).length;
  const openFold = async (fold: Fold): Promise<void> => {
    if (fold.lines === null && whole === undefined && sessionId !== null) setWhole(await wholeFile(file, sessionId));
    setOpen(new Set([...open, fold.key]));
  };
  const canOpen = (fold: Fold): boolean => fold.lines !== null || (whole === undefined && sessionId !== null && fold.count > 0);
  const shown = split ? pairs : rows;
  return (
    <div class={split ? 'content-diff-box content-diff-split' : 'content-diff-box'} tabIndex={0} role="group" aria-label={t('content.changesOf', { path: name })} style={{ '--digits': String(digits) }}>
      <div class="content-diff-lines">
        <Windowed count={shown.length} rowHeight={ROW_HEIGHT}>
          {(start, end) => <>{shown.slice(start, end).map((row, index) => <RowView key={start + index} row={row} look={look} canOpen={canOpen} openFold={openFold} />)}</>}
        </Windowed>
      </div>
    </div>
  );
}

/** The file as it is now, if the diff still fits it; null where it does not or is gone. */
async function wholeFile(file: FileDiff, sessionId: string): Promise<readonly string[] | null> {
  try {
    const lines = (await http.text(contentHref(sessionId, file.path))).replace(/\n$/, '').split('\n');
    return fits(file, lines) ? lines : null;
  } catch {
    return null; // gone, or not ours to read: then the fold stays closed
  }
}

/** Colours and changed words of any line of the file. Each side is coloured as one text; the new one as the whole file, once it is known. */
function useLook(file: FileDiff, whole: readonly string[] | null): Look {
  const { before, after, at } = useMemo(() => sidesOf(file), [file]);
  const marks = useMemo(() => new Map(file.hunks.flatMap((hunk) => [...marksOf(hunk.lines)])), [file]);
  const now = useMemo(() => whole?.join('\n') ?? after, [whole, after]);
  const language = languageByPath(file.path);
  const [oldTokens, nowTokens] = [useTokens(before, language), useTokens(now, language)];
  const indexOf = (line: DiffLine): number => (whole !== null && line.after !== null ? line.after - 1 : at.get(line) ?? -1);
  return (line) => ({ tokens: (line.kind === 'removed' ? oldTokens : nowTokens)?.[indexOf(line)], marks: marks.get(line) ?? [] });
}

function sidesOf(file: FileDiff): { before: string; after: string; at: Map<DiffLine, number> } {
  const [before, after]: [string[], string[]] = [[], []];
  const at = new Map<DiffLine, number>();
  for (const line of file.hunks.flatMap((hunk) => hunk.lines)) {
    at.set(line, line.kind === 'removed' ? before.length : after.length);
    if (line.kind !== 'added') before.push(line.text);
    if (line.kind !== 'removed') after.push(line.text);
  }
  return { before: before.join('\n'), after: after.join('\n'), at };
}

interface RowProps {
  look: Look;
  canOpen: (fold: Fold) => boolean;
  openFold: (fold: Fold) => Promise<void>;
}

function RowView({ row, look, canOpen, openFold }: RowProps & { row: DiffRow | SplitRow }): JSX.Element {
  if (row.row === 'fold') return <FoldView fold={row} open={canOpen(row) ? () => void openFold(row) : null} />;
  if (row.row === 'line') return <Unified line={row.line} look={look} />;
  return (
    <div class="content-pair">
      <Half line={row.left} number={row.left?.before ?? null} look={look} />
      <Half line={row.right} number={row.right?.after ?? null} look={look} />
    </div>
  );
}

function FoldView({ fold, open }: { fold: Fold; open: (() => void) | null }): JSX.Element {
  const text = fold.count > 0 ? t('content.unchanged', { n: fold.count }) : '';
  const inside = <><Icon name="more" size={14} /><span>{text}</span>{fold.heading !== '' && <code>{fold.heading}</code>}</>;
  if (open === null) return <div class="content-fold">{inside}</div>;
  return <button type="button" class="content-fold" onClick={open}>{inside}</button>;
}

const SIGN = { same: ' ', added: '+', removed: '−' } as const;

function Unified({ line, look }: { line: DiffLine; look: Look }): JSX.Element {
  return (
    <div class={`content-line content-line-${line.kind}`}>
      <span class="content-number" data-n={line.before ?? ''} />
      <span class="content-number" data-n={line.after ?? ''} />
      <span class="content-sign" data-sign={SIGN[line.kind]} />
      <Text line={line} look={look} />
    </div>
  );
}

function Half({ line, number, look }: { line: DiffLine | null; number: number | null; look: Look }): JSX.Element {
  if (line === null) return <div class="content-line content-line-none" />;
  return (
    <div class={`content-line content-line-${line.kind}`}>
      <span class="content-number" data-n={number ?? ''} />
      <span class="content-sign" data-sign={SIGN[line.kind]} />
      <Text line={line} look={look} />
    </div>
  );
}

function Text({ line, look }: { line: DiffLine; look: Look }): JSX.Element {
  const { tokens, marks } = look(line);
  return (
    <code>
      {line.kind !== 'same' && <span class="visually-hidden content-unselectable">{t(line.kind === 'added' ? 'content.lineAdded' : 'content.lineRemoved')}</span>}
      <Pieces pieces={pieces(line.text, tokens, marks)} />
      {line.unended === true && <span class="content-unended" title={t('content.noNewline')} data-sign="⊘" />}
      {'\n'}
    </code>
  );
}
