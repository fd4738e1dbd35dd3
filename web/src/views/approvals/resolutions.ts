/**
 * How approvals and questions ended, and by whose word, for those who had them before their eyes.
 *
 * Rule: the journal has every decision; here are the last ones only, by the id of the ask.
 */
import { computed, signal, type ReadonlySignal } from '@preact/signals';
import type { ACPEvent } from '../../generated/agent-context';
import { savedByOf, wasAskedAnew } from '../../hub/approval_meta';
import type { HubError } from '../../hub/http';
import { sessionList } from '../../hub/session_list';
import { typedIn } from './typing';

export interface Resolution {
  how: 'approved' | 'denied' | 'answered' | 'declined' | 'withdrawn' | 'timeout';
  by?: string;
  /** Who saved the rule that decided it. */
  savedBy?: string;
  reason?: string;
  at: number;
  /** It was decided on this page. */
  here?: boolean;
  /** The decision went into the file of rules. */
  ruled?: boolean;
}

const KEPT = 100;
const known = signal<ReadonlyMap<string, Resolution>>(new Map());

/** Asks that were answered on this page, as far as nobody was faster, and whether with a rule for the file. */
const answered = new Map<string, boolean>();

/** Somebody answers here; `false` takes it back: somebody else was first. */
export function markAnsweredHere(ask: string, here = true, ruled = false): void {
  if (here) answered.set(ask, ruled);
  else answered.delete(ask);
}

/** How asks ended, without that in whose card somebody types: what it shows stays until they leave, and says so itself. */
export const resolutions: ReadonlySignal<ReadonlyMap<string, Resolution>> = computed(() => {
  const typed = typedIn.value;
  const end = typed === null ? undefined : known.value.get(typed);
  if (typed === null || end === undefined || end.here) return known.value;
  const others = new Map(known.value);
  others.delete(typed);
  return others;
});

/** How an ask ended, whoever types. */
export function resolutionOf(ask: string): Resolution | undefined {
  return known.value.get(ask);
}

/** Begin to listen. */
export function rememberDecisions(): void {
  sessionList.listen(onEvent);
}

/** An event of any session; most are of no concern here. */
export function onEvent(event: ACPEvent): void {
  const at = Date.parse(event.timestamp);
  const by = typeof event._meta?.['by'] === 'string' ? event._meta['by'] : undefined;
  if (event.type === 'approval:resolved') {
    const how = wasAskedAnew(event) || (by === 'terminal' && event.resolvedBy === 'policy') ? 'withdrawn' : event.resolvedBy === 'timeout' ? 'timeout' : event.approved ? 'approved' : 'denied';
    const savedBy = event.resolvedBy === 'policy' ? savedByOf(event) : undefined;
    addResolution(event.requestId, { how, by: event.resolvedBy === 'policy' && by !== 'terminal' ? 'policy' : by, reason: event.reason, at, ...(savedBy ? { savedBy } : {}) });
  } else if (event.type === 'custom' && event.eventName === 'question_resolved') {
    const action = String(event.data['action']);
    const how = by === 'timeout' ? 'timeout' : action === 'accept' ? 'answered' : action === 'decline' ? 'declined' : 'withdrawn';
    addResolution(String(event.data['questionId']), { how, by, at });
  }
}

/** What a refused answer says of who was first; null where that is not why it was refused. */
export function resolutionIn(error: HubError): Resolution | null {
  if (error.code !== 'already_resolved' && error.code !== 'expired') return null;
  const details = (error.details ?? {}) as { approved?: boolean; by?: string; at?: string; resolvedBy?: string };
  if (error.code === 'expired' || details.resolvedBy === 'timeout') return { how: 'timeout', at: timeOf(details.at) };
  return { how: details.approved ? 'approved' : 'denied', by: details.resolvedBy === 'policy' ? 'policy' : details.by, at: timeOf(details.at) };
}

/** Keep how an ask ended. */
export function addResolution(ask: string, resolution: Resolution): void {
  const all = new Map(known.peek()).set(ask, { ...resolution, here: answered.has(ask), ruled: answered.get(ask) ?? false });
  for (const oldest of all.keys()) {
    if (all.size <= KEPT) break;
    all.delete(oldest);
  }
  known.value = all;
}

function timeOf(at: string | undefined): number {
  return at ? Date.parse(at) : Date.now();
}
