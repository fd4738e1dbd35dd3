/**
 * Where the page is, as the fragment of its address says: `#/s/<id>/files`.
 *
 * Rule 1: a login or pairing code in the fragment is taken out of the address and the history at once, before anything else runs;
 * this module is the first that main.tsx imports.
 * Rule 2: `read` and `write` are each other's inverse; an address that nobody wrote leads home.
 */
import { signal, type ReadonlySignal } from '@preact/signals';

export type Route =
  | { view: 'home' }
  | { view: 'new'; cwd?: string }
  | { view: 'approvals' }
  | { view: 'policy' }
  | { view: 'devices' }
  | { view: 'session'; id: string; tab: 'timeline' | 'files' | 'artifacts'; seq?: number };

/** What lets somebody in, and came in the address; a login may go on to a session. */
export type Secret = { kind: 'code' | 'pair'; value: string; to?: Route } | null;

export function read(fragment: string): Route {
  const [path = '', query = ''] = fragment.replace(/^#\/?/, '').split('?', 2);
  const [head = '', ...rest] = path.split('/').map(decoded);
  if (head === 's' && rest[0]) return readSession(rest[0], rest.slice(1));
  if (head === 'sessions' && rest[0]) return readSession(rest[0], rest.slice(1));
  if (head === 'new') return readNew(query);
  if (head === 'approvals' || head === 'policy' || head === 'devices') return { view: head };
  return { view: 'home' };
}

function readSession(id: string, rest: string[]): Route {
  const [what, value] = rest;
  if (what === 'files' || what === 'artifacts') return { view: 'session', id, tab: what };
  if (what === 'e' && /^\d{1,15}$/.test(value ?? '')) return { view: 'session', id, tab: 'timeline', seq: Number(value) };
  return { view: 'session', id, tab: 'timeline' };
}

function readNew(query: string): Route {
  const cwd = new URLSearchParams(query).get('cwd');
  return cwd ? { view: 'new', cwd } : { view: 'new' };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function write(to: Route): string {
  if (to.view === 'home') return '#/';
  if (to.view === 'new') return to.cwd ? `#/new?${new URLSearchParams({ cwd: to.cwd })}` : '#/new';
  if (to.view !== 'session') return `#/${to.view}`;
  const session = `#/s/${encodeURIComponent(to.id)}`;
  if (to.tab !== 'timeline') return `${session}/${to.tab}`;
  return to.seq === undefined ? session : `${session}/e/${to.seq}`;
}

/** The address of a session, or of one of its events. */
export function sessionHref(id: string, seq?: number): string {
  return write(seq === undefined ? { view: 'session', id, tab: 'timeline' } : { view: 'session', id, tab: 'timeline', seq });
}

/** The code in a fragment, where it is one: `#code=X`, `#code=X&to=/s/<id>` or `#/pair/X`. */
export function secretIn(fragment: string): Secret {
  const code = /^#code=([\w-]+)(?:&to=(\/s\/[^/&]+))?$/.exec(fragment);
  if (code?.[1]) return { kind: 'code', value: code[1], ...(code[2] ? { to: read(`#${code[2]}`) } : {}) };
  const pair = /^#\/pair\/([\w-]+)$/.exec(fragment);
  return pair?.[1] ? { kind: 'pair', value: pair[1] } : null;
}

function takeSecret(): Secret {
  const found = secretIn(location.hash);
  if (found) history.replaceState(null, '', `${location.pathname}${write(found.to ?? { view: 'home' })}`);
  return found;
}

/** The code that the page was opened with; it is in no address any more. */
export const secret: Secret = takeSecret();

const current = signal<Route>(read(location.hash));
const taken = signal<Secret>(null);

/** Where the page is. */
export const route: ReadonlySignal<Route> = current;

/** A code that arrived in the address after the page had started. */
export const lateSecret: ReadonlySignal<Secret> = taken;

addEventListener('hashchange', () => {
  taken.value = takeSecret() ?? taken.value;
  current.value = read(location.hash);
});

/** Who asks for the place where they are comes there anew: no address changes, but a view may want the focus again. */
addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link?.getAttribute('href')?.startsWith('#/') && link.hash === location.hash) current.value = read(location.hash);
});

export function go(to: Route): void {
  location.hash = write(to);
}

/** Go there, and let "back" skip where we are now. */
export function goInstead(to: Route): void {
  history.replaceState(null, '', `${location.pathname}${write(to)}`);
  current.value = to;
}
