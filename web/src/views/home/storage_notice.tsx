/** What is wrong with the hub's storage, if anything: told where people look first. */
import type { JSX } from 'preact';
import { dismissJournalNews, journalNews } from '../../hub/journal_health';
import { t } from '../../i18n';
import { Button } from '../../ui';

export function StorageNews(): JSX.Element | null {
  const view = journalNews.value;
  if (view === undefined) return null;
  if (view.state === 'unwritable') return <p class="home-hint home-storage" role="alert">{t('home.journalUnwritable', { why: view.unwritable ?? '' })}</p>;
  const aside = view.asides.at(-1);
  return (
    <div class="home-hint home-storage" role="status">
      <p>{view.damages.length ? t('home.journalHurt', { n: view.damages.length }) : t('home.journalAside')}</p>
      {aside !== undefined && <p><bdi>{t('home.journalAsides', { path: aside })}</bdi></p>}
      <Button kind="quiet" onClick={dismissJournalNews}>{t('home.journalDismiss')}</Button>
    </div>
  );
}
