// Colours for code: asked of the worker, kept for the next time.
//
// Rule: what is kept is bounded by the length of the texts, the oldest goes first.

import { offload } from '../offload';
import type { TokenLines } from './tokens';

const LONGEST = 300_000;
const KEPT_CHARACTERS = 4_000_000;

const kept = new Map<string, TokenLines | null>();
const requested = new Map<string, Promise<TokenLines | null>>();
let keptCharacters = 0;

/** What is known already: tokens, null for "cannot be coloured", undefined for "not asked yet". */
export function knownTokens(text: string, language: string): TokenLines | null | undefined {
  return canColour(text, language) ? kept.get(keyOf(text, language)) : null;
}

/** The text's tokens by line, or null. */
export function tokensOf(text: string, language: string): Promise<TokenLines | null> {
  const known = knownTokens(text, language);
  if (known !== undefined) return Promise.resolve(known);
  const key = keyOf(text, language);
  const running = requested.get(key) ?? offload({ text, language }).then((result) => keep(key, result));
  requested.set(key, running);
  return running;
}

function canColour(text: string, language: string): boolean {
  return language !== '' && text.length <= LONGEST && text !== '';
}

function keyOf(text: string, language: string): string {
  return `${language}\n${text}`;
}

function keep(key: string, tokens: TokenLines | null): TokenLines | null {
  requested.delete(key);
  kept.set(key, tokens);
  keptCharacters += key.length;
  for (const oldest of kept.keys()) {
    if (keptCharacters <= KEPT_CHARACTERS) break;
    kept.delete(oldest);
    keptCharacters -= oldest.length;
  }
  return tokens;
}
