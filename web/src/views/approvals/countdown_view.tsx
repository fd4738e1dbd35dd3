/**
 * The time that is left to decide: a small clock for eyes, a few sentences for ears.
 *
 * Rule 1: it counts by the hub's clock. A phone whose clock is wrong must not say that there is time where there is none.
 * Rule 2: it is gone with the wait: what was decided is not denied in ten minutes.
 */
import type { JSX } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../i18n';
import { Icon, now } from '../../ui';
import { clockText, passedMark, remaining } from './countdown';
import { Ended } from './ended';
import { hubAhead } from './hub_clock';

export interface CountdownProps {
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
  const [said, setSaid] = useState('');
  useEffect(() => {
    const mark = passedMark(before.current, seconds);
    before.current = seconds;
    if (mark !== null) setSaid(t('approvals.spokenLeft', { time: spokenTime(mark) }));
  }, [seconds]);
  return <span class="visually-hidden" aria-live="polite">{said}</span>;
}

function spokenTime(seconds: number): string {
  return seconds >= 60 ? t('approvals.minutes', { n: seconds / 60 }) : t('approvals.seconds', { n: seconds });
}
