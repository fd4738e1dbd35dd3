/** What has to be asked for again and again, because nobody tells of its changes: only while somebody looks at the page. */
import { connection } from './connection';

/** Look at once when the page comes to a screen, and every `everyMs` while it is on one and the hub is there. Gives what ends it. */
export function whileLookedAt(look: () => Promise<void>, everyMs: number): () => void {
  const lookIfShown = (): void => {
    if (document.visibilityState === 'visible' && connection.state.peek() === 'online') void look();
  };
  const timer = setInterval(lookIfShown, everyMs);
  document.addEventListener('visibilitychange', lookIfShown);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', lookIfShown);
  };
}
