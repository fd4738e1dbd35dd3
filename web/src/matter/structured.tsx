import type { JSX } from 'preact';

export function StructuredResult(props: { output: unknown }): JSX.Element {
  return <pre>{JSON.stringify(props)}</pre>;
}
