/** The way in for who sees this for the first time: the demo agent shows around, in a folder of the hub's own. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Readiness } from '../../generated/api';
import { DEMO } from '../../hub/agents';
import { connection } from '../../hub/connection';
import { asHubError, http } from '../../hub/http';
import { t } from '../../i18n';
import { go } from '../../route';
import { Button, toast } from '../../ui';

export function TakeTour(): JSX.Element | null {
  const busy = useSignal(false);
  const take = async (): Promise<void> => {
    busy.value = true;
    try {
      const [{ Starting }, { playground }] = await Promise.all([import('../new/start'), http.get<Readiness>('/readyz')]);
      const prompt = [{ type: 'text' as const, text: t('home.tourPrompt') }];
      const { id } = await new Starting().run({ agent: DEMO, cwd: playground, mode: '', sandbox: '', options: {}, prompt });
      go({ view: 'session', id, tab: 'timeline' });
    } catch (error) {
      toast(asHubError(error).message, 'bad');
      busy.value = false;
    }
  };
  if (connection.scope.value !== 'control' && connection.scope.value !== 'admin') return null;
  return <Button icon="play" busy={busy.value} disabled={connection.state.value !== 'online'} onClick={() => void take()}>{t('home.tour')}</Button>;
}
