import type { JSX } from 'preact';

export function FilesTab({ sessionId }: { sessionId: string }): JSX.Element {
  return <p>{sessionId}</p>;
}
