/**
 * What a session may spend, and how long its approvals wait: from the form to the request and back.
 *
 * Rule: pure. An empty field is no cap; what is not a number above zero is an error at its field.
 */

export type Cap = 'tokens' | 'cost' | 'minutes' | 'turns';
export const CAPS: Cap[] = ['tokens', 'cost', 'minutes', 'turns'];
const WHOLE: ReadonlySet<Cap> = new Set(['tokens', 'turns']);

type Caps = Partial<Record<Cap, number | null>>;
type CapTexts = Record<Cap, string>;
export type CapProblem = 'notNumber' | 'notWhole' | 'notAbove';

/** What the fields show for caps that are set. */
export function capTexts(caps: Caps | null | undefined): CapTexts {
  return Object.fromEntries(CAPS.map((cap) => [cap, caps?.[cap] == null ? '' : String(caps[cap])])) as CapTexts;
}

/** The caps that the fields mean; `problems` says which field means none. */
export function capsOf(texts: CapTexts): { caps: Caps; problems: Partial<Record<Cap, CapProblem>> } {
  const caps: Caps = {};
  const problems: Partial<Record<Cap, CapProblem>> = {};
  for (const cap of CAPS) {
    const read = capOf(cap, texts[cap]);
    if (typeof read === 'number') caps[cap] = read;
    else if (read) problems[cap] = read;
  }
  return { caps, problems };
}

/** How much of a cap is spent, from 0 to 1; null where there is no cap. */
export function shareSpent(cap: number | null | undefined, spent: number): number | null {
  return cap ? Math.min(1, spent / cap) : null;
}

function capOf(cap: Cap, text: string): number | CapProblem | null {
  const words = text.trim().replaceAll(/[\s_]/g, '');
  if (!words) return null;
  const thousand = /k$/i.test(words) ? 1e3 : /m$/i.test(words) ? 1e6 : 1;
  const value = Number(words.replace(/[km]$/i, '').replace(',', '.')) * thousand;
  if (!Number.isFinite(value)) return 'notNumber';
  if (value <= 0) return 'notAbove';
  return WHOLE.has(cap) && !Number.isInteger(value) ? 'notWhole' : value;
}

/** Lengths of a wait that can be chosen, in seconds. */
const WAITS_S = [60, 300, 600, 1800, 3600, 4 * 3600, 24 * 3600];

/** The choices, with the one that is set among them. */
export function waitChoices(current: number | null | undefined): number[] {
  if (current == null || WAITS_S.includes(current)) return WAITS_S;
  return [...WAITS_S, current].sort((one, other) => one - other);
}
