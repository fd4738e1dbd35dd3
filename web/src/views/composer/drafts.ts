/**
 * What was written and not sent, for each session, over a reload too; and how Enter is meant on this device.
 *
 * Rule 1: a browser may forbid storage; then a draft lives as long as the page.
 * Rule 2: a key costs nothing: what is written is put into storage when somebody pauses, and when the page is left.
 * Rule 3: each tab has its own. What one tab sends takes away no other tab's draft; who comes anew gets the one that was kept last.
 * Rule 4: drafts are of who wrote them: they go when another person may come (hub/leave.ts).
 * Rule 5: how Enter is meant is of the device: all tabs share it.
 * Rule 6: who writes in a session owns its draft: what happens to it from elsewhere (a message went out) goes through them.
 */
import { signal } from '@preact/signals';
import { onForgetPersonalData } from '../../hub/personal_data';

const DRAFT = 'trunkline.draft.';
const ENTER = 'trunkline.enter';

/** What this tab has written or read last. */
const memory = new Map<string, string>();

function read(key: string): string | null {
  const found = memory.get(key) ?? stored(() => sessionStorage.getItem(key) ?? localStorage.getItem(key));
  if (found) memory.set(key, found);
  return found ?? null;
}

function write(key: string, value: string): void {
  const before = memory.get(key);
  if (value) memory.set(key, value);
  else memory.delete(key);
  stored(() => (value ? sessionStorage.setItem(key, value) : sessionStorage.removeItem(key)));
  stored(() => {
    if (value) localStorage.setItem(key, value);
    else if (localStorage.getItem(key) === before) localStorage.removeItem(key);
  });
}

/** Storage may be full or forbidden: then there is the memory. */
function stored<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}

const PAUSE_MS = 400;
const unwritten = new Map<string, string>();
let timer: ReturnType<typeof setTimeout> | undefined;

export function draftOf(sessionId: string): string {
  const key = DRAFT + sessionId;
  return unwritten.get(key) ?? read(key) ?? '';
}

export function keepDraft(sessionId: string, text: string): void {
  const key = DRAFT + sessionId;
  clearTimeout(timer);
  if (text) unwritten.set(key, text);
  else {
    unwritten.delete(key);
    write(key, '');
  }
  timer = setTimeout(flushDrafts, PAUSE_MS);
}

const writers = new Map<string, Rewrite>();

/** Has a draft changed by whoever holds it. */
type Rewrite = (change: (text: string) => string) => void;

/** Somebody writes in a session from now on, until what is given back is called. */
export function writesIn(sessionId: string, rewrite: Rewrite): () => void {
  writers.set(sessionId, rewrite);
  return () => void (writers.get(sessionId) === rewrite && writers.delete(sessionId));
}

/** Change what is written in a session, wherever it is now: in somebody's field, or kept. */
export function rewriteDraft(sessionId: string, change: (text: string) => string): void {
  const writer = writers.get(sessionId);
  if (writer) writer(change);
  else keepDraft(sessionId, change(draftOf(sessionId)));
}

/** Put into storage what is not there yet. */
export function flushDrafts(): void {
  clearTimeout(timer);
  for (const [key, text] of unwritten) write(key, text);
  unwritten.clear();
}

/** Nobody's draft is left for the next person; the storage is cleared by hub/leave.ts. */
function forgetDrafts(): void {
  clearTimeout(timer);
  unwritten.clear();
  for (const key of [...memory.keys()]) if (key.startsWith(DRAFT)) memory.delete(key);
}

addEventListener('pagehide', flushDrafts);
document.addEventListener('visibilitychange', () => document.visibilityState === 'hidden' && flushDrafts());
onForgetPersonalData(forgetDrafts);

/** How often somebody chose: who reads the choice draws again. */
const choices = signal(0);

/** Whether Enter sends. On a touch screen it begins a new line unless somebody chose otherwise: there is no Shift to hold. */
export function enterSends(touch: boolean): boolean {
  void choices.value;
  const chosen = stored(() => localStorage.getItem(ENTER)) ?? memory.get(ENTER) ?? null;
  return chosen === null ? !touch : chosen === 'send';
}

export function setEnterSends(sends: boolean): void {
  const chosen = sends ? 'send' : 'newline';
  memory.set(ENTER, chosen);
  stored(() => localStorage.setItem(ENTER, chosen));
  choices.value += 1;
}
