/**
 * Getting in: a one-time code, a pairing code or a token becomes the browser's cookie.
 *
 * Rule: what was tried and failed is shown; a code is never tried twice by itself.
 */
import { signal, type ReadonlySignal } from '@preact/signals';
import { asHubError, http, type HubError } from '../../hub/http';
import type { Secret } from '../../route';

const trouble = signal<HubError | null>(null);

/** Why the last try did not let us in. */
export const enterTrouble: ReadonlySignal<HubError | null> = trouble;

const trying = signal(false);

/** What came in the address is being tried: until that is known, nothing is asked of the hub that it would refuse. */
export const entering: ReadonlySignal<boolean> = trying;

/** Try what came in the address; true where it let us in. */
export async function enterWith(secret: Secret): Promise<boolean> {
  if (!secret) return false;
  trying.value = true;
  try {
    return await (secret.kind === 'pair' ? claim(secret.value) : enter({ code: secret.value }));
  } finally {
    trying.value = false;
  }
}

/** Trade a code or a token for the cookie. */
async function enter(by: { code: string } | { token: string }): Promise<boolean> {
  return attempt(() => http.enter('/auth/login', by));
}

/** Whatever somebody typed, as what it looks like. A token may look like a one-time code, so what is no such code is tried as a token,
 * too; what was refused for another reason is not, for that reason would be lost. */
export async function enterByHand(typed: string): Promise<boolean> {
  const kind = kindOf(typed);
  if (kind === 'pair') return claim(typed);
  if (kind === 'code' && ((await enter({ code: typed })) || trouble.peek()?.status !== 401)) return trouble.peek() === null;
  return enter({ token: typed });
}

/** Pairing codes are 16 capitals and digits that nobody takes for another, in groups or not; one-time codes have 32 letters. */
export function kindOf(typed: string): 'pair' | 'code' | 'token' {
  if (/^[2-9A-HJKMNP-TV-Z]{16}$/i.test(typed.replace(/[\s-]/g, '')) && !/[a-z].*[A-Z]|[A-Z].*[a-z]/.test(typed)) return 'pair';
  return /^[\w-]{32}$/.test(typed) ? 'code' : 'token';
}

/** Become a device of the hub's. */
async function claim(code: string): Promise<boolean> {
  return attempt(() => http.enter('/pair/claim', { code, name: deviceName(navigator.userAgent) }));
}

async function attempt(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    trouble.value = null;
    return true;
  } catch (error) {
    trouble.value = asHubError(error);
    return false;
  }
}

/** What a device calls itself until somebody names it. */
export function deviceName(agent: string): string {
  const system = /iPhone|iPad|Android|Macintosh|Windows|CrOS|Linux/.exec(agent)?.[0] ?? '';
  const browser = /Firefox|Edg|OPR|Chrome|Safari/.exec(agent)?.[0] ?? '';
  const names: Record<string, string> = { Macintosh: 'Mac', CrOS: 'Chromebook', Edg: 'Edge', OPR: 'Opera' };
  return [names[browser] ?? browser, names[system] ?? system].filter(Boolean).join(' · ') || 'Browser';
}
