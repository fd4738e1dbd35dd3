/** The one way for an address to become a script: `new Worker(scriptUrl(url))`, `serviceWorker.register(scriptUrl('/sw.js'))`. */
import { trusted } from './trusted_types';

export function scriptUrl(url: string): string {
  return trusted().createScriptURL(url);
}
