// Which cards, groups and sub-agents of a session somebody openRows or closed; kept while the page lives.

import { signal, type Signal } from '@preact/signals';

export class OpenRows {
  private readonly byKey: Signal<ReadonlyMap<string, boolean>> = signal(new Map());
  /** Show every event, those for programs included. */
  readonly details = signal(false);

  /** Whether somebody openRows or closed it; undefined: nobody did. */
  of(key: string): boolean | undefined {
    return this.byKey.value.get(key);
  }

  set(key: string, open: boolean): void {
    this.byKey.value = new Map(this.byKey.peek()).set(key, open);
  }

  openAll(keys: Iterable<string>): void {
    const next = new Map(this.byKey.peek());
    for (const key of keys) next.set(key, true);
    this.byKey.value = next;
  }
}

const KEPT_MOST = 50;
const kept = new Map<string, OpenRows>();

export function openRowsOf(sessionId: string): OpenRows {
  const known = kept.get(sessionId) ?? new OpenRows();
  kept.delete(sessionId);
  kept.set(sessionId, known);
  if (kept.size > KEPT_MOST) kept.delete(kept.keys().next().value!);
  return known;
}
