/** That a card's ask has ended, for all that is in the card: nothing in it decides any more, and its clock stands. */
import { createContext, type JSX } from 'preact';
import { useContext } from 'preact/hooks';
import { askId, pending } from '../../hub/session_list';
import { t } from '../../i18n';
import { ResolutionLine } from './resolution_line';
import { resolutionOf, type Resolution } from './resolutions';

/** How it ended; `unknown` where nobody said how, null while it waits. */
export type End = Resolution | 'unknown' | null;

export const Ended = createContext<End>(null);

export function endOf(ask: string): End {
  return resolutionOf(ask) ?? (pending.value.some((one) => askId(one) === ask) ? null : 'unknown');
}

/** Said beside what somebody was writing when it ended. */
export function EndedLine(): JSX.Element | null {
  const end = useContext(Ended);
  if (end === null) return null;
  return end === 'unknown' ? <p class="approvals-note" role="status">{t('approvals.over')}</p> : <ResolutionLine resolution={end} />;
}
