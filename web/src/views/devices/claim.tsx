/**
 * A code was scanned: this device gets a name and becomes one of the hub's.
 *
 * Rule: nobody is paired by opening an address alone; somebody says so, and sees how it went.
 */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { asHubError, http } from '../../hub/http';
import { connection } from '../../hub/connection';
import { t } from '../../i18n';
import { goInstead } from '../../route';
import { Button, Icon } from '../../ui';
import type { Scope } from '../controls/availability';
import { deviceName } from '../login/enter';
import { pairingCode } from './pairing_code';
import { SCOPES, SCOPES_MORE } from './scopes';
import '../../style/shared_views.css';

export function ClaimView({ code }: { code: string }): JSX.Element {
  const [name, setName] = useState(() => deviceName(navigator.userAgent));
  const [busy, setBusy] = useState(false);
  const [why, setWhy] = useState<string | null>(null);
  const [paired, setPaired] = useState<Scope | null>(null);
  useEffect(() => () => {
    if (paired !== null) pairingCode.value = null; // who goes elsewhere has read it
  }, [paired]);
  const leave = (): void => {
    pairingCode.value = null;
    goInstead({ view: 'home' });
  };
  const claim = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setWhy(null);
    try {
      const { scope } = await http.enter<{ scope: Scope }>('/pair/claim', { code, name: name.trim() });
      connection.lock(); // Whoever we were before, we are this device now.
      connection.retryNow();
      setPaired(scope);
    } catch (error) {
      setWhy(asHubError(error).message);
      setBusy(false);
    }
  };
  if (paired !== null) {
    return (
      <div class="devices-view devices-claim">
        <h1><Icon name="check" size={22} /> {t('devices.claimed')}</h1>
        <p role="status">{t('devices.claimedMay', { scope: t(SCOPES[paired]) })} {t(SCOPES_MORE[paired])}</p>
        <p><Button kind="primary" autofocus onClick={leave}>{t('devices.claimedGo')}</Button></p>
      </div>
    );
  }
  return (
    <div class="devices-view devices-claim">
      <h1><Icon name="phone" size={22} /> {t('devices.claimTitle')}</h1>
      <p class="approvals-note">{t('devices.claimText')}</p>
      {why !== null && <p class="policy-problem" role="alert">{t('devices.claimFailed', { why })} {t('devices.claimFailedHint')}</p>}
      <form onSubmit={(event) => void claim(event)}>
        <label>
          <span>{t('devices.claimName')}</span>
          <input type="text" value={name} maxLength={64} required autocomplete="off" onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <Button kind="primary" type="submit" icon="check" busy={busy} disabled={!name.trim()}>{t('devices.claimDo')}</Button>
        <Button kind="quiet" onClick={leave}>{t('common.cancel')}</Button>
      </form>
    </div>
  );
}
