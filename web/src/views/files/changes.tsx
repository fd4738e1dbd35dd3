// What changed in the session's folder: every file with its counts, and its diff when it is chosen.

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Diff } from '../../generated/api';
import { t } from '../../i18n';
import { DiffView } from '../../content/diff/diff';
import { VisibleText } from '../../content/visible_text';
import { Button, Icon, Spinner } from '../../ui';
import type { Loaded } from './use_loaded';
import { filesHref } from './address';

export function ChangesList({ loaded, sessionId, selected }: { loaded: Loaded<Diff>; sessionId: string; selected: string | null }): JSX.Element {
  const { value, error, again } = loaded;
  if (error !== null) return <p class="files-problem">{error.message} <Button kind="quiet" onClick={again}>{t('common.retry')}</Button></p>;
  if (value === null) return <Spinner size={16} label={t('common.loading')} />;
  return (
    <nav class="files-changes" aria-label={t('files.changes')}>
      <Since diff={value} />
      <ul>
        {value.files.length > 1 && <li><a class="files-entry" href={filesHref(sessionId, { list: 'changes' })} aria-current={selected === null ? 'page' : undefined}><Icon name="layers" size={16} /><span>{t('files.allChanges')}</span></a></li>}
        {value.files.map((file) => (
          <li key={file.path}>
            <a class="files-entry" href={filesHref(sessionId, { path: file.path, list: 'changes' })} aria-current={file.path === selected ? 'page' : undefined} title={file.path}>
              <span class={`files-mark files-mark-${file.status}`} title={t(`files.status_${file.status}`)} aria-label={t(`files.status_${file.status}`)} role="img">{file.status.charAt(0).toUpperCase()}</span>
              <span><VisibleText text={file.path} /></span>
              <small><Counts added={file.additions} removed={file.deletions} /></small>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Since({ diff }: { diff: Diff }): JSX.Element {
  const added = diff.files.reduce((sum, file) => sum + file.additions, 0);
  const removed = diff.files.reduce((sum, file) => sum + file.deletions, 0);
  return (
    <p class="files-faint">
      {diff.files.length === 0 ? diff.reason ?? t('files.nothingChanged') : t(diff.base === 'session' ? 'files.sinceSession' : 'files.sinceCommit', { n: diff.files.length })}
      {' '}<Counts added={added} removed={removed} />
      {diff.truncated && <> {t('files.diffCut')}</>}
    </p>
  );
}

function Counts({ added, removed }: { added: number; removed: number }): JSX.Element {
  return <>{added > 0 && <span class="content-added">+{added}</span>}{added > 0 && removed > 0 && ' '}{removed > 0 && <span class="content-removed">−{removed}</span>}</>;
}

/** One file's changes, or all of them. */
export function ChangesView({ loaded, path }: { loaded: Loaded<Diff>; path: string | null }): JSX.Element | null {
  const diff = loaded.value;
  const shown = useMemo(() => (diff === null ? '' : path === null ? diff.diff : sectionOf(diff.diff, path)), [diff, path]);
  if (diff === null) return null;
  if (diff.files.length === 0) return <div class="ui-empty"><p>{diff.reason ?? t('files.nothingChanged')}</p></div>;
  if (shown === '') return <p class="files-faint">{t('files.notShown')}</p>;
  return <div class="files-diff"><DiffView key={path ?? ''} diff={shown} {...(path === null ? {} : { path })} /></div>;
}

/** The part of a diff that is about one file. */
function sectionOf(diff: string, path: string): string {
  const sections = diff.split(/^(?=diff --git )/m);
  return sections.find((section) => section.startsWith(`diff --git a/${path} b/${path}\n`)) ?? '';
}
