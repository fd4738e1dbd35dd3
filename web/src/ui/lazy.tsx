/**
 * A part of the page that is fetched when it is first shown.
 *
 * Rule 1: a part that cannot be fetched says so, and offers to load the page anew: the hub may have been updated meanwhile.
 * Rule 2: as soon as the hub answers, the page is loaded anew by itself, with pauses that grow: a browser remembers that a part
 * failed, and a connection that was cut must not leave a hole in the page.
 */
import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../i18n';
import { Button } from './button';
import { Spinner } from './spinner';

const ASK_MS = 1_500;
const LONGEST_PAUSE_MS = 30_000;
const FORGOTTEN_MS = 120_000;
const RELOADS = 'trunkline.reloads';

type Load<P> = () => Promise<ComponentType<P>>;

export function lazy<P extends object>(load: Load<P>): (props: P) => JSX.Element {
  let found: ComponentType<P> | null = null;
  return function Lazy(props: P): JSX.Element {
    const [part, setPart] = useState<ComponentType<P> | null>(() => found);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (found) return;
      load().then((loaded) => setPart(() => (found = loaded)), () => setFailed(true));
    }, []);
    if (failed) return <Unloaded />;
    if (!part) return <div class="ui-waiting"><Spinner size={24} label={t('common.loading')} /></div>;
    const Part = part;
    return <Part {...props} />;
  };
}

function Unloaded(): JSX.Element {
  useEffect(() => {
    const timer = setInterval(() => void reloadWhenAnswered(), ASK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="ui-empty" role="alert">
      <p>{t('common.viewFailed')}</p>
      <Button icon="refresh" onClick={() => location.reload()}>{t('common.reload')}</Button>
    </div>
  );
}

async function reloadWhenAnswered(): Promise<void> {
  const answer = await fetch('/healthz', { cache: 'no-store' }).catch(() => null);
  if (answer?.ok && mayReload()) location.reload();
}

/** Keeps the times of late, in this tab: a part that is really gone must not make the page load without end. */
function mayReload(): boolean {
  try {
    const times = (JSON.parse(sessionStorage.getItem(RELOADS) ?? '[]') as number[]).filter((at) => Date.now() - at < FORGOTTEN_MS);
    if (!isTime(times, Date.now())) return false;
    sessionStorage.setItem(RELOADS, JSON.stringify([...times, Date.now()]));
    return true;
  } catch {
    return false;
  }
}

/** Whether the pause since the last of these times was long enough: each is twice the one before. */
export function isTime(times: readonly number[], now: number): boolean {
  const last = times.at(-1);
  return last === undefined || now - last >= Math.min(LONGEST_PAUSE_MS, ASK_MS * 2 ** (times.length - 1));
}
