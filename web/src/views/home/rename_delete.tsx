/** Renaming and deleting a session, each after a word with the reader. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { SessionView } from '../../generated/api';
import { asHubError, http, pathOf } from '../../hub/http';
import { sessionList } from '../../hub/session_list';
import { t } from '../../i18n';
import { Button, Sheet, toast } from '../../ui';

const TITLE_MOST = 200;

export function RenameSheet({ view, onClose }: { view: SessionView; onClose: () => void }): JSX.Element {
  const [title, setTitle] = useState(view.title);
  const [busy, act] = useAct(onClose);
  const rename = async (): Promise<void> => sessionList.put(await http.patch<SessionView>(pathOf(['sessions', view.id]), { title: title.trim() }));
  const submit = (event: Event): void => {
    event.preventDefault();
    if (title.trim()) void act(rename);
  };
  return (
    <Sheet title={t('home.renameTitle')} onClose={onClose} actions={(
      <>
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button kind="primary" busy={busy} disabled={!title.trim()} onClick={() => void act(rename)}>{t('common.save')}</Button>
      </>
    )}>
      <form onSubmit={submit}>
        <label class="home-field">
          <span>{t('home.newTitle')}</span>
          <input type="text" dir="auto" value={title} maxLength={TITLE_MOST} onInput={(event) => setTitle(event.currentTarget.value)} autofocus />
        </label>
      </form>
    </Sheet>
  );
}

export function DeleteSheet({ view, onClose }: { view: SessionView; onClose: () => void }): JSX.Element {
  const [busy, act] = useAct(onClose);
  const remove = async (): Promise<void> => {
    await http.del(pathOf(['sessions', view.id]));
    sessionList.forget(view.id);
    toast(t('home.deleted'), 'good');
  };
  return (
    <Sheet title={t('home.deleteTitle')} onClose={onClose} actions={(
      <>
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button kind="danger" icon="trash" busy={busy} onClick={() => void act(remove)}>{t('common.delete')}</Button>
      </>
    )}>
      <p>{t('home.deleteText', { title: view.title || t('home.untitled') })}</p>
      {view.turn && <p class="home-warning">{t('home.deleteRunning')}</p>}
    </Sheet>
  );
}

/** Do it, close when it is done, and say why when it is not. */
function useAct(onDone: () => void): [boolean, (what: () => Promise<void>) => Promise<void>] {
  const [busy, setBusy] = useState(false);
  const act = async (what: () => Promise<void>): Promise<void> => {
    setBusy(true);
    try {
      await what();
      onDone();
    } catch (error) {
      setBusy(false);
      toast(asHubError(error).message, 'bad');
    }
  };
  return [busy, act];
}
