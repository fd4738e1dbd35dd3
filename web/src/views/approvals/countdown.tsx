/**
 * The time that is left to decide: a small clock for eyes, a few sentences for ears.
 *
 * Rule 1: it counts by the hub's clock. A phone whose clock is wrong must not say that there is time where there is none, and no
 * clock says more than the whole wait: ours ticks once a second, so an ask may come between two ticks.
 * Rule 2: it is gone with the wait: what was decided is not denied in ten minutes.
 * Rule 3: it is read aloud at a few marks only. A voice that counts seconds hides everything else.
 */
import type { JSX } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../i18n';
import { Icon, now } from '../../ui';
import { Ended } from './resolution_line';
import { hubAhead } from './hub_clock';

type Urgency = 'calm' | 'soon' | 'last' | 'over';

interface Remaining {
  /** Whole seconds, rounded up: "0" means that it is over. */
  seconds: number;
  /** Of the whole wait, 1 at its beginning and 0 at its end. */
  share: number;
  urgency: Urgency;
}

/** Seconds left that a screen reader reads aloud. */
const SPOKEN_MARKS = [300, 60, 30, 10] as const;

const SOON_S = 60;
const LAST_S = 15;

/** What is left at a time (ms); null where it waits until somebody answers. */
export function remaining(expiresAt: string | undefined, since: string | undefined, at: number): Remaining | null {
  const end = expiresAt ? Date.parse(expiresAt) : NaN;
  if (Number.isNaN(end)) return null;
  const whole = (end - (since ? Date.parse(since) : NaN)) / 1000;
  const left = Math.max(0, Math.ceil((end - at) / 1000));
  const seconds = whole > 0 ? Math.min(left, Math.ceil(whole)) : left;
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

function two(value: number): string {
  return String(value).padStart(2, '0');
}

interface CountdownProps {
  expiresAt?: string | undefined;
  since: string;
  /** An approval that nobody answers is denied; a question is only given up. */
  denies: boolean;
}

export function Countdown({ expiresAt, since, denies }: CountdownProps): JSX.Element | null {
  const ended = useContext(Ended) !== null;
  const left = remaining(expiresAt, since, now.value + hubAhead.value);
  if (!left || ended) return null;
  const time = clockText(left.seconds);
  const words = left.urgency === 'over' ? t('approvals.overdue') : t(denies ? 'approvals.waits' : 'approvals.waitsQuestion', { time });
  return (
    <span class={`approvals-countdown approvals-countdown-${left.urgency}`} role="timer" title={words}>
      <Icon name="clock" size={14} />
      <span aria-hidden="true">{left.urgency === 'over' ? t('approvals.overdue') : time}</span>
      <span class="visually-hidden">{words}</span>
      <Spoken seconds={left.seconds} />
    </span>
  );
}

function Spoken({ seconds }: { seconds: number }): JSX.Element {
  const before = useRef(seconds);
  const [text, setText] = useState('');
  useEffect(() => {
    const mark = passedMark(before.current, seconds);
    before.current = seconds;
    if (mark !== null) setText(t('approvals.spokenLeft', { time: spokenTime(mark) }));
  }, [seconds]);
  return <span class="visually-hidden" aria-live="polite">{text}</span>;
}

function spokenTime(seconds: number): string {
  return seconds >= 60 ? t('approvals.minutes', { n: seconds / 60 }) : t('approvals.seconds', { n: seconds });
}
