// The session's folder as a tree: a folder is fetched when it is opened.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { FileEntry, FileList } from '../../generated/api';
import { http, pathOf } from '../../hub/http';
import { t } from '../../i18n';
import { Button, Icon, Spinner, sizeInWords } from '../../ui';
import { VisibleText } from '../../content/visible_text';
import { useLoaded } from './use_loaded';
import { filesHref } from './address';

/** What git keeps for itself is nobody's file. */
const GIT = '.git';

interface TreeProps {
  sessionId: string;
  selected: string | null;
  /** Counts up when the folder should be looked at again. */
  version: number;
}

export function Tree(props: TreeProps): JSX.Element {
  return <nav class="files-tree" aria-label={t('files.tree')}><Folder {...props} path="." /></nav>;
}

function Folder({ path, ...props }: TreeProps & { path: string }): JSX.Element {
  const { value, error, again } = useLoaded<FileList>(`${props.sessionId} ${path} ${props.version}`, () => http.get(pathOf(['sessions', props.sessionId, 'files'], { path })));
  if (error !== null) return <p class="files-problem">{error.message} <Button kind="quiet" onClick={again}>{t('common.retry')}</Button></p>;
  if (value === null) return <Spinner size={16} label={t('common.loading')} />;
  const entries = value.entries.filter((entry) => entry.name !== GIT);
  if (entries.length === 0) return <p class="files-faint">{t('files.emptyFolder')}</p>;
  return (
    <ul>
      {entries.map((entry) => <li key={entry.path}>{entry.isDirectory ? <Branch entry={entry} {...props} /> : <Leaf entry={entry} {...props} />}</li>)}
      {value.truncated && <li class="files-faint">{t('files.truncated')}</li>}
    </ul>
  );
}

function Branch({ entry, ...props }: TreeProps & { entry: FileEntry }): JSX.Element {
  const holds = props.selected?.startsWith(`${entry.path}/`) ?? false;
  const [open, setOpen] = useState(holds);
  return (
    <>
      <button type="button" class="files-entry" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? 'chevron-down' : 'chevron-right'} size={14} /><Icon name="folder" size={16} /><span><VisibleText text={entry.name} /></span>
      </button>
      {open && <Folder path={entry.path} {...props} />}
    </>
  );
}

export function Leaf({ entry, sessionId, selected, whole = false }: { entry: FileEntry; sessionId: string; selected: string | null; whole?: boolean }): JSX.Element {
  return (
    <a class="files-entry" href={filesHref(sessionId, { path: entry.path })} aria-current={entry.path === selected ? 'page' : undefined} title={entry.path}>
      <Icon name="file" size={16} /><span><VisibleText text={whole ? entry.path : entry.name} /></span>
      {entry.size !== null && <small>{sizeInWords(entry.size)}</small>}
    </a>
  );
}
