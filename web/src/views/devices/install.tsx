/** Installing the page as an app, where the browser offers it. */
import type { JSX } from 'preact';
import { t } from '../../i18n';
import { Button } from '../../ui';
import { offer } from './install_offer';

export function Install(): JSX.Element | null {
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
