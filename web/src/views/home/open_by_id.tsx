/** Opening a session by the id that its agent has for it, for agents that do not list their sessions. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { SessionView } from '../../generated/api';
import { installedAgents, loadAgents } from '../../hub/agents';
import { asHubError, http, pathOf } from '../../hub/http';
import { connection } from '../../hub/connection';
import { sessionList } from '../../hub/session_list';
import { t } from '../../i18n';
import { go } from '../../route';
import { Button, Icon, Sheet } from '../../ui';
import { mayDo } from '../controls/availability';
import { fullPath } from '../new/folder_field';

export function OpenById(): JSX.Element | null {
  const [open, setOpen] = useState(false);
  if (!mayDo(connection.scope.value, 'control')) return null;
  return (
    <>
      <Button kind="quiet" class="home-open-by-id" onClick={() => setOpen(true)}>{t('home.openById')}</Button>
      {open && <OpenSheet onClose={() => setOpen(false)} />}
    </>
  );
}

function OpenSheet({ onClose }: { onClose: () => void }): JSX.Element {
  const [agent, setAgent] = useState('');
  const [id, setId] = useState('');
  const [folder, setFolder] = useState('~');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  useEffect(() => void loadAgents(), []);
  const agents = installedAgents();
  const chosen = agent || agents[0]?.name || '';
  const open = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setProblem('');
    try {
      const body = { projectPath: await fullPath(folder.trim()) };
      const view = await http.post<SessionView>(pathOf(['adapters', chosen, 'sessions', id.trim(), 'attach']), body);
      sessionList.put(view);
      go({ view: 'session', id: view.id, tab: 'timeline' });
    } catch (error) {
      setProblem(asHubError(error).message);
      setBusy(false);
    }
  };
  return (
    <Sheet title={t('home.openByIdTitle')} onClose={onClose}>
      <form class="home-open-form" onSubmit={(event) => void open(event)}>
        <p>{t('home.openByIdText')}</p>
        <label>{t('home.openByIdAgent')}
          <select value={chosen} onChange={(event) => setAgent(event.currentTarget.value)}>
            {agents.map((each) => <option key={each.name} value={each.name}>{each.displayName}</option>)}
          </select>
        </label>
        <label>{t('home.openByIdId')}<input type="text" value={id} maxLength={1024} autofocus spellcheck={false} onInput={(event) => setId(event.currentTarget.value)} /></label>
        <label>{t('home.openByIdFolder')}<input type="text" value={folder} spellcheck={false} onInput={(event) => setFolder(event.currentTarget.value)} /></label>
        {problem && <p class="new-error" role="alert"><Icon name="warning" /> {problem}</p>}
        <Button type="submit" kind="primary" busy={busy} disabled={!id.trim() || !folder.trim() || !chosen}>{t('home.openByIdDo')}</Button>
      </form>
    </Sheet>
  );
}
