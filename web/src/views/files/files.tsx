// The files of a session: the folder as a tree, what changed in it, one file looked at.
//
// Rule 1: what is shown is in the address, so that a link can lead to a file and a line.
// Rule 2: where there is no room for both, the file takes the place of the list, and "back" leads to the list.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Diff, FilesFound } from '../../generated/api';
import { http, pathOf } from '../../hub/http';
import { t } from '../../i18n';
import { Button, Icon, IconButton, Spinner, Tabs } from '../../ui';
import '../../style/files.css';
import '../../style/content/index.css';
import { ChangesList, ChangesView } from './changes';
import { useLoaded } from './use_loaded';
import { type FilesAddress, filesHref, filesAddress } from './address';
import { Preview } from './file_preview';
import { Leaf, Tree } from './tree';
import { sendFiles, Upload } from './upload';

const TYPED_MS = 200;

/** `news` changes when there may be something new among what changed. */
export function FilesTab({ sessionId, news }: { sessionId: string; news: string }): JSX.Element {
  const at = filesAddress.value;
  const [version, setVersion] = useState(0);
  const diff = useLoaded<Diff>(`${sessionId} ${version}`, () => http.get(pathOf(['sessions', sessionId, 'diff'])), news);
  const again = (): void => setVersion(version + 1);
  const looking = at.path !== null || at.list === 'changes';
  return (
    <div class="files">
      <div class={looking ? 'files-both files-looking' : 'files-both'} data-list={at.list}>
        <Lists sessionId={sessionId} at={at} version={version} diff={diff} again={again} />
        <div class="files-shown"><Looked sessionId={sessionId} at={at} version={version} diff={diff} /></div>
      </div>
    </div>
  );
}

function Lists({ sessionId, at, version, diff, again }: { sessionId: string; at: FilesAddress; version: number; diff: ReturnType<typeof useLoaded<Diff>>; again: () => void }): JSX.Element {
  const [query, setQuery] = useState('');
  const changed = diff.value?.files.length;
  const drop = (event: DragEvent): void => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    void sendFiles(sessionId, files).then((sent) => sent && again());
  };
  return (
    <div class="files-lists" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <div class="files-bar">
        <Tabs label={t('files.lists')} selected={at.list} onSelect={(list) => (location.hash = filesHref(sessionId, { list }))}
          tabs={[{ id: 'tree', label: t('files.all') }, { id: 'changes', label: t('files.changes'), ...(changed ? { count: changed } : {}) }]} />
        <IconButton icon="refresh" label={t('files.lookAgain')} onClick={again} />
        <Upload sessionId={sessionId} done={again} />
      </div>
      {at.list === 'tree' && <Find query={query} onQuery={setQuery} />}
      <div class="files-list">
        {at.list === 'changes' ? <ChangesList loaded={diff} sessionId={sessionId} selected={at.path} />
          : query.trim() === '' ? <Tree sessionId={sessionId} selected={at.path} version={version} /> : <Found sessionId={sessionId} query={query.trim()} selected={at.path} />}
      </div>
    </div>
  );
}

function Find({ query, onQuery }: { query: string; onQuery: (query: string) => void }): JSX.Element {
  return (
    <label class="files-find">
      <Icon name="search" size={16} />
      <span class="visually-hidden">{t('files.find')}</span>
      <input type="search" value={query} placeholder={t('files.find')} onInput={(event) => onQuery(event.currentTarget.value)} />
    </label>
  );
}

function Found({ sessionId, query, selected }: { sessionId: string; query: string; selected: string | null }): JSX.Element {
  const settled = useSettled(query);
  const { value, error } = useLoaded<FilesFound>(`${sessionId} ${settled}`, () => http.get(pathOf(['sessions', sessionId, 'files', 'find'], { q: settled })));
  if (error !== null) return <p class="files-problem">{error.message}</p>;
  if (value === null) return <Spinner size={16} label={t('common.loading')} />;
  if (value.files.length === 0) return <p class="files-faint">{t('files.nothingFound')}</p>;
  return (
    <ul class="files-tree">
      {value.files.map((entry) => <li key={entry.path}><Leaf entry={entry} sessionId={sessionId} selected={selected} whole /></li>)}
      {value.truncated && <li class="files-faint">{t('files.truncated')}</li>}
    </ul>
  );
}

/** The text once nobody has typed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

function Looked({ sessionId, at, version, diff }: { sessionId: string; at: FilesAddress; version: number; diff: ReturnType<typeof useLoaded<Diff>> }): JSX.Element {
  if (at.list === 'changes') {
    return (
      <>
        {at.path !== null && <p class="files-open"><a href={filesHref(sessionId, { list: 'changes' })}><Icon name="arrow-left" size={16} /> {t('files.allChanges')}</a></p>}
        <ChangesView loaded={diff} path={at.path} />
      </>
    );
  }
  if (at.path !== null) return <Preview key={at.path} sessionId={sessionId} path={at.path} line={at.line} version={version} />;
  return (
    <div class="ui-empty">
      <Icon name="files" size={32} /><p>{t('files.chooseOne')}</p>
      {(diff.value?.files.length ?? 0) > 0 && <Button onClick={() => (location.hash = filesHref(sessionId, { list: 'changes' }))}>{t('files.showChanges', { n: diff.value?.files.length ?? 0 })}</Button>}
    </div>
  );
}
