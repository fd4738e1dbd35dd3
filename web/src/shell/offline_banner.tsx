/** Across the page while the hub cannot be reached: since when, and a way to try at once. */
import type { JSX } from 'preact';
import { connection } from '../hub/connection';
import { t } from '../i18n';
import { Button, clockTime } from '../ui';

export function Banner(): JSX.Element | null {
  if (connection.state.value !== 'offline') return null;
  if (connection.outdated.value) {
    return (
      <div class="shell-banner" role="alert">
        <span>{t('common.outdated')}</span>
        <Button kind="quiet" icon="refresh" onClick={() => location.reload()}>{t('common.reload')}</Button>
      </div>
    );
  }
  return (
    <div class="shell-banner" role="alert">
      <span>{t('common.offlineSince', { time: clockTime(connection.since.value) })}</span>
      <Button kind="quiet" icon="refresh" onClick={() => connection.retryNow()}>{t('common.retry')}</Button>
    </div>
  );
}
