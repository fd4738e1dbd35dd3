/**
 * Times as people say them. One clock ticks for the whole page, and only while somebody looks.
 */
import { signal, type ReadonlySignal } from '@preact/signals';
import type { JSX } from 'preact';
import { language, t } from '../i18n';

const clock = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === 'visible') clock.value = Date.now();
}, 1_000);
document.addEventListener('visibilitychange', () => (clock.value = Date.now()));

/** The time, every second. What reads it is drawn again every second: read it in small parts only. */
export const now: ReadonlySignal<number> = clock;

/** How long ago, in one word: "now", "12 s", "5 min", "3 h", "2 d", then the date. */
export function ago(at: number, atNow: number): string {
  const seconds = Math.max(0, Math.floor((atNow - at) / 1_000));
  if (seconds < 5) return t('common.justNow');
  if (seconds < 60) return t('common.secondsAgo', { n: seconds });
  if (seconds < 3_600) return t('common.minutesAgo', { n: Math.floor(seconds / 60) });
  if (seconds < 86_400) return t('common.hoursAgo', { n: Math.floor(seconds / 3_600) });
  if (seconds < 7 * 86_400) return t('common.daysAgo', { n: Math.floor(seconds / 86_400) });
  return new Date(at).toLocaleDateString(language(), { day: 'numeric', month: 'short' });
}

/** A length of time, short: "850 ms", "12 s", "3 min 5 s", "2 h 4 min". */
export function span(ms: number): string {
  if (ms < 1_000) return t('common.spanMs', { n: Math.max(0, Math.round(ms)) });
  return ms < 10_000 ? t('common.spanSeconds', { n: (ms / 1_000).toFixed(1) }) : wholeSpan(ms);
}

/** The same in whole seconds. */
function wholeSpan(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (seconds < 60) return t('common.spanSeconds', { n: seconds });
  if (minutes < 60) return seconds % 60 ? t('common.spanMinutesSeconds', { n: minutes, s: seconds % 60 }) : t('common.spanMinutes', { n: minutes });
  return minutes % 60 ? t('common.spanHoursMinutes', { n: hours, m: minutes % 60 }) : t('common.spanHours', { n: hours });
}

/** When it was, kept true. `what` was then, for those who want to know exactly. */
export function Time({ at, what, class: extra }: { at: string | number; what?: string; class?: string }): JSX.Element {
  const when = typeof at === 'number' ? at : Date.parse(at);
  const exact = new Date(when);
  return (
    <time class={extra} dateTime={exact.toISOString()} title={what ? `${what}: ${exact.toLocaleString(language())}` : exact.toLocaleString(language())}>
      {ago(when, now.value)}
    </time>
  );
}

/** How long something has been going on, kept true. */
export function Elapsed({ since, class: extra }: { since: string | number; class?: string }): JSX.Element {
  const start = typeof since === 'number' ? since : Date.parse(since);
  const passed = now.value - start;
  return <span class={extra}>{passed < 1_000 ? t('common.justNow') : wholeSpan(passed)}</span>;
}
