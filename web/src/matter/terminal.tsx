import type { JSX } from 'preact';

export function Terminal(props: { text: string; live?: boolean }): JSX.Element {
  return <pre>{JSON.stringify(props)}</pre>;
}
