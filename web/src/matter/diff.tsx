import type { JSX } from 'preact';

export function DiffView(props: { diff: string; path?: string }): JSX.Element {
  return <pre>{JSON.stringify(props)}</pre>;
}
