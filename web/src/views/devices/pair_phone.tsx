/**
 * Pairing a phone: a code that works once, as a picture for its camera.
 *
 * Rule: the code is shown only while somebody wants to see it, and goes when it is used or over.
 */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { http } from '../../hub/http';
import { reachable, useWayIn } from '../../hub/way_in';
import { t } from '../../i18n';
import { Button, Copy, now, toast, Unbroken } from '../../ui';
import { clockText } from '../approvals/countdown';
import { useControl } from '../controls/run_control';
import type { Scope } from '../controls/availability';
import type { Device } from './devices';
import { drawQr } from './qr';
import { SCOPES, SCOPES_MORE } from './scopes';

interface Pairing {
  code: string;
  url: string;
  /** Seconds since the epoch. */
  expiresAt: number;
  reach: 'public' | 'network' | 'machine';
  secure: boolean;
}

interface Shown extends Pairing {
  /** When it is over, by our clock. */
  until: number;
  /** Devices that there were before. */
  known: ReadonlySet<string>;
}

const LIFE_MS = 600_000;
const OFFERED: Scope[] = ['control', 'approve', 'view', 'admin'];

export function Pair({ devices, onPairing }: { devices: Device[]; onPairing: (pairing: boolean) => void }): JSX.Element {
  const [scope, setScope] = useState<Scope>('control');
  const [shown, setShown] = useState<Shown | null>(null);
  const { busy, act } = useControl();
  const show = (): Promise<boolean> => act(async () => {
    const made = await http.post<Pairing>('/pair', { scope });
    setShown({ ...made, until: Date.now() + LIFE_MS, known: new Set(devices.map((device) => device.id)) });
    onPairing(true);
  });
  const hide = (): void => {
    setShown(null);
    onPairing(false);
  };
  const fresh = shown ? devices.find((device) => !shown.known.has(device.id)) : undefined;
  useEffect(() => {
    if (!fresh) return;
    toast(t('devices.pairUsed', { name: fresh.name }), 'good');
    hide();
  }, [fresh?.id]);
  return (
    <section class="devices-part devices-pair" aria-labelledby="devices-pair">
      <h2 id="devices-pair">{t('devices.pairTitle')}</h2>
      <p class="approvals-note">{t('devices.pairText')}</p>
      {!shown && (
        <div class="devices-row">
          <label class="devices-scope">
            <span>{t('devices.pairScope')}</span>
            <select value={scope} aria-describedby="devices-scope-more" onChange={(event) => setScope(event.currentTarget.value as Scope)}>
              {OFFERED.map((each) => <option key={each} value={each}>{t(SCOPES[each])}</option>)}
            </select>
          </label>
          <Button kind="primary" icon="qr" busy={busy} onClick={() => void show()}>{t('devices.pairDo')}</Button>
          <p class="approvals-note devices-scope-more" id="devices-scope-more" role="status">{t(SCOPES_MORE[scope])}</p>
        </div>
      )}
      {shown && <CodeShown shown={shown} busy={busy} onAgain={() => void show()} onHide={hide} />}
    </section>
  );
}

function CodeShown({ shown, busy, onAgain, onHide }: { shown: Shown; busy: boolean; onAgain: () => void; onHide: () => void }): JSX.Element {
  // The clock that the page shares may be a moment behind ours.
  const left = Math.max(0, Math.ceil(Math.min(LIFE_MS, shown.until - now.value) / 1000));
  if (!left) {
    return (
      <div class="devices-row" role="alert"><span>{t('devices.pairOver')}</span><Button icon="refresh" busy={busy} onClick={onAgain}>{t('devices.pairAgain')}</Button></div>
    );
  }
  return (
    <div class="devices-code">
      <Qr text={shown.url} />
      <div class="devices-code-words">
        {shown.reach === 'machine' && <OutOfReach />}
        <p>{t('devices.pairScan')}</p>
        <p class="devices-url"><code>{shown.url}</code> <Copy text={shown.url} /></p>
        <p class="approvals-note" role="timer">{t('devices.pairOnce', { time: clockText(left) })}{!shown.secure && ` ${t('devices.pairInsecure')}`}</p>
        <Button onClick={onHide}>{t('devices.pairStop')}</Button>
      </div>
    </div>
  );
}

function OutOfReach(): JSX.Element {
  const command = reachable(useWayIn());
  return (
    <div class="devices-warning" role="status">
      <p>{t('devices.pairLoopback', { host: location.host })}</p>
      <p class="devices-url"><code><Unbroken words={command} /></code> <Copy text={command} label={t('content.copyCommand')} /></p>
      <p><Unbroken words={t('devices.pairWays')} /></p>
    </div>
  );
}

function Qr({ text }: { text: string }): JSX.Element {
  const { size, path } = drawQr(text);
  return (
    <svg class="devices-qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={t('devices.pairQr')} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
