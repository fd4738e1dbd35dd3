// The page's one Trusted Types policy, named `trunkline`: the only way for a string to become markup or a script's address.
//
// Rule 1: markup passes only on its way into the sanitiser, whose result is read as nodes and never written back as text.
// Rule 2: a script's address passes only if it is of this page's own build: a part of it, or its service worker.

interface Policy {
  createHTML(text: string): string;
  createScriptURL(address: string): string;
}

interface PolicyMaker {
  createPolicy(name: string, rules: Policy): Policy;
}

const rules: Policy = { createHTML: (text) => text, createScriptURL: ownScript };

let made: Policy | null = null;

/** The policy; a plain one where the browser has no Trusted Types. */
export function trusted(): Policy {
  made ??= (globalThis as { trustedTypes?: PolicyMaker }).trustedTypes?.createPolicy('trunkline', rules) ?? rules;
  return made;
}

/** What an agent made lies under the same origin, so the origin alone says nothing. */
const BUILT = /^\/(?:assets\/|sw\.js$)/;

function ownScript(address: string): string {
  const url = new URL(address, globalThis.location.href);
  if (url.origin !== globalThis.location.origin || !isBuilt(url)) throw new TypeError(`not a script of this page: ${url.origin}${url.pathname}`);
  return url.href;
}

/** In development the build has no folder of its own. */
function isBuilt(url: URL): boolean {
  return BUILT.test(url.pathname) || (import.meta.env.DEV && url.pathname.startsWith('/src/'));
}
