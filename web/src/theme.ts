/** Light or dark: as the system has it, or as the reader chose. The choice is kept in this browser. */
import { signal, type ReadonlySignal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'trunkline.theme';
const chosen = signal<Theme>(kept());

export const theme: ReadonlySignal<Theme> = chosen;

export function setTheme(to: Theme): void {
  chosen.value = to;
  try {
    localStorage.setItem(KEY, to);
  } catch {
    // A browser that keeps nothing: the choice lasts as long as the page.
  }
  applyTheme();
}

export function applyTheme(): void {
  const root = document.documentElement;
  if (chosen.value === 'system') delete root.dataset['theme'];
  else root.dataset['theme'] = chosen.value;
}

function kept(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system';
  }
}
