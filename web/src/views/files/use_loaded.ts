// Something that is fetched from the hub, as a hook: under way, there, or failed, and again on request.

import { useCallback, useEffect, useState } from 'preact/hooks';
import { asHubError, type HubError } from '../../hub/http';

export interface Loaded<T> {
  value: T | null;
  error: HubError | null;
  busy: boolean;
  again: () => void;
}

/**
 * Fetch when `key` changes, and again when `news` does; a later answer to an earlier question does not count. What was there for the same
 * key stays until the new is there.
 */
export function useLoaded<T>(key: string | null, fetch: () => Promise<T>, news = ''): Loaded<T> {
  const [state, setState] = useState<{ key: string | null; value: T | null; error: HubError | null; busy: boolean }>({ key: null, value: null, error: null, busy: key !== null });
  const [times, setTimes] = useState(0);
  useEffect(() => {
    if (key === null) return undefined;
    let wanted = true;
    setState((before) => ({ key, value: before.key === key ? before.value : null, error: null, busy: true }));
    fetch().then(
      (value) => wanted && setState({ key, value, error: null, busy: false }),
      (error: unknown) => wanted && setState({ key, value: null, error: asHubError(error), busy: false }),
    );
    return () => {
      wanted = false;
    };
  }, [key, times, news]);
  return { ...state, again: useCallback(() => setTimes((count) => count + 1), []) };
}
