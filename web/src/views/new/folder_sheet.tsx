/** Choosing a folder of the hub's machine, or of a node of its cluster: typed, one of the recent ones, or found by walking. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Folder, FolderPage } from '../../generated/api';
import { asHubError, http, pathOf, type HubError } from '../../hub/http';
import { t } from '../../i18n';
import { Badge, Button, Icon, IconButton, Sheet, Spinner } from '../../ui';

/** `node`: whose folders; the hub's own where it is empty. */
export async function foldersIn(path?: string, node = ''): Promise<FolderPage> {
  return http.get<FolderPage>(pathOf(['folders'], { path, node: node || undefined }));
}

interface FolderSheetProps {
  start: string;
  node: string;
  onChoose: (path: string) => void;
  onClose: () => void;
}

export function FolderSheet({ start, node, onChoose, onClose }: FolderSheetProps): JSX.Element {
  const [page, setPage] = useState<FolderPage | null>(null);
  const [error, setError] = useState<HubError | null>(null);
  const [hidden, setHidden] = useState(false);
  const [busy, setBusy] = useState(true);
  const steps = useRef(0);
  // Who goes on before the hub has answered is where they went last, in whatever order the answers come; and until it has, the folder
  // that is shown is not the one that was meant.
  const walk = async (to?: string): Promise<void> => {
    const step = (steps.current += 1);
    setBusy(true);
    const found = await foldersIn(to, node).then((there) => ({ there, failure: null }), (failure: unknown) => ({ there: null, failure: asHubError(failure) }));
    if (step !== steps.current) return;
    if (found.there) setPage(found.there);
    setError(found.failure);
    setBusy(false);
  };
  useEffect(() => void walk(start || undefined).then(() => undefined), []);
  useEffect(() => {
    if (error && !page && start) void walk();
  }, [error]);
  const shown = page?.folders.filter((folder) => hidden || !folder.hidden) ?? [];
  return (
    <Sheet title={node ? t('new.chooseFolderOn', { node }) : t('new.chooseFolder')} onClose={onClose} actions={(
      <>
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button kind="primary" disabled={!page || busy} onClick={() => page && onChoose(page.path)}>{t('new.useFolder')}</Button>
      </>
    )}>
      <div class="new-walk">
        <IconButton icon="arrow-up" label={t('new.up')} disabled={!page?.parent} onClick={() => void walk(page?.parent ?? undefined)} />
        <IconButton icon="home" label={t('new.homeFolder')} disabled={!page} onClick={() => void walk(page?.home)} />
        <code class="new-walk-path" title={page?.path}><bdi>{page?.path}</bdi></code>
        {busy && <Spinner size={16} label={t('common.loading')} />}
      </div>
      {error && <p class="new-error" role="alert">{error.message}</p>}
      {page && !shown.length && <p class="new-hint">{t('new.emptyFolder')}</p>}
      <ul class="new-folders">{shown.map((folder) => <FolderLine key={folder.path} folder={folder} onOpen={() => void walk(folder.path)} />)}</ul>
      {page?.truncated && <p class="new-hint">{t('new.truncated')}</p>}
      <label class="new-check"><input type="checkbox" checked={hidden} onChange={(event) => setHidden(event.currentTarget.checked)} /> {t('new.showHidden')}</label>
    </Sheet>
  );
}

function FolderLine({ folder, onOpen }: { folder: Folder; onOpen: () => void }): JSX.Element {
  return (
    <li>
      <button type="button" class="new-folder" onClick={onOpen}>
        <Icon name="folder" />
        <span class="new-folder-name">{folder.name}</span>
        {folder.isProject && <Badge>{t('new.project')}</Badge>}
        <Icon name="chevron-right" size={16} />
      </button>
    </li>
  );
}
