/**
 * How long an approval or a question still waits, for eyes and for ears.
 *
 * Rule 1: pure; the time arrives with the call.
 * Rule 2: ears hear of it at a few marks only. A voice that counts seconds hides everything else.
 */

import { t } from '../../i18n';

export type Urgency = 'calm' | 'soon' | 'last' | 'over';

export interface Remaining {
  /** Whole seconds, rounded up: "0" means that it is over. */
  seconds: number;
  /** Of the whole wait, 1 at its beginning and 0 at its end. */
  share: number;
  urgency: Urgency;
}

/** Seconds left at which a screen reader is told. */
export const SPOKEN_MARKS = [300, 60, 30, 10] as const;

const SOON_S = 60;
const LAST_S = 15;

/** What is left at `now` (ms); null where it waits until somebody answers. */
export function remaining(expiresAt: string | undefined, since: string | undefined, now: number): Remaining | null {
  const end = expiresAt ? Date.parse(expiresAt) : NaN;
  if (Number.isNaN(end)) return null;
  const seconds = Math.max(0, Math.ceil((end - now) / 1000));
  const whole = (end - (since ? Date.parse(since) : NaN)) / 1000;
  const share = whole > 0 ? Math.min(1, seconds / whole) : 0;
  return { seconds, share, urgency: urgencyOf(seconds) };
}

function urgencyOf(seconds: number): Urgency {
  if (seconds === 0) return 'over';
  if (seconds <= LAST_S) return 'last';
  return seconds <= SOON_S ? 'soon' : 'calm';
}

/** `9:42`, `1 h 05 min`, `3 d 2 h`: as wide as it has to be, and no wider. */
export function clockText(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return t('common.clockDays', { d: Math.floor(hours / 24), h: hours % 24 });
  if (hours >= 1) return t('common.clockHours', { h: hours, m: two(minutes % 60) });
  return t('common.clockMinutes', { m: minutes, s: two(seconds % 60) });
}

/** The mark that was passed between two looks at the clock; null where there is nothing to say. */
export function passedMark(before: number, after: number): number | null {
  const passed = SPOKEN_MARKS.filter((mark) => before > mark && after <= mark && after > 0);
  return passed.length ? Math.min(...passed) : null;
}

/** Milliseconds until the shown text changes. */
export function nextTick(seconds: number): number {
  return seconds >= 2 * 3600 ? 30_000 : 1000;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
