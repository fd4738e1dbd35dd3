/**
 * How the hub's storage is: whole, hurt or full. Asked for when the page comes online, and again while it is full.
 *
 * Rule: damage that somebody has seen and waved away in this browser is not shown again; new damage is.
 */
import { computed, signal, type ReadonlySignal } from '@preact/signals';
import type { JournalView } from '../generated/api';
import { http } from './http';

const SEEN = 'journal-damage-seen';
const AGAIN_MS = 10_000;

const known = signal<JournalView | undefined>(undefined);
const seen = signal(stored());
let timer: ReturnType<typeof setTimeout> | undefined;

/** What there is to tell; undefined where there is nothing, or it was waved away. */
export const journalProblem: ReadonlySignal<JournalView | undefined> = computed(() => {
  const view = known.value;
  if (view === undefined || view.state === 'whole') return undefined;
  return view.state === 'unwritable' || markOf(view) !== seen.value ? view : undefined;
});

export async function loadJournalHealth(): Promise<void> {
  clearTimeout(timer);
  try {
    known.value = await http.get<JournalView>('/journal');
  } catch {
    return; // that the hub is away is shown elsewhere
  }
  if (known.value.state === 'unwritable') timer = setTimeout(() => void loadJournalHealth(), AGAIN_MS);
}

export function dismissJournalProblem(): void {
  const view = known.value;
  if (view === undefined) return;
  seen.value = markOf(view);
  try {
    localStorage.setItem(SEEN, seen.value);
  } catch {
    // a browser that keeps nothing shows it again
  }
}

/** What tells one state of damage from the next. */
export function markOf(view: JournalView): string {
  return `${view.damages.map((damage) => `${damage.number}/${damage.sessionId ?? ''}/${damage.from ?? 0}`).join(' ')} ${view.asides.join(' ')}`;
}

function stored(): string {
  try {
    return localStorage.getItem(SEEN) ?? '';
  } catch {
    return '';
  }
}
