// Whether a text is an earlier one with more at its end, found without reading all of it.

const LOOKED_AT = 256;

/** Looks at the beginning of both and at where the earlier one ends: a text that was replaced differs there. */
export function isAppended(before: string, now: string): boolean {
  if (now.length < before.length) return false;
  const end = before.length;
  return now.slice(0, LOOKED_AT).startsWith(before.slice(0, LOOKED_AT)) && now.slice(Math.max(0, end - LOOKED_AT), end) === before.slice(-LOOKED_AT);
}
