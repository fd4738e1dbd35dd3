/** Something is under way. */
import type { JSX } from 'preact';

export function Spinner({ size = 18, label }: { size?: number; label?: string }): JSX.Element {
  const shown = label ? { role: 'status' as const, 'aria-label': label } : { 'aria-hidden': true as const };
  return (
    <svg class="ui-spinner" width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" {...shown}>
      <circle cx="12" cy="12" r="8.5" opacity="0.25" />
      <path d="M12 3.5a8.5 8.5 0 0 1 8.5 8.5" />
    </svg>
  );
}
