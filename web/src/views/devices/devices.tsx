import type { JSX } from 'preact';

export function DevicesView(): JSX.Element {
  return <p />;
}
