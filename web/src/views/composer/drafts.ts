/**
 * What was written and not sent, for each session, over a reload too; and how Enter is meant on this device.
 *
 * Rule: a browser may forbid storage; then a draft lives as long as the page.
 */
const DRAFT = 'trunkline.draft.';
const ENTER = 'trunkline.enter';

const memory = new Map<string, string>();

function read(key: string): string | null {
  try {
    return localStorage.getItem(key) ?? memory.get(key) ?? null;
  } catch {
    return memory.get(key) ?? null;
  }
}

function write(key: string, value: string): void {
  if (value) memory.set(key, value);
  else memory.delete(key);
  try {
    if (value) localStorage.setItem(key, value);
    else localStorage.removeItem(key);
  } catch {
    // Full or forbidden: it is in memory.
  }
}

export function draftOf(sessionId: string): string {
  return read(DRAFT + sessionId) ?? '';
}

export function keepDraft(sessionId: string, text: string): void {
  write(DRAFT + sessionId, text);
}

/** Whether Enter sends. On a touch screen it begins a new line unless somebody said otherwise: there is no Shift to hold. */
export function enterSends(touch: boolean): boolean {
  const said = read(ENTER);
  return said === null ? !touch : said === 'send';
}

export function setEnterSends(sends: boolean): void {
  write(ENTER, sends ? 'send' : 'newline');
}
