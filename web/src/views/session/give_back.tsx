/** Giving a session back to its agent's own program: what that does, and the command that goes on with it there. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { giveBack } from '../../hub/handover';
import { t } from '../../i18n';
import { Button, Sheet } from '../../ui';
import { Command } from '../composer/elsewhere';
import { useControl } from '../controls/run_control';

export function GiveBack({ sessionId, command, isHere, onClose }: { sessionId: string; command: string; isHere: boolean; onClose: () => void }): JSX.Element {
  const { busy, act } = useControl();
  const [given, setGiven] = useState(!isHere);
  const give = async (): Promise<void> => {
    if (await act(() => giveBack(sessionId))) setGiven(true);
  };
  return (
    <Sheet title={t('session.giveBackTitle')} onClose={onClose}
      actions={<><Button onClick={onClose}>{t(given ? 'common.close' : 'common.cancel')}</Button>{!given && <Button kind="primary" busy={busy} onClick={() => void give()}>{t('session.giveBackDo')}</Button>}</>}>
      {!given && <p>{t('session.giveBackText')}</p>}
      <Command command={command} words={t(given ? 'session.givenBack' : 'session.giveBackCommand')} />
    </Sheet>
  );
}
