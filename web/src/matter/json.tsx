import type { JSX } from 'preact';

export function Json(props: { value: unknown }): JSX.Element {
  return <pre>{JSON.stringify(props)}</pre>;
}
