/** A field that is as tall as what is written in it, up to a share of the screen. */
import { useLayoutEffect } from 'preact/hooks';

const TALLEST = 0.4;
/** Longer than this is as tall as can be: to measure it at every key would take longer than the key. */
const MEASURED_MOST = 100_000;

export function useFieldHeight(field: { current: HTMLTextAreaElement | null }, text: string): void {
  useLayoutEffect(() => {
    const shown = field.current;
    if (!shown) return;
    if (text.length > MEASURED_MOST) {
      shown.style.height = `${innerHeight * TALLEST}px`;
      return;
    }
    // What is around it keeps its height meanwhile: else all that is above would move, and back, for a measure.
    const box = shown.parentElement;
    if (box) box.style.minHeight = `${box.offsetHeight}px`;
    shown.style.height = 'auto';
    const height = Math.min(shown.scrollHeight, innerHeight * TALLEST);
    shown.style.height = `${height}px`;
    if (box) box.style.minHeight = '';
  }, [text]);
}
