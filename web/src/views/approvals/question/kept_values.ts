/**
 * What was filled into a question that is not answered yet: it is there again after a look elsewhere, and after a reload.
 *
 * Rule 1: it lives no longer than the question waits.
 * Rule 2: each tab has its own. It is of who filled it in: it goes when another person may come (hub/leave.ts).
 */
import { effect } from '@preact/signals';
import { onForgetPersonalData } from '../../../hub/personal_data';
import { askId, pending, sessionList } from '../../../hub/session_list';
import type { Values } from './form';

const PREFIX = 'trunkline.draft.ask.';

const kept = new Map<string, Values>(stored(() => keysKept().map((key) => [key.slice(PREFIX.length), JSON.parse(sessionStorage.getItem(key) ?? '{}') as Values])) ?? []);

/** What was filled in; nothing of what is no field of the question, or became one of another kind. */
export function filledIn(ask: string, initial: Values): Values {
  const values = Object.entries(kept.get(ask) ?? {}).filter(([name, value]) => sameKind(value, initial[name]));
  return { ...initial, ...Object.fromEntries(values) };
}

export function keepFilledIn(ask: string, values: Values): void {
  kept.set(ask, values);
  stored(() => sessionStorage.setItem(PREFIX + ask, JSON.stringify(values)));
}

effect(() => {
  const waiting = new Set(pending.value.map(askId));
  if (sessionList.loaded.value) [...kept.keys()].filter((ask) => !waiting.has(ask)).forEach(drop);
});
onForgetPersonalData(() => kept.clear());

function drop(ask: string): void {
  kept.delete(ask);
  stored(() => sessionStorage.removeItem(PREFIX + ask));
}

function sameKind(value: unknown, other: unknown): boolean {
  return typeof value === typeof other && Array.isArray(value) === Array.isArray(other);
}

function keysKept(): string[] {
  return Array.from({ length: sessionStorage.length }, (_, at) => sessionStorage.key(at) ?? '').filter((key) => key.startsWith(PREFIX));
}

/** Storage may be full or forbidden: then it lives as long as the page. */
function stored<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
