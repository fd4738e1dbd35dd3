/** The folder of a new session: typed, one of the recent ones, or found by walking; and which branch is checked out there. */
import { useSignal, type ReadonlySignal, type Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { RecentFolder } from '../../generated/api';
import { t } from '../../i18n';
import { Button, COARSE, useMedia } from '../../ui';
import { projectOf } from '../home/groups';
import { FolderSheet, foldersIn } from './folder_sheet';

/** How long the typing pauses before the hub is asked. */
const ASK_MS = 300;

interface Folders {
  recent: ReadonlySignal<RecentFolder[]>;
  branch: ReadonlySignal<string>;
}

/** The recent folders of a node, the first of which is proposed where none is chosen, and the branch of the one that is. Of another node
 * another one is proposed: what was proposed of the one before may not be there. */
export function useFolders(cwd: Signal<string>, node: string, isChosen: () => boolean): Folders {
  const recent = useSignal<RecentFolder[]>([]);
  const branch = useSignal('');
  const before = useRef(node);
  useEffect(() => {
    let isStale = false;
    const isAnother = before.current !== node;
    before.current = node;
    foldersIn(undefined, node).then((page) => {
      if (isStale) return;
      recent.value = page.recent;
      if (!cwd.peek() || (isAnother && !isChosen())) cwd.value = page.recent[0]?.path ?? page.home;
    }, () => undefined); // The field can be filled by hand; the sheet says what is wrong.
    return () => {
      isStale = true;
    };
  }, [node]);
  useEffect(() => {
    const path = cwd.value.trim();
    branch.value = '';
    if (!path) return undefined;
    const found = (page: { branch?: string | null }): void => {
      if (cwd.peek().trim() === path) branch.value = page.branch ?? '';
    };
    const timer = setTimeout(() => foldersIn(path, node).then(found, () => undefined), ASK_MS); // Start says what is wrong with it.
    return () => clearTimeout(timer);
  }, [cwd.value, node]);
  return { recent, branch };
}

/** A path as the hub takes it for a session: the home folder written out. */
export async function fullPath(path: string, node = ''): Promise<string> {
  return path.startsWith('~') ? (await foldersIn(path, node)).path : path;
}

interface FolderFieldProps {
  cwd: Signal<string>;
  node: string;
  recent: readonly RecentFolder[];
  onChoose: (path: string) => void;
  /** Enter in the field: it is the folder, and no more. */
  onDone: () => void;
}

export function FolderField({ cwd, node, recent, onChoose, onDone }: FolderFieldProps): JSX.Element {
  const open = useSignal(false);
  const field = useRef<HTMLInputElement>(null);
  const touch = useMedia(COARSE);
  useEffect(() => {
    if (!touch) field.current?.select(); // who opens it to type a path types it
  }, []);
  const entered = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.isComposing) return;
    event.preventDefault(); // it would start the session, without its prompt
    onDone();
  };
  return (
    <div class="new-part">
      <label for="new-cwd">{t('new.folder')}</label>
      <div class="new-folder-entry">
        <input ref={field} id="new-cwd" type="text" value={cwd.value} aria-describedby="new-cwd-hint" autocomplete="off" autocapitalize="off" spellcheck={false}
          enterkeyhint="done" onInput={(event) => onChoose(event.currentTarget.value)} onKeyDown={entered} />
        <Button icon="folder" onClick={() => (open.value = true)}>{t('new.browse')}</Button>
      </div>
      <p class="new-hint" id="new-cwd-hint">{node ? t('new.folderHintOn', { node }) : t('new.folderHint')}</p>
      {recent.length > 0 && (
        <ul class="new-recent" aria-label={t('new.recent')}>
          {recent.slice(0, 6).map((folder) => (
            <li key={folder.path}>
              <Button title={folder.path} pressed={folder.path === cwd.value} onClick={() => onChoose(folder.path)}>{folder.name || projectOf(folder.path)}</Button>
            </li>
          ))}
        </ul>
      )}
      {open.value && (
        <FolderSheet start={cwd.value} node={node} onClose={() => (open.value = false)} onChoose={(path) => {
          onChoose(path);
          open.value = false;
        }} />
      )}
    </div>
  );
}
