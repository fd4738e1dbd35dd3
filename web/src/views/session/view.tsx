import type { JSX } from 'preact';

export interface SessionViewProps {
  id: string;
  tab: 'timeline' | 'files' | 'artifacts';
  seq?: number | undefined;
}

export function SessionView({ id }: SessionViewProps): JSX.Element {
  return <p>{id}</p>;
}
