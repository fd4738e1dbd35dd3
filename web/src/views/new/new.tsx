import type { JSX } from 'preact';

export function NewView({ cwd }: { cwd?: string | undefined }): JSX.Element {
  return <p>{cwd}</p>;
}
