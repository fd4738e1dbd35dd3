import type { JSX } from 'preact';

export function ArtifactsTab({ sessionId }: { sessionId: string }): JSX.Element {
  return <p>{sessionId}</p>;
}
