import type { JSX } from 'preact';

export function PolicyView(): JSX.Element {
  return <p />;
}
