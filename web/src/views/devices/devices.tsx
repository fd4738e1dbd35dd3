/**
 * Devices: pair a phone, see and revoke those that are paired, and be notified on this one.
 *
 * Rule: what needs HTTPS says so where it is missing; everything else on this page works without.
 */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { asHubError, http, pathOf, type HubError } from '../../hub/http';
import { connection } from '../../hub/connection';
import { t } from '../../i18n';
import { Badge, Button, Icon, Sheet, Spinner, Time, toast } from '../../ui';
import { useControl } from '../controls/run_control';
import { mayDo, type Scope } from '../controls/availability';
import { offer } from './install_offer';
import { Pair } from './pair_phone';
import { AwayPanel } from './away_panel';
import { PushPanel } from './push_panel';
import { SCOPES } from './scopes';
import '../../style/shared_views.css';

export interface Device {
  id: string;
  name: string;
  scope: Scope;
  createdAt: number;
  lastSeenAt: number | null;
  connected: boolean;
  push: boolean;
  current: boolean;
}

const LOOK_MS = 10_000;
const LOOK_WHILE_PAIRING_MS = 1_500;

export function DevicesView(): JSX.Element {
  const [devices, setDevices] = useState<Device[] | null>(null);
  const [error, setError] = useState<HubError | null>(null);
  const [pairing, setPairing] = useState(false);
  const load = async (): Promise<void> => {
    try {
      setDevices((await http.get<{ devices: Device[] }>('/devices')).devices);
      setError(null);
    } catch (failure) {
      setError(asHubError(failure));
    }
  };
  useEffect(() => {
    void load();
    const timer = setInterval(() => document.visibilityState === 'visible' && void load(), pairing ? LOOK_WHILE_PAIRING_MS : LOOK_MS);
    return () => clearInterval(timer);
  }, [pairing, connection.state.value]);
  return (
    <div class="devices-view">
      <h1>{t('devices.title')}</h1>
      {mayDo(connection.scope.value, 'admin')
        ? <Pair devices={devices ?? []} onPairing={setPairing} />
        : <p class="approvals-note">{t('devices.noScopePair')}</p>}
      <PushPanel />
      <AwayPanel />
      <Install />
      <section class="devices-part" aria-labelledby="devices-list">
        <h2 id="devices-list">{t('devices.listTitle')}</h2>
        {error && <p class="policy-problem" role="alert">{error.message}</p>}
        {!devices && !error && <Spinner label={t('common.loading')} />}
        {devices?.length === 0 && <p class="approvals-note">{t('devices.none')}</p>}
        {devices && devices.length > 0 && <ul class="devices-list">{devices.map((device) => <DeviceLine key={device.id} device={device} onGone={() => void load()} />)}</ul>}
      </section>
      <p class="approvals-note"><a href="/licenses" target="_blank" rel="noopener">{t('devices.licences')}</a></p>
    </div>
  );
}

function DeviceLine({ device, onGone }: { device: Device; onGone: () => void }): JSX.Element {
  const [asking, setAsking] = useState(false);
  return (
    <li class="devices-device">
      <Icon name="phone" />
      <div class="devices-about">
        <p><strong>{device.name}</strong> {device.current && <Badge tone="accent">{t('devices.thisDevice')}</Badge>} {device.push && <Badge><Icon name="bell" size={12} /> {t('devices.pushOn')}</Badge>}</p>
        <p class="approvals-note">
          {t(SCOPES[device.scope])} · {device.connected ? t('devices.connected') : <>{t('devices.lastSeen')} {device.lastSeenAt === null ? t('devices.neverSeen') : <Time at={device.lastSeenAt * 1000} />}</>} · {t('devices.added')} <Time at={device.createdAt * 1000} />
        </p>
      </div>
      <Button kind="danger" onClick={() => setAsking(true)}>{t('devices.revoke')}</Button>
      {asking && <RevokeSheet device={device} onClose={() => setAsking(false)} onGone={onGone} />}
    </li>
  );
}

function RevokeSheet({ device, onClose, onGone }: { device: Device; onClose: () => void; onGone: () => void }): JSX.Element {
  const { busy, act } = useControl();
  const revoke = async (): Promise<void> => {
    if (!(await act(() => http.del(pathOf(['devices', device.id]))))) return;
    onClose();
    toast(t('devices.revoked', { name: device.name }), 'good');
    if (device.current) connection.lock();
    else onGone();
  };
  return (
    <Sheet title={t('devices.revokeTitle', { name: device.name })} onClose={onClose}
      actions={<><Button onClick={onClose}>{t('common.cancel')}</Button><Button kind="danger" busy={busy} onClick={() => void revoke()}>{t('devices.revoke')}</Button></>}>
      <p>{t('devices.revokeText')}</p>
      {device.current && <p>{t('devices.revokeThis')}</p>}
    </Sheet>
  );
}

/** Installing the page as an app, where the browser offers it. */
function Install(): JSX.Element | null {
  const offered = offer.value;
  if (!offered) return null;
  return (
    <section class="devices-part" aria-labelledby="devices-install">
      <h2 id="devices-install">{t('devices.installTitle')}</h2>
      <p class="approvals-note">{t('devices.installText')}</p>
      <Button icon="download" onClick={() => void offered.prompt().then(() => (offer.value = null))}>{t('devices.installDo')}</Button>
    </section>
  );
}
