import type { JSX } from 'preact';

export function ApprovalsQueue(): JSX.Element {
  return <p />;
}
