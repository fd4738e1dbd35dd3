/** How an ask ended, and by whose word. */
import type { JSX } from 'preact';
import { t } from '../../i18n';
import { Icon, type IconName } from '../../ui';
import type { Resolution } from './resolutions';
import { Unseen } from './unseen_view';

const ICONS: Record<Resolution['how'], IconName> = {
  approved: 'check', denied: 'cross', answered: 'check', declined: 'cross', withdrawn: 'minus', timeout: 'clock',
};

export function resolutionWords(resolution: Resolution): string {
  const policy = resolution.savedBy ? t('approvals.byRuleOf', { who: resolution.savedBy }) : t('approvals.byPolicy');
  const who = resolution.here ? t('approvals.byYou') : resolution.by === 'policy' ? policy : resolution.by ?? t('approvals.somebody');
  switch (resolution.how) {
    case 'approved': return t('approvals.approvedBy', { who });
    case 'denied': return t('approvals.deniedBy', { who });
    case 'answered': return t('approvals.answeredBy', { who });
    case 'declined': return t('approvals.declinedBy', { who });
    case 'withdrawn': return t('approvals.withdrawn');
    case 'timeout': return t('approvals.timedOut');
  }
}

export function ResolutionLine({ resolution }: { resolution: Resolution }): JSX.Element {
  return (
    <p class={`approvals-resolution approvals-resolution-${resolution.how}`} role="status">
      <Icon name={ICONS[resolution.how]} size={16} />
      <span>{resolutionWords(resolution)}</span>
      {resolution.reason && <span class="approvals-reason"><Unseen text={resolution.reason} /></span>}
    </p>
  );
}
