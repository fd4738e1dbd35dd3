/**
 * A part of the page that is fetched when it is first shown.
 *
 * Rule: a part that cannot be fetched says so, and offers to load the page anew: the hub may have been updated meanwhile.
 */
import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../i18n';
import { Button } from './button';
import { Spinner } from './spinner';

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
  return (
    <div class="ui-empty" role="alert">
      <p>{t('common.viewFailed')}</p>
      <Button icon="refresh" onClick={() => location.reload()}>{t('common.reload')}</Button>
    </div>
  );
}
