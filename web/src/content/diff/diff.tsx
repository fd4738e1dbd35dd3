// Changes to files: in one column or in two, with true line numbers, changed words, colours, and unchanged lines folded.
//
// Rule 1: what a diff does not hold (the lines between its hunks) is shown only from a file that the diff still fits.
// Rule 2: one column or two is the reader's choice, and is remembered. Where there is no room for two, there is one.

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { t } from '../../i18n';
import { type FileDiff, parseDiff } from '../../text/diff/diff';
import { Button, Copy, Icon, IconButton, useMedia } from '../../ui';
import '../../style/content/index.css';
import { DiffRows } from './diff_rows';
import { FileLink } from '../markdown/link';
import { pathIn, useFolder, useSessionId } from '../location';
import { VisibleText } from '../visible_text';

interface DiffViewProps {
  /** A unified diff, of one file or of several. */
  diff: string;
  path?: string;
  /** Files are closed at first, but for small diffs. */
  folded?: boolean;
}

type Layout = 'unified' | 'split';

const KEPT_AS = 'trunkline.diff';
const ROOM_FOR_TWO = '(min-width: 720px)';
const LARGE_LINES = 1_500;
const FILES_FIRST = 50;

const layout = signal<Layout>(remembered());

function remembered(): Layout {
  try {
    return localStorage.getItem(KEPT_AS) === 'split' ? 'split' : 'unified';
  } catch {
    return 'unified'; // a browser that keeps nothing
  }
}

function choose(next: Layout): void {
  layout.value = next;
  try {
    localStorage.setItem(KEPT_AS, next);
  } catch {
    // It counts until the page is left.
  }
}

export function DiffView({ diff, path = '', folded = false }: DiffViewProps): JSX.Element {
  const files = useMemo(() => parseDiff(diff, path), [diff, path]);
  const [all, setAll] = useState(false);
  if (files.length === 0) return diff.trim() === '' ? <p class="content-note">{t('content.noChanges')}</p> : <pre class="content-plain" tabIndex={0}><VisibleText text={diff} /></pre>;
  const shown = all ? files : files.slice(0, FILES_FIRST);
  return (
    <div class="content-diffs">
      {shown.map((file, index) => <FileView key={`${index} ${file.path}`} file={file} source={files.length === 1 ? diff : null} folded={folded} />)}
      {shown.length < files.length && <Button kind="quiet" onClick={() => setAll(true)}>{t('content.moreFiles', { n: files.length - shown.length })}</Button>}
    </div>
  );
}

function FileView({ file, source, folded }: { file: FileDiff; source: string | null; folded: boolean }): JSX.Element {
  const size = file.added + file.removed;
  const [open, setOpen] = useState(!folded && size <= LARGE_LINES);
  // A file that is all new or all gone has only one side.
  const roomy = useMedia(ROOM_FOR_TWO) && file.status !== 'added' && file.status !== 'deleted';
  const sessionId = useSessionId();
  const shortPath = pathIn(useFolder(), file.path);
  const split = roomy && layout.value === 'split';
  return (
    <section class="content-diff">
      <header class="content-diff-head">
        <IconButton icon={open ? 'chevron-down' : 'chevron-right'} size={16} label={t(open ? 'content.fold' : 'content.unfold', { path: shortPath })} expanded={open} onClick={() => setOpen(!open)} />
        <span class="content-diff-name" title={file.path}>
          <FileLink sessionId={file.status === 'deleted' ? null : sessionId} path={file.path} line={file.hunks[0]?.afterStart ?? null}><Name path={shortPath} /></FileLink>
          {file.from !== null && <span class="content-diff-from">{t('content.movedFrom', { path: file.from })}</span>}
        </span>
        <Status file={file} />
        <span class="content-diff-tools">
          {roomy && open && <IconButton icon={split ? 'list' : 'diff'} size={16} pressed={split} label={t('content.sideBySide')} onClick={() => choose(split ? 'unified' : 'split')} />}
          <Copy text={() => source ?? unifiedOf(file)} label={t('content.copyDiff')} />
        </span>
      </header>
      {open && <Body file={file} name={shortPath} split={split} sessionId={sessionId} />}
      {!open && size > LARGE_LINES && <div class="content-note">{t('content.largeDiff', { n: size })} <Button kind="quiet" onClick={() => setOpen(true)}>{t('content.showIt')}</Button></div>}
    </section>
  );
}

function Body({ file, name, split, sessionId }: { file: FileDiff; name: string; split: boolean; sessionId: string | null }): JSX.Element {
  if (file.binary) return <p class="content-note"><Icon name="file" size={14} /> {t('content.binary')}</p>;
  if (file.hunks.length === 0) return <p class="content-note">{t('content.noLines')}</p>;
  return <DiffRows file={file} name={name} split={split} sessionId={sessionId} />;
}

/** The end of a path matters most: when there is no room, its beginning is left out. */
function Name({ path }: { path: string }): JSX.Element {
  const at = path.lastIndexOf('/') + 1;
  return <><span class="content-path-start"><VisibleText text={path.slice(0, at)} /></span><b><VisibleText text={path.slice(at)} /></b></>;
}

function Status({ file }: { file: FileDiff }): JSX.Element {
  return (
    <span class="content-counts">
      {file.status !== 'modified' && <span class="content-status">{t(`content.status_${file.status}`)}</span>}
      {file.added > 0 && <span class="content-added" title={t('content.linesAdded', { n: file.added })}>+{file.added}</span>}
      {file.removed > 0 && <span class="content-removed" title={t('content.linesRemoved', { n: file.removed })}>−{file.removed}</span>}
    </span>
  );
}

function unifiedOf(file: FileDiff): string {
  const mark = { same: ' ', added: '+', removed: '-' } as const;
  const hunks = file.hunks.map((hunk) => {
    const before = hunk.lines.filter((line) => line.before !== null).length;
    const after = hunk.lines.filter((line) => line.after !== null).length;
    const lines = hunk.lines.map((line) => mark[line.kind] + line.text + (line.unended ? '\n\\ No newline at end of file' : ''));
    return [`@@ -${hunk.beforeStart},${before} +${hunk.afterStart},${after} @@ ${hunk.heading}`.trimEnd(), ...lines].join('\n');
  });
  const old = file.status === 'added' ? '/dev/null' : `a/${file.from ?? file.path}`;
  return [`--- ${old}`, `+++ ${file.status === 'deleted' ? '/dev/null' : `b/${file.path}`}`, ...hunks, ''].join('\n');
}
