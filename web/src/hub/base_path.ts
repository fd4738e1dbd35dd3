/**
 * The path below which the hub knows this browser: its cookie lies there and counts only there, so that a program on another port of
 * the same host, which the browser takes for the same site, neither gets the cookie nor could do anything with it.
 *
 * Rule: the path is kept where only pages of this very origin, port included, can read it. The worker cannot read the page's storage,
 * so it has a copy of its own.
 */
const KEY = 'trunkline.base';
const SHAPE = /^\/at\/[\w-]{32}$/;
/** A cache that outlives builds of the page: those are called `trunkline-…`. */
const SHARED = 'base.trunkline';

/** Where the browser forbids storage, somebody is logged in for as long as the page is open. */
let held = '';

/** The path, empty where nobody is logged in. */
function basePath(): string {
  try {
    return valid(localStorage.getItem(KEY));
  } catch {
    return held;
  }
}

function valid(kept: unknown): string {
  return typeof kept === 'string' && SHAPE.test(kept) ? kept : '';
}

/** An address of the hub as this browser asks for it. */
export function withBasePath(address: string): string {
  return address.startsWith('/') ? basePath() + address : address;
}

/** Take it from an answer to a login. */
export function setBasePath(answer: unknown): void {
  held = valid((answer as { base?: unknown } | null | undefined)?.base);
  try {
    localStorage.setItem(KEY, held);
  } catch {
    // Forbidden: it is held here.
  }
  void share(held);
}

/** Somebody has logged out. */
export function forgetBasePath(): void {
  setBasePath(null);
}

async function share(path: string): Promise<void> {
  if (!('caches' in globalThis)) return; // Plain HTTP: there is no worker either.
  await (await caches.open(SHARED)).put('/base', new Response(path)).catch(() => undefined);
}

/** For the worker: an address of the hub as this browser asks for it. */
export async function withSharedBasePath(address: string): Promise<string> {
  const kept = await (await caches.open(SHARED)).match('/base');
  return valid(await kept?.text()) + address;
}
