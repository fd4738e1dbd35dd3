/** Whether the screen is so, as a hook: `useMedia('(min-width: 1100px)')`. */
import { useEffect, useState } from 'preact/hooks';

export const WIDE = '(min-width: 1100px)';
export const NARROW = '(max-width: 640px)';
export const COARSE = '(pointer: coarse)';

export function useMedia(query: string): boolean {
  const [fits, setFits] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const changed = (): void => setFits(media.matches);
    changed();
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, [query]);
  return fits;
}
