/** The name of a login as the hub writes it, `Name (id)`, taken apart. Pure: the service worker needs it, too. */

const NAMED = /^(.*) \([0-9a-f]{12}\)$/s;
/** What the hub calls a browser that logged in. */
const BROWSER = 'browser';

/** What the hub calls who has its own token: the person at the terminal that it runs in. */
const TERMINAL = 'main';

export function isTerminal(by: string): boolean {
  return by === TERMINAL;
}

/** The name that it was given; null of a browser, which nobody gave one. What is no login's name is its own. */
export function givenName(by: string): string | null {
  const name = NAMED.exec(by)?.[1];
  return name === BROWSER ? null : name ?? by;
}
