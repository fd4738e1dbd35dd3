/**
 * How far the hub's clock is from ours, by the times of events as they come.
 *
 * Rule: an event comes after it was written, never before. So of many differences the smallest is the nearest to the truth.
 */
import { signal, type ReadonlySignal } from '@preact/signals';
import type { ACPEvent } from '../../generated/agent-context';
import { sessionList } from '../../hub/session_list';

/** Less is the way of the event, not a difference of clocks. */
const NO_DIFFERENCE_MS = 3_000;

const ahead = signal(0);
let least = Infinity;

/** Milliseconds to add to our time; 0 where the clocks agree, as far as one can tell. */
export const hubAhead: ReadonlySignal<number> = ahead;

/** Begin to listen. */
export function watchClock(): void {
  sessionList.listen((event) => onEvent(event, Date.now()));
}

export function onEvent(event: Pick<ACPEvent, 'timestamp'>, now: number): void {
  const late = now - Date.parse(event.timestamp);
  if (Number.isNaN(late) || late >= least) return;
  least = late;
  ahead.value = Math.abs(least) > NO_DIFFERENCE_MS ? -least : 0;
}
