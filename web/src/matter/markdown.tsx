import type { JSX } from 'preact';

export function Markdown(props: { text: string; live?: boolean }): JSX.Element {
  return <pre>{JSON.stringify(props)}</pre>;
}
