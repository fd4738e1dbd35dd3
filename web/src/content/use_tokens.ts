// The colours of a text, as a hook: plain at first, coloured when the worker has answered.

import { useEffect, useState } from 'preact/hooks';
import { knownTokens, tokensOf } from '../text/code/highlight';
import type { TokenLines } from '../text/code/tokens';

/** The text's tokens by line, or null while there are none. */
export function useTokens(text: string, language: string): TokenLines | null {
  const known = knownTokens(text, language);
  const [, redraw] = useState(0);
  useEffect(() => {
    if (known !== undefined) return undefined;
    let wanted = true;
    void tokensOf(text, language).then(() => wanted && redraw((count) => count + 1));
    return () => {
      wanted = false;
    };
  }, [text, language, known === undefined]);
  return known ?? null;
}
