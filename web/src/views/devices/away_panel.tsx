/** Whether the person is away from the terminals: a switch. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AwayView } from '../../generated/api';
import { connection } from '../../hub/connection';
import { asHubError, http } from '../../hub/http';
import { t } from '../../i18n';
import { Spinner } from '../../ui';
import { mayDo } from '../controls/availability';

export function AwayPanel(): JSX.Element {
  const [away, setAway] = useState<boolean | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const change = async (ask: () => Promise<AwayView>): Promise<void> => {
    setBusy(true);
    try {
      setAway((await ask()).away);
      setError(null);
    } catch (failure) {
      setError(asHubError(failure).message);
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => void change(() => http.get<AwayView>('/away')), [connection.state.value]);
  return (
    <section class="devices-part" aria-labelledby="devices-away">
      <h2 id="devices-away">{t('devices.awayTitle')}</h2>
      <p class="approvals-note">{t('devices.awayText')}</p>
      {away === null && !error && <Spinner label={t('common.loading')} />}
      {away !== null && (
        <label class="approvals-choice">
          <input type="checkbox" role="switch" checked={away} disabled={busy || !mayDo(connection.scope.value, 'approve')}
            onChange={(event) => {
              const wanted = event.currentTarget.checked;
              void change(() => http.put<AwayView>('/away', { away: wanted }));
            }} />
          <span>{t('devices.awaySwitch')}</span>
        </label>
      )}
      {error && <p class="policy-problem" role="alert">{error}</p>}
    </section>
  );
}
