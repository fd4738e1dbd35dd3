/** How an ask ended, and by whose word: as a line, and for all that is in its card, where nothing decides any more and the clock stands. */
import { createContext, type JSX } from 'preact';
import { useContext } from 'preact/hooks';
import { byWhom, withNames } from '../../hub/people';
import { askId, pending } from '../../hub/session_list';
import { t } from '../../i18n';
import { write } from '../../route';
import { Icon, type IconName } from '../../ui';
import { resolutionOf, type Resolution } from './resolutions';
import { MarkedText } from '../../content/visible_text';

const ICONS: Record<Resolution['how'], IconName> = {
  approved: 'check', denied: 'cross', answered: 'check', declined: 'cross', withdrawn: 'minus', timeout: 'clock',
};

export function resolutionWords(resolution: Resolution): string {
  const who = resolution.here ? t('approvals.byYou') : resolution.by !== undefined ? byWhom(resolution.by) : t('approvals.somebody');
  if (resolution.by === 'terminal') return t(resolution.how === 'approved' ? 'approvals.terminalAllowed' : resolution.how === 'denied' ? 'approvals.terminalDenied' : 'approvals.terminalAnswered');
  switch (resolution.how) {
    case 'approved': return ruleWords(resolution) ?? t('approvals.approvedBy', { who });
    case 'denied': return ruleWords(resolution) ?? t('approvals.deniedBy', { who });
    case 'answered': return t('approvals.answeredBy', { who });
    case 'declined': return t('approvals.declinedBy', { who });
    case 'withdrawn': return t('approvals.withdrawn');
    case 'timeout': return t('approvals.timedOut');
  }
}

/** Where a rule decided. */
function ruleWords({ how, by, here, savedBy }: Resolution): string | undefined {
  const allowed = how === 'approved';
  if (by !== 'policy' || here) return undefined;
  if (savedBy === undefined) return t(allowed ? 'common.allowedByRule' : 'common.deniedByRule');
  return t(allowed ? 'common.allowedBySaved' : 'common.deniedBySaved', { who: byWhom(savedBy) });
}

export function ResolutionLine({ resolution }: { resolution: Resolution }): JSX.Element {
  return (
    <p class={`approvals-resolution approvals-resolution-${resolution.how}`} role="status">
      <Icon name={ICONS[resolution.how]} size={16} />
      <span>{resolutionWords(resolution)}</span>
      {resolution.ruled && <a href={write({ view: 'policy' })}>{t('approvals.ruleAdded')}</a>}
      {resolution.reason && resolution.how !== 'timeout' && resolution.by !== 'terminal' && <span class="approvals-reason"><MarkedText text={withNames(resolution.reason)} /></span>}
    </p>
  );
}

/** How it ended; `unknown` where nobody knows how, null while it waits. */
type End = Resolution | 'unknown' | null;

export const Ended = createContext<End>(null);

export function endOf(ask: string): End {
  return resolutionOf(ask) ?? (pending.value.some((one) => askId(one) === ask) ? null : 'unknown');
}

/** Shown beside what somebody was writing when it ended. */
export function EndedLine(): JSX.Element | null {
  const end = useContext(Ended);
  if (end === null) return null;
  return end === 'unknown' ? <p class="approvals-note" role="status">{t('approvals.over')}</p> : <ResolutionLine resolution={end} />;
}
