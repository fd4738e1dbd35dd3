/** Notifications on this device: on, off, of what, and why not where they cannot be had. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { asHubError } from '../../hub/http';
import { t, type Key } from '../../i18n';
import { Button, Spinner } from '../../ui';
import { chooseKinds, KINDS, pushState, turnOff, turnOn, type Kind, type PushState } from './push';

const NAMES: Record<Kind, Key> = { approval: 'devices.kindApproval', question: 'devices.kindQuestion', finished: 'devices.kindFinished', failed: 'devices.kindFailed' };
const CANNOT: Record<'insecure' | 'unsupported' | 'denied', Key> = { insecure: 'devices.pushInsecure', unsupported: 'devices.pushUnsupported', denied: 'devices.pushDenied' };

export function PushPanel(): JSX.Element {
  const [state, setState] = useState<PushState | null>(null);
  const [kinds, setKinds] = useState<Kind[]>([...KINDS]);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const change = async (what: () => Promise<PushState>): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const now = await what();
      setState(now);
      if (now.is === 'on') setKinds(now.kinds);
    } catch (failure) {
      setError(asHubError(failure).message);
      setState((before) => before ?? { is: 'off' });
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => void change(pushState), []);
  const pick = (kind: Kind, on: boolean): void => {
    const wanted = KINDS.filter((each) => (each === kind ? on : kinds.includes(each)));
    if (!wanted.length) return;
    setKinds(wanted);
    if (state?.is === 'on') void change(() => chooseKinds(wanted));
  };
  return (
    <section class="devices-part" aria-labelledby="devices-push">
      <h2 id="devices-push">{t('devices.pushTitle')}</h2>
      {state === null && <Spinner label={t('common.loading')} />}
      {state && (state.is === 'insecure' || state.is === 'unsupported' || state.is === 'denied') && <p class="devices-cannot" role="status">{t(CANNOT[state.is], { host: location.host })}</p>}
      {state && (state.is === 'on' || state.is === 'off') && (
        <>
          <p class="approvals-note">{t(state.is === 'on' ? 'devices.pushIsOn' : 'devices.pushText')}</p>
          <fieldset class="policy-row">
            <legend>{t('devices.pushKinds')}</legend>
            {KINDS.map((kind) => (
              <label key={kind} class="approvals-choice">
                <input type="checkbox" checked={kinds.includes(kind)} disabled={busy} onChange={(event) => pick(kind, event.currentTarget.checked)} />
                <span>{t(NAMES[kind])}</span>
              </label>
            ))}
          </fieldset>
          {state.is === 'on'
            ? <Button busy={busy} onClick={() => void change(turnOff)}>{t('devices.pushTurnOff')}</Button>
            : <Button kind="primary" icon="bell" busy={busy} onClick={() => void change(() => turnOn(kinds))}>{t('devices.pushTurnOn')}</Button>}
        </>
      )}
      {error && <p class="policy-problem" role="alert">{t('devices.pushFailed', { why: error })}</p>}
    </section>
  );
}
